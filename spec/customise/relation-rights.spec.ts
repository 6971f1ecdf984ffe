/**
 * Rights on what relations lead to: kind of relation x action denied x form of the request. A relation to what the caller may not see is
 * unknown; to take an orphan away needs `delete` of it, to move or unlink a record by its own foreign key `update` of it, to make one
 * `create`.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Cascade, defineEntity, p } from '@mikro-orm/sqlite'
import { auth, RestEngine, resource } from '../../lib/index.ts'
import type { Action } from '../../lib/index.ts'
import { rows } from './world.ts'

const Project = defineEntity({
  name: 'Project',
  properties: {
    id: p.integer().primary(),
    audits: () => p.oneToMany(Audit).mappedBy('project').orphanRemoval(),
    tasks: () => p.oneToMany(Task).mappedBy('project'),
    parts: () => p.oneToMany(Part).mappedBy('project'),
    badge: () => p.oneToOne(Badge).mappedBy('project').nullable(),
    plan: () => p.oneToOne(Plan).mappedBy('project').orphanRemoval().nullable(),
    lead: () => p.manyToOne(Lead).nullable(),
    file: () => p.oneToOne(File).orphanRemoval().nullable(),
    labels: () => p.manyToMany(Label),
  },
})
const Audit = defineEntity({ name: 'Audit', properties: { id: p.integer().primary(), project: () => p.manyToOne(Project) } })
const Task = defineEntity({ name: 'Task', properties: { id: p.integer().primary(), project: () => p.manyToOne(Project).nullable() } })
const Part = defineEntity({ name: 'Part', properties: { id: p.integer().primary(), project: () => p.manyToOne(Project) } })
const Badge = defineEntity({
  name: 'Badge',
  properties: { id: p.integer().primary(), project: () => p.oneToOne(Project).inversedBy('badge').nullable() },
})
const Plan = defineEntity({
  name: 'Plan',
  properties: { id: p.integer().primary(), project: () => p.oneToOne(Project).inversedBy('plan').nullable() },
})
const Lead = defineEntity({ name: 'Lead', properties: { id: p.integer().primary() } })
const File = defineEntity({ name: 'File', properties: { id: p.integer().primary() } })
const Label = defineEntity({ name: 'Label', properties: { id: p.integer().primary() } })

const entities = [Project, Audit, Task, Part, Badge, Plan, Lead, File, Label]
/** Project 1 has the first record of each kind, project 2 the second one. */
const seed = {
  ...Object.fromEntries(['leads', 'files', 'labels'].map(name => [name, [{ id: 1 }, { id: 2 }, { id: 3 }]])),
  projects: [
    { id: 1, lead: 1, file: 1, labels: [1] },
    { id: 2, lead: 2, file: 2, labels: [2] },
  ],
  ...Object.fromEntries(
    ['audits', 'tasks', 'parts', 'badges', 'plans'].map(name => [
      name,
      [
        { id: 1, project: 1 },
        { id: 2, project: 2 },
      ],
    ]),
  ),
}

/** For each relation its entity, and what values of it need beside that it can be seen; a status where the model itself refuses. */
type Case = [value: unknown, needs: Action[], status?: number]
const RELATIONS: Record<string, { entity: object; sees: 'get' | 'list'; cases: Case[] }> = {
  audits: {
    entity: Audit,
    sees: 'list',
    cases: [
      [[], ['delete']],
      [[1], ['get']],
      [
        [1, 2],
        ['get', 'update'],
      ],
      [
        [1, {}],
        ['get', 'create'],
      ],
      [[{}], ['delete', 'create']],
    ],
  },
  tasks: {
    entity: Task,
    sees: 'list',
    cases: [
      [[], ['update']],
      [[1], ['get']],
      [
        [1, 2],
        ['get', 'update'],
      ],
      [
        [1, {}],
        ['get', 'create'],
      ],
    ],
  },
  parts: {
    entity: Part,
    sees: 'list',
    cases: [
      [[], ['update'], 409],
      [[1], ['get']],
      [
        [1, 2],
        ['get', 'update'],
      ],
    ],
  },
  badge: {
    entity: Badge,
    sees: 'get',
    cases: [
      [null, ['update']],
      [1, []],
      [{}, ['update', 'create']],
    ],
  },
  plan: {
    entity: Plan,
    sees: 'get',
    cases: [
      [null, ['delete']],
      [1, []],
    ],
  },
  lead: {
    entity: Lead,
    sees: 'get',
    cases: [
      [null, []],
      [2, []],
      [{}, ['create']],
    ],
  },
  file: {
    entity: File,
    sees: 'get',
    cases: [
      [null, ['delete']],
      [1, []],
      [3, ['delete']],
    ],
  },
  labels: {
    entity: Label,
    sees: 'list',
    cases: [
      [[], []],
      [[1, 2], ['get']],
      [
        [1, {}],
        ['get', 'create'],
      ],
    ],
  },
}

async function state(engine: RestEngine): Promise<unknown> {
  const tables = [...entities.map(({ meta }) => meta.className.toLowerCase()), 'project_labels']
  return Promise.all(tables.map(table => rows(engine, `select * from ${table}`)))
}

const ACTIONS = ['list', 'get', 'create', 'update', 'delete'] as const

for (const [name, { entity, sees, cases }] of Object.entries(RELATIONS)) {
  describe(`rights on what "${name}" leads to`, () => {
    for (const denied of ACTIONS) {
      it(`without ${denied}`, async () => {
        for (const rule of [false, () => Promise.resolve(false)]) {
          await using engine = await RestEngine.create({
            entities,
            seed,
            resources: [resource(entity as typeof Lead, { access: { [denied]: rule } })],
          })
          const start = await engine.snapshot()
          const before = await state(engine)
          for (const [value, needs, usual = 200] of cases) {
            for (const path of ['/v1/projects/1', `/v1/projects/1/${name}`]) {
              const isRecord = path.endsWith('/1')
              // At the path of a to-one an object changes what is linked.
              if (!isRecord && sees === 'get' && typeof value === 'object' && value !== null) continue
              const answer = await engine.handle('PUT', path, undefined, isRecord ? { [name]: value } : value)
              const text = `PUT ${path} ${JSON.stringify(value)}: ${JSON.stringify(answer.body)}`
              const unknown = isRecord ? 422 : 404
              const needed = needs.includes(denied)
              const expected = denied === sees ? unknown : !needed ? usual : denied === 'get' ? 422 : 403
              assert.equal(answer.status, expected, text)
              if (answer.status >= 400) assert.deepEqual(await state(engine), before, text)
              else await engine.restore(start)
              if (denied === sees && isRecord)
                assert.equal((answer.body as { errors: { code: string }[] }).errors[0]!.code, 'attribute_unknown')
            }
          }
        }
      })
    }

    it(`is unknown in a new record, and at its path, without ${sees}`, async () => {
      await using engine = await RestEngine.create({
        entities,
        seed,
        resources: [resource(entity as typeof Lead, { access: { [sees]: () => false } })],
      })
      const before = await state(engine)
      for (const [value] of cases) {
        const { status, body } = await engine.handle('POST', '/v1/projects', undefined, { [name]: value })
        const { body: never } = await engine.handle('POST', '/v1/projects', undefined, { nope: value })
        assert.equal(status, 422)
        assert.deepEqual(
          JSON.stringify(body)
            .replaceAll(name, 'nope')
            .replace(/"timestamp":"[^"]*"/, ''),
          JSON.stringify(never).replace(/"timestamp":"[^"]*"/, ''),
        )
      }
      for (const [method, body] of [
        ['GET'],
        ['PUT', []],
        ['PUT', null],
        ['PUT', {}],
        ['DELETE'],
        ...(sees === 'list' ? [['POST', {}]] : []),
      ] as [string, unknown?][]) {
        const answer = await engine.handle(method, `/v1/projects/1/${name}`, undefined, body)
        assert.ok(answer.status === 404 || (answer.status === 400 && method === 'PUT'), `${method} ${JSON.stringify(answer.body)}`)
      }
      assert.deepEqual(await state(engine), before)
    })
  })
}

describe('an orphan out of scope', () => {
  it('stays where the link to it is overwritten', async () => {
    await using engine = await RestEngine.create({ entities, seed, resources: [resource(File, { scope: () => ({ id: { $gt: 1 } }) })] })
    const { status, body } = await engine.handle('PUT', '/v1/projects/1', undefined, { file: 3 })
    assert.deepEqual([status, (body as { project: { file: unknown } }).project.file], [200, 3])
    assert.deepEqual(await rows(engine, 'select id from file'), [{ id: 1 }, { id: 2 }, { id: 3 }])
  })
})

describe('a record that needs a link to what may not be seen', () => {
  it('cannot be made, and what it needs is not named', async () => {
    await using engine = await RestEngine.create({ entities, seed, resources: [resource(Project, { access: { get: false } })] })
    const { status, body } = await engine.handle('POST', '/v1/audits', undefined, {})
    assert.deepEqual([status, (body as { code: string }).code], [403, 'forbidden'])
    assert.doesNotMatch(JSON.stringify(body), /project/i)
  })
})

describe('an embedded object that needs a link to what may not be seen', () => {
  const Owner = defineEntity({ name: 'Owner', properties: { id: p.integer().primary() } })
  const Mark = defineEntity({
    name: 'Mark',
    embeddable: true,
    properties: { text: p.string(), owner: () => p.manyToOne(Owner) },
  })
  const Sheet = defineEntity({
    name: 'Sheet',
    properties: { id: p.integer().primary(), mark: () => p.embedded(Mark).nullable() },
  })

  it('cannot be made where there was none, and what it needs is not named', async () => {
    for (const access of [{ get: false }, { get: () => false }]) {
      await using engine = await RestEngine.create({
        entities: [Owner, Sheet],
        seed: { owners: [{ id: 1 }], sheets: [{ id: 1 }] },
        resources: [resource(Owner, { access })],
      })
      for (const [method, path] of [
        ['PUT', '/v1/sheets/1'],
        ['POST', '/v1/sheets'],
      ] as const) {
        const { status, body } = await engine.handle(method, path, undefined, { mark: { text: 'x' } })
        assert.deepEqual([method, status, (body as { code: string }).code], [method, 403, 'forbidden'])
        assert.doesNotMatch(JSON.stringify(body), /owner/i)
      }
    }
  })
})

describe('OPTIONS of a relation to what may not be seen', () => {
  it('is 404 as for any other method', async () => {
    for (const get of [false, () => false, async () => false]) {
      await using engine = await RestEngine.create({ entities, seed, resources: [resource(Lead, { access: { get } })] })
      for (const method of ['OPTIONS', 'GET']) {
        const { status, body } = await engine.handle(method, '/v1/projects/1/lead')
        assert.deepEqual([method, status, (body as { code: string }).code], [method, 404, 'attribute_not_found'])
      }
      assert.equal((await engine.handle('OPTIONS', '/v1/projects/1/file')).status, 204)
    }
  })

  it('asks no rule on behalf of nobody', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden() },
    })
    await using engine = await RestEngine.create({
      entities: [...entities, User],
      seed: { ...seed, users: [{ id: 1, email: 'ann@example.test', password: 'x' }] },
      auth: auth({ entity: User }),
      resources: [resource(Lead, { access: { get: ctx => ctx.user!['id'] === 1 } })],
    })
    const headers = { authorization: `Bearer ${engine.token(1)}` }
    assert.equal((await engine.handle('OPTIONS', '/v1/projects/1/lead', undefined, undefined, { headers })).status, 204)
    assert.equal((await engine.handle('OPTIONS', '/v1/projects/1/lead')).status, 404)
    assert.equal((await engine.handle('OPTIONS', '/v1/projects/1/file')).status, 204)
  })
})

describe('an orphan that is removed', () => {
  const Box = defineEntity({
    name: 'Box',
    properties: {
      id: p.integer().primary(),
      shelves: () => p.oneToMany(Shelf).mappedBy('box').orphanRemoval(),
      lid: () => p.oneToOne(Lid).nullable().orphanRemoval(),
    },
  })
  const Shelf = defineEntity({
    name: 'Shelf',
    properties: {
      id: p.integer().primary(),
      box: () => p.manyToOne(Box),
      tools: () => p.oneToMany(Tool).mappedBy('shelf').cascade(Cascade.REMOVE),
    },
  })
  const Tool = defineEntity({ name: 'Tool', properties: { id: p.integer().primary(), shelf: () => p.manyToOne(Shelf) } })
  const Lid = defineEntity({
    name: 'Lid',
    properties: { id: p.integer().primary(), knobs: () => p.oneToMany(Knob).mappedBy('lid').cascade(Cascade.REMOVE) },
  })
  const Knob = defineEntity({ name: 'Knob', properties: { id: p.integer().primary(), lid: () => p.manyToOne(Lid) } })

  it('takes with it what DELETE of it does', async () => {
    await using engine = await RestEngine.create({
      entities: [Box, Shelf, Tool, Lid, Knob],
      seed: {
        boxes: [{ id: 1, lid: 1 }],
        shelves: [
          { id: 1, box: 1 },
          { id: 2, box: 1 },
        ],
        tools: [
          { id: 1, shelf: 1 },
          { id: 2, shelf: 2 },
        ],
        lids: [{ id: 1 }, { id: 2 }],
        knobs: [
          { id: 1, lid: 1 },
          { id: 2, lid: 2 },
        ],
      },
    })
    const { status, body } = await engine.handle('PUT', '/v1/boxes/1', undefined, { shelves: [2], lid: 2 })
    assert.equal(status, 200, JSON.stringify(body))
    for (const table of ['shelf', 'tool', 'lid', 'knob'])
      assert.deepEqual(await rows(engine, `select id from ${table}`), [{ id: 2 }], table)
  })
})
