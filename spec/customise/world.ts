/**
 * The small world of the customisation specs: shops with items, tags on items, and a label for some of them. Item 2 (`banana`) is the one
 * that the rules of the specs hide; everything else is there to find out whether it shows.
 */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions, QueryInput } from '../../lib/index.ts'

const Size = defineEntity({ name: 'Size', embeddable: true, properties: { width: p.integer(), height: p.integer() } })

export const Shop = defineEntity({
  name: 'Shop',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    items: () => p.oneToMany(Item).mappedBy('shop'),
    crates: () => p.oneToMany(Crate).mappedBy('shop'),
  },
})

export const Item = defineEntity({
  name: 'Item',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    price: p.integer().default(0),
    secret: p.string().nullable(),
    code: p.string().unique().nullable(),
    size: () => p.embedded(Size).nullable(),
    removedOn: p.date().nullable(),
    shop: () => p.manyToOne(Shop).nullable(),
    tags: () => p.manyToMany(Tag).inversedBy('items'),
    label: () => p.oneToOne(Label).mappedBy('item').nullable(),
  },
})

export const Tag = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), name: p.string(), items: () => p.manyToMany(Item).mappedBy('tags') },
})

export const Label = defineEntity({
  name: 'Label',
  properties: { id: p.integer().primary(), text: p.string(), item: () => p.oneToOne(Item).inversedBy('label').nullable() },
})

/** Cannot be without its shop. */
export const Crate = defineEntity({
  name: 'Crate',
  properties: { id: p.integer().primary(), weight: p.integer().default(1), shop: () => p.manyToOne(Shop) },
})

export const entities = [Shop, Item, Tag, Label, Crate, Size]

export const data = {
  shops: [
    { id: 1, name: 'north' },
    { id: 2, name: 'south' },
    { id: 3, name: 'west' },
  ],
  tags: [
    { id: 1, name: 'ripe' },
    { id: 2, name: 'red' },
    { id: 3, name: 'rotten' },
  ],
  items: [
    { id: 1, name: 'apple', price: 10, secret: 'xa', code: 'A', size: { width: 1, height: 2 }, shop: 1, tags: [1, 2] },
    {
      id: 2,
      name: 'banana',
      price: 99,
      secret: 'xb',
      code: 'B',
      size: { width: 9, height: 9 },
      shop: 1,
      tags: [1, 3],
      removedOn: '2026-01-01',
    },
    { id: 3, name: 'cherry', price: 30, secret: 'xc', code: 'C', shop: 2, tags: [2] },
    { id: 4, name: 'date', price: 40, secret: 'xd', code: 'D', shop: 2, tags: [] },
  ],
  labels: [
    { id: 1, text: 'one', item: 1 },
    { id: 2, text: 'two', item: 2 },
    { id: 3, text: 'three', item: 3 },
    { id: 4, text: 'blank', item: null },
  ],
  crates: [
    { id: 1, shop: 1 },
    { id: 2, shop: 1 },
  ],
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- specs assert on it freely
  readonly body: any
}

/** A running engine, and how to ask it. */
export interface Asked extends AsyncDisposable {
  readonly engine: RestEngine
  /** What `onError` was told. */
  readonly failures: unknown[]
  call(method: string, path: string, query?: QueryInput, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  get(path: string, query?: QueryInput): Promise<Answer>
  /** IDs of a list that must be answered with 200. */
  ids(path: string, query?: QueryInput): Promise<unknown[]>
  /** A fork, with what it is asked by. */
  fork(): Promise<Asked>
}

/** An engine on the world, loaded, with further options. */
export async function start(options: Partial<EngineOptions> = {}): Promise<Asked> {
  const failures: unknown[] = []
  return ask(await RestEngine.create({ entities, seed: data, onError: error => failures.push(error), ...options }), failures)
}

/** Makes one engine for the tests of a describe, and returns what forks it: a fork costs a tenth of an engine. */
export function startOnce(options: Partial<EngineOptions> = {}): () => Promise<Asked> {
  let origin: Asked | undefined
  before(async () => {
    origin = await start(options)
  })
  after(async () => {
    await origin?.[Symbol.asyncDispose]()
    // The suite is kept until the process ends.
    origin = undefined
  })
  return () => origin!.fork()
}

function ask(engine: RestEngine, failures: unknown[]): Asked {
  const call: Asked['call'] = async (method, path, query, body, headers) => {
    const { status, headers: given, body: answered } = await engine.handle(method, path, query, body, headers ? { headers } : {})
    return { status, headers: given, body: answered }
  }
  const get: Asked['get'] = (path, query) => call('GET', path, query)
  return {
    engine,
    failures,
    call,
    get,
    async ids(path, query) {
      const { status, body } = await get(path, query)
      assert.equal(status, 200, `GET ${path} ${JSON.stringify(query)}: ${JSON.stringify(body)} ${failures.map(String).join()}`)
      return body[body.resource].map((record: { id: unknown }) => record.id)
    },
    fork: async () => ask(await engine.fork(), failures),
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

/** Rows of the database itself, whatever the rules. */
export function rows(engine: RestEngine, sql: string): Promise<Record<string, unknown>[]> {
  return engine.orm.em.fork().getConnection().execute(sql) as Promise<Record<string, unknown>[]>
}
