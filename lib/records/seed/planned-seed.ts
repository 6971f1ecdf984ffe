/**
 * Planned seed: inserts a seed by statements, where no code of the application looks at entities, and rows and pivot rows suffice. Returns
 * false, with nothing written, where the unit of work must insert, or find what is wrong.
 */
import { runCoroutine, wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import type { Model, Resource, ToManyAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { checkChanges, nameAll } from '../validate/check-database.ts'
import type { MadeValues } from '../statements/made-values.ts'
import { NewRecords } from '../statements/new-rows.ts'
import { isInsertedOnce, leadsTo, planNew } from '../statements/plan-body.ts'
import { planColumns, planRows } from '../statements/plan-rows.ts'
import { insertMembers } from '../statements/insert-members.ts'
import type { RowShape } from '../statements/row-shape.ts'
import { RowShapes } from '../statements/row-shapes.ts'
import type { RecordInput } from '../validate/record-input.ts'
import type { SeedData } from '../../model/seeds.ts'
import { nameAllNew } from '../validate/references.ts'
import { Unplanned } from '../statements/unplanned.ts'

/**
 * @param changes the records, valid by the model
 * @param values keeps values from functions of the model, for the unit of work to use again
 */
export async function insertPlanned(
  data: SeedData,
  changes: readonly RecordInput[],
  model: Model,
  connection: Connection,
  values: MadeValues,
): Promise<boolean> {
  const planned = connection.writesAlone() ? planSeed(data, model, connection) : undefined
  if (planned === undefined) return false
  try {
    await connection.transact(() => runCoroutine(insertAll(changes, planned, connection, values)))
    return true
  } catch (error) {
    if (error instanceof Unplanned || connection.dialect.breaksConstraint(error)) return false
    throw error
  }
}

/**
 * Inserts records of plain values and IDs, such as records of a JSON file, unvalidated: the database refuses faults. Returns undefined for
 * other records; false after a refusal, with nothing written.
 */
export async function insertFlat(data: SeedData, model: Model, connection: Connection, values: MadeValues): Promise<boolean | undefined> {
  values.begin()
  const rows = bindFlat(data, model, connection, values)
  if (rows === undefined) return undefined
  try {
    await connection.transact(() => runCoroutine(insertNew(rows, connection)))
    return true
  } catch (error) {
    if (error instanceof Unplanned || connection.dialect.breaksConstraint(error)) return false
    throw error
  }
}

/** Undefined for values unfit for a column, and where the database would not refuse faults. */
function bindFlat(data: SeedData, model: Model, connection: Connection, values: MadeValues): NewRecords | undefined {
  if (!connection.keepsConstraints || connection.dialect.failsWhole) return undefined
  const shapes = new RowShapes(connection)
  const rows = new NewRecords(connection, values)
  const checked = new Set<RowShape>()
  const pivots = new Map<string, ToManyAttribute>()
  // A link to a record without an ID is refused, though the database may count just this key.
  const [linked, counted] = [new Set<Resource>(), new Set<Resource>()]
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    if (resource === undefined || resource.readOnly || !Array.isArray(records) || !comesInAnyOrder(resource)) return undefined
    for (const record of records as readonly unknown[]) {
      const shape = isObject(record) ? shapes.find(resource, record, 'seed') : undefined
      if (shape === undefined || !(checked.has(shape) || areRefused(shape, connection, pivots))) return undefined
      checked.add(shape)
      for (const { attribute } of shape.links) linked.add(attribute.target)
      for (const { list } of shape.lists) linked.add(list.target)
      if (!resource.keyNames.every(key => key in (record as JsonObject))) counted.add(resource)
      if (!rows.addFlat(resource, record as JsonObject, shape)) return undefined
    }
  }
  return [...counted].some(resource => linked.has(resource)) ? undefined : rows
}

/** Whether the database refuses links to missing records, and one list alone writes a pivot table. */
function areRefused({ row, links, lists }: RowShape, connection: Connection, pivots: Map<string, ToManyAttribute>): boolean {
  const isRefused = (table: string, column: string): boolean => connection.refusesLinks(table, column)
  return (
    links.every(({ column }) => isRefused(row.stored.table, column.column)) &&
    lists.every(({ list }) => {
      const { table, ownerColumns, targetColumns } = list.via as ToManyAttribute['via'] & { kind: 'pivot' }
      const known = pivots.get(table) ?? list
      pivots.set(table, known)
      return known === list && !connection.countsKeys(table) && [...ownerColumns, ...targetColumns].every(each => isRefused(table, each))
    })
  )
}

interface SeedPlan {
  /** Whether the database refuses all taken values. */
  readonly keepsUnique: boolean
}

/** Decides by names; undefined where statements cannot insert. */
function planSeed(data: SeedData, model: Model, connection: Connection): SeedPlan | undefined {
  let keepsUnique = connection.keepsConstraints
  const pivots = new Map<string, ToManyAttribute>()
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    const row = resource === undefined || !Array.isArray(records) ? null : planRows(resource)
    if (row === null || !comesInAnyOrder(resource!)) return undefined
    for (const record of records as readonly unknown[]) {
      const body = isObject(record) ? planNew(row, resource!, record, connection) : undefined
      if (body === undefined || body.linksOthers || ![...body.created.keys()].every(comesInAnyOrder)) return undefined
      if (!body.keepsUnique) keepsUnique = false
      for (const [table, list] of body.pivots) {
        if (connection.countsKeys(table) || (pivots.get(table) ?? list) !== list) return undefined
        pivots.set(table, list)
      }
    }
  }
  return { keepsUnique }
}

/** Whether a record can be inserted before linked records. Circles of needs are refused, and a waiting link counts as a change. */
function comesInAnyOrder(resource: Resource): boolean {
  if (resource.hierarchy !== undefined || planColumns(resource) === null) return false
  return resource.attributes.every(
    attribute =>
      attribute.kind !== 'toOne' ||
      !attribute.owner ||
      // A needed record of the same resource comes first.
      (isInsertedOnce(resource, attribute.target) &&
        (attribute.nullable || attribute.target === resource || !leadsTo(attribute.target, resource))),
  )
}

function* insertAll(
  changes: readonly RecordInput[],
  { keepsUnique }: SeedPlan,
  connection: Connection,
  values: MadeValues,
): Coroutine<void> {
  values.begin()
  const errors = new FieldErrors()
  const checking = { known: new Set([...nameAll(changes), ...nameAllNew(changes)]), uniquesLater: keepsUnique }
  yield* wait(checkChanges(changes, checking, connection, EVERYTHING, errors))
  if (errors.listed.length > 0) throw new Unplanned()
  const rows = new NewRecords(connection, values)
  for (const change of changes) rows.add(change)
  yield* insertNew(rows, connection)
}

function* insertNew(rows: NewRecords, connection: Connection): Coroutine<void> {
  yield* wait(connection.deferReferences())
  yield* rows.insert()
  yield* insertMembers(rows, connection)
}
