/** The option `persist` in Chromium: a world outlives its page, whole, once, and under one name for one engine. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from '@playwright/test'
import { RestEngine } from '../../lib/index.ts'
import { Tag } from './shop.ts'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { openPage, type OpenedPage } from './open-page.ts'
import type { PersistPage } from './persist-in-page.ts'

declare const inPage: PersistPage

/** How often a page ends amid writes. */
const ROUNDS = { OPFS: 12, IndexedDB: 4 }

describe('a world that outlives its page', { skip: NO_BROWSER }, () => {
  let opened: OpenedPage
  let page: Page
  let address: string
  before(
    async () => {
      opened = await openPage('spec/page/persist-in-page.ts')
      page = opened.page
      address = page.url()
    },
    { timeout: 120_000 },
  )
  after(() => opened?.close())

  const ready = (on: Page): Promise<unknown> => on.waitForFunction('globalThis.ready === true', undefined, { timeout: 30_000 })
  const reload = async (): Promise<void> => {
    await page.reload()
    await ready(page)
  }
  const another = async (): Promise<Page> => {
    const next = await opened.page.context().newPage()
    await next.goto(address)
    await ready(next)
    return next
  }

  /** Waits until the stored world holds a text. */
  const stored = async (...sought: [name: string, text: string]): Promise<void> => {
    const end = Date.now() + 20_000
    // A file cannot be read while a save replaces the file.
    while (!(await page.evaluate(each => inPage.isStored(...each), sought).catch(() => false))) {
      assert.ok(Date.now() < end, `${sought.join(': ')} is not stored`)
      await page.waitForTimeout(20)
    }
  }

  const endAmidWrites = async (place: keyof typeof ROUNDS): Promise<void> => {
    // Pages of one address share the process that dies.
    await page.close()
    let last = 1
    for (let round = 0; round < ROUNDS[place]; round++) {
      const killed = await another()
      const [count, integrity] = await killed.evaluate(async name => {
        await inPage.open(name)
        const found = [await inPage.count(), await inPage.integrity()] as const
        inPage.write()
        return found
      }, `busy-${place}`)
      assert.deepEqual(integrity, [{ integrity_check: 'ok' }])
      assert.equal(count % 20, 1)
      assert.ok(count >= last, `${count} notes, and ${last} before`)
      last = count
      await killed.waitForTimeout(100 + 17 * round)
      // A tab that is closed, or a process that dies.
      if (round % 2 === 1) {
        const session = await killed.context().newCDPSession(killed)
        void session.send('Page.crash').catch(() => {})
        await killed.waitForEvent('crash')
      }
      await killed.close()
    }
    page = await another()
    if (place === 'OPFS')
      assert.deepEqual(await page.evaluate(async () => Object.keys(await inPage.files('busy-OPFS')).toSorted()), ['now', 'origin'])
    assert.ok(last > 20, `${last} notes`)
  }

  it('has what was written, the next IDs and the clock, and is not seeded again', async () => {
    const id = await page.evaluate(async () => {
      const engine = await inPage.open('notes')
      await inPage.add('kept')
      const last = await inPage.add('gone')
      await engine.handle('DELETE', `/v1/notes/${last}`)
      engine.clock.set('2030-01-02T03:04:05Z')
      await engine.close()
      return last
    })
    await reload()
    const seen = await page.evaluate(async () => {
      const { clock } = await inPage.open('notes')
      return [await inPage.texts(), await inPage.add('next'), clock.now().toISOString()]
    })
    assert.deepEqual(seen, [['of the seed', 'kept'], id + 1, '2030-01-02T03:04:05.000Z'])
  })

  it('is stored soon behind a write, without a call', async () => {
    const began = await page.evaluate(async () => {
      await inPage.engine.reset()
      await inPage.add('soon')
      return inPage.texts()
    })
    await stored('notes', 'soon')
    await reload()
    const seen = await page.evaluate(async () => {
      await inPage.open('notes')
      return inPage.texts()
    })
    assert.deepEqual(seen, began)
    assert.deepEqual(seen, ['of the seed', 'soon'])
  })

  it('goes back to its seed by reset, also behind a reload, and stays so', async () => {
    const seen = await page.evaluate(async () => {
      await inPage.engine.reset()
      const texts = await inPage.texts()
      await inPage.engine.close()
      return texts
    })
    await reload()
    const again = await page.evaluate(async () => {
      const { clock } = await inPage.open('notes', { seed: { notes: [{ text: 'another seed' }] } })
      return [await inPage.texts(), Math.abs(clock.now().getTime() - Date.now()) < 5000]
    })
    assert.deepEqual([seen, again], [['of the seed'], [['of the seed'], true]])
  })

  it('is refused to a second tab, and to a second engine, until the first has closed', async () => {
    const second = await another()
    const here = await page.evaluate(() => inPage.failure(() => inPage.open('notes')))
    const there = await second.evaluate(() => inPage.failure(() => inPage.open('notes')))
    const removal = await second.evaluate(() => inPage.failure(() => inPage.removeWorld('notes')))
    const wanted = 'the world "notes" is open already, in this tab or another: close that engine, or give another name.'
    assert.deepEqual([here, there], Array(2).fill(`Error: RestEngine.create: ${wanted}`))
    assert.equal(removal, `Error: removeWorld: ${wanted}`)
    await page.reload()
    await ready(page)
    const later = await second.evaluate(async () => {
      await inPage.open('notes')
      return inPage.texts()
    })
    assert.deepEqual(later, ['of the seed'])
    await second.close()
  })

  it('is refused to a model with other tables, which are named, and nothing is lost', async () => {
    const seen = await page.evaluate(async () => {
      const refused = await inPage.failure(() => inPage.openLonger('notes'))
      await inPage.open('notes')
      const texts = await inPage.texts()
      await inPage.engine.close()
      await inPage.removeWorld('notes')
      await inPage.openLonger('notes')
      const anew = await inPage.texts()
      await inPage.engine.close()
      return { refused, texts, anew }
    })
    assert.deepEqual(seen, {
      refused:
        'Error: RestEngine.create: the kept world "notes" is of another model, which differs in note. ' +
        `Give "persist" another name, or remove the world before: await removeWorld('notes').`,
      texts: ['of the seed'],
      anew: ['of the seed'],
    })
  })

  it('knows revoked tokens', async () => {
    const token = await page.evaluate(async () => {
      const engine = await inPage.openUsers('users')
      const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password: 'pass of ann' })
      const given = body['auth_token'] as string
      await engine.handle('POST', '/v1/logout', undefined, undefined, { headers: { authorization: `Bearer ${given}` } })
      return given
    })
    await stored('users', '"revoked":[[')
    await reload()
    const answer = await page.evaluate(async given => {
      const engine = await inPage.openUsers('users')
      const { body } = await engine.handle('GET', '/v1/users', undefined, undefined, { headers: { authorization: `Bearer ${given}` } })
      return body['code'] as string
    }, token)
    assert.equal(answer, 'token_revoked')
  })

  it('is the old or the new state, never half, when the page ends within a save', { timeout: 60_000 }, async () => {
    const next = await another()
    let last = 0
    for (const step of ['write', 'close', 'write', 'close'] as const) {
      const count = await next.evaluate(async () => {
        await inPage.open('left')
        return inPage.count()
      })
      assert.ok(count >= last && count % 20 === 1, `${count} notes, and ${last} before`)
      last = count
      await next.evaluate(each => {
        inPage.leaveWithin(each)
        inPage.write()
      }, step)
      await next.waitForURL('about:blank')
      await next.goto(address)
      await ready(next)
    }
    const integrity = await next.evaluate(async () => {
      await inPage.open('left')
      return inPage.integrity()
    })
    assert.deepEqual(integrity, [{ integrity_check: 'ok' }])
    await next.close()
  })

  it('is the old or the new state, never half, when the page ends amid writes', { timeout: 120_000 }, () => endAmidWrites('OPFS'))

  it('reports a save without room, goes on in memory, and rejects at the end', async () => {
    const next = await another()
    const session = await next.context().newCDPSession(next)
    const origin = new URL(next.url()).origin
    const quota = (quotaSize: number): Promise<unknown> => session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize })
    await next.evaluate(() => inPage.open('large'))
    const { usage } = await session.send('Storage.getUsageAndQuota', { origin })
    await quota(usage + 100_000)
    const lost = /^Error: The world "large" is not kept \(\w*Error: .+\): a reload would go back to an earlier state\.$/
    const seen = await next.evaluate(async () => {
      const id = await inPage.add('x'.repeat(5_000_000))
      const { status } = await inPage.engine.handle('GET', `/v1/notes/${id}`)
      return [status, await inPage.failure(() => inPage.engine.close())] as const
    })
    assert.equal(seen[0], 200)
    assert.match(seen[1], lost)
    const earlier = await next.evaluate(async () => {
      await inPage.open('large')
      const texts = await inPage.texts()
      inPage.failures.length = 0
      await inPage.add('y'.repeat(5_000_000))
      return texts
    })
    assert.deepEqual(earlier, ['of the seed'])
    await next.waitForFunction(() => inPage.failures.length > 0)
    await quota(1e9)
    const later = await next.evaluate(async () => {
      await inPage.engine.close()
      await inPage.open('large')
      return [inPage.failures, (await inPage.texts()).map(text => text.length)] as const
    })
    assert.match(later[0].join('\n'), lost)
    assert.deepEqual(later[1], ['of the seed'.length, 5_000_000])
    await next.close()
  })

  it('refuses names that are none, and pages without Web Locks', async () => {
    const next = await another()
    const [odd, none] = await next.evaluate(async () => {
      const first = await inPage.failure(() => inPage.open('../x'))
      Object.defineProperty(navigator, 'locks', { value: undefined })
      return [first, await inPage.failure(() => inPage.open('x'))]
    })
    assert.match(odd, /^TypeError: RestEngine\.create: "persist" must be a name of at most 100 letters/)
    assert.match(
      none,
      /^Error: RestEngine\.create: "persist" needs the Web Locks of a page that is served over HTTPS, or from localhost\.$/,
    )
    await next.close()
  })

  it('is stored in IndexedDB, as whole, by a browser that cannot replace files', { timeout: 120_000 }, async () => {
    await opened.page.context().addInitScript('delete FileSystemFileHandle.prototype.createWritable')
    await endAmidWrites('IndexedDB')
  })
})

describe('persist on Node', () => {
  it('is refused, and a file is named', async () => {
    await assert.rejects(RestEngine.create({ entities: [Tag], persist: 'notes' }), {
      name: 'TypeError',
      message: `RestEngine.create: "persist" is for pages. On Node a file keeps the world: database: 'file.sqlite'.`,
    })
  })
})
