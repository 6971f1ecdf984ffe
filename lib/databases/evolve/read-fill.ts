/** Splits the option `fill` into values and functions for columns, and functions that make rows of a new table. */
import { describeScalar } from '../../foundation/values/scalar-type.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { Evolving, FillFrom, OldRow } from '../../records/database/evolving.ts'
import { FillText } from '../../records/database/fill-text.ts'
import type { EvolvedColumn } from './evolved-columns.ts'
import { findEntity, findProperty, keyOfEntity, type EntityWithSingular } from './named-entities.ts'

/** Values for the rows of a column without a value. */
export interface Filling {
  /** `fill.trips.days` */
  readonly asked: string
  readonly to: EvolvedColumn
  readonly json: unknown
  readonly stored: unknown
  readonly each?: (row: OldRow) => unknown
  readonly isMadeUp?: true
  /** The table of the old links. */
  readonly links?: string
}

/** Rows of a new table, made of rows of another. */
export interface RowsFrom extends FillFrom {
  readonly asked: string
  readonly table: string
  readonly meta: EntityWithSingular
}

type Columns = ReadonlyMap<string, ReadonlyMap<string, EvolvedColumn>>
type Fillings = Map<string, Map<string, Filling>>

interface ReadFill {
  readonly fill: Fillings
  readonly from: readonly RowsFrom[]
}

/** @throws TypeError for unknown names, and for values of another type */
export function readFill(named: ReadonlyMap<string, EntityWithSingular>, columns: Columns, { fill, makeUp }: Evolving): ReadFill {
  const read: ReadFill & { readonly from: RowsFrom[] } = { fill: new Map(), from: [] }
  const madeUp: EntityWithSingular[] = []
  for (const [resource, values] of Object.entries(fill)) {
    if (resource === '*' && values !== 'made-up') throw new TypeError('"fill.*" must be "made-up".')
    const meta = resource === '*' ? undefined : findEntity(named, resource, 'fill')
    if (values === 'made-up') madeUp.push(...(meta === undefined ? new Set(named.values()) : [meta]))
    else if (!isObject(values)) throw new TypeError(`"fill.${resource}" must be an object, { stars: 0 }, or "made-up".`)
    else if (isRowsFrom(values)) read.from.push({ ...values, asked: `fill.${resource}`, table: keyOfEntity(meta!), meta: meta! })
    else readValues(meta!, resource, values, columns, read.fill)
  }
  for (const meta of madeUp) makeValuesUp(meta, columns, read.fill, makeUp)
  return read
}

function isRowsFrom(values: object): values is FillFrom {
  const { from, each } = values as Partial<FillFrom>
  return typeof from === 'string' && typeof each === 'function'
}

function fillingsOf(fill: Fillings, table: string): Map<string, Filling> {
  const known = fill.get(table) ?? new Map<string, Filling>()
  fill.set(table, known)
  return known
}

function readValues(meta: EntityWithSingular, resource: string, values: object, columns: Columns, fill: Fillings): void {
  const ofTable = fillingsOf(fill, keyOfEntity(meta))
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    const asked = `fill.${resource}.${name}`
    const prop = findProperty(meta, name, `fill.${resource}`)
    const to = columns.get(keyOfEntity(meta))?.get(prop.fieldNames?.[0] ?? '')
    if (to === undefined || prop.fieldNames.length !== 1)
      throw new TypeError(`"${asked}" is not stored in one column, so it cannot be filled.`)
    if (typeof value === 'function') {
      ofTable.set(to.column, { asked, to, json: undefined, stored: undefined, each: value as (row: OldRow) => unknown })
      continue
    }
    const json = value instanceof FillText ? value.text : value
    const stored = value instanceof FillText ? to.storeText(value.text) : to.store(json)
    if (stored === undefined || stored === null)
      throw new TypeError(`"${asked}" must be ${describeWanted(to)}, got ${JSON.stringify(json) ?? String(json)}.`)
    ofTable.set(to.column, { asked, to, json: typeof stored === 'number' ? stored : json, stored })
  }
}

export function isGiven(filling: Filling | undefined): boolean {
  return filling !== undefined && filling.isMadeUp !== true
}

/** @returns `an integer`, for example */
export function describeWanted({ type }: EvolvedColumn): string {
  return type === undefined ? 'a JSON object' : describeScalar(type)
}

/** Makes up values of required properties without a default, but no links. */
function makeValuesUp(meta: EntityWithSingular, columns: Columns, fill: Fillings, makeUp: Evolving['makeUp']): void {
  const table = keyOfEntity(meta)
  const ofTable = fillingsOf(fill, table)
  for (const [column, to] of columns.get(table) ?? []) {
    const { prop, type } = to
    const isNeeded = prop.kind === 'scalar' && prop.nullable !== true && prop.default === undefined && prop.defaultRaw === undefined
    if (!isNeeded || type === undefined || prop.primary === true || prop.version === true || ofTable.has(column)) continue
    const each = makeDifferent(
      round => makeUp!(type, prop.name, meta.singular, round),
      prop.unique === true || typeof prop.unique === 'string',
    )
    ofTable.set(column, { asked: `fill.${meta.singular}`, to, json: undefined, stored: undefined, each, isMadeUp: true })
  }
}

/** For a unique value: an enum has only its items. */
const TRIES = 10_000

function makeDifferent(begin: (round: number) => Iterator<unknown>, isUnique: boolean): () => unknown {
  const seen = new Set<string>()
  let round = 0
  let values = begin(round)
  return () => {
    for (let tries = 0; tries < TRIES; tries++) {
      const next = values.next()
      if (next.done === true) {
        values = begin(++round)
        continue
      }
      if (isUnique && seen.has(JSON.stringify(next.value))) continue
      seen.add(JSON.stringify(next.value))
      return next.value
    }
    throw new Error('there are no more different values')
  }
}
