/** Readings on PostgreSQL: the same random worlds and requests give the same bytes as on SQLite. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { after, before, describe, it } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import { check, sample } from '../helpers/check.ts'
import { buildWorld, loadWorld, withoutNul, worldData } from '../property/world/data.ts'
import { entities, resources } from '../property/world/entities.ts'
import { itemPath } from '../property/world/harness.ts'
import { expandArb, filterArb, formArb, sortArb, written } from '../property/world/queries.ts'
import type { Form } from '../property/world/queries.ts'
import { findNoServer } from './server-database.ts'
import { openServerEngine } from './server.ts'
import type { ServerEngine } from './server.ts'

const skip = await findNoServer()

for (let n = 0; n < 2; n++) {
  const world = buildWorld(withoutNul(sample(worldData(16), n)))
  describe(`reading from PostgreSQL, world ${n}`, { skip }, () => {
    const causes: unknown[] = []
    let lite: RestEngine
    let server: ServerEngine
    before(async () => {
      lite = await RestEngine.create({ entities })
      await loadWorld(lite, world)
      server = await openServerEngine({ entities, onError: error => causes.push(error) })
      await loadWorld(server.engine, world)
      await server.copy()
    })
    after(async () => {
      await lite?.close()
      await server?.[Symbol.asyncDispose]()
    })

    async function compare(path: string, pairs: readonly (readonly [string, string])[], form: Form = 'object'): Promise<void> {
      const request = written(path, pairs, form)
      const [expected, given] = await Promise.all(
        [lite, server.engine].map(async engine => engine.handle('GET', request.path, request.query)),
      )
      const [one, other] = [expected!, given!].map(({ status, body }) =>
        JSON.stringify([status, { ...(body as object), timestamp: undefined }]),
      )
      assert.equal(other, one, `GET ${path} ${JSON.stringify(pairs)} ${causes.splice(0).join()}`)
    }

    for (const resource of resources) {
      const path = `/v1/${resource.name}`
      const label = (what: string): string => `${what} ${resource.name}`

      it(`filters ${resource.name}`, () =>
        check(
          fc.asyncProperty(fc.array(filterArb(world, resource), { minLength: 1, maxLength: 3 }), formArb, (pairs, form) =>
            compare(path, pairs, form),
          ),
          { label: label('filter'), runs: 30 },
        ))

      it(`sorts and pages ${resource.name}`, () =>
        check(
          fc.asyncProperty(sortArb(world, resource, 3), fc.nat({ max: 5 }), fc.nat({ max: 6 }), (sort, limit, offset) =>
            compare(path, [
              ['sort', sort],
              ['limit', String(limit)],
              ['offset', String(offset)],
            ]),
          ),
          { label: label('sort'), runs: 30 },
        ))

      it(`shows ${resource.name} with what they link`, () =>
        check(
          fc.asyncProperty(fc.nat({ max: 2 }), expandArb(world, resource), fc.nat(), async (depth, expand, pick) => {
            const shown = [['depth', String(depth)], ...(expand.length === 0 ? [] : [['expand', expand.join()]])] as [string, string][]
            await compare(path, shown)
            const row = world[resource.name]?.[pick % (world[resource.name]!.length || 1)]
            if (row !== undefined) await compare(itemPath(row), shown)
          }),
          { label: label('show'), runs: 8 },
        ))
    }
  })
}
