/**
 * Planned graph: inserts new records with all that is nested in them by statements, where one of them links itself: MikroORM's unit of work
 * leaves such a link out. Gives nothing, with nothing written, where the unit of work must insert them, and wherever something is wrong:
 * that finds out what.
 */
import { runCoroutine, wait, type Coroutine } from '../../foundation/work/awaitable.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Connection } from '../database/connection.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import { checkChanges, findSelfLinks, nameAll } from '../validate/check-database.ts'
import { MadeValues } from './made-values.ts'
import { planGraph } from './plan-body.ts'
import { planRows } from './plan-rows.ts'
import { PlannedRelations } from './planned-relations.ts'
import { listNew, type RecordInput } from '../validate/record-input.ts'
import { Unplanned } from '../unit-of-work/unplanned.ts'

/**
 * Inserts records inside a transaction, and returns their keys, in order.
 *
 * @param bodies what the changes are of
 */
export async function insertGraph(
  bodies: readonly JsonObject[],
  changes: readonly RecordInput[],
  connection: Connection,
): Promise<readonly KeyValues[] | undefined> {
  const linksItself = changes.some(change => listNew(change).some(each => (findSelfLinks(each)?.size ?? 0) > 0))
  if (!linksItself || !connection.writesAlone() || !changes.every((change, index) => isPlanned(change, bodies[index]!, connection)))
    return undefined
  try {
    return await connection.transact(() => runCoroutine(insertAll(changes, connection)))
  } catch (error) {
    if (error instanceof Unplanned || connection.dialect.breaksConstraint(error)) return undefined
    throw error
  }
}

function isPlanned({ resource }: RecordInput, body: JsonObject, connection: Connection): boolean {
  const row = planRows(resource)
  return row !== null && planGraph(row, resource, body, connection) !== undefined
}

function* insertAll(changes: readonly RecordInput[], connection: Connection): Coroutine<readonly KeyValues[]> {
  const errors = new FieldErrors()
  const known = nameAll(changes.flatMap(change => listNew(change)))
  yield* wait(checkChanges(changes, { known }, connection, EVERYTHING, errors))
  if (errors.listed.length > 0) throw new Unplanned()
  yield* wait(connection.deferReferences())
  const values = new MadeValues()
  values.begin()
  const relations = new PlannedRelations(connection, values)
  const keys: KeyValues[] = []
  for (const change of changes) keys.push(yield* relations.create(change))
  return keys
}
