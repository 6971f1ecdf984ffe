/** Every answer is as the document says: of each operation that reads, with several ways to ask, and of writes and refusals. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { internalsOf } from '../../lib/engine/pipeline/internals.ts'
import type { RestEngine } from '../../lib/index.ts'
import type { Resource } from '../../lib/model/model.ts'
import { Conformity } from './conformity.ts'
import { worlds } from './worlds.ts'

/** Ways to ask that leave nothing out, and those that do. */
const WHOLE = ['', 'depth=2', 'limit=2&offset=1', 'quickstats']
const PARTS = ['depth=0', 'attributes=id', 'limit=0']

const FORMS = { document: {}, 'document with details': { details: true }, 'document with all attributes': { attributes: true } }

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

    async function readAll(version: string, queries: readonly string[], conformity: Conformity): Promise<number> {
      let count = 0
      for (const resource of internalsOf(engine).modelOf(version)!.resources) {
        const id = await firstId(version, resource)
        const base = `/${version}/${resource.plural}`
        const paths = conformity.operations.flatMap(({ template, pointer }) => {
          if (!pointer.endsWith('/get') || (template !== base && !template.startsWith(`${base}/`))) return []
          if (template.includes('{') && id === undefined) return []
          return conformity.expand(template, pointer).map(path => path.replace('{id}', id ?? ''))
        })
        for (const path of paths) {
          for (const query of queries) {
            for (const method of ['GET', 'HEAD']) {
              const answer = await engine.handle(method, path, query, undefined, { headers })
              assert.deepEqual(conformity.faultsOf(method, path, answer), [], `${method} ${path}?${query} ${answer.status}`)
              if (answer.status === 200) count++
            }
          }
        }
      }
      return count
    }

    for (const [document, form] of Object.entries(FORMS)) {
      it(`are as the ${document} says`, async () => {
        for (const version of engine.versions) {
          const conformity = new Conformity(await engine.openapi({ version, ...form }))
          assert.ok((await readAll(version, WHOLE, conformity)) > 50)
        }
      })

      it(`are as the sparse ${document} says, when requests leave something out`, async () => {
        for (const version of engine.versions) {
          const conformity = new Conformity(await engine.openapi({ version, ...form, sparse: true }))
          assert.ok((await readAll(version, [...PARTS, ...WHOLE], conformity)) > 50)
        }
      })

      it(`to writes and to mistakes are as the ${document} says`, () => assertWrites(form))
    }

    async function assertWrites(form: object): Promise<void> {
      for (const version of engine.versions) {
        const conformity = new Conformity(await engine.openapi({ version, ...form }))
        await using world = await engine.fork()
        for (const operation of conformity.operations) {
          const method = operation.pointer.slice(operation.pointer.lastIndexOf('/') + 1).toUpperCase()
          for (const id of ['1', 'no-such-id', '0']) {
            const path = (conformity.expand(operation.template, operation.pointer)[0] ?? '').replace(/\{\w+\}/, id)
            for (const body of [{}, 7, null, [], { nonsense: 1 }, 'text']) {
              const answer = await world.handle(method, path, method === 'GET' ? 'nonsense=1' : undefined, body, { headers })
              assert.deepEqual(conformity.faultsOf(method, path, answer), [], `${method} ${path} ${JSON.stringify(body)}`)
            }
            // A short document has refusals in their usual form alone.
            if (Object.keys(form).length === 0) continue
            const problem = { ...headers, accept: 'application/problem+json' }
            const told = await world.handle(method, path, 'nonsense=1', {}, { headers: problem })
            assert.deepEqual(conformity.faultsOf(method, path, told), [], `${method} ${path} as a problem`)
            const other = await world.handle(method, path, 'nonsense=1', {}, { headers: { ...headers, 'if-match': '"never"' } })
            assert.deepEqual(conformity.faultsOf(method, path, other), [], `${method} ${path}`)
          }
        }
      }
    }
  })
}
