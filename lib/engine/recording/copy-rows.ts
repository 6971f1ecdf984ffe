/**
 * Copy rows: copies rows of a server to an SQLite file through the API, whose values fit every database. Returns a reason if copying fails.
 */
import { shownName } from '../../model/ids-name.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
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
    const hidden = target.attributes.filter(isNeeded)
    const records = [...(await readTable(table, watched, connection)).values()]
    rows[target.plural] = records.map((record, index) => {
      const shown = Object.entries(record).filter(([name]) => known.has(name))
      const made = hidden.map(attribute => [attribute.name, standIn(attribute, index + 1)])
      return Object.fromEntries([...shown, ...made]) as object
    })
  }
  return rows
}

/** Whether a hidden attribute requires a value. */
function isNeeded(attribute: Resource['attributes'][number]): attribute is ScalarAttribute {
  return attribute.kind === 'scalar' && attribute.hidden && attribute.required && !attribute.primary
}

/** Replaces a hidden value by a unique value. */
function standIn({ type }: ScalarAttribute, count: number): unknown {
  if (type.items !== undefined) return type.items[0]
  const values: Readonly<Record<string, unknown>> = {
    integer: count,
    number: count,
    decimal: String(count),
    bigint: String(count),
    boolean: false,
    uuid: crypto.randomUUID(),
    date: '2000-01-01',
    time: '00:00:00',
    datetime: '2000-01-01T00:00:00Z',
    blob: '',
    json: {},
    array: [],
  }
  return Object.hasOwn(values, type.kind) ? values[type.kind] : `[secret ${count}]`
}
