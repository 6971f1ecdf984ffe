/** The option `database` as a `file:` URL, and what a file lacks that is kept as it is. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { formatInstall } from '../../lib/records/database/install-line.ts'
import { RestEngine } from '../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })
const Page = defineEntity({ name: 'Page', properties: { id: p.integer().primary(), title: p.text() } })

describe('the file of an engine', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-url-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('may be a file: URL, as a text or as a URL', async () => {
    const path = join(folder, 'a b.sqlite')
    const url = pathToFileURL(path)
    for (const [index, database] of [url, url.href, `file:${path}`.replaceAll(' ', '%20')].entries()) {
      await using engine = await RestEngine.create({ entities: [Note], database })
      await engine.handle('POST', '/v1/notes', undefined, { text: 'x' })
      assert.equal((await engine.handle('GET', '/v1/notes')).body.count, index + 1)
    }
    assert.ok(existsSync(path))
    const lost = RestEngine.create({ entities: [Note], database: join(folder, 'no', 'a.sqlite') })
    await assert.rejects(lost, /a\.sqlite cannot be made: there is no folder .*no\.$/)
  })

  it('that lacks a table or a column is noted where it is kept as it is', async () => {
    const database = join(folder, 'kept.sqlite')
    await (await RestEngine.create({ entities: [Note], database })).close()
    await using engine = await RestEngine.create({ entities: [Note, Page], database, schema: 'keep' })
    assert.match(engine.notes.join('\n'), /The file lacks what the entities need, .*: "page"\. Requests for it fail/)
    await using whole = await RestEngine.create({ entities: [Note], database, schema: 'keep' })
    assert.deepEqual(whole.notes, [])
  })
})

describe('an install line', () => {
  it('names the version of MikroORM that is there', () => {
    assert.match(formatInstall('@mikro-orm/postgresql', 'pg'), /^npm install @mikro-orm\/postgresql@7\.\d+\.\d+ pg$/)
  })
})
