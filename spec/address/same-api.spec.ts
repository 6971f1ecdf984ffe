/**
 * The law of addresses: an engine answers the same wherever it is. Each request is asked of a plain engine below `/v1`, and of one at
 * another address by each way in: the answers differ in the beginning of their paths alone.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RestEngine } from '../../lib/index.ts'
import { create, waysIn } from './world.ts'
import type { Answer, Ask } from './world.ts'

const ADDRESSES = [
  { base: '/api', versions: ['v1'] },
  { base: '', versions: [] },
  { base: '/api', versions: [] },
  { base: '/a/b%20c', versions: ['v1', 'v2'] },
  // A base that is named as a resource is, and as a version.
  { base: '/books', versions: [] },
  { base: '/v1/v2', versions: ['v1'] },
]

const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/books?limit=2'],
  ['GET', '/books?limit=2&offset=2&sort=title.desc&author.name=A*'],
  ['GET', '/books/'],
  ['HEAD', '/books'],
  ['OPTIONS', '/books'],
  ['OPTIONS', '/books/1/author'],
  ['GET', '/book/1?expand=author'],
  ['GET', '/books/1/title'],
  ['GET', '/authors/1/books?limit=1&offset=1'],
  ['POST', '/books', { title: 'f', author: 2 }],
  ['POST', '/book', { title: 'g', author: { name: 'Cid' } }],
  ['POST', '/authors/1/books', { title: 'h' }],
  ['PUT', '/books/1', { title: 'i' }],
  ['PUT', '/books/1/title', 'j'],
  ['DELETE', '/books/1'],
  ['DELETE', '/authors/1/books?title=b'],
  // Refusals.
  ['GET', '/books/99'],
  ['GET', '/bokos'],
  ['GET', '/books/2/titel'],
  ['GET', '/books/2/author/3/4'],
  ['GET', '/books//2'],
  ['GET', '/books?nme=1'],
  ['PATCH', '/books'],
  ['POST', '/books', { title: 5 }],
  ['GET', '/openapi.json?depth=1'],
]

/** An answer as it would be at another address. The texts of errors may say more than paths. */
function moved({ status, headers, body }: Answer, root: string): object {
  const { location, allow } = headers as Record<string, string | undefined>
  const text = body === undefined ? '' : JSON.stringify(body).replaceAll('"/v1/', `"${root}/`)
  const all = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>)
  const shown = all?.['success'] === false ? { code: all['code'] } : all
  return { status, allow, location: location?.replace(/^\/v1/, root), body: shown }
}

async function compare(plain: Ask, asked: Ask, root: string, versions: readonly string[]): Promise<void> {
  for (const [method, path, body] of REQUESTS) {
    const expected = moved(await plain(method, `/v1${path}`, body), root)
    const index = (expected as { body?: { versions?: unknown } }).body
    if (index?.versions !== undefined) index.versions = versions
    // Without base and version the index is the root alone.
    const answer = await asked(method, root + path || '/', body)
    assert.deepEqual(moved(answer, '/v1'), expected, `${method} ${root}${path}`)
  }
}

describe('an engine at another address', () => {
  for (const { base, versions } of ADDRESSES) {
    const root = base + (versions[0] === undefined ? '' : `/${versions[0]}`)
    for (const { name, says, open } of waysIn) {
      const placed = async (engine: RestEngine, own?: string): Promise<void> => {
        await using plain = await create()
        await using way = await open(engine, own)
        const ask: Ask = async (method, path, body) => plain.handle(method, path, undefined, body)
        await compare(ask, way.ask, root, versions)
      }
      it(`answers as at /v1: ${root || '/'} by ${name}`, async () => {
        await using engine = await create({ base, versions })
        assert.equal(engine.base, base)
        assert.deepEqual(engine.versions, versions)
        await placed(engine)
      })
      if (says && base !== '') {
        it(`answers as at /v1: ${root} that ${name} says`, async () => {
          await using engine = await create({ base: '/elsewhere', versions })
          await placed(engine, base)
        })
      }
    }
  }
})
