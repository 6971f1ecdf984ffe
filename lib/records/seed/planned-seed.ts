/**
 * Inserts a seed by statements of the engine, where no code of the application (hooks, subscribers) looks at entities. Returns false,
 * before any write, where MikroORM's unit of work must insert.
 */
import { runCoroutine, wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import type { Model, Resource, ToManyAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { checkChanges } from '../validate/check-database.ts'
import { NewRecords } from '../statements/new-rows.ts'
import { isInsertedOnce, leadsTo, planNew } from '../statements/plan-body.ts'
import { planColumns, planRows } from '../statements/plan-rows.ts'
import { findStatement, type BoundInsert } from '../statements/bind-write.ts'
import { insertRows } from '../statements/insert-rows.ts'
import type { KeyValues } from '../../model/key.ts'
import type { StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { Statement } from '../database/dialect.ts'
import { bindKey, type RowShape } from '../statements/row-shape.ts'
import { RowShapes } from '../statements/row-shapes.ts'
import { listNewMembers, listNew } from '../validate/linked-records.ts'
import type { RecordInput } from '../validate/record-input.ts'
import type { Translating } from '../unit-of-work/unit-of-work.ts'
import type { SeedData } from '../../model/seeds.ts'
import { listNames, listRecords } from './seed-records.ts'
import { validateSeed, type ValidatedSeed } from './validate-seed.ts'

export async function insertPlanned(
  data: SeedData,
  { changes, errors }: ValidatedSeed,
  connection: Connection,
  translating: Translating,
): Promise<boolean> {
  const refusal = errors.refusal()
  const plan = connection.writesAlone() && refusal === undefined ? planSeed(data, translating.model, connection) : undefined
  const rows = plan && arrangeAll(changes, connection)
  if (rows === undefined) return false
  const isChecked = plan!.keepsUnique
  await insertOrExplain(
    function* () {
      yield* check({ changes, errors: new FieldErrors() }, connection, isChecked)
      yield* insertNew(rows, connection)
    },
    () => ({ changes, errors }),
    connection,
    translating,
  )
  return true
}

/** Plain values and IDs, as of a JSON file, go unvalidated: the database refuses faults. */
export async function insertFlat(data: SeedData, connection: Connection, translating: Translating): Promise<boolean> {
  const { model } = translating
  const rows = bindFlat(data, model, connection)
  if (rows === undefined) return false
  await insertOrExplain(
    () => insertNew(rows, connection),
    () => validateSeed(data, model, connection),
    connection,
    translating,
  )
  return true
}

/** On a refused row, a check with all look-ups finds the reason, or the database's error stands. */
async function insertOrExplain(
  insert: () => Coroutine<void>,
  validate: () => ValidatedSeed | Promise<ValidatedSeed>,
  connection: Connection,
  translating: Translating,
): Promise<void> {
  try {
    await connection.transact(() => runCoroutine(insert()))
  } catch (error) {
    if (connection.dialect.breaksConstraint(error)) {
      const validated = await validate()
      await runCoroutine(check(validated, connection, false))
      const made = validated.changes.flatMap(change => listNew(change))
      translating.work = { newMembers: listNewMembers(made), touched: made }
    }
    throw error
  }
}

/** @param uniquesLater the database refuses taken values */
function* check({ changes, errors }: ValidatedSeed, connection: Connection, uniquesLater: boolean): Coroutine<void> {
  const known = new Set(changes.flatMap(change => listRecords(change).flatMap(listNames)))
  yield* wait(checkChanges(changes, { known, uniquesLater }, connection, EVERYTHING, errors))
  const refusal = errors.refusal()
  if (refusal === undefined) return
  if (uniquesLater) yield* check({ changes, errors: new FieldErrors() }, connection, false)
  throw refusal
}

function arrangeAll(changes: readonly RecordInput[], connection: Connection): NewRecords | undefined {
  const rows = new NewRecords(connection)
  for (const change of changes) rows.add(change)
  return rows.arrange() ? rows : undefined
}

/** Undefined for values unfit for a column, and where the database would store faults. */
function bindFlat(data: SeedData, model: Model, connection: Connection): NewRecords | undefined {
  if (!connection.keepsConstraints || connection.dialect.failsWhole) return undefined
  const shapes = new RowShapes(connection)
  const rows = new NewRecords(connection)
  const checked = new Set<RowShape>()
  const pivots = new Map<string, ToManyAttribute>()
  // A link to a record without an ID is refused, though the database may count the same key.
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
  return [...counted].some(resource => linked.has(resource)) || !rows.arrange() ? undefined : rows
}

/** The database refuses links to missing records, and one list alone writes a pivot table. */
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
  readonly keepsUnique: boolean
}

/** Undefined where statements cannot insert. */
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

/** Whether records can be inserted before linked records. Circles of needs are refused, and a waiting link counts as a change. */
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

function* insertNew(rows: NewRecords, connection: Connection): Coroutine<void> {
  yield* wait(connection.deferReferences())
  yield* rows.insert()
  yield* insertRows(bindMembers(rows, connection), connection)
}

interface StoredPivot {
  readonly stored: StoredTable
  readonly columns: readonly StoredColumn[]
  readonly statement: Statement
}

const NO_KEY: KeyValues = []

const pivots = new WeakMap<ToManyAttribute, StoredPivot>()

function* bindMembers(rows: NewRecords, connection: Connection): Generator<BoundInsert, void, undefined> {
  for (const { relation, owner, members } of rows.lists) {
    const list = relation as ToManyAttribute
    const { resource } = owner
    const pivot = findPivot(list, resource, connection)
    const bind = (key: KeyValues, of: Resource): unknown => bindKey(key, of, of.readStored()!, connection)[0]
    const key = bind(rows.keyOf(owner), resource)
    for (const member of new Set(members.map(each => bind(rows.keyOf(each), list.target)))) {
      yield { ...pivot, resource, parameters: [key, member], key: NO_KEY }
    }
  }
}

function findPivot(list: ToManyAttribute, owner: Resource, { dialect: { writing } }: Connection): StoredPivot {
  let pivot = pivots.get(list)
  if (pivot === undefined) {
    const { table, ownerColumns, targetColumns } = list.via as ToManyAttribute['via'] & { kind: 'pivot' }
    const toPart = (of: Resource, column: string): StoredColumn => ({ ...of.readStored()!.key[0]!, column })
    const columns = [toPart(owner, ownerColumns[0]!), toPart(list.target, targetColumns[0]!)]
    const stored: StoredTable = { ...owner.readStored()!, table, key: [], counter: undefined, uniques: [], keepsUnique: false }
    pivot = { stored, columns, statement: findStatement('insert', stored, columns, () => writing.insert(stored, columns)) }
    pivots.set(list, pivot)
  }
  return pivot
}
