/**
 * Scopes: with a random scope, no answer of any request contains, counts or depends on a record outside it. An engine with scopes on all
 * rows must answer every request as an engine without scopes does on the rows in scope alone. Which rows those are MikroORM tells, by the
 * same conditions.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { after, before, describe, it } from 'node:test'
import { resource } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { check, costly, sample } from '../helpers/check.ts'
import { idOf, isRow, type FilterPair, type Resource, type Row, type Value } from '../helpers/oracle.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { buildWorld, loadWorld, withoutNul, worldData, type World } from './world/data.ts'
import { entities, Profile, Publisher, resources, Site, Tag, User, Visit } from './world/entities.ts'
import { itemPath } from './world/harness.ts'
import { attributesArb, expandArb, filterArb, formArb, sortArb, written } from './world/queries.ts'

type Condition = Record<string, unknown>
type Scopes = Readonly<Record<string, Condition>>

const ENTITIES: Readonly<Record<string, unknown>> = {
  publishers: Publisher,
  users: User,
  profiles: Profile,
  sites: Site,
  tags: Tag,
  visits: Visit,
}

/** Conditions of every kind: values, NULLs, negations, alternatives, through to-ones and lists. */
const conditions = {
  publishers: fc.constantFrom<Condition>(
    {},
    { name: { $ne: null } },
    { code: { $gt: 'a' } },
    // No letters: by itself MikroORM asks SQLite, for which LIKE has no case.
    { $not: { name: { $like: '___%' } } },
    { users: { $some: { age: { $gt: 3 } } } },
    { sites: { $none: { clicks: { $gt: 1 } } } },
  ),
  users: fc.constantFrom<Condition>(
    {},
    { age: { $gt: 4 } },
    { $or: [{ age: null }, { age: { $lte: 5 } }] },
    { role: { $in: ['admin', 'user'] } },
    { active: { $ne: true } },
    { $not: { active: true } },
    { boss: null },
    { boss: { role: 'user' } },
    { publisher: { name: { $ne: null } } },
    { tags: { $some: { name: { $ne: null } } } },
    { staff: { $none: { age: { $gt: 5 } } } },
    { home: { zip: { $gt: 1000 } } },
    { born: { $lt: new Date('2024-01-03') } },
  ),
  profiles: fc.constantFrom<Condition>({}, { bio: { $ne: null } }, { id: { $gt: 40 } }),
  sites: fc.constantFrom<Condition>(
    {},
    { clicks: { $gt: 0 } },
    { clicks: null },
    { publisher: { $ne: null } },
    { tags: { $some: { weight: { $gt: '0' } } } },
  ),
  tags: fc.constantFrom<Condition>({}, { name: { $ne: null } }, { weight: { $lt: '1' } }, { users: { $some: { age: { $gt: 2 } } } }),
  visits: fc.constantFrom<Condition>({}, { number: { $lt: 7 } }, { note: { $ne: null } }),
}

/** What cannot be without its owner is in scope with it only: a database without the owner could not hold it. */
const scopesArb: Arbitrary<Scopes> = fc.record(conditions).map(each => {
  const sites = { $and: [each.sites, { user: each.users }] }
  return { ...each, sites, profiles: { $and: [each.profiles, { user: each.users }] }, visits: { $and: [each.visits, { site: sites }] } }
})

/** The world as it would be, had the other rows never been. */
function reduced(world: World, kept: ReadonlySet<Row>): World {
  const empty = (of: Row['of']): { of: Row['of']; values: Record<string, Value> } => ({ of, values: {} })
  const copies = new Map([...kept].map(row => [row, empty(row.of)]))
  const copied = (value: Value): Value => {
    if (Array.isArray(value)) return value.flatMap(row => copies.get(row) ?? [])
    return isRow(value) ? (copies.get(value) ?? null) : value
  }
  for (const [row, copy] of copies) for (const [name, value] of Object.entries(row.values)) copy.values[name] = copied(value)
  return Object.fromEntries(Object.entries(world).map(([name, rows]) => [name, rows.flatMap(row => copies.get(row) ?? [])]))
}

/** The rows that MikroORM finds by the scopes. */
async function inScope(engine: RestEngine, world: World, scopes: Scopes): Promise<Set<Row>> {
  const kept = new Set<Row>()
  for (const [name, rows] of Object.entries(world)) {
    const found = (await engine.orm.em.fork().find(ENTITIES[name] as never, structuredClone(scopes[name]) as never)) as Record<
      string,
      unknown
    >[]
    const keys = new Set(
      found.map(entity =>
        name === 'visits' ? `${(entity['site'] as { id: number }).id}~${String(entity['number'])}` : (entity['code'] ?? entity['id']),
      ),
    )
    for (const row of rows) if (keys.has(idOf(row))) kept.add(row)
  }
  return kept
}

/** One request that reads: a list, a record or what is behind an attribute; any row is asked for, in scope or not. */
function requestArb(world: World): Arbitrary<{ path: string; pairs: FilterPair[] }> {
  const listOf = (of: Resource, paths: Arbitrary<string>) =>
    fc.record({
      path: paths,
      pairs: fc
        .tuple(
          fc.array(filterArb(world, of, 3), { maxLength: 2 }),
          fc.option(sortArb(world, of, 3), { nil: undefined }),
          fc.option(fc.nat(4), { nil: undefined }),
          fc.option(fc.nat(4), { nil: undefined }),
          viewArb(of),
        )
        .map(([filters, sort, limit, offset, view]): FilterPair[] => [
          ...filters,
          ...pair('sort', sort),
          ...pair('limit', limit),
          ...pair('offset', offset),
          ...view,
        ]),
    })
  const viewArb = (of: Resource): Arbitrary<FilterPair[]> =>
    fc
      .tuple(
        fc.option(fc.constantFrom(0, 1, 2), { nil: undefined }),
        fc.option(expandArb(world, of, 2), { nil: undefined }),
        fc.option(attributesArb(world, of, 1), { nil: undefined }),
      )
      .map(([depth, expand, attributes]) => [
        ...pair('depth', depth),
        ...pair('expand', expand?.join()),
        ...pair('attributes', attributes?.join()),
      ])
  const pair = (name: string, value: string | number | undefined): FilterPair[] =>
    value === undefined || value === '' ? [] : [[name, String(value)]]
  return fc.constantFrom(...resources).chain(of => {
    const rows = world[of.name] ?? []
    const lists = listOf(of, fc.constant(`/v1/${of.name}`))
    if (rows.length === 0) return lists
    const row = fc.constantFrom(...rows)
    const record = fc.record({ path: row.map(itemPath), pairs: viewArb(of) })
    const behind = fc.constantFrom(...Object.entries(of.attributes)).chain(([name, attribute]) => {
      const paths = row.map(one => `${itemPath(one)}/${name}`)
      if (attribute.kind === 'many') return listOf(attribute.target(), paths)
      return fc.record({ path: paths, pairs: attribute.kind === 'one' ? viewArb(attribute.target()) : fc.constant<FilterPair[]>([]) })
    })
    return fc.oneof({ weight: 3, arbitrary: lists }, { weight: 1, arbitrary: record }, { weight: 2, arbitrary: behind })
  })
}

describeStores('scope', store => {
  /** One engine with scopes and one without, which hold one world after the other. */
  let whole: RestEngine
  let part: RestEngine
  let scopes: Scopes
  const causes: unknown[] = []
  const onError = (error: unknown): number => causes.push(error)
  before(async () => {
    const scoped = Object.entries(ENTITIES).map(([name, entity]) => resource(entity as typeof User, { scope: () => scopes[name] as never }))
    whole = await createEngine({ entities, onError, resources: scoped })
    part = await createEngine({ entities, onError })
  })
  after(async () => {
    await whole?.close()
    await part?.close()
  })

  for (let n = 0; n < 6; n++) {
    const own = sample(scopesArb, n)
    describe(`world ${n}: ${JSON.stringify(own)}`, () => {
      const data = sample(worldData(12), n)
      // By itself MikroORM asks SQLite's LIKE, which ends at a NUL.
      const mayHaveNul = store.name !== 'postgres' && !JSON.stringify(own).includes('$like')
      const world = buildWorld(mayHaveNul ? data : withoutNul(data))
      before(async () => {
        scopes = own
        await Promise.all([whole.reset(), part.reset()])
        await loadWorld(whole, world)
        await loadWorld(part, reduced(world, await inScope(whole, world, scopes)))
      })

      it('answers as if the rows outside had never been', () =>
        check(
          fc.asyncProperty(requestArb(world), formArb, fc.boolean(), async ({ path, pairs }, form, puts) => {
            const request = written(path, pairs, form)
            // A change of nothing answers with the record, and reads by the writing stages.
            const isRecord = path.split('/').length === 4
            const [method, body] = isRecord && puts ? ['PUT', {}] : ['GET', undefined]
            const answers = await Promise.all([whole, part].map(engine => engine.handle(method, request.path, request.query, body)))
            const [one, other] = answers.map(answer => ({ ...answer, body: { ...(answer.body as object), timestamp: '' } }))
            assert.ok(one!.status < 500 && other!.status < 500, `${method} ${path} ${JSON.stringify(pairs)}: ${causes.splice(0).join()}`)
            assert.deepEqual(one, other, `${method} ${path} ${JSON.stringify(pairs)}`)
          }),
          { label: `scope ${n}`, runs: costly(250) },
        ))
    })
  }
})
