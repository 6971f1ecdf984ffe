/**
 * Calls the functions of `fill`, such as `row => row.stars * 2`, for old rows, and gives the values to store. Wrong values are faults of
 * the plan.
 */
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { OldRow } from '../../records/database/evolving.ts'
import { FillText } from '../../records/database/fill-text.ts'
import { publicName } from '../../model/metadata/property-type.ts'
import type { EvolvedColumn } from './evolved-columns.ts'
import { listColumnNames } from './drop-request.ts'
import { countRows, show, type Plan } from './plan.ts'
import { describeWanted, type Filling, type RowsFrom } from './read-fill.ts'

export interface OldRows {
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly decode: (value: unknown) => unknown }[]
  readonly rows: readonly KeyedRow[]
}

interface KeyedRow {
  /** Finds the row: a `ctid`. */
  readonly place: string
  /** Such as `id 3`. */
  readonly shown: string
  readonly values: readonly unknown[]
}

/** For `await`, logs and assertions. Other unknown names are refused: `undefined` would be taken for a value. */
const INSPECTED = new Set(['toJSON', 'then', 'constructor', 'inspect', 'nodeType', 'asymmetricMatch'])

function nameColumn(column: string, modelled: ReadonlyMap<string, EvolvedColumn> | undefined): string[] {
  const prop = modelled?.get(column)?.prop
  return prop === undefined ? listColumnNames(column) : [publicName(prop), prop.name, column]
}

function* readRows(
  { table, columns, rows }: OldRows,
  modelled: ReadonlyMap<string, EvolvedColumn> | undefined,
): Generator<[OldRow, KeyedRow]> {
  const named = new Map<string, number>()
  for (const which of [0, 1, 2, 3])
    for (const [at, { name }] of columns.entries()) {
      const each = nameColumn(name, modelled)[which]
      if (each !== undefined && !named.has(each)) named.set(each, at)
    }
  for (const row of rows) {
    const record: Record<string, unknown> = Object.create(null) as Record<string, unknown>
    for (const [name, at] of named) record[name] = row.values[at] === null ? null : columns[at]!.decode(row.values[at])
    const read = (target: Record<string, unknown>, name: string | symbol): unknown => {
      if (typeof name === 'string' && !(name in target) && !INSPECTED.has(name))
        throw new TypeError(`a row of "${table}" has no "${name}".${formatHint(findNearest(name, named.keys()))}`)
      return target[name as string]
    }
    yield [new Proxy(record, { get: read }), row]
  }
}

/** @returns values by place. `null`: the row stays without a value */
export function computeValues(
  { asked, to, each }: Filling,
  old: OldRows,
  modelled: ReadonlyMap<string, EvolvedColumn> | undefined,
  plan: Plan,
): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>()
  const [empty, wrong]: [string[], string[]] = [[], []]
  for (const [row, { place, shown }] of readRows(old, modelled)) {
    const json = call(() => each!(row), asked, shown, plan)
    if (json === FAILED) return values
    if (json === undefined || json === null) {
      if (to.prop.nullable !== true) empty.push(shown)
      values.set(place, null)
      continue
    }
    const stored = json instanceof FillText ? to.storeText(json.text) : to.store(json)
    if (stored === undefined || stored === null) wrong.push(`${show(json)} for ${shown}`)
    else values.set(place, stored)
  }
  if (empty.length > 0)
    plan.faults.push(`"${asked}" gives nothing in ${countRows(empty.length)} (${list(empty)}), and must give ${describeWanted(to)}`)
  if (wrong.length > 0) plan.faults.push(`"${asked}" must give ${describeWanted(to)}, and gives ${list(wrong)}`)
  return values
}

function list(all: readonly string[]): string {
  return all.length > 5 ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more` : all.join(', ')
}

const FAILED = Symbol('failed')

function call(run: () => unknown, asked: string, shown: string, plan: Plan): unknown {
  try {
    const given = run()
    if (!(given instanceof Promise)) return given
    given.catch(() => {})
    plan.faults.push(`"${asked}" gives a promise, and must give the value itself`)
  } catch (error) {
    plan.faults.push(`"${asked}" fails for ${shown}: ${(error as Error).message.split('\n')[0]!.replace(/\.$/, '')}`)
  }
  return FAILED
}

/** Makes no rows: somebody may have removed the rows of an earlier start. */
export function leaveEmpty({ asked, table }: RowsFrom, plan: Plan): void {
  plan.stays.push(
    `${table}: the table is empty, and was there before, so "${asked}" makes no rows. Drop the table in SQL to have them made.`,
  )
}

export interface FilledRows {
  readonly asked: string
  readonly table: string
  readonly source: string
  readonly rows: readonly { readonly shown: string; readonly values: ReadonlyMap<string, unknown> }[]
}

export function computeRows(
  from: RowsFrom,
  old: OldRows,
  modelled: ReadonlyMap<string, EvolvedColumn> | undefined,
  own: ReadonlyMap<string, EvolvedColumn>,
  plan: Plan,
): FilledRows {
  const made: { readonly shown: string; readonly values: ReadonlyMap<string, unknown> }[] = []
  const { meta, asked } = from
  const byName = new Map(
    [...own.values()].flatMap(column => [[publicName(column.prop), column] as const, [column.prop.name, column] as const]),
  )
  const mark = meta.discriminatorColumn === undefined || meta.discriminatorValue === undefined ? undefined : findMark(meta, own)
  const required = [...own.values()].filter(column => isRequired(column) && column !== mark)
  for (const [row, { shown }] of readRows(old, modelled)) {
    const given = call(() => from.each(row), asked, shown, plan)
    if (given === FAILED) break
    for (const each of [given ?? []].flat()) {
      const values = call(() => readRecord(each, byName, required), asked, shown, plan)
      if (values === FAILED) return { asked, table: from.table, source: old.table, rows: made }
      if (mark !== undefined) (values as Map<string, unknown>).set(mark.column, meta.discriminatorValue)
      made.push({ shown, values: values as ReadonlyMap<string, unknown> })
    }
  }
  return { asked, table: from.table, source: old.table, rows: made }
}

function findMark(meta: RowsFrom['meta'], own: ReadonlyMap<string, EvolvedColumn>): EvolvedColumn | undefined {
  return [...own.values()].find(({ prop }) => prop.name === meta.discriminatorColumn)
}

function isRequired({ prop }: EvolvedColumn): boolean {
  const hasDefault = prop.default !== undefined || prop.defaultRaw !== undefined || prop.version === true
  return prop.nullable !== true && !hasDefault && prop.autoincrement !== true
}

function readRecord(
  record: unknown,
  byName: ReadonlyMap<string, EvolvedColumn>,
  required: readonly EvolvedColumn[],
): ReadonlyMap<string, unknown> {
  if (typeof record !== 'object' || record === null) throw new Error(`it must give an object, got ${show(record)}`)
  const values = new Map<string, unknown>()
  for (const [name, json] of Object.entries(record) as [string, unknown][]) {
    if (json === undefined) continue
    const column = byName.get(name)
    if (column === undefined)
      throw new Error(`"${name}" is no property that is stored in one column.${formatHint(findNearest(name, byName.keys()))}`)
    const stored = json === null ? null : column.store(json)
    if (stored === undefined) throw new Error(`"${name}" must be ${describeWanted(column)}, got ${show(json)}`)
    values.set(column.column, stored)
  }
  const missing = required.find(({ column }) => (values.get(column) ?? null) === null)
  if (missing !== undefined) throw new Error(`"${missing.prop.name}" is required`)
  return values
}
