/**
 * Planned seed: inserts a seed by statements, where no code of the application looks at entities, and rows and pivot rows suffice. Returns
 * false, with nothing written, where the unit of work must insert, or find what is wrong.
 */
import { runCoroutine, wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { Connection } from '../database/connection.ts'
import type { Model, RelationAttribute, Resource, ToManyAttribute } from '../../model/model.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { checkChanges, nameAll } from '../validate/check-database.ts'
import type { MadeValues } from '../statements/made-values.ts'
import { isInsertedOnce, leadsTo, planNew, type BodyPlan } from '../statements/plan-body.ts'
import { planRows } from '../statements/plan-rows.ts'
import { PlannedRelations } from '../statements/planned-relations.ts'
import { isOneRow, type RecordInput } from '../validate/record-input.ts'
import { orderByLinks } from './seed-order.ts'
import type { SeedData } from '../../model/seed-rows.ts'
import { nameAllNew } from '../validate/references.ts'
import { collectShown, divideByNames, withRowKeys } from './seed-stages.ts'
import { findRowKeys } from '../read/row-keys.ts'
import { Unplanned } from '../unit-of-work/unplanned.ts'

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

interface SeedPlan {
  /** Whether the database refuses all taken values. */
  readonly keepsUnique: boolean
}

/** Decides by names; undefined where statements cannot insert. */
function planSeed(data: SeedData, model: Model, connection: Connection): SeedPlan | undefined {
  let keepsUnique = connection.keepsConstraints
  const pivots = new Map<string, ToManyAttribute>()
  const nested = new Map<Resource, RelationAttribute>()
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    const row = resource === undefined || resource.hierarchy !== undefined || !Array.isArray(records) ? null : planRows(resource)
    if (row === null || !comesInAnyOrder(resource!) || mixesKeys(records, resource!)) return undefined
    for (const record of records as readonly unknown[]) {
      const body = isObject(record) ? planNew(row, resource!, record, connection) : undefined
      if (body === undefined || body.linksOthers || !addNested(body.created, nested)) return undefined
      if (!body.keepsUnique) keepsUnique = false
      for (const [table, list] of body.pivots) {
        if (connection.countsKeys(table) || (pivots.get(table) ?? list) !== list) return undefined
        pivots.set(table, list)
      }
    }
  }
  return Object.keys(data).some(name => nested.has(model.byName.get(name)!)) ? undefined : { keepsUnique }
}

/** Returns false where MikroORM would insert in another order: a table's records have one place. */
function addNested(created: BodyPlan['created'], nested: Map<Resource, RelationAttribute>): boolean {
  for (const [target, relation] of created) {
    const known = nested.get(target)
    if (known === undefined ? !comesInAnyOrder(target) : known !== relation) return false
    nested.set(target, relation)
  }
  return true
}

/** Whether a record can be inserted before linked records. Circles of needs are refused, and a waiting link counts as a change. */
function comesInAnyOrder(resource: Resource): boolean {
  return resource.attributes.every(
    attribute =>
      attribute.kind !== 'toOne' ||
      !attribute.owner ||
      // A record may need itself or an earlier record. For a later record, the database refuses, and the unit of work orders.
      (isInsertedOnce(resource, attribute.target) &&
        (attribute.nullable || attribute.target === resource || !leadsTo(attribute.target, resource))),
  )
}

/** MikroORM inserts records with given keys before records with counted keys. */
function mixesKeys(records: readonly unknown[], { generatedKey, keyNames }: Resource): boolean {
  if (!generatedKey) return false
  const given = records.filter(record => isObject(record) && (record[keyNames[0]!] ?? null) !== null).length
  return given > 0 && given < records.length
}

function* insertAll(
  changes: readonly RecordInput[],
  { keepsUnique }: SeedPlan,
  connection: Connection,
  values: MadeValues,
): Coroutine<void> {
  values.begin()
  const errors = new FieldErrors()
  const names = nameAllNew(changes)
  const checking = { known: new Set([...nameAll(changes), ...names]), uniquesLater: keepsUnique }
  yield* wait(checkChanges(changes, checking, connection, EVERYTHING, errors))
  if (errors.listed.length > 0) throw new Unplanned()
  yield* wait(connection.deferReferences())
  const relations = new PlannedRelations(connection, values)
  const insertedNames = new Set<string>()
  for (let remaining = changes; remaining.length > 0;) {
    const { ready, waiting } = names.size === 0 ? { ready: remaining, waiting: [] } : divideByNames(remaining, insertedNames)
    // The unit of work sets links in a circle, or to a later record, after the inserts.
    if (ready.length === 0) throw new Unplanned()
    const wanted = names.size === 0 ? undefined : collectShown(ready)
    const found = wanted === undefined || wanted.size === 0 ? undefined : yield* wait(findRowKeys(wanted, connection))
    yield* insertStage(found === undefined ? ready : ready.map(change => withRowKeys(change, found)), relations, connection)
    if (waiting.length > 0) for (const name of nameAllNew(ready)) insertedNames.add(name)
    remaining = waiting
  }
}

function* insertStage(changes: readonly RecordInput[], relations: PlannedRelations, { dialect }: Connection): Coroutine<void> {
  // An undone insert has drawn keys, which are not given again.
  const ordered = dialect.failsWhole ? orderByLinks(changes) : changes
  if (ordered === undefined) throw new Unplanned()
  let rows: RecordInput[] = []
  for (const change of ordered) {
    if (isOneRow(change)) {
      rows.push(change)
      continue
    }
    yield* relations.insertAll(rows)
    rows = []
    yield* relations.create(change)
  }
  yield* relations.insertAll(rows)
}
