/**
 * Copy rows: copies rows of a server to an SQLite file through the API, whose values fit every database. Returns a reason if copying fails.
 */
import { DAY_MS } from '../../foundation/base/clock.ts'
import type { ScalarKind, ScalarType } from '../../foundation/values/scalar-type.ts'
import { isObject } from '../../foundation/base/json.ts'
import { shownName } from '../../model/ids-name.ts'
import type { EmbeddedAttribute, Resource, ScalarAttribute } from '../../model/model.ts'
import type { OwnedEngine, EngineInternals } from '../pipeline/engine-internals.ts'
import { internalsOf } from '../pipeline/internals.ts'
import type { EngineOptions } from '../pipeline/options.ts'
import { contentsOf, makeSnapshot, type SnapshotContents } from '../pipeline/snapshot.ts'
import { readTable } from '../journal/difference.ts'
import { MAX_DATA, type RecordedFacts } from './recording-file.ts'
import { serveRecorded, type Forking } from './serve-recorded.ts'

type CopyEngine = OwnedEngine & Forking<CopyEngine>

/** Omits the engine from lists. */
export type CreateCopy = (options: EngineOptions) => Promise<CopyEngine>

/** A limit, because copying validates each row. */
const MAX_ROWS = 50_000

type Rows = Record<string, object[]>

export async function copyRows(
  internals: EngineInternals,
  beginning: SnapshotContents,
  facts: RecordedFacts,
  create: CreateCopy,
): Promise<Uint8Array | string> {
  try {
    const past = await internals.fork(makeSnapshot(beginning))
    try {
      await using copy = await serveRecorded({ facts, data: undefined }, create)
      const rows = await readRows(internalsOf(past), internalsOf(copy).model.resources)
      if (typeof rows === 'string') return rows
      await copy.seed(rows)
      const { image } = contentsOf(await copy.snapshot())
      // The copy has no rules of the application, so pass the secrets.
      return (await internalsOf(copy).parts.world.write(image, MAX_DATA, internals.open.secrets)) ?? 'the copy is none of SQLite'
    } finally {
      await past.close()
    }
  } catch (error) {
    // A recording without data is better than none.
    return `they could not be copied: ${(error as Error).message.replace(/\.$/, '').replaceAll('\n', ' ').slice(0, 500)}`
  }
}

/** Uses the names of the recording. */
async function readRows({ open }: EngineInternals, recorded: readonly Resource[]): Promise<Rows | string> {
  const { connection, shared } = open
  const { watched } = shared
  const counts = await connection.countRows(watched.tables.map(({ resource }) => resource.table))
  const sum = counts.reduce((all, count) => all + count, 0)
  if (sum > MAX_ROWS) return `the database has ${sum.toLocaleString('en')} rows, and ${MAX_ROWS.toLocaleString('en')} are copied at most`
  const rows: Rows = {}
  for (const table of watched.tables) {
    const target = recorded.find(({ className }) => className === table.resource.className)
    if (target === undefined) continue
    const known = new Set(target.attributes.map(shownName))
    const records = [...(await readTable(table, watched, connection)).values()]
    rows[target.plural] = records.map((record, index) => {
      const shown = Object.fromEntries(Object.entries(record).filter(([name]) => known.has(name)))
      return replaceHidden(shown, target.attributes, index + 1)
    })
  }
  return rows
}

/** Gives the record a value for each hidden attribute that requires a value, also inside of its embedded objects. */
function replaceHidden(record: object, attributes: Resource['attributes'], count: number, isHidden = false): object {
  const shown = new Map(Object.entries(record))
  for (const attribute of attributes) {
    const isMissing = attribute.required && (attribute.hidden || isHidden)
    if (attribute.kind === 'scalar') {
      if (isMissing && !attribute.primary) shown.set(attribute.name, standIn(attribute, count))
    } else if (attribute.kind === 'embedded') {
      const known = isMissing ? (attribute.array ? [] : {}) : shown.get(attribute.name)
      if (isObject(known) || Array.isArray(known)) shown.set(attribute.name, replaceInside(known, attribute, count, isMissing))
    }
  }
  return Object.fromEntries(shown)
}

function replaceInside(value: object, attribute: EmbeddedAttribute, count: number, isHidden: boolean): object {
  if (Array.isArray(value)) return value.map(each => (isObject(each) ? replaceInside(each, attribute, count, isHidden) : each) as object)
  const { attributes, variants } = attribute
  const own = variants?.byValue.get(String((value as Readonly<Record<string, unknown>>)[variants.discriminator]))
  return replaceHidden(value, own ?? attributes, count, isHidden)
}

/** Replaces a hidden value by another that the type takes. Each row gets a value of its own, because the attribute may be unique. */
const STAND_INS: Readonly<Record<ScalarKind, (count: number, type: ScalarType) => unknown>> = {
  integer: count => count,
  float: count => count,
  bigint: String,
  decimal: shortDecimal,
  text: (count, { length = Infinity }) => {
    const text = `[secret ${count}]`
    return text.length <= length ? text : count.toString(36).slice(-length)
  },
  boolean: () => false,
  datetime: count => new Date(count * 1000).toISOString(),
  date: count => new Date(count * DAY_MS).toISOString().slice(0, 10),
  time: count => new Date(count * 1000).toISOString().slice(11, 19),
  uuid: () => crypto.randomUUID(),
  json: () => ({}),
  blob: count => Buffer.from(String(count)).toString('base64'),
  array: () => [],
  custom: count => `[secret ${count}]`,
  jsonValue: count => `[secret ${count}]`,
  any: count => `[secret ${count}]`,
}

function standIn({ type }: ScalarAttribute, count: number): unknown {
  return type.kind !== 'array' && type.items !== undefined ? type.items[0] : STAND_INS[type.kind](count, type)
}

/** Where the digits before the point are too few for the count, those behind the point take it. */
function shortDecimal(count: number, { precision, scale = 0 }: ScalarType): string {
  if (precision === undefined) return String(count)
  const places = Math.min(scale, 9)
  return ((count % 10 ** (precision - scale + places)) / 10 ** places).toFixed(places)
}
