/**
 * The same data three times: a person's places as relations of its own, inside embedded objects with columns, and inside objects that are
 * stored as JSON.
 */
import { defineEntity, p } from '@mikro-orm/sqlite'

const id = p.integer().primary()

export const Region = defineEntity({
  name: 'Region',
  properties: { code: p.string().primary(), title: p.string(), lands: () => p.oneToMany(Land).mappedBy('region') },
})
export const Land = defineEntity({
  name: 'Land',
  properties: { id, name: p.string().unique(), size: p.integer().nullable(), region: () => p.manyToOne(Region).nullable() },
})
export const Plot = defineEntity({
  name: 'Plot',
  properties: { row: p.integer().primary(), letter: p.string().primary(), note: p.string() },
})

const Spot = defineEntity({
  name: 'Spot',
  embeddable: true,
  properties: { floor: p.integer().nullable(), zone: () => p.manyToOne(Region).nullable() },
})
const Home = defineEntity({
  name: 'Home',
  embeddable: true,
  properties: {
    street: p.string(),
    land: () => p.manyToOne(Land),
    second: () => p.manyToOne(Land).ref().nullable(),
    spot: () => p.embedded(Spot),
  },
})

/** Relations of every kind in one object. */
const Deed = defineEntity({
  name: 'Deed',
  embeddable: true,
  properties: {
    plot: () => p.manyToOne(Plot).nullable(),
    owner: () => p.oneToOne(Land).serializedName('owned_by').nullable(),
    keyed: () => p.manyToOne(Land).mapToPk().nullable(),
    plotKey: () => p.manyToOne(Plot).mapToPk().nullable(),
  },
})

export const Flat = defineEntity({
  name: 'Flat',
  properties: {
    id,
    name: p.string(),
    street: p.string(),
    land: () => p.manyToOne(Land),
    second: () => p.manyToOne(Land).nullable(),
    zone: () => p.manyToOne(Region).nullable(),
    floor: p.integer().nullable(),
  },
})
export const Inline = defineEntity({
  name: 'Inline',
  properties: { id, name: p.string(), home: () => p.embedded(Home), holiday: () => p.embedded(Home).prefix('away_').nullable() },
})
export const Stored = defineEntity({
  name: 'Stored',
  properties: { id, name: p.string(), home: () => p.embedded(Home).object(), holiday: () => p.embedded(Home).object().nullable() },
})
export const Holding = defineEntity({
  name: 'Holding',
  properties: { id, deed: () => p.embedded(Deed), other: () => p.embedded(Deed).nullable() },
})

export const entities = [Region, Land, Plot, Flat, Inline, Stored, Holding]
