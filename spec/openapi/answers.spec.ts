/** Every answer is as the document says: of each operation that reads, with several ways to ask, and of writes and refusals. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import type { RestEngine } from '../../lib/index.ts'
import type { Resource } from '../../lib/model/model.ts'
import { Conformity } from './conformity.ts'
import type { HeldAnswer } from './conformity.ts'
import { worlds } from './worlds.ts'

/** Ways to ask that leave nothing out, and those that do. */
const WHOLE = ['', 'depth=2', 'limit=2&offset=1', 'quickstats']
const PARTS = ['depth=0', 'attributes=id', 'limit=0']

/** Options of documents that say the same in fewer or more words. */
const SHORT = {}
const LONG = [{ details: true }, { attributes: true }]

for (const { name, create, headers: headersOf } of worlds) {
  describe(`answers of the ${name}`, { timeout: 120_000 }, () => {
    let engine: RestEngine
    let headers: Record<string, string>
    before(async () => {
      engine = await create()
      headers = headersOf(engine)
    })
    after(() => engine.close())

    async function firstId(version: string, { plural, keyNames }: Resource): Promise<string | undefined> {
      const { body } = await engine.handle('GET', `/${version}/${plural}`, { limit: 1 }, undefined, { headers })
      const [record] = (body as Record<string, Record<string, unknown>[]>)[plural] ?? []
      const parts = keyNames.map(key => record?.[key])
      if (parts.some(part => part === undefined || part === null)) return undefined
      return parts.length === 1 ? encodeURIComponent(String(parts[0])) : parts.map(part => encodeURIComponent(String(part))).join('~')
    }

    const describedBy = async (version: string, forms: readonly object[], sparse = false): Promise<Conformity[]> => {
      const documents: Conformity[] = []
      for (const form of forms) documents.push(new Conformity(await engine.openapi({ version, ...form, sparse })))
      return documents
    }

    /** Holds an answer against all documents that are given: to ask once for each of them would take twice the time. */
    function assertAsDescribed(documents: readonly Conformity[], method: string, path: string, answer: HeldAnswer, shown = ''): void {
      for (const [index, document] of documents.entries()) {
        const faults = document.faultsOf(method, path, answer)
        if (faults.length > 0) assert.fail(`${method} ${path}${shown} ${answer.status}, document ${index}: ${faults.join('\n')}`)
      }
    }

    async function readAll(version: string, queries: readonly string[], documents: readonly Conformity[]): Promise<number> {
      let count = 0
      for (const resource of internalsOf(engine).modelOf(version)!.resources) {
        const id = await firstId(version, resource)
        const base = `/${version}/${resource.plural}`
        const paths = documents.flatMap(document =>
          document.operations.flatMap(({ template, pointer }) => {
            if (!pointer.endsWith('/get') || (template !== base && !template.startsWith(`${base}/`))) return []
            if (template.includes('{') && id === undefined) return []
            return document.expand(template, pointer).map(path => path.replace('{id}', id ?? ''))
          }),
        )
        let asked = 0
        for (const path of new Set(paths)) {
          // A path of an attribute is asked for in one way, and the next one in the next: all are answered alike.
          const ways = /^\/[^/]+\/[^/]+\/[^/]+\/./.test(path) ? [queries[asked++ % queries.length]!] : queries
          for (const [index, query] of ways.entries()) {
            // Of an answer without a body the headers are judged, which are the same however it is asked for.
            for (const method of index === 0 ? ['GET', 'HEAD'] : ['GET']) {
              const answer = await engine.handle(method, path, query, undefined, { headers })
              assertAsDescribed(documents, method, path, answer, `?${query}`)
              if (answer.status === 200) count++
            }
          }
        }
      }
      return count
    }

    it('are as the documents say, short and long ones, sparse or not', async () => {
      for (const version of engine.versions) {
        assert.ok((await readAll(version, WHOLE, await describedBy(version, [SHORT, ...LONG]))) > 50)
        // A sparse document asks for less of the same.
        assert.ok((await readAll(version, PARTS, await describedBy(version, [SHORT, ...LONG], true))) > 50)
      }
    })

    it('to writes and to mistakes are as the documents say', async () => {
      for (const version of engine.versions) {
        const [short, long] = [await describedBy(version, [SHORT]), await describedBy(version, LONG)]
        await using world = await engine.fork()
        const asked = new Set<string>()
        for (const [document, { template, pointer }] of [...short, ...long].flatMap(each =>
          each.operations.map(one => [each, one] as const),
        )) {
          const method = pointer.slice(pointer.lastIndexOf('/') + 1).toUpperCase()
          const first = document.expand(template, pointer)[0] ?? ''
          if (asked.has(`${method} ${first}`)) continue
          asked.add(`${method} ${first}`)
          // A path without an ID is one path.
          for (const path of new Set(['1', 'no-such-id', '0'].map(id => first.replace(/\{\w+\}/, id))))
            await assertWrites(world, { short, long }, method, path, path === first || path.split('/').includes('1'))
        }
      }
    })

    async function assertWrites(
      world: RestEngine,
      { short, long }: Readonly<Record<'short' | 'long', readonly Conformity[]>>,
      method: string,
      path: string,
      isFound: boolean,
    ): Promise<void> {
      // What is not there is told before most of what is wrong with a body.
      for (const body of isFound ? [{}, 7, null, [], { nonsense: 1 }, 'text'] : [{}, 7]) {
        const answer = await world.handle(method, path, method === 'GET' ? 'nonsense=1' : undefined, body, { headers })
        // That an ID links a record, in a POST to a list, is told with details alone.
        const links = method === 'POST' && (typeof body === 'number' || typeof body === 'string') && answer.status === 200
        assertAsDescribed(links ? long : [...short, ...long], method, path, answer, ` ${JSON.stringify(body)}`)
      }
      // A short document has refusals in their usual form alone.
      for (const more of [{ accept: 'application/problem+json' }, { 'if-match': '"never"' }]) {
        const answer = await world.handle(method, path, 'nonsense=1', {}, { headers: { ...headers, ...more } })
        assertAsDescribed(long, method, path, answer, ` ${JSON.stringify(more)}`)
      }
    }
  })
}
