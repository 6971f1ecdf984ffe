/**
 * Tenants: whatever rows another tenant has, every request of a tenant, reading or writing, is answered the same, and the other one's rows
 * stay as they are. What the database itself shares is left out: values that are unique over all rows, and IDs that it counts.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { after, before, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntityName } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import type { EngineOptions, HookContext, RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

/**
 * What identifies rows: the primary key; or, where clients know them by another one, a number that takes the place of it, and a primary key
 * that nobody sees.
 */
const BY_ID = { id: p.integer().primary() }
const BY_NUMBER = { id: p.integer().primary().hidden(), number: p.integer().unique() }

function defineModel(ids: typeof BY_ID | typeof BY_NUMBER) {
  const Project = defineEntity({
    name: 'Project',
    properties: {
      ...ids,
      tenant: p.integer(),
      name: p.string(),
      lead: () => p.manyToOne(Member).nullable(),
      tasks: () => p.oneToMany(Task).mappedBy('project'),
      audits: () => p.oneToMany(Audit).mappedBy('project').orphanRemoval(),
      plan: () => p.oneToOne(Plan).mappedBy('project').nullable(),
      labels: () => p.manyToMany(Label).inversedBy('projects'),
    },
  })
  const Member = defineEntity({
    name: 'Member',
    properties: {
      ...ids,
      tenant: p.integer(),
      name: p.string(),
      boss: () => p.manyToOne(Member).nullable(),
      led: () => p.oneToMany(Project).mappedBy('lead'),
    },
  })
  const owned = { ...ids, tenant: p.integer(), name: p.string() }
  const Task = defineEntity({ name: 'Task', properties: { ...owned, project: () => p.manyToOne(Project).nullable() } })
  const Audit = defineEntity({ name: 'Audit', properties: { ...owned, project: () => p.manyToOne(Project) } })
  const Plan = defineEntity({
    name: 'Plan',
    properties: { ...owned, project: () => p.oneToOne(Project).inversedBy('plan').nullable() },
  })
  /** Is shared by all tenants, who cannot write it. */
  const Label = defineEntity({
    name: 'Label',
    properties: { id: p.integer().primary(), name: p.string(), projects: () => p.manyToMany(Project).mappedBy('labels') },
  })
  return { owned: [Project, Member, Task, Audit, Plan] as readonly EntityName[], Label }
}

const TABLES = ['project', 'member', 'task', 'audit', 'plan']
const [OWN, OTHER, NEW] = [0, 100, 200]
const NAMES = ['a', 'ab', 'B']

/** The rows of a tenant: records 1 to 3 of each kind, from a number on. */
function rowsOf(tenant: number, from: number, picks: readonly number[]) {
  const ids = [1, 2, 3].map(id => from + id)
  const pick = (index: number): number => picks[index % picks.length]!
  const link = (index: number): number => from + 1 + (pick(index) % 3)
  const all = (offset: number) => ids.map((id, index) => ({ id, tenant, name: NAMES[pick(offset + index) % 3]! }))
  return {
    members: all(0).map((row, index) => ({ ...row, boss: index === 0 ? null : from + 1 })),
    projects: all(3).map((row, index) => ({ ...row, lead: link(index), labels: [1 + (pick(index) % 2)] })),
    tasks: all(5).map((row, index) => ({ ...row, project: link(index + 1) })),
    audits: all(7).map((row, index) => ({ ...row, project: link(index + 2) })),
    plans: all(9).map((row, index) => ({ ...row, project: ids[index]! })),
  }
}

const id = fc.constantFrom(1, 2, 3, OTHER + 1, OTHER + 2, 77)
const name = fc.constantFrom(...NAMES)
const plural = fc.constantFrom('projects', 'members', 'tasks', 'audits', 'plans')
const relation = fc.constantFrom('lead', 'tasks', 'audits', 'plan', 'labels')
const RELATED: Readonly<Record<string, string>> = { lead: 'members', tasks: 'tasks', audits: 'audits', plan: 'plans' }

const query = fc.constantFrom(
  '',
  'sort=tasks.desc,audits,name',
  'sort=lead.led.desc',
  'depth=2&expand=lead.led,tasks',
  'depth=0',
  'name=a*',
  '!tasks=null',
  'tasks.name=a*,B',
  '!audits.name=a',
  'lead=101',
  'lead.led.tasks=101',
  'lead.boss=null',
  'labels.projects.tenant=2',
  'tenant=2',
  '!tenant=1',
  'plan.project.lead=101,1',
  'limit=1&offset=1',
)

interface Asked {
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly body?: unknown
}

const reading: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({ method: fc.constant('GET'), path: fc.constant('/v1/projects'), query }),
  fc.record({ method: fc.constant('GET'), path: fc.tuple(plural, id).map(([of, key]) => `/v1/${of}/${key}`) }),
  fc.record({ method: fc.constant('GET'), path: fc.tuple(id, relation).map(([key, to]) => `/v1/projects/${key}/${to}`) }),
  fc.record({
    method: fc.constant('GET'),
    path: fc.constant('/v1/labels'),
    query: fc.constantFrom('sort=projects.desc', 'depth=2', 'projects=101', 'projects.tasks.name=a', '!projects=null'),
  }),
  fc.record({ method: fc.constant('GET'), path: fc.constantFrom('/v1/labels/1/projects', '/v1/labels/2/projects'), query }),
)

const many = (of: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.uniqueArray(of, { maxLength: 3 })
const body = fc.record(
  {
    name,
    tenant: fc.constantFrom(1, 1, 1, 2),
    lead: fc.option(id),
    tasks: many(id),
    audits: many(id),
    plan: fc.option(id),
    labels: many(fc.constantFrom(1, 2, 3)),
  },
  { requiredKeys: [] },
)
const small = fc.record({ name, project: fc.option(id) }, { requiredKeys: [] })

const writing: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({ method: fc.constant('PUT'), path: id.map(key => `/v1/projects/${key}`), body }),
  fc.record({
    method: fc.constant('PUT'),
    path: fc.tuple(fc.constantFrom('tasks', 'audits', 'plans'), id).map(([of, key]) => `/v1/${of}/${key}`),
    body: small,
  }),
  fc.record({
    method: fc.constant('POST'),
    path: fc.constant('/v1/projects'),
    body: body.map(each => ({ id: NEW, name: 'n', tenant: 1, ...each })),
  }),
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom('/v1/tasks', '/v1/audits', '/v1/plans'),
    body: small.map(each => ({ id: NEW, name: 'n', tenant: 1, ...each })),
  }),
  fc.record({ method: fc.constant('DELETE'), path: fc.tuple(plural, id).map(([of, key]) => `/v1/${of}/${key}`) }),
  fc.tuple(id, relation).chain(([key, to]): fc.Arbitrary<Asked> => {
    const path = `/v1/projects/${key}/${to}`
    if (to === 'labels') return fc.record({ method: fc.constant('PUT'), path: fc.constant(path), body: many(fc.constantFrom(1, 2, 3)) })
    const linked = to === 'lead' || to === 'plan' ? fc.option(id) : many(id)
    return fc.oneof(
      fc.record({ method: fc.constant('PUT'), path: fc.constant(path), body: linked }),
      fc.constant({ method: 'DELETE', path }),
      fc.constant({ method: 'POST', path, body: { id: NEW + 1, name: 'p', tenant: 1 } }),
      fc.constant({ method: 'GET', path: `/v1/${RELATED[to]!}` }),
    )
  }),
)

type Ctx = Readonly<HookContext>

const tenantOf = (ctx: Ctx): number => Number(ctx.headers['x-tenant'])

/** The model with the rules of its resources. */
interface World {
  readonly options: EngineOptions
  /** The rows of a seed, and the body of a request, as the world takes them. */
  readonly toRow: (row: Record<string, unknown>) => Record<string, unknown>
  readonly toBody: (body: unknown) => unknown
}

function makePlain(): World {
  const { owned, Label } = defineModel(BY_ID)
  const scope = (ctx: Ctx) => ({ tenant: tenantOf(ctx) })
  return {
    options: {
      entities: [...owned, Label],
      resources: [
        ...owned.map(each => resource(each, { scope })),
        resource(Label, { access: { create: false, update: false, delete: false } }),
      ],
    },
    toRow: row => row,
    toBody: given => given,
  }
}

/**
 * The same records, by a key of the application, with the tenant that the engine fills in, an attribute that depends on the caller, and an
 * envelope.
 */
function makeKeyed(): World {
  const { owned, Label } = defineModel(BY_NUMBER)
  const rules = {
    key: 'number',
    scope: (ctx: Ctx) => ({ tenant: tenantOf(ctx) }),
    attributes: { tenant: { fill: { create: tenantOf } } },
    computed: { own: { type: 'boolean', sql: (row: string) => ({ sql: `${row}.tenant = ?`, params: [tenantOf] }) } },
  }
  const toNumber = ({ id: number, ...others }: Record<string, unknown>): Record<string, unknown> =>
    number === undefined ? others : { number, ...others }
  return {
    options: {
      entities: [...owned, Label],
      envelope: { list: { data: 'records', meta: { total: 'count', next: 'next' } }, record: { data: 'record' } },
      resources: [
        ...owned.map(each => resource(each, rules as never)),
        resource(Label, { access: { create: false, update: false, delete: false } }),
      ],
    },
    toRow: toNumber,
    toBody: given => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
      const { tenant, ...others } = given as Record<string, unknown>
      // That of another one is refused, as any is.
      return toNumber(tenant === 2 ? { tenant, ...others } : others)
    },
  }
}

for (const [title, make] of [
  ['tenants', makePlain],
  ['tenants by keys of their own', makeKeyed],
] as const)
  describeStores(title, () => {
    let engine: RestEngine
    const world = make()
    const seedOf = (rows: ReturnType<typeof rowsOf>): Record<string, Record<string, unknown>[]> =>
      Object.fromEntries(Object.entries(rows).map(([plural, each]) => [plural, each.map(world.toRow)]))

    before(async () => {
      engine = await createEngine({
        ...world.options,
        seed: { labels: [1, 2].map(key => ({ id: key, name: NAMES[key]! })), ...seedOf(rowsOf(1, OWN, [0, 1, 2, 1])) },
        clock: () => new Date(0),
      })
    })
    after(() => engine.close())

    const ask = async (of: RestEngine, { method, path, query: asked, body: given }: Asked) => {
      const { status, body: answer } = await of.handle(method, path, asked, world.toBody(given), { headers: { 'x-tenant': '1' } })
      return { status, body: answer as unknown }
    }
    const others = (of: RestEngine) =>
      Promise.all(
        [
          ...TABLES.map(table => `select * from ${table} where tenant = 2`),
          'select * from project_labels where project_id in (select id from project where tenant = 2)',
        ].map(sql => of.orm.em.getConnection().execute(sql)),
      )

    it('are answered alike whatever others have, whose rows stay', async () => {
      const answered = new Map<string, number>()
      await check(
        fc.asyncProperty(
          fc.array(fc.nat(8), { minLength: 3, maxLength: 8 }),
          fc.array(fc.oneof(reading, writing), { minLength: 1, maxLength: 8 }),
          async (picks, requests) => {
            await using alone = await engine.fork()
            await using beside = await engine.fork()
            await beside.seed(seedOf(rowsOf(2, OTHER, picks)))
            const kept = await others(beside)
            for (const asked of requests) {
              const expected = await ask(alone, asked)
              assert.notEqual(expected.status, 500)
              assert.deepEqual(await ask(beside, asked), expected, JSON.stringify(asked))
              const kind = `${asked.method} ${expected.status < 400 ? 'done' : 'refused'}`
              answered.set(kind, (answered.get(kind) ?? 0) + 1)
            }
            assert.deepEqual(await others(beside), kept)
          },
        ),
        { label: title, runs: 60 },
      )
      // A world that refuses all of a method would try nothing.
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        assert.ok((answered.get(`${method} refused`) ?? 0) < 40 || answered.has(`${method} done`), JSON.stringify([...answered]))
    })
  })
