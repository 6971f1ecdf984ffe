/**
 * A model with all that is stored as JSON: values, objects, lists of objects, objects inside of objects, with defaults, keys by another
 * name, and types that convert; and objects that statements do not write: with links, with functions, of several classes.
 */
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { MoneyType } from '../models/kinds.ts'

/** The entities for one engine. */
export class Parcels {
  readonly entities: unknown[]

  constructor() {
    const Point = defineEntity({
      name: 'Point',
      embeddable: true,
      properties: { lat: p.double(), lon: p.double().nullable(), name: p.string().default('here') },
    })
    const Stop = defineEntity({
      name: 'Stop',
      embeddable: true,
      properties: {
        point: () => p.embedded(Point).object().nullable(),
        city: p.string(),
        zipCode: p.string().fieldName('post code').nullable(),
        when: p.datetime().nullable(),
        day: p.date().nullable(),
        level: p.decimal().precision(10).scale(2).nullable(),
        big: p.bigint().nullable(),
        cost: p.type(MoneyType).nullable(),
        active: p.boolean().nullable().default(true),
        kind: p.enum(['a', 'b']).nullable(),
        token: p.uuid().nullable(),
        list: p.array().nullable(),
        extra: p.json<unknown>().nullable(),
      },
    })
    const Holder = defineEntity({
      name: 'Holder',
      embeddable: true,
      properties: { carrier: () => p.manyToOne(Carrier).nullable(), n: p.integer() },
    })
    const Stamp = defineEntity({
      name: 'Stamp',
      embeddable: true,
      properties: {
        at: p.string().onCreate(() => 'now'),
        n: p.integer().nullable(),
      },
    })
    const Options = defineEntity({
      name: 'Options',
      embeddable: true,
      properties: { fast: p.boolean().nullable(), safe: p.boolean().default(false) },
    })
    const Carrier = defineEntity({
      name: 'Carrier',
      properties: {
        id: p.integer().primary(),
        name: p.string().unique(),
        home: () => p.embedded(Stop).object(),
        settings: p.json<unknown>(),
        parcels: () => p.oneToMany(Parcel).mappedBy('carrier'),
      },
    })
    const Parcel = defineEntity({
      name: 'Parcel',
      properties: {
        id: p.integer().primary(),
        carrier: () => p.manyToOne(Carrier).nullable(),
        from: () => p.embedded(Stop).object().nullable(),
        stops: () => p.embedded(Stop).array().nullable(),
        path: () => p.embedded(Point).array(),
        options: () => p.embedded(Options).object(),
        holder: () => p.embedded(Holder).object().nullable(),
        stamp: () => p.embedded(Stamp).object().nullable(),
        meta: p.json<unknown>().nullable(),
        version: p.integer().version(),
      },
    })
    this.entities = [Carrier, Parcel]
  }
}

const small = fc.integer({ min: 1, max: 4 })
/** Values that are mostly right. */
const odd = <T>(values: Arbitrary<T>): Arbitrary<unknown> =>
  fc.oneof({ weight: 60, arbitrary: values }, fc.constantFrom<unknown>(null, 'x', 5, true, [], {}, 1.5, ''))
const json = fc.constantFrom<unknown>({ a: 1 }, { b: null, a: 1 }, { a: 1, b: null }, { 2: 'x', 1: [{}] }, 'text', [], 0, null)

const point = odd(
  fc.record(
    { lat: odd(fc.constantFrom(0, -0, 1.5)), lon: odd(fc.constantFrom(2, null)), name: odd(fc.constantFrom('here', 'x')) },
    { requiredKeys: ['lat'] },
  ),
)
const stopParts: Record<string, Arbitrary<unknown>> = {
  point,
  city: odd(fc.constantFrom('a', 'b', '\u0000"')),
  zipCode: odd(fc.constantFrom('1', '2', null)),
  when: odd(fc.constantFrom('2024-01-01T10:00:00Z', '2024-01-01T11:00:00+01:00', null)),
  day: odd(fc.constantFrom('2024-02-29', '2024-01-01')),
  level: odd(fc.constantFrom('1.5', '1.50', '0.01')),
  big: odd(fc.constantFrom('9007199254740993', '7')),
  cost: odd(fc.constantFrom(0.5, 2, 9.99)),
  active: odd(fc.boolean()),
  kind: odd(fc.constantFrom('a', 'b')),
  token: odd(fc.constantFrom('ABCDEF00-0000-4000-8000-000000000000', 'abcdef00-0000-4000-8000-000000000000')),
  list: odd(fc.constantFrom([], ['a'])),
  extra: odd(json),
}
const stop = (requiredKeys: string[]): Arbitrary<unknown> => odd(fc.record(stopParts, { requiredKeys }))
const parcel = {
  id: small,
  carrier: fc.option(small),
  from: fc.oneof(stop(['city']), stop([])),
  stops: odd(fc.array(stop(['city']), { maxLength: 2 })),
  path: odd(fc.array(point, { maxLength: 2 })),
  options: odd(fc.record({ fast: odd(fc.boolean()), safe: odd(fc.boolean()) }, { requiredKeys: [] })),
  holder: odd(fc.record({ carrier: fc.option(small), n: small }, { requiredKeys: ['n'] })),
  stamp: odd(fc.record({ at: fc.constant('then'), n: small }, { requiredKeys: [] })),
  meta: json,
  version: small,
}
const carrier = {
  id: small,
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  home: fc.oneof(stop(['city']), stop([])),
  settings: json,
  parcels: fc.array(
    fc.oneof(small, fc.record({ path: parcel.path, options: parcel.options, meta: json, from: parcel.from }, { requiredKeys: ['path'] })),
    { maxLength: 2 },
  ),
}

/** Up to three attributes beside those that a new record needs. */
const few = (known: Record<string, Arbitrary<unknown>>, always: readonly string[]): Arbitrary<unknown> =>
  fc
    .uniqueArray(fc.constantFrom(...Object.keys(known)), { minLength: always.length === 0 ? 1 : 0, maxLength: 3 })
    .chain(chosen => fc.record(Object.fromEntries([...always, ...chosen].map(each => [each, known[each]!])), { noNullPrototype: true }))

const places = [
  ['parcels', parcel, ['path']],
  ['parcels', parcel, ['path', 'options']],
  ['carriers', carrier, ['name', 'home']],
] as const

/** A request that writes. */
export const parcelRequests = fc.constantFrom(...places).chain(([name, known, always]) =>
  fc.oneof(
    { weight: 4, arbitrary: few(known, always).map(body => ({ method: 'POST', path: `/v1/${name}`, body })) },
    {
      weight: 5,
      arbitrary: fc.tuple(small, few(known, [])).map(([id, body]) => ({ method: 'PATCH', path: `/v1/${name}/${id}`, body })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(small, fc.constantFrom(...Object.keys(known)))
        .chain(([id, at]) =>
          (known as Record<string, Arbitrary<unknown>>)[at]!.map(body => ({ method: 'PUT', path: `/v1/${name}/${id}/${at}`, body })),
        ),
    },
    { weight: 1, arbitrary: small.map(id => ({ method: 'DELETE', path: `/v1/parcels/${id}` })) },
  ),
)
