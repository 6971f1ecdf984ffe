/** The journal: which requests are in it, what is told of them, which rows they have changed, and what is never told. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import type { EventArgs, FlushEventArgs } from '@mikro-orm/sqlite'
import { RestEngine, RestError, auth, resource } from '../../lib/index.ts'
import type { Change, EngineOptions, JournalEntry } from '../../lib/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { entities as plainEntities } from '../kinds/plain.ts'

/** What hooks of orders do, set by each test. */
let onOrder: (args: EventArgs<object>) => Promise<void> | void = () => {}

const Address = defineEntity({
  name: 'Address',
  embeddable: true,
  properties: { street: p.string(), gate: p.string().hidden().nullable() },
})
const Customer = defineEntity({
  name: 'Customer',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    pin: p.string().hidden().nullable(),
    address: () => p.embedded(Address).nullable(),
    billing: () => p.embedded(Address).object().nullable(),
    orders: () => p.oneToMany(Order).mappedBy('customer'),
    notes: () => p.oneToMany(Note).mappedBy('customer'),
  },
})
const Order = defineEntity({
  name: 'Order',
  tableName: 'order',
  properties: {
    id: p.integer().primary(),
    title: p.string().unique(),
    total: p.decimal().precision(10).scale(2).nullable(),
    serial: p.bigint().nullable(),
    placed: p.datetime().nullable(),
    day: p.date().nullable(),
    paid: p.boolean().default(false),
    data: p.json().nullable(),
    bytes: p.blob().nullable(),
    shout: p.string().formula(columns => `upper(${columns['title' as never] as string})`),
    customer: () => p.manyToOne(Customer).deleteRule('cascade'),
    labels: () => p.manyToMany(Label).inversedBy('orders'),
    slip: () => p.oneToOne(Slip).mappedBy('order').nullable(),
  },
  hooks: {
    afterCreate: [
      async (args: EventArgs<object>): Promise<void> => {
        await onOrder(args)
      },
    ],
  },
})
const Slip = defineEntity({
  name: 'Slip',
  properties: { id: p.integer().primary(), order: () => p.oneToOne(Order).inversedBy('slip').deleteRule('cascade') },
})
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), customer: () => p.manyToOne(Customer).nullable().deleteRule('set null') },
})
const Label = defineEntity({
  name: 'Label',
  properties: { id: p.integer().primary(), name: p.string(), orders: () => p.manyToMany(Order).mappedBy('labels') },
})
const Seat = defineEntity({
  name: 'Seat',
  properties: { row: p.integer().primary(), letter: p.string().primary(), taken: p.boolean().default(false) },
})
const entities = [Customer, Order, Slip, Note, Label, Seat, Address]
const data = {
  customers: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  labels: [
    { id: 1, name: 'red' },
    { id: 2, name: 'blue' },
    { id: 3, name: 'big' },
  ],
}

async function start(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  onOrder = () => {}
  return RestEngine.create({ entities, seed: data, ...options })
}

/** The last request, which must have been answered. */
function last(engine: RestEngine): JournalEntry {
  const entry = engine.requests.at(-1)
  assert.ok(entry !== undefined)
  return entry
}

async function changesOf(engine: RestEngine, ...request: Parameters<RestEngine['handle']>): Promise<readonly Change[]> {
  const { status, body } = await engine.handle(...request)
  assert.ok(status < 300, JSON.stringify(body))
  return last(engine).changes!
}

function brief(changes: readonly Change[]): string[] {
  return changes.map(({ type, resource: name, id }) => `${type} ${name} ${id}`)
}

describe('the journal', () => {
  it('has every request with what was sent, what was answered and how long it took', async () => {
    await using engine = await start()
    await engine.handle('get', '/v1/customers/?name=A*', { 'id>=': 1, sort: 'name' })
    const { body } = await engine.handle('POST', '/v1/customers', undefined, { name: 'Cid' })
    const [list, created] = engine.requests
    assert.deepEqual(Object.keys(list!), [
      'id',
      'at',
      'method',
      'path',
      'query',
      'body',
      'status',
      'response',
      'duration',
      'changes',
      'nested',
    ])
    assert.equal(list!.method, 'GET')
    assert.equal(list!.path, '/v1/customers')
    assert.deepEqual(list!.query, [
      ['name', 'A*'],
      ['id>=', '1'],
      ['sort', 'name'],
    ])
    assert.equal(list!.body, undefined)
    assert.equal(list!.status, 200)
    assert.deepEqual(
      list!.response.customers.map(({ name }: { name: string }) => name),
      ['Ann'],
    )
    assert.ok(list!.duration > 0 && list!.duration < 10_000)
    assert.deepEqual(list!.changes, [])
    assert.deepEqual(created!.body, { name: 'Cid' })
    assert.deepEqual(created!.response, body)
    assert.equal(created!.nested, false)
    assert.equal(engine.requests.length, 2)
  })

  it('writes pairs as the filter of the envelope does', async () => {
    await using engine = await start()
    const { body } = await engine.handle('GET', '/v1/customers', '!name=x%2C+y&id>=1&name~=a*&name!=z')
    assert.deepEqual(last(engine).query, body.filter)
  })

  it('has requests that are refused', async () => {
    await using engine = await start()
    await engine.handle('GET', '/v1/nothing')
    await engine.handle('DELETE', '/v1/customers')
    await engine.handle('POST', '/v1/customers', undefined, { nmae: 'x' })
    await engine.handle('GET', '/v1/%zz?a=1')
    await engine.handle('GET', '/v1/customers?name=%zz')
    assert.deepEqual(
      engine.requests.map(({ method, path, status, response }) => [method, path, status, response.code]),
      [
        ['GET', '/v1/nothing', 404, 'resource_unknown'],
        ['DELETE', '/v1/customers', 405, 'method_not_allowed'],
        ['POST', '/v1/customers', 422, 'validation_failed'],
        ['GET', '/v1/%zz', 400, 'path_malformed'],
        ['GET', '/v1/customers', 400, 'query_malformed'],
      ],
    )
    assert.deepEqual(engine.requests[2]!.body, { nmae: 'x' })
    assert.deepEqual(engine.requests[4]!.query, [])
  })

  it('has requests that fail inside the server, with the cause, which no answer has', async () => {
    await using engine = await start()
    onOrder = () => {
      throw new Error('the printer is on fire')
    }
    await engine.handle('POST', '/v1/orders', undefined, { title: 'a', customer: 1 })
    assert.equal(last(engine).status, 500)
    assert.deepEqual(last(engine).changes, [])
    assert.equal(last(engine).error, 'Error: the printer is on fire')
    assert.doesNotMatch(JSON.stringify(last(engine).response), /printer/)
  })

  it('has requests that are aborted, without a status', async () => {
    await using engine = await start()
    await assert.rejects(engine.handle('GET', '/v1/customers', undefined, undefined, { signal: AbortSignal.abort() }))
    assert.equal(last(engine).error, 'AbortError: This operation was aborted')
    const controller = new AbortController()
    onOrder = async () => {
      controller.abort(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
      await wait(5)
    }
    const { signal } = controller
    await assert.rejects(engine.handle('POST', '/v1/orders', undefined, { title: 'a', customer: 1 }, { signal }))
    const { status, response, error, body, path } = last(engine)
    assert.deepEqual(
      { status, response, error, body, path },
      { status: undefined, response: undefined, error: 'ECONNRESET', body: { title: 'a', customer: 1 }, path: '/v1/orders' },
    )
    await wait(20)
    assert.equal(engine.requests.length, 2)
    assert.deepEqual(last(engine).changes, [])
  })

  it('has requests that faults answer or lose, with what was sent', async () => {
    await using engine = await start()
    engine.fail('POST /v1/customers', { status: 503, times: 1 })
    await engine.handle('POST', '/v1/customers?name=a*', undefined, { name: 'x', pin: '1234' })
    engine.drop('POST /v1/customers')
    await assert.rejects(engine.handle('post', '/v1/customers', { depth: 0 }, { name: 'y', pin: '1234' }))
    assert.deepEqual(
      engine.requests.map(({ method, path, query, body, status, error, changes }) => ({
        method,
        path,
        query,
        body,
        status,
        error,
        changes,
      })),
      [
        {
          method: 'POST',
          path: '/v1/customers',
          query: [['name', 'a*']],
          body: { name: 'x', pin: '[secret]' },
          status: 503,
          error: undefined,
          changes: [],
        },
        {
          method: 'POST',
          path: '/v1/customers',
          query: [['depth', '0']],
          body: { name: 'y', pin: '[secret]' },
          status: undefined,
          error: 'ECONNRESET',
          changes: [],
        },
      ],
    )
    await assert.rejects(engine.handle('POST', '/v1/customers', undefined, { name: new Date() }))
    assert.equal(last(engine).body, undefined)
  })

  it('has nothing of calls that are no requests', async () => {
    await using engine = await start()
    await assert.rejects(engine.handle('POST', '/v1/customers', undefined, { at: new Date() }), TypeError)
    await assert.rejects(engine.handle(5 as never, '/v1/customers'), TypeError)
    await assert.rejects(engine.handle('GET', '/v1/customers', undefined, undefined, { singal: 1 } as never), TypeError)
    assert.deepEqual(engine.requests, [])
  })

  it('has requests over HTTP and fetch like any others', async () => {
    await using engine = await start()
    await engine.fetch(
      new Request('http://api.test/v1/customers', {
        method: 'POST',
        body: '{"name":"x"}',
        headers: { 'content-type': 'application/json' },
      }),
    )
    assert.deepEqual(brief(last(engine).changes!), ['insert customers 3'])
  })

  it('cannot be falsified by those who have asked or look', async () => {
    await using engine = await start()
    const sent = { name: 'Cid', address: { street: 'x' } }
    const { body } = await engine.handle('POST', '/v1/customers', undefined, sent)
    sent.address.street = 'changed'
    const entry = last(engine)
    body.customer.name = 'changed'
    assert.equal(last(engine).response.customer.name, 'Cid')
    assert.deepEqual(entry.body, { name: 'Cid', address: { street: 'x' } })
    assert.throws(() => Object.assign(entry.response.customer, { name: 'y' }), TypeError)
    assert.throws(() => Object.assign(entry.changes![0]!.after, { name: 'y' }), TypeError)
    engine.requests.pop()
    assert.equal(engine.requests.length, 1)
    assert.equal(engine.requests[0], entry)
  })

  it('keeps the newest 1,000 requests, or as many as the option says', async () => {
    await using engine = await start({ journal: 3 })
    for (let id = 1; id <= 8; id++) await engine.handle('GET', `/v1/customers/${id}`)
    assert.deepEqual(
      engine.requests.map(({ path }) => path),
      ['/v1/customers/6', '/v1/customers/7', '/v1/customers/8'],
    )
    await using usual = await start()
    for (let id = 1; id <= 1005; id++) await usual.handle('OPTIONS', `/v1/customers/${id}`)
    assert.equal(usual.requests.length, 1000)
    assert.equal(usual.requests[0]!.path, '/v1/customers/6')
  })

  it('is off with the option 0, and refuses options that are not of their form', async () => {
    await using engine = await start({ journal: 0 })
    await engine.handle('POST', '/v1/customers', undefined, { name: 'x' })
    assert.deepEqual(engine.requests, [])
    for (const journal of [-1, 1.5, '3', null, Number.NaN])
      await assert.rejects(start({ journal: journal as number }), /"journal" must be an integer of 0 or more/)
  })

  it('keeps the bodies of the newest requests alone, as many as hold 3,000 records together', async () => {
    await using engine = await start({ seed: { labels: Array.from({ length: 1000 }, (_, index) => ({ name: `label ${index}` })) } })
    for (let call = 0; call < 15; call++) await engine.handle('GET', '/v1/labels', { limit: 300 })
    const kept = engine.requests.map(({ response }) => response !== undefined)
    assert.deepEqual(kept, [...Array.from({ length: 5 }, () => false), ...Array.from({ length: 10 }, () => true)])
    await engine.handle('POST', '/v1/labels', undefined, { name: 'x' })
    assert.equal(engine.requests[5]!.response, undefined)
    assert.equal(engine.requests[6]!.response.labels.length, 300)
    assert.deepEqual(last(engine).body, { name: 'x' })
  })

  it('counts the records that are shown in others, too', async () => {
    const customers = Array.from({ length: 100 }, (_, index) => ({
      name: `${index}`,
      notes: Array.from({ length: 10 }, () => ({ text: 'x' })),
    }))
    await using engine = await start({ seed: { customers } })
    const read = async (depth: number, times: number): Promise<number> => {
      engine.clearRequests()
      for (let call = 0; call < times; call++) await engine.handle('GET', '/v1/customers', { depth })
      return engine.requests.filter(({ response }) => response !== undefined).length
    }
    assert.equal(await read(0, 40), 30)
    // Ten IDs of a list count as one record.
    assert.equal(await read(1, 40), 15)
    assert.equal(await read(2, 40), 2)
  })

  it('counts records rightly, however often the oldest requests have gone, and after it has been emptied', async () => {
    const seed = { labels: Array.from({ length: 1000 }, (_, index) => ({ name: `label ${index}` })) }
    await using engine = await start({ seed, journal: 12 })
    const read = async (limit: number, times: number): Promise<number> => {
      for (let call = 0; call < times; call++) await engine.handle('GET', '/v1/labels', { limit })
      return engine.requests.filter(({ response }) => response !== undefined).length
    }
    assert.equal(await read(1, 12), 12)
    assert.equal(await read(300, 40), 10)
    assert.equal(await read(150, 30), 12)
    assert.equal(await read(300, 7), 12)
    assert.equal(await read(300, 30), 10)
    engine.clearRequests()
    assert.equal(await read(1, 5), 5)
    assert.equal(await read(300, 11), 10)
    assert.equal(await read(1, 12), 12)
  })

  it('keeps the answer of the newest request, however large', async () => {
    const rows = Array.from({ length: 12_000 }, (_, index) => ({ id: index }))
    await using engine = await start({
      routes: [{ method: 'GET', path: '/{version}/all', handler: () => ({ body: { resource: 'all', count: 12_000, all: rows } }) }],
    })
    await engine.handle('GET', '/v1/all')
    assert.equal(last(engine).response.all.length, 12_000)
    await engine.handle('GET', '/v1/labels/1')
    assert.deepEqual(
      engine.requests.map(({ response }) => response === undefined),
      [true, false],
    )
  })
})

describe('the changes of a request', () => {
  it('are the rows that it has inserted, updated and deleted, as the API shows them', async () => {
    await using engine = await start()
    const sent = {
      title: 'first',
      total: '12.5',
      serial: '9007199254740993',
      placed: '2026-01-31T12:00:00+02:00',
      day: '2026-01-31',
      data: { a: [1] },
      bytes: 'aGk=',
      customer: 1,
    }
    const after = {
      id: 1,
      title: 'first',
      total: '12.50',
      serial: '9007199254740993',
      placed: '2026-01-31T10:00:00.000Z',
      day: '2026-01-31',
      paid: false,
      data: { a: [1] },
      bytes: 'aGk=',
      customer: 1,
    }
    assert.deepEqual(await changesOf(engine, 'POST', '/v1/orders', undefined, sent), [
      { type: 'insert', resource: 'orders', id: 1, before: null, after },
    ])
    const now = { ...after, paid: true, day: null }
    assert.deepEqual(await changesOf(engine, 'PUT', '/v1/orders/1', undefined, { paid: true, day: null }), [
      { type: 'update', resource: 'orders', id: 1, before: after, after: now },
    ])
    assert.deepEqual(await changesOf(engine, 'DELETE', '/v1/orders/1'), [
      { type: 'delete', resource: 'orders', id: 1, before: now, after: null },
    ])
    const shown = { ...engine.requests[0]!.response.order }
    for (const name of ['shout', 'labels', 'slip']) delete shown[name]
    assert.deepEqual(shown, after)
  })

  it('have values of every kind', async () => {
    await using engine = await RestEngine.create({ entities: plainEntities })
    const part = {
      name: 'p',
      words: ['x', 'y,z'],
      choices: ['a'],
      blob: 'aGk=',
      big: '9007199254740993',
      decimal: '1.5',
      day: '2026-01-31',
      made: '2026-01-31',
      json: { a: 1 },
    }
    const sent = {
      integer: 3,
      big: '-9007199254740993',
      bigText: '9007199254740993',
      bigNumber: 5,
      float: 0.1,
      double: -1e300,
      decimal: '0.5',
      decimalNumber: 0.25,
      string: 'é',
      boolean: true,
      datetime: '1969-07-20T20:17:40.123Z',
      date: '2024-02-29',
      time: '07:30',
      uuid: 'ABCDEF00-0000-4000-8000-000000000000',
      choice: 'low',
      level: 2,
      json: [{ a: null }],
      blob: 'AAH/',
      bytes: 'AAH/',
      tags: ['a', 'b,c'],
      numbers: [1, 2.5],
      money: -12.5,
      shout: 'hey',
      ticket: 'T12',
      choices: ['c', 'a'],
      shown: '2026-01-31',
      lazy: 'l',
      private: 'x',
      alias: 'y',
      part,
      partDoc: part,
      parts: [part, { name: 'q' }],
      pet: { type: 'cat', name: 'c', lives: 9 },
      petDoc: { type: 'dog', name: 'd', tricks: null },
      pets: [
        { type: 'dog', name: 'd', tricks: 1 },
        { type: 'cat', name: 'c', lives: 1 },
      ],
    }
    for (const body of [sent, {}]) {
      const [change] = await changesOf(engine, 'POST', '/v1/plains', undefined, body)
      // What code gives is no stored value.
      const { label: _, shown: __, ...shown } = last(engine).response.plain
      const { shown: stored, ...after } = change!.after
      assert.deepEqual(after, shown)
      assert.equal(stored, 'shown' in body ? '2026-01-31T00:00:00.000Z' : null)
    }
    const [change] = await changesOf(engine, 'PUT', '/v1/plains/1', undefined, { parts: [], pet: null, tags: null, numbers: [3] })
    assert.deepEqual(change!.before, engine.requests[0]!.changes![0]!.after)
    assert.deepEqual(change!.after, { ...change!.before, parts: [], pet: null, tags: null, numbers: [3] })
  })

  it('have embedded objects, in columns and as JSON, without what is hidden in them', async () => {
    await using engine = await start()
    const [change] = await changesOf(engine, 'PUT', '/v1/customers/1', undefined, {
      pin: '1234',
      address: { street: 'a', gate: '77' },
      billing: { street: 'b', gate: '88' },
    })
    assert.deepEqual(change!.before, { id: 1, name: 'Ann', address: null, billing: null })
    assert.deepEqual(change!.after, { id: 1, name: 'Ann', address: { street: 'a' }, billing: { street: 'b' } })
  })

  it('tell of a row that changes in hidden attributes alone', async () => {
    await using engine = await start()
    const [change] = await changesOf(engine, 'PUT', '/v1/customers/1', undefined, { pin: '1234' })
    assert.equal(change!.type, 'update')
    assert.deepEqual(change!.before, change!.after)
  })

  it('have nested records, each once', async () => {
    await using engine = await start()
    const changes = await changesOf(engine, 'POST', '/v1/customers', undefined, {
      name: 'Cid',
      orders: [{ title: 'a', labels: [1, { name: 'new' }] }, { title: 'b' }],
      notes: [{ text: 'n' }],
    })
    assert.deepEqual(brief(changes).toSorted(), [
      'insert customers 3',
      'insert labels 4',
      'insert notes 1',
      'insert orders 1',
      'insert orders 2',
    ])
    assert.deepEqual(changes.find(({ resource: name, id }) => name === 'orders' && id === 1)!.after.labels, [1, 4])
  })

  it('have composite IDs', async () => {
    await using engine = await start()
    assert.deepEqual(await changesOf(engine, 'POST', '/v1/seats', undefined, { row: 3, letter: 'a~b' }), [
      { type: 'insert', resource: 'seats', id: '3~a%7Eb', before: null, after: { row: 3, letter: 'a~b', taken: false } },
    ])
  })

  it('have many-to-many lists as an update of their owner', async () => {
    await using engine = await start()
    await engine.handle('POST', '/v1/orders', undefined, { title: 'a', customer: 1, labels: [2, 3] })
    assert.deepEqual(await changesOf(engine, 'PUT', '/v1/orders/1', undefined, { labels: [3, 1] }), [
      { type: 'update', resource: 'orders', id: 1, before: { labels: [2, 3] }, after: { labels: [1, 3] } },
    ])
    const [change] = await changesOf(engine, 'PUT', '/v1/orders/1', undefined, { title: 'b', labels: [] })
    assert.deepEqual([change!.before.title, change!.before.labels, change!.after.title, change!.after.labels], ['a', [1, 3], 'b', []])
    assert.deepEqual(await changesOf(engine, 'PUT', '/v1/orders/1', undefined, { labels: [] }), [])
    // From the other side it is the same list.
    assert.deepEqual(await changesOf(engine, 'PUT', '/v1/labels/2', undefined, { orders: [1] }), [
      { type: 'update', resource: 'orders', id: 1, before: { labels: [] }, after: { labels: [2] } },
    ])
  })

  it('have what SQLite itself deletes and unlinks', async () => {
    await using engine = await start()
    await engine.handle('POST', '/v1/orders', undefined, { title: 'a', customer: 1, labels: [1] })
    await engine.handle('POST', '/v1/slips', undefined, { order: 1 })
    await engine.handle('POST', '/v1/notes', undefined, { text: 'n', customer: 1 })
    const changes = await changesOf(engine, 'DELETE', '/v1/customers/1')
    assert.deepEqual(brief(changes).toSorted(), ['delete customers 1', 'delete orders 1', 'delete slips 1', 'update notes 1'])
    const note = changes.find(({ resource: name }) => name === 'notes')!
    assert.deepEqual([note.before.customer, note.after.customer], [1, null])
    assert.deepEqual(changes.find(({ resource: name }) => name === 'orders')!.before.labels, [1])
  })

  it('are those that were committed: a failure leaves none', async () => {
    await using engine = await start()
    onOrder = async ({ em }) => {
      await em.getConnection().execute(`insert into customer (name) values ('hook')`, [], 'run', em.getTransactionContext())
      throw new Error('no')
    }
    const { status } = await engine.handle('POST', '/v1/orders', undefined, { title: 'a', customer: 1 })
    assert.equal(status, 500)
    assert.deepEqual(last(engine).changes, [])
    onOrder = () => {}
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/orders', undefined, { title: 'b', customer: 1 })), ['insert orders 1'])
  })

  it('have what native queries and SQL of hooks change, and what a savepoint undoes not', async () => {
    await using engine = await start({
      routes: [
        {
          method: 'POST',
          path: '/{version}/tidy',
          handler: async ({ em }) => {
            await em.nativeUpdate(Customer, { id: 1 }, { name: 'Anna' })
            await em.transactional(async outer => {
              await outer.insert(Label, { id: 10, name: 'kept' })
              await outer
                .transactional(async inner => {
                  await inner.insert(Label, { id: 11, name: 'undone' })
                  throw new Error('undo')
                })
                .catch(() => {})
              // A statement that fails is undone, row by row.
              await outer
                .getConnection()
                .execute(`insert into label (id, name) values (12, 'x'), (10, 'y')`, [], 'run', outer.getTransactionContext())
                .catch(() => {})
              await outer.nativeDelete(Label, { id: 3 })
            })
            return { body: {} }
          },
        },
      ],
    })
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/tidy')), ['update customers 1', 'insert labels 10', 'delete labels 3'])
  })

  it('are net: a row that comes and goes in one request is none', async () => {
    await using engine = await start({
      routes: [
        {
          method: 'POST',
          path: '/{version}/twist',
          handler: async ({ em }) => {
            await em.insert(Label, { id: 10, name: 'a' })
            await em.nativeDelete(Label, { id: 10 })
            await em.insert(Label, { id: 11, name: 'a' })
            await em.nativeUpdate(Label, { id: 11 }, { name: 'b' })
            await em.nativeUpdate(Label, { id: 1 }, { name: 'c' })
            await em.nativeDelete(Label, { id: 1 })
            await em.nativeDelete(Label, { id: 2 })
            await em.insert(Label, { id: 2, name: 'd' })
            await em.nativeUpdate(Label, { id: 3 }, { id: 30 })
            return { body: {} }
          },
        },
      ],
    })
    assert.deepEqual(await changesOf(engine, 'POST', '/v1/twist'), [
      { type: 'insert', resource: 'labels', id: 11, before: null, after: { id: 11, name: 'b' } },
      { type: 'delete', resource: 'labels', id: 1, before: { id: 1, name: 'red' }, after: null },
      { type: 'update', resource: 'labels', id: 2, before: { id: 2, name: 'blue' }, after: { id: 2, name: 'd' } },
      { type: 'delete', resource: 'labels', id: 3, before: { id: 3, name: 'big' }, after: null },
      { type: 'insert', resource: 'labels', id: 30, before: null, after: { id: 30, name: 'big' } },
    ])
  })

  it('belong to the request that made them, also when a hook makes a request inside another', async () => {
    await using engine = await start()
    onOrder = async () => {
      onOrder = () => {}
      await engine.handle('POST', '/v1/labels', undefined, { name: 'by hook' })
    }
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/orders', undefined, { title: 'a', customer: 1 })), ['insert orders 1'])
    const [inner, outer] = engine.requests
    assert.deepEqual([inner!.path, inner!.nested, brief(inner!.changes!)], ['/v1/labels', true, ['insert labels 4']])
    assert.deepEqual([outer!.path, outer!.nested], ['/v1/orders', false])
  })

  it('are none for an inner request whose outer one is rolled back', async () => {
    await using engine = await start()
    onOrder = async () => {
      onOrder = () => {}
      await engine.handle('POST', '/v1/labels', undefined, { name: 'by hook' })
      assert.deepEqual(last(engine).changes, [])
      throw new Error('no')
    }
    await engine.handle('POST', '/v1/orders', undefined, { title: 'a', customer: 1 })
    assert.deepEqual(
      engine.requests.map(({ status, changes }) => [status, changes]),
      [
        [200, []],
        [500, []],
      ],
    )
  })

  it('are kept apart when requests run at once', async () => {
    await using engine = await start()
    onOrder = () => wait(1)
    const titles = Array.from({ length: 20 }, (_, index) => `order ${index}`)
    await Promise.all(titles.map(title => engine.handle('POST', '/v1/orders', undefined, { title, customer: 1 })))
    for (const { body, changes } of engine.requests) {
      assert.equal(changes!.length, 1)
      assert.equal(changes![0]!.after.title, body.title)
    }
  })

  it('have nothing of writes outside of requests', async () => {
    await using engine = await start()
    await engine.handle('PUT', '/v1/labels/1', undefined, { name: 'x' })
    const em = engine.orm.em.fork()
    em.create(Label, { name: 'by test' })
    await em.flush()
    await engine.seed({ labels: [{ name: 'by seed' }] })
    await engine.handle('GET', '/v1/labels')
    assert.deepEqual(
      engine.requests.map(({ changes }) => changes!.length),
      [1, 0],
    )
  })

  it('are told of a request inside a transaction of the test, once that commits', async () => {
    await using engine = await start()
    await engine.orm.em.fork().transactional(async () => {
      await engine.handle('POST', '/v1/labels', undefined, { name: 'x' })
      assert.deepEqual(last(engine).changes, [])
    })
    assert.deepEqual(brief(last(engine).changes!), ['insert labels 4'])
    await assert.rejects(
      engine.orm.em.fork().transactional(async () => {
        await engine.handle('POST', '/v1/labels', undefined, { name: 'y' })
        throw new Error('no')
      }),
    )
    assert.deepEqual(last(engine).changes, [])
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/labels', undefined, { name: 'z' })), ['insert labels 5'])
  })

  it('are not those of a rolled back transaction, nor are they lost after it', async () => {
    await using engine = await start()
    // The triggers come inside of this transaction, and go with it.
    await assert.rejects(
      engine.orm.em.fork().transactional(async () => {
        await engine.handle('POST', '/v1/labels', undefined, { name: 'x' })
        throw new Error('no')
      }),
    )
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/labels', undefined, { name: 'y' })), ['insert labels 4'])
    assert.deepEqual(engine.requests[0]!.changes, [])
  })

  it('of a statement of its own are told at once, without what was rolled back before', async () => {
    await using engine = await start({
      routes: [
        {
          method: 'POST',
          path: '/{version}/try',
          handler: async ({ em }) => {
            await em
              .transactional(async inner => {
                await inner.insert(Label, { id: 10, name: 'undone' })
                throw new Error('undo')
              })
              .catch(() => {})
            await em.insert(Label, { id: 11, name: 'kept' })
            assert.equal((await em.findOneOrFail(Label, 11)).name, 'kept')
            return { body: {} }
          },
        },
      ],
    })
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/try')), ['insert labels 11'])
  })

  it('go on after the tables have been made anew', async () => {
    await using engine = await start()
    await changesOf(engine, 'PUT', '/v1/labels/1', undefined, { name: 'x' })
    await engine.orm.schema.refresh()
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/labels', undefined, { name: 'x' })), ['insert labels 1'])
  })

  it('come with the last statement of a subscriber that writes', async () => {
    const subscriber = {
      async afterFlush({ em, uow }: FlushEventArgs): Promise<void> {
        if (!uow.getChangeSets().some(({ meta }) => meta.className === 'Order')) return
        await em.insert(Note, { text: 'told' })
      },
    }
    await using engine = await start({ orm: { subscribers: [subscriber] } })
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v1/orders', undefined, { title: 'a', customer: 1 })), [
      'insert orders 1',
      'insert notes 1',
    ])
  })

  it('leave nothing in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-journal-'))
    try {
      const database = join(folder, 'data.db')
      {
        await using engine = await start({ database })
        assert.equal((await changesOf(engine, 'POST', '/v1/labels', undefined, { name: 'x' })).length, 1)
      }
      await using engine = await RestEngine.create({ entities, database, journal: 0 })
      assert.deepEqual(await engine.orm.em.getConnection().execute("select name from sqlite_master where type = 'trigger'"), [])
      assert.equal((await engine.handle('POST', '/v1/labels', undefined, { name: 'y' })).status, 200)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('do not get in the way of a file that holds what the model does not expect', async () => {
    const Room = defineEntity({
      name: 'Room',
      properties: { id: p.uuid().primary(), name: p.string(), floor: p.integer().lazy().nullable(), doors: () => p.manyToMany(Door) },
    })
    const Door = defineEntity({ name: 'Door', properties: { id: p.integer().primary(), color: p.string() } })
    const Roof = defineEntity({ name: 'Roof', properties: { id: p.integer().primary() } })
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-journal-'))
    try {
      const database = join(folder, 'data.db')
      const file = new Database(database)
      // "floor" is missing, so are roofs; a key is no UUID, and a link leads nowhere.
      file.exec(`
        create table room (id text primary key, name text);
        create table door (id integer primary key, color text);
        create table room_doors (room_id text, door_id integer);
        insert into room values ('kitchen', 'a'), ('00000000-0000-4000-8000-000000000001', 'b');
        insert into door values (1, 'red'), (2, 'blue');
        insert into room_doors values ('kitchen', 1), ('00000000-0000-4000-8000-000000000001', 2), (null, 1), ('nowhere', 1);
      `)
      file.close()
      await using engine = await RestEngine.create({
        entities: [Room, Door, Roof],
        database,
        schema: 'keep',
        routes: [
          {
            method: 'POST',
            path: '/{version}/clear',
            handler: async ({ em }) => {
              await em.getConnection().execute('delete from room_doors', [], 'run')
              await em.getConnection().execute("update room set name = 'x'", [], 'run')
              return { body: {} }
            },
          },
        ],
      })
      const changes = await changesOf(engine, 'POST', '/v1/clear')
      // Rooms cannot be read as the model has them; their lists can.
      assert.deepEqual(
        changes.map(({ type, id, before, after }) => [type, id, before, after]),
        [
          ['update', 'kitchen', { doors: [1] }, { doors: [] }],
          ['update', '00000000-0000-4000-8000-000000000001', { doors: [2] }, { doors: [] }],
          ['update', 'nowhere', { doors: [1] }, { doors: [] }],
        ],
      )
      assert.deepEqual(brief(await changesOf(engine, 'PUT', '/v1/doors/1', undefined, { color: 'green' })), ['update doors 1'])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('have nothing of tables that are too wide to be watched', async () => {
    const columns = Object.fromEntries(Array.from({ length: 495 }, (_, index) => [`c${index}`, p.integer().nullable()]))
    const Wide = defineEntity({ name: 'Wide', properties: { id: p.integer().primary(), ...columns } })
    const Narrow = defineEntity({
      name: 'Narrow',
      properties: { id: p.integer().primary(), ...Object.fromEntries(Object.entries(columns).slice(0, 489)) },
    })
    await using engine = await RestEngine.create({ entities: [Wide, Narrow] })
    for (const [name, expected] of [
      ['wides', []],
      ['narrows', ['update narrows 1']],
    ] as const) {
      await changesOf(engine, 'POST', `/v1/${name}`, undefined, { c3: 1 })
      assert.deepEqual(brief(await changesOf(engine, 'PUT', `/v1/${name}/1`, undefined, { c3: 2 })), expected)
    }
  })

  it('are named as the first version that serves them names them', async () => {
    await using engine = await start({
      versions: ['v1', 'v2'],
      resources: [
        resource(Label, { name: 'stickers', singular: 'sticker', versions: ['v1'] }),
        resource(Label, { name: 'tags', singular: 'tag', versions: ['v2'] }),
        resource(Note, { name: 'remarks', versions: ['v2'], attributes: { text: { private: true } } }),
        resource(Seat, { versions: [] }),
      ],
      seed: { customers: data.customers },
      routes: [
        {
          method: 'POST',
          path: '/{version}/seat',
          handler: async ({ em }) => {
            await em.insert(Seat, { row: 1, letter: 'a', taken: true })
            return { body: {} }
          },
        },
      ],
    })
    assert.deepEqual(brief(await changesOf(engine, 'POST', '/v2/tags', undefined, { name: 'x' })), ['insert stickers 1'])
    assert.deepEqual(await changesOf(engine, 'POST', '/v2/remarks', undefined, { text: 'secret', customer: 1 }), [
      { type: 'insert', resource: 'remarks', id: 1, before: null, after: { id: 1, customer: 1 } },
    ])
    assert.deepEqual(last(engine).body, { text: '[secret]', customer: 1 })
    assert.deepEqual(await changesOf(engine, 'POST', '/v1/seat'), [
      { type: 'insert', resource: 'seats', id: '1~a', before: null, after: { row: 1, letter: 'a', taken: true } },
    ])
  })
})

describe('what the journal never holds', () => {
  const User = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      email: p.string().unique(),
      password: p.string(),
      code: p.integer().hidden().nullable(),
      key: p.json().hidden().nullable(),
      posts: () => p.oneToMany(Post).mappedBy('author'),
    },
  })
  const Post = defineEntity({
    name: 'Post',
    properties: { id: p.integer().primary(), code: p.string().nullable(), author: () => p.manyToOne(User) },
  })
  const token = `eyJhbGciOiJub25lIn0.${Buffer.from('{"sub":"1"}').toString('base64url')}.c2lnbmF0dXJl`

  async function startAuth(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
    return RestEngine.create({
      entities: [User, Post],
      auth: auth({ entity: User, public: ['* /*'] }),
      seed: { users: [{ id: 1, email: 'ann@x.test', password: cheapHash('correct horse') }] },
      ...options,
    })
  }

  it('masks passwords and tokens of a log-in', async () => {
    await using engine = await startAuth()
    const { body } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@x.test', password: 'correct horse' })
    assert.equal(typeof body.auth_token, 'string')
    const entry = last(engine)
    assert.deepEqual(entry.body, { email: 'ann@x.test', password: '[secret]' })
    assert.equal(entry.response.auth_token, '[secret]')
    assert.equal(entry.response.user.email, 'ann@x.test')
    await engine.handle('POST', '/v1/login', undefined, 'correct horse')
    assert.equal(last(engine).body, '[secret]')
    assert.doesNotMatch(JSON.stringify(engine.requests), /correct horse|eyJ|scrypt/)
  })

  it('masks whatever a custom log-in takes, but the identifier', async () => {
    await using engine = await startAuth({ auth: auth({ entity: User, identifier: 'email', authenticate: () => 1 }) })
    await engine.handle('POST', '/v1/login', undefined, {
      email: 'ann@x.test',
      otp: 123456,
      proof: { answers: ['rosebud', null] },
      none: null,
    })
    assert.deepEqual(last(engine).body, { email: 'ann@x.test', otp: '[secret]', proof: '[secret]', none: null })
  })

  it('masks values of hidden attributes and of the password, at any depth, and not those of other resources', async () => {
    await using engine = await startAuth()
    const author = { email: 'b@x.test', password: 'hunter222', code: 4711, key: { deep: ['rosebud'] } }
    const masked = { email: 'b@x.test', password: '[secret]', code: '[secret]', key: '[secret]' }
    await engine.handle('POST', '/v1/users', undefined, { ...author, email: 'c@x.test', posts: [{ code: 'shown too' }] })
    assert.deepEqual(last(engine).body, { ...masked, email: 'c@x.test', posts: [{ code: 'shown too' }] })
    assert.ok(last(engine).changes!.some(({ after }) => after.code === 'shown too'))
    await engine.handle('POST', '/v1/posts', undefined, { code: 'shown', author })
    assert.deepEqual(last(engine).body, { code: 'shown', author: masked })
    assert.equal(last(engine).response.post.code, 'shown')
    assert.doesNotMatch(JSON.stringify(engine.requests), /hunter222|4711|rosebud/)
  })

  it('masks the bare value of a hidden attribute, in a refusal too', async () => {
    await using engine = await startAuth()
    await engine.handle('PUT', '/v1/users/1/password', undefined, 'hunter222')
    await engine.handle('PUT', '/v1/users/1/code', undefined, 'hunter222')
    await engine.handle('POST', '/v1/users', undefined, { email: 5, code: 'hunter222', password: ['hunter222'] })
    await engine.handle('POST', '/v1/usres', undefined, { password: 'hunter222', nested: [{ code: 'hunter222' }] })
    await engine.handle('GET', '/v1/users', { password: 'hunter222', 'author.password~=': '*hunter222*', nothing: 'hunter222' })
    assert.doesNotMatch(JSON.stringify(engine.requests), /hunter222/)
    assert.deepEqual(last(engine).query[2], ['nothing', '[secret]'])
  })

  it('masks a secret that is the whole body of a path that the model does not know, where an answer repeats it', async () => {
    const refuse = ({ data }: { data: unknown }): never => {
      throw new RestError(400, 'refused', `Not this: ${JSON.stringify(data)}`)
    }
    await using engine = await startAuth({ routes: [{ method: 'PUT', path: '/{version}/vaults/{id}/password', handler: refuse }] })
    for (const body of ['hunter222', ['hunter222'], { deep: 'hunter222' }]) {
      await engine.handle('PUT', '/v1/vaults/1/password', undefined, body)
      assert.equal(last(engine).body, '[secret]')
      assert.match(last(engine).response.detail, /^Not this: .*\[secret\]/)
    }
    assert.doesNotMatch(JSON.stringify(engine.requests), /hunter222/)
  })

  it('masks the value that a fault repeats, however short it is', async () => {
    const Guest = defineEntity({
      name: 'Guest',
      properties: {
        id: p.integer().primary(),
        name: p.string(),
        host: () => p.manyToOne(User).hidden().nullable(),
        friends: () => p.oneToMany(Guest).mappedBy('of'),
        of: () => p.manyToOne(Guest).nullable(),
      },
    })
    await using engine = await startAuth({ entities: [User, Post, Guest] })
    await engine.handle('POST', '/v1/guests', undefined, { name: 'x', host: 42, friends: [{ name: 'y', host: 43 }] })
    const { errors } = last(engine).response
    assert.deepEqual(
      errors.map(({ attribute, value }: { attribute: string; value: unknown }) => [attribute, value]),
      [
        ['host', '[secret]'],
        ['friends.0.host', '[secret]'],
      ],
    )
    await engine.handle('PUT', '/v1/gusets/1/password', undefined, 'abc')
    assert.equal(last(engine).body, '[secret]')
  })

  it('masks a secret that contains another one, and in other spellings', async () => {
    await using engine = await startAuth({
      parameters: { passphrase: () => ({}) },
      routes: [
        {
          method: 'POST',
          path: '/{version}/refuse',
          handler: ({ data: sent }) => {
            throw new RestError(400, 'refused', `Not this: ${JSON.stringify(sent)}`)
          },
        },
      ],
      seed: {
        posts: [
          { id: 1, author: { email: 'c@x.test', password: 'x' } },
          { id: 2, author: { email: 'd@x.test', password: 'x' } },
        ],
      },
    })
    await engine.handle('POST', '/v1/refuse', undefined, {
      password: 'rose',
      old_password: 'rosebud',
      'new-password': 'a "quoted"\nline',
      note: 'rosebud',
    })
    assert.equal(last(engine).body.note, '[secret]')
    assert.doesNotMatch(JSON.stringify(last(engine)), /bud|quoted/)
    await engine.handle('GET', '/v1/posts', { passphrase: 'open, sesame & go', limit: 1 })
    assert.match(last(engine).response.next, /passphrase=\[secret\]&/)
    assert.doesNotMatch(JSON.stringify(last(engine)), /sesame/)
  })

  it('masks tokens wherever they stand: path, query, bodies, texts, keys', async () => {
    await using engine = await startAuth()
    await engine.handle('GET', `/v1/posts/${token}`)
    await engine.handle('GET', `/v1/posts/${token.replaceAll('.', '%2E')}`)
    await engine.handle('GET', '/v1/posts', { code: `Bearer ${token}` })
    await engine.handle('GET', `/v1/posts?${token}=1`)
    await engine.handle('POST', '/v1/posts', undefined, { author: 1, code: `see ${token}!`, [token]: 1 })
    await engine.handle('POST', '/v1/posts', undefined, { author: 1, code: `see ${token}!` })
    assert.equal(last(engine).changes![0]!.after.code, 'see [secret]!')
    assert.equal(engine.requests[0]!.path, '/v1/posts/[secret]')
    assert.doesNotMatch(JSON.stringify(engine.requests), /eyJzdWI|c2lnbmF0dXJl/)
  })

  it('masks what custom routes call a password or a token', async () => {
    await using engine = await startAuth({
      routes: [
        {
          method: 'POST',
          path: '/{version}/register',
          handler: ({ data: sent }) => ({ body: { access_token: 'opaque-one', echo: sent } }),
        },
      ],
    })
    await engine.handle(
      'POST',
      '/v1/register',
      { access_token: 'opaque-two' },
      { new_password: 'hunter222', passwordConfirmation: 'hunter222', hint: 'is it hunter222?' },
    )
    assert.deepEqual(last(engine).body, { new_password: '[secret]', passwordConfirmation: '[secret]', hint: 'is it [secret]?' })
    assert.deepEqual(last(engine).query, [['access_token', '[secret]']])
    assert.doesNotMatch(JSON.stringify(engine.requests), /hunter222|opaque/)
  })

  it('leaves alone what only looks a little like a token', async () => {
    await using engine = await startAuth()
    for (const code of ['heyJohnsonsons.example.test', 'a.b.c', 'password', 'eyJ', 'token']) {
      await engine.handle('POST', '/v1/posts', undefined, { author: 1, code })
      assert.equal(last(engine).body.code, code)
    }
  })

  it('does not have headers', async () => {
    await using engine = await startAuth()
    const headers = { authorization: `Bearer ${engine.token(1)}`, 'x-api-key': 'rosebud' }
    await engine.handle('GET', '/v1/users', undefined, undefined, { headers })
    assert.doesNotMatch(JSON.stringify(engine.requests), /rosebud|eyJ/)
  })
})
