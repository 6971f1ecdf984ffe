/**
 * The servers of `npm run bench:peers` that need no package of others: what they answer is checked as the bench does it. No time is
 * measured.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { check } from '../../bench/peers/check.ts'
import { install } from '../../bench/peers/install.ts'
import { BY_HAND, PEERS } from '../../bench/peers/peers.ts'
import { Running, fill } from '../../bench/peers/running.ts'

describe('the servers beside peers', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-peers-'))
    fill(folder)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function ask(peer: (typeof PEERS)[number]): Promise<void> {
    const running = await Running.start(peer, await install(peer), folder)
    try {
      await check(running)
    } finally {
      await running.stop()
    }
  }

  for (const peer of PEERS.filter(({ packages }) => packages === undefined)) {
    it(`${peer.name} answers what SQL says`, { timeout: 60_000 }, () => ask(peer))
  }

  it('are found out when they answer something else', async t => {
    // As one whose pages began one record late would.
    const wrong = { ...BY_HAND, records: (body: unknown) => BY_HAND.records(body).slice(1) }
    await t.assert.rejects(ask(wrong), /better-sqlite3, by hand: list of 100/)
  })
})
