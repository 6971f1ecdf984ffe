/** Compares all rows of two states of a world, for `engine.difference`. */
import type { Connection } from '../../records/database/connection.ts'
import type { Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Watched, WatchedTable } from '../../records/database/changes.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import type { Field, ReadPlan } from '../../records/plan/read-plan.ts'
import { planListOrder } from '../../records/plan/order.ts'
import { OWN_READINGS } from '../../records/read/anchors.ts'
import { readRecords, type JsonRecord } from '../../records/read/run-read.ts'
import type { Change } from './changes.ts'
import { idNames } from '../../model/key.ts'

const MAX_ROWS = 400_000

/** Begins the names of key parts: no attribute begins so. */
const KEY = '\0'

/** @throws Error for too many rows */
export async function findDifference(watched: Watched, before: Connection, after: Connection): Promise<Change[]> {
  const tables = watched.tables.map(({ resource }) => resource.table)
  const counts = [...(await before.countRows(tables)), ...(await after.countRows(tables))]
  const rows = counts.reduce((sum, count) => sum + count, 0)
  if (rows > MAX_ROWS)
    throw new Error(
      `engine.difference: both states have ${rows.toLocaleString('en')} rows, and ${MAX_ROWS.toLocaleString('en')} are compared at most.`,
    )
  const changes: Change[] = []
  for (const table of watched.tables) {
    const [was, is] = [await readTable(table, watched, before), await readTable(table, watched, after)]
    for (const [id, record] of is) {
      const old = was.get(id)
      if (old === undefined) changes.push(describe('insert', table, id, undefined, record))
      else if (JSON.stringify(old) !== JSON.stringify(record)) changes.push(describe('update', table, id, old, record))
    }
    for (const [id, record] of was) if (!is.has(id)) changes.push(describe('delete', table, id, record, undefined))
  }
  return changes
}

function planAll({ resource, fields }: WatchedTable, { lists }: Watched): ReadPlan {
  const links = lists
    .filter(list => list.table.resource === resource)
    .map(({ attribute }): Field => ({ kind: 'references', attribute, order: planListOrder(attribute) }))
  return {
    resource,
    anchor: OWN_READINGS.list.anchor,
    node: { resource, fields: [...fields, ...links, ...idNames(resource).map(name => keyField(resource, name))] },
    where: [],
    scopeOf: EVERYTHING.scopeOf,
    order: [],
    paged: false,
    sort: '',
  }
}

export async function readTable(table: WatchedTable, watched: Watched, connection: Connection): Promise<Map<string | number, JsonRecord>> {
  const { dialect } = connection
  const compiled = dialect.compile(planAll(table, watched))
  const given = { filters: [], key: [], limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  const records = await connection.read(() => readRecords(compiled, given, dialect))
  return new Map(records.map(record => takeKey(table, record)))
}

/** A key part may be hidden from clients, or renamed. */
function keyField({ byName }: Resource, name: string): Field {
  const attribute = byName.get(name) as ScalarAttribute | ToOneAttribute
  return attribute.kind === 'scalar'
    ? { kind: 'scalar', attribute: { ...attribute, name: KEY + name, render: undefined } }
    : { kind: 'reference', attribute: { ...attribute, name: KEY + name, render: undefined } }
}

function takeKey({ resource }: WatchedTable, record: JsonRecord): [string | number, JsonRecord] {
  const names = idNames(resource)
  const parts = names.map(name => record[KEY + name])
  const { ...shown } = record
  for (const name of names) delete shown[KEY + name]
  const id = parts.length === 1 ? (parts[0] as string | number) : parts.map(formatPart).join('~')
  return [id, shown]
}

function formatPart(part: unknown): string {
  return encodeURIComponent(String(part)).replaceAll('~', '%7E')
}

function describe(
  type: Change['type'],
  { name }: WatchedTable,
  id: string | number,
  before: JsonRecord | undefined,
  after: JsonRecord | undefined,
): Change {
  return { type, resource: name, id, before: before ?? null, after: after ?? null }
}
