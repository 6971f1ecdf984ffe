/** One scope for all resources that have a property. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Tenant = defineEntity({ name: 'Tenant', properties: { id: p.integer().primary() } })
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string().nullable(), tenant: () => p.manyToOne(Tenant) },
})
const Task = defineEntity({
  name: 'Task',
  properties: {
    id: p.integer().primary(),
    done: p.boolean().default(false),
    tenant: p.integer(),
    note: () => p.manyToOne(Note).nullable(),
  },
})
const Color = defineEntity({ name: 'Color', properties: { id: p.integer().primary() } })
const entities = [Tenant, Note, Task, Color]
const seed = {
  tenants: [{ id: 1 }, { id: 2 }],
  notes: [
    { id: 1, tenant: 1 },
    { id: 2, tenant: 2 },
  ],
  tasks: [
    { id: 1, tenant: 1, note: 1 },
    { id: 2, tenant: 2, note: 2 },
    { id: 3, tenant: 1, note: 2, done: true },
  ],
  colors: [{ id: 1 }],
}

/** What the header says of the caller. */
const GIVEN: Readonly<Record<string, unknown>> = { one: 1, both: [1, 2], above: { $in: [2] }, all: true, null: null, no: false }

describeStores('a scope of all resources', () => {
  for (const [how, wrap] of [
    ['at once', (value: unknown) => value],
    ['by a promise', async (value: unknown) => value],
  ] as const) {
    it(`holds for each that has the property, beside one of its own, and a note names the others: ${how}`, async () => {
      await using engine = await createEngine({
        entities,
        seed,
        resources: [resource(Task, { scope: () => ({ done: false }) })],
        defaults: { scope: { tenant: ctx => wrap(GIVEN[ctx.headers['x-tenant'] ?? '']) } },
      })
      assert.deepEqual(
        engine.notes.filter(note => note.includes('defaults.scope')),
        ['tenants, colors: without the scope of all (defaults.scope), since the entity has no "tenant", and no scope of its own.'],
      )
      const ask = (method: string, path: string, tenant: string | undefined, body?: object) =>
        engine.handle(method, path, undefined, body, { headers: tenant === undefined ? {} : { 'x-tenant': tenant } })
      const ids = async (path: string, tenant?: string): Promise<unknown> => {
        const { body } = await ask('GET', path, tenant)
        return (body[body.resource as string] as { id: number }[]).map(({ id }) => id)
      }
      const wanted = { one: [1], both: [1, 2], above: [2], all: [1, 2], null: [], no: [], other: [] }
      for (const [tenant, found] of Object.entries(wanted)) {
        assert.deepEqual([await ids('/v1/notes', tenant), await ids('/v1/tasks', tenant)], [found, found], tenant)
        assert.deepEqual(await ids('/v1/colors', tenant), [1])
      }
      assert.deepEqual([await ids('/v1/notes'), await ids('/v1/tasks')], [[], []])
      for (const [method, path, body] of [
        ['GET', '/v1/notes/2'],
        ['PATCH', '/v1/notes/2', { text: 'x' }],
        ['DELETE', '/v1/notes/2'],
      ] as const)
        assert.equal((await ask(method, path, 'one', body)).status, 404)
      assert.equal((await ask('POST', '/v1/notes', 'one', { tenant: 2 })).status, 403)
      assert.equal((await ask('PATCH', '/v1/notes/1', 'one', { tenant: 2 })).status, 403)
      assert.equal((await ask('POST', '/v1/notes', undefined, { tenant: 1 })).status, 403)
      assert.equal((await ask('POST', '/v1/notes', 'one', { tenant: 1 })).status, 200)
      assert.deepEqual(await ids('/v1/tasks?note.id=2', 'one'), [])
    })
  }

  it('refuses a property that no entity has, and what is no function', async () => {
    const make = (scope: unknown): Promise<unknown> => createEngine({ entities, defaults: { scope } as never })
    await assert.rejects(make({ tennant: () => 1 }), /defaults\.scope: no entity has a property "tennant"\. Did you mean "tenant"\?/)
    await assert.rejects(make({ tenant: 1 }), /"defaults"\.scope must be an object of functions/)
    await assert.rejects(
      make(() => ({ tenant: 1 })),
      /"defaults"\.scope must be an object of functions/,
    )
    await assert.rejects(createEngine({ entities, defaults: { scopes: {} } as never }), /defaults: .*Did you mean "scope"\?/)
  })

  it('shows no row to a caller without a value, and none whose own value is null', async () => {
    const Memo = defineEntity({ name: 'Memo', properties: { id: p.integer().primary(), tenant: p.integer().nullable() } })
    await using engine = await createEngine({
      entities: [Memo],
      seed: { memos: [{ id: 1 }, { id: 2, tenant: 1 }] },
      defaults: { scope: { tenant: ctx => GIVEN[ctx.headers['x-tenant'] ?? ''] } },
    })
    const count = async (headers: Record<string, string>): Promise<unknown> =>
      ((await engine.handle('GET', '/v1/memos', undefined, undefined, { headers })).body as { count: unknown }).count
    for (const headers of [{}, { 'x-tenant': 'null' }, { 'x-tenant': 'no' }] as Record<string, string>[])
      assert.equal(await count(headers), 0)
    assert.deepEqual([await count({ 'x-tenant': 'one' }), await count({ 'x-tenant': 'all' })], [1, 2])
  })
})
