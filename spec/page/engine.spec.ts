/** The engine in a page of Chromium answers as on Node, in the same bytes. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as library from '../../lib/index.ts'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { openPage, type OpenedPage } from './open-page.ts'
import type { InPage } from './shop-in-page.ts'
import { askShop, logInWith, makeShop, readHash, useMembers } from './shop.ts'

declare const inPage: InPage

describe('an engine in a page', { skip: NO_BROWSER }, () => {
  let opened: OpenedPage
  before(
    async () => {
      opened = await openPage('spec/page/shop-in-page.ts')
    },
    { timeout: 120_000 },
  )
  after(() => opened?.close())

  it('says that SQLite is to be loaded, and loads what is WebAssembly of SQLite', async () => {
    const create = await opened.page.evaluate(() => inPage.failure(() => inPage.RestEngine.create({ entities: [inPage.Event] })))
    assert.match(create, /SQLite is not loaded: call loadSqlite\(\) first/)
    const missing = await opened.page.evaluate(() => inPage.failure(() => inPage.loadSqlite('/missing.wasm')))
    assert.match(missing, /loadSqlite: .*\/missing\.wasm answers 404/)
    await opened.page.evaluate(() => inPage.loadSqlite('/sqlite3.wasm'))
  })

  /** The bytes of all that the page has loaded, compressed, and the number of scripts. */
  function weigh(): { scripts: number; bytes: number; wasm: number } {
    const sizes = [...opened.loaded].map(([path, content]) => ({ isWasm: path.endsWith('.wasm'), bytes: gzipSync(content).length }))
    const sum = (isWasm: boolean): number => sizes.reduce((all, each) => (each.isWasm === isWasm ? all + each.bytes : all), 0)
    return { scripts: sizes.filter(({ isWasm }) => !isWasm).length, bytes: sum(false), wasm: sum(true) }
  }

  it('loads 450 KB of scripts at most for a reading, MikroORM among them, and 395 KB of SQLite (gzip), and nothing of PostgreSQL', async () => {
    const status = await opened.page.evaluate(async () => {
      await using engine = await inPage.RestEngine.create({ entities: [inPage.Event] })
      return (await engine.handle('GET', '/v1/events')).status
    })
    assert.equal(status, 200)
    const { scripts, bytes, wasm } = weigh()
    console.log(`# ${scripts} scripts: ${bytes} bytes, SQLite: ${wasm} bytes`)
    assert.ok(scripts <= 12, `${scripts} scripts`)
    assert.ok(bytes < 450_000, `${bytes} bytes of scripts`)
    assert.ok(wasm < 395_000, `${wasm} bytes of WebAssembly`)
    const text = [...opened.loaded.values()].map(String).join('\n')
    for (const foreign of ['pg_advisory', '<!doctype html><html', 'self-test:', 'must be a JSON object of', 'Ed25519'])
      assert.ok(!text.includes(foreign), foreign)
  })

  it('loads 90 KB more at most for a seed, a write, bytes and a log-in', async () => {
    const before = weigh()
    const statuses = await opened.page.evaluate(async () => {
      const shop = await inPage.makeShop(inPage.library)
      const logIn = { email: 'ann@example.test', password: 'pass of ann' }
      const answers = [await shop.handle('POST', '/v1/orders', undefined, { total: '1', user: 1 })]
      answers.push(await shop.handle('POST', '/v1/login', undefined, logIn))
      return answers.map(({ status }) => status)
    })
    assert.deepEqual(statuses, [200, 200])
    const after = weigh()
    console.log(`# ${after.scripts - before.scripts} more scripts: ${after.bytes - before.bytes} bytes`)
    assert.ok(after.scripts <= 30, `${after.scripts} scripts`)
    assert.ok(after.bytes - before.bytes < 90_000, `${after.bytes - before.bytes} bytes of scripts`)
  })

  it('answers in the bytes of Node: reads, nested writes, hooks that wait, log-in, refusals, lists as CSV, worlds', async () => {
    const onNode = await makeShop(library)
    const wanted = await askShop(onNode)
    await onNode.close()
    const answers = await opened.page.evaluate(() => inPage.ask())
    for (const [index, answer] of wanted.entries()) assert.equal(answers[index], answer)
    assert.equal(answers.length, wanted.length)
  })

  it('has the members of an engine: expect, given, explain, faults, the self-test, descriptions', async () => {
    const onNode = await makeShop(library)
    const wanted = await useMembers(onNode)
    await onNode.close()
    const found = await opened.page.evaluate(() => inPage.useMembers())
    for (const [member, value] of Object.entries(wanted)) assert.deepEqual([member, found[member]], [member, value])
  })

  it('has the password hashes of Node, and Node its own', async () => {
    const onNode = await makeShop(library)
    assert.equal(await opened.page.evaluate(hash => inPage.logInWith(hash), await readHash(onNode)), 200)
    assert.equal(await logInWith(onNode, await opened.page.evaluate(() => inPage.readHash())), 200)
    await onNode.close()
  })

  it('refuses a call that waits for the write of its own hook, and says how the hook asks', { timeout: 30_000 }, async () => {
    const [nested, answer, after] = await opened.page.evaluate(async () => {
      const found: unknown[] = []
      const shop = await inPage.makeShop(inPage.library, {
        // A function with a name of its own would call a helper of esbuild, where another spec has changed the loader.
        lost: () =>
          ({
            handle: async (...call: Parameters<typeof shop.handle>) => {
              const inner = await shop.handle(...call)
              found.push(inner.body.detail)
              return inner
            },
          }) as typeof shop,
      })
      const outer = await shop.handle('PATCH', '/v1/tags/1', undefined, { name: 'changed' })
      return [found, outer.status, (await shop.handle('GET', '/v1/events')).body.count]
    })
    assert.match(String(nested), /^Another transaction has been open for 5 seconds\. In a page, .* ctx\.ask, ctx\.engine or ctx\.em\.$/)
    assert.deepEqual([answer, after], [200, 0])
  })

  it('puts itself in the place of an origin for the fetch of the page, until the end', async () => {
    const seen = await opened.page.evaluate(async () => {
      const own = fetch
      const shop = await inPage.makeShop(inPage.library)
      const api = shop.intercept('https://api.example.test')
      const answer = await fetch('https://api.example.test/v1/tags', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"x"}',
      })
      const passed = (await fetch('/sqlite3.wasm')).status
      const twice = await inPage.failure(async () => shop.intercept('https://api.example.test/'))
      const odd = await inPage.failure(async () => shop.intercept('https://b.example.test', { everywhere: true }))
      api.dispose()
      const strict = shop.intercept('https://api.example.test', { strict: true })
      const refused = await inPage.failure(() => fetch('https://other.example.test/'))
      strict[Symbol.dispose]()
      const left = shop.intercept('https://api.example.test')
      await shop.close()
      return { status: answer.status, passed, twice, odd, refused, origins: left.origins, isBack: fetch === own }
    })
    assert.deepEqual(seen, {
      status: 200,
      passed: 200,
      twice: 'Error: intercept: https://api.example.test is intercepted already.',
      odd: 'TypeError: intercept: "everywhere" is not possible in a page.',
      refused: 'TypeError: fetch: https://other.example.test is not intercepted, and an interception is strict.',
      origins: ['https://api.example.test'],
      isBack: true,
    })
  })

  it('refuses in one line what needs files, servers or Node', async () => {
    const refused = await opened.page.evaluate(async () => {
      const { RestEngine, Tag, failure, library: given } = inPage
      const shop = await inPage.makeShop(given)
      return [
        await failure(() => RestEngine.create({ entities: [Tag], database: 'data.sqlite' })),
        await failure(() => RestEngine.create({ entities: [Tag], database: 'postgres://localhost/shop' })),
        await failure(() => shop.record('failure.mikro')),
        await failure(() => shop.within(() => 1)),
      ]
    })
    assert.match(refused[0]!, /^TypeError: RestEngine\.create: "database" must be ":memory:" in a page/)
    assert.match(refused[1]!, /^TypeError: RestEngine\.create: "database" must be ":memory:" in a page/)
    assert.match(refused[2]!, /needs Node, and the engine runs in a page/)
    assert.match(refused[3]!, /^Error: within: not possible in a page/)
  })

  it('complains of nothing but the AsyncLocalStorage that MikroORM looks for', () => {
    const others = opened.complaints.filter(each => !/AsyncLocalStorage not available|404/.test(each))
    assert.deepEqual(others, [])
  })
})
