/** Planned writer: runs the statements of a planned write inside the transaction of the request. */
import type { Connection } from '../database/dialect.ts'
import type { KeyValues } from '../model/key.ts'
import type { StoredTable } from '../model/stored-table.ts'
import { bindInsert } from './bind-write.ts'
import type { RecordInput } from './write-plan.ts'

/** Inserts a record; returns its key, or undefined where nothing has been done, since the unit of work must do it. */
export function insertRow(change: RecordInput, stored: StoredTable, connection: Connection): KeyValues | undefined {
  const bound = bindInsert(change, stored, connection)
  if (bound === undefined) return undefined
  const { counted } = connection.run(bound.statement, bound.parameters)
  if (bound.key !== undefined) return bound.key
  return [change.resource.key[0]!.type.kind === 'bigint' ? counted : Number(counted)]
}
