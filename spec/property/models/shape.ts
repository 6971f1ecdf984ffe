/**
 * What is drawn of a random model: plain data that says which entities there are, with which keys, attributes, relations and classes, and
 * how many rows. build.ts makes entities and rows of it; whatever is drawn can be built.
 */
import * as fc from 'fast-check'
import { KIND_NAMES, type KindName } from './kinds.ts'

export const KEYS = [
  'integer',
  'string',
  'uuid',
  'bigint',
  'date',
  'datetime',
  'slug',
  'pair',
  'customPair',
  'owner',
  'ownerAndNumber',
] as const
export type KeyName = (typeof KEYS)[number]

export interface AttributeShape {
  readonly kind: KindName
  readonly nullable: boolean
}

export interface OneShape {
  readonly to: number
  readonly how: 'plain' | 'mapToPk' | 'unique'
  readonly nullable: boolean
  readonly inverse: boolean
}

export interface ListShape {
  readonly to: number
  readonly how: 'plain' | 'fixed' | 'pivot'
  readonly inverse: boolean
}

export interface ClassShape {
  readonly attributes: readonly AttributeShape[]
  readonly one: OneShape | null
  /** Inherits from the class before, not from the root. */
  readonly deeper: boolean
}

export interface EntityShape {
  readonly key: KeyName
  readonly attributes: readonly AttributeShape[]
  readonly ones: readonly OneShape[]
  readonly lists: readonly ListShape[]
  readonly extras: readonly ('version' | 'generated' | 'hidden' | 'defaulted' | 'view' | 'virtual')[]
  readonly inheritance: 'none' | 'sti' | 'tpt'
  readonly classes: readonly ClassShape[]
  readonly rows: number
}

export interface ModelShape {
  readonly entities: readonly EntityShape[]
  /** Three more entities, all of whose keys begin with the same foreign key. */
  readonly tenants: boolean
  /** Everything else that is random comes from it. */
  readonly salt: number
}

const attributes = (kinds: readonly KindName[], most: number): fc.Arbitrary<AttributeShape[]> =>
  fc.uniqueArray(fc.record({ kind: fc.constantFrom(...kinds), nullable: fc.boolean() }), {
    selector: ({ kind }) => kind,
    minLength: 1,
    maxLength: most,
    size: 'max',
  })

const one: fc.Arbitrary<OneShape> = fc.record({
  to: fc.nat(20),
  how: fc.constantFrom('plain', 'plain', 'mapToPk', 'unique'),
  nullable: fc.boolean(),
  inverse: fc.boolean(),
})

export interface Allowed {
  readonly kinds: readonly KindName[]
  readonly keys: readonly KeyName[]
  readonly lists: readonly ListShape['how'][]
  readonly ones: readonly OneShape['how'][]
  readonly extras: EntityShape['extras']
  readonly inheritance: readonly EntityShape['inheritance'][]
}

export const ALL: Allowed = {
  kinds: KIND_NAMES,
  keys: KEYS,
  lists: ['plain', 'fixed', 'pivot'],
  ones: ['plain', 'mapToPk', 'unique'],
  extras: ['version', 'generated', 'hidden', 'defaulted', 'view', 'virtual'],
  inheritance: ['none', 'none', 'sti', 'tpt'],
}

/** Draws a model of what is allowed. */
export function shapeOf(allowed: Allowed): fc.Arbitrary<ModelShape> {
  const entity: fc.Arbitrary<EntityShape> = fc.record({
    key: fc.constantFrom(...allowed.keys),
    attributes: attributes(allowed.kinds, 7),
    ones: fc.array(
      one.map(drawn => ({ ...drawn, how: allowed.ones.includes(drawn.how) ? drawn.how : ('plain' as const) })),
      { maxLength: 2, size: 'max' },
    ),
    lists: fc.array(fc.record({ to: fc.nat(20), how: fc.constantFrom(...allowed.lists), inverse: fc.boolean() }), {
      maxLength: 2,
      size: 'max',
    }),
    extras: fc.subarray([...allowed.extras]),
    inheritance: fc.constantFrom(...allowed.inheritance),
    classes: fc.array(
      fc.record({
        attributes: attributes(
          allowed.kinds.filter(kind => kind !== 'aka'),
          3,
        ),
        one: fc.option(one),
        deeper: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3, size: 'max' },
    ),
    rows: fc.integer({ min: 1, max: 6 }),
  })
  return fc.record({
    entities: fc.array(entity, { minLength: 2, maxLength: 6, size: 'max' }),
    tenants: allowed.kinds === ALL.kinds ? fc.boolean() : fc.constant(false),
    salt: fc.nat(),
  })
}

/** What of the model's possibilities a shape has, each a word: to see that all of them come up, and together. */
export function featuresOf({ entities, tenants }: ModelShape): Set<string> {
  const found = new Set<string>(tenants ? ['foreign keys that share a column'] : [])
  for (const { key, attributes: own, ones, lists, extras, inheritance, classes } of entities) {
    found.add(`key ${key}`)
    for (const { kind } of own) found.add(kind)
    for (const { how, nullable, inverse } of ones) {
      found.add(`to-one ${how}`)
      if (!nullable) found.add('to-one required')
      if (inverse) found.add('to-one with its other side')
    }
    for (const { how, inverse } of lists) {
      found.add(`list ${how}`)
      if (inverse) found.add('list with its other side')
    }
    for (const extra of extras) found.add(extra)
    if (inheritance !== 'none') {
      found.add(inheritance)
      if (classes.some(({ deeper }, index) => deeper && index > 0)) found.add(`${inheritance} of three classes in a line`)
    }
  }
  return found
}
