/** Runs the inserts of bound rows, in order. Neighbours with the same columns share a statement. */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { Turns } from '../../foundation/async/turns.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { RowConnection, RowsWritten } from '../database/connection.ts'
import { findStatement, type BoundInsert, type BoundStatement } from './bind-write.ts'
import { statementDropped } from '../validate/dropped-writes.ts'

/** @param rows bound one after another, since binding calls functions of the model */
export function* insertRows(rows: Iterable<BoundInsert>, connection: RowConnection, end?: RequestAbort): Coroutine<readonly KeyValues[]> {
  const keys: KeyValues[] = []
  const turns = new Turns()
  let group: BoundInsert[] = []
  for (const row of rows) {
    if (group.length === thresholds.insertedRows || (group.length > 0 && group[0]!.statement !== row.statement)) {
      yield* insertGroup(group, connection, keys)
      group = []
      yield* wait(turns.next())
      end?.throwIfReached()
    }
    group.push(row)
  }
  yield* insertGroup(group, connection, keys)
  return keys
}

function* insertGroup(group: readonly BoundInsert[], connection: RowConnection, keys: KeyValues[]): Coroutine<void> {
  for (let from = 0; from < group.length;) {
    const rows = group.slice(from, from + countTogether(group.length - from, group[from]!, connection))
    const { statement, parameters } = rows.length === 1 && !connection.dialect.failsWhole ? rows[0]! : bindRows(rows, connection)
    const written = yield* wait(connection.run(statement, parameters))
    if (written.rows < rows.length) throw yield* statementDropped(rows[0]!.resource, 'inserted', connection, rows[0]!.stored.table)
    keys.push(...listKeys(rows, written))
    from += rows.length
  }
}

function listKeys(rows: readonly BoundInsert[], { counted, keys }: RowsWritten): readonly KeyValues[] {
  if (rows[0]!.key !== undefined) return rows.map(({ key }) => key!)
  // Refuses keys out of range. SQLite gives the last key, hence the highest.
  const last = keyFromCount(counted, rows[0]!.resource)
  if (rows.length === 1) return [last]
  const all = keys!()
  return rows.map(({ resource }, index) => keyFromCount(all[index]!, resource))
}

function countTogether(rows: number, { key, columns: { length } }: BoundInsert, connection: RowConnection): number {
  if (rows > 1 && key === undefined && !connection.tellsKeys()) return 1
  const { insertedRows, insertedValues, insertedEach } = thresholds
  const most = length === 0 ? 1 : Math.max(1, Math.min(rows, insertedRows, Math.floor(insertedValues / length)))
  return most <= insertedEach ? most : 2 ** Math.floor(Math.log2(most))
}

export function bindRows(rows: readonly BoundInsert[], { dialect }: RowConnection): BoundStatement {
  const { stored, columns } = rows[0]!
  if (columns.length === 0) return rows[0]!
  const compile = () => dialect.writing.insertRows(stored, columns, rows.length)
  return {
    statement: findStatement(`insert ${rows.length}`, stored, columns, compile),
    parameters: rows.flatMap(({ parameters }) => parameters),
  }
}
