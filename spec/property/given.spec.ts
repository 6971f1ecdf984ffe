/**
 * Made-up records of random models: `given` of every resource succeeds whatever the model requires, gives the same records in equal worlds,
 * and gives nothing that the API itself would refuse: every record can be POSTed into an empty engine and reads the same there.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import library from '../../fixtures/library/index.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import type { RestEngine } from '../../lib/index.ts'
import type { GivenRecord } from '../../lib/index.ts'
import { check, costly } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const KINDS = {
  text: () => p.text(),
  integer: () => p.integer(),
  smallint: () => p.smallint(),
  bigint: () => p.bigint(),
  bigintText: () => p.bigint('string'),
  bigintNumber: () => p.bigint('number'),
  float: () => p.float(),
  double: () => p.double(),
  date: () => p.date(),
  datetime: () => p.datetime(),
  time: () => p.time(),
  uuid: () => p.uuid(),
  boolean: () => p.boolean(),
  json: () => p.json<unknown>(),
  blob: () => p.blob(),
}
type Kind = keyof typeof KINDS

/** Kinds with too few values to be unique for long, or that cannot be compared. */
const NEVER_UNIQUE = new Set<string>(['boolean', 'json', 'blob', 'enum'])

interface Scalar {
  readonly name: string
  readonly kind: Kind | 'string' | 'decimal' | 'enum'
  readonly length: number
  readonly scale: number
  readonly nullable: boolean
  readonly unique: boolean
}

interface Relation {
  readonly to: number
  readonly kind: 'm:1' | '1:1'
  readonly nullable: boolean
}

interface Shape {
  readonly key: 'auto' | 'string' | 'uuid' | 'bigint' | 'pair' | 'owner'
  readonly scalars: readonly Scalar[]
  readonly embedded: readonly Scalar[]
  readonly asDocument: boolean
  readonly relations: readonly Relation[]
  /** A unique set of the first relation and the first attribute. */
  readonly together: boolean
}

const NAMES =
  'name email title phone city age year code url note expires born count label zip firstName country state slug isbn sizeOf'.split(' ')

const scalar = (name: string): fc.Arbitrary<Scalar> =>
  fc.record({
    name: fc.constant(name),
    kind: fc.oneof(fc.constantFrom<Kind>(...(Object.keys(KINDS) as Kind[])), fc.constantFrom('string', 'decimal', 'enum')),
    length: fc.integer({ min: 1, max: 40 }),
    scale: fc.integer({ min: 0, max: 4 }),
    nullable: fc.boolean(),
    unique: fc.boolean(),
  })

const scalars = (max: number): fc.Arbitrary<Scalar[]> =>
  fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: max }).chain(names => fc.tuple(...names.map(scalar)))

const shape: fc.Arbitrary<Shape> = fc.record({
  key: fc.constantFrom('auto', 'string', 'uuid', 'bigint', 'pair', 'owner'),
  scalars: scalars(6),
  embedded: scalars(3),
  asDocument: fc.boolean(),
  relations: fc.array(fc.record({ to: fc.nat(3), kind: fc.constantFrom('m:1', '1:1'), nullable: fc.boolean() }), { maxLength: 3 }),
  together: fc.boolean(),
})

// The builders of `p` have a type of their own for each kind.
type Builder = ReturnType<typeof p.string>

function property({ kind, length, scale, nullable, unique }: Scalar, inside = false): Builder {
  let builder: unknown
  if (kind === 'string') builder = p.string().length(length)
  else if (kind === 'decimal')
    builder = p
      .decimal()
      .precision(scale + 1 + (length % 5))
      .scale(scale)
  else if (kind === 'enum') builder = p.enum(['one', 'two', 'three'])
  else builder = KINDS[kind]()
  if (nullable) builder = (builder as Builder).nullable()
  // One digit, or one letter, is not enough for all the records of a run.
  const isRoomy = kind === 'string' ? length > 1 : kind !== 'decimal' || length % 5 > 2
  if (unique && isRoomy && !inside && !NEVER_UNIQUE.has(kind)) builder = (builder as Builder).unique()
  return builder as Builder
}

/** Relations lead to entities before, so that there are no circles. */
function entitiesOf(shapes: readonly Shape[]): unknown[] {
  const made: unknown[] = []
  const parts: number[] = []
  // The whole key is a relation to a key of several parts: nothing may link such a record.
  const isBare: boolean[] = []
  for (const [index, { key, scalars: own, embedded, asDocument, relations, together }] of shapes.entries()) {
    const links = index === 0 ? [] : relations.map(relation => ({ ...relation, to: relation.to % index })).filter(({ to }) => !isBare[to]!)
    const properties: Record<string, unknown> = {}
    const isOwned = (key === 'pair' || key === 'owner') && index > 0 && !isBare[index - 1]!
    parts.push(isOwned ? parts[index - 1]! + (key === 'pair' ? 1 : 0) : 1)
    isBare.push(isOwned && key === 'owner' && parts[index]! > 1)
    if (isOwned) {
      const owner = made[index - 1] as never
      properties['owner'] = () => (key === 'pair' ? p.manyToOne(owner).primary() : p.oneToOne(owner).primary())
      if (key === 'pair') properties['position'] = p.integer().primary()
    } else if (key === 'string') properties['id'] = p.string().length(12).primary()
    else if (key === 'uuid') properties['id'] = p.uuid().primary()
    else if (key === 'bigint') properties['id'] = p.bigint().primary()
    else properties['id'] = p.integer().primary()
    for (const one of own) properties[one.name] = property(one)
    if (embedded.length > 0) {
      const part = defineEntity({
        name: `Part${index}`,
        embeddable: true,
        properties: Object.fromEntries(
          embedded.filter(({ kind }) => !asDocument || kind !== 'blob').map(one => [one.name, property(one, true)]),
        ),
      })
      properties['part'] = () => (asDocument ? p.embedded(part).object() : p.embedded(part))
    }
    for (const [at, { to, kind, nullable }] of links.entries()) {
      const target = made[to] as never
      const relation = kind === 'm:1' ? p.manyToOne(target) : p.oneToOne(target)
      properties[`link${at}`] = () => (nullable ? relation.nullable() : relation)
    }
    const uniques =
      together && own.length > 0 && links.length > 0 && own[0]!.kind !== 'json' ? [{ properties: ['link0', own[0]!.name] }] : []
    made.push(defineEntity({ name: `Thing${'ABCD'[index]}`, properties, uniques } as never))
  }
  return made
}

async function everything(engine: RestEngine): Promise<Map<string, GivenRecord[]>> {
  const all = new Map<string, GivenRecord[]>()
  for (const { plural } of internalsOf(engine).model.resources) {
    const { body } = await engine.handle('GET', `/v1/${plural}`, { limit: 1000 })
    all.set(plural, body[plural] as GivenRecord[])
  }
  return all
}

const NOW = (): Date => new Date('2026-03-04T05:06:07.890Z')

describeStores('given', ({ name: store }) => {
  it('makes valid records of any model, the same for the same seed', async () => {
    const property = fc.asyncProperty(fc.array(shape, { minLength: 1, maxLength: 4 }), fc.integer(), async (shapes, seed) => {
      const engines: RestEngine[] = []
      // Safari has no AsyncDisposableStack.
      await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all(engines.map(each => each.close()))) }
      const open = async (): Promise<RestEngine> => {
        const engine = await createEngine({ entities: entitiesOf(shapes) as never, clock: NOW })
        engines.push(engine)
        return engine
      }
      // An engine that is reset is as good as a new one, and costs a server less.
      const renew = async (used: RestEngine): Promise<RestEngine> => (store === 'memory' ? open() : (await used.reset(), used))
      const make = async (engine: RestEngine): Promise<Map<string, GivenRecord[]>> => {
        for (const { singular } of internalsOf(engine).model.resources) {
          await engine.given(singular, {}, { seed })
          await engine.given.many(singular, 12, {}, { seed })
        }
        return everything(engine)
      }
      const first = await open()
      const made = await make(first)
      const second = await renew(first)
      assert.deepEqual(await make(second), made)
      const empty = await renew(second)
      for (const { plural } of internalsOf(empty).model.resources) {
        for (const record of made.get(plural)!) {
          const { status, body } = await empty.handle('POST', `/v1/${plural}`, undefined, record)
          assert.equal(status, 200, JSON.stringify(body))
        }
      }
      assert.deepEqual(await everything(empty), made)
    })
    await check(property, { label: 'given of random models', runs: costly(30) })
  })

  it('makes valid records of the library, others for other seeds', async () => {
    const resources = 'author profile book genre review comment branch shelf copy'.split(' ')
    await using a = await createEngine(library)
    await using b = await createEngine(library)
    const property = fc.asyncProperty(fc.constantFrom(...resources), fc.integer(), fc.integer(), async (name, one, other) => {
      fc.pre(one !== other)
      const first = await a.given(name, {}, { seed: one })
      const second = await a.given(name, {}, { seed: other })
      const same = await b.given(name, {}, { seed: one })
      assert.deepEqual({ ...first, createdAt: null }, { ...same, createdAt: null })
      const free = { author: 'email', genre: 'name', branch: 'code', shelf: 'room', copy: 'id' }[name]
      if (free !== undefined) assert.notEqual(first[free], second[free])
      const many = await a.given.many(name, 200, {}, { seed: one })
      assert.equal(many.length, 200)
    })
    const reset = (): Promise<unknown> => Promise.all([a.reset(), b.reset()])
    await check(property.beforeEach(reset), { label: 'given of the library', runs: costly(12) })
  })
})
