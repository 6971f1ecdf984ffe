/** Insert rows: inserts rows in order, neighbours with the same columns by one statement. */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { Turns } from '../../foundation/async/turns.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { RowConnection, RowsWritten } from '../database/connection.ts'
import { findStatement, type BoundInsert, type BoundStatement } from './bind-write.ts'
import { Unplanned } from './unplanned.ts'

/**
 * Returns the key of each row; undefined where a trigger may have inserted other rows between.
 *
 * @param rows bound one after another, since binding calls functions of the model
 * @throws Unplanned where a trigger ignores a row
 */
export function* insertRows(
  rows: Iterable<BoundInsert>,
  connection: RowConnection,
  end?: RequestAbort,
): Coroutine<readonly (KeyValues | undefined)[]> {
  const keys: (KeyValues | undefined)[] = []
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

function* insertGroup(group: readonly BoundInsert[], connection: RowConnection, keys: (KeyValues | undefined)[]): Coroutine<void> {
  for (let from = 0; from < group.length;) {
    const rows = group.slice(from, from + countTogether(group.length - from, group[from]!))
    const { statement, parameters } = rows.length === 1 ? rows[0]! : bindRows(rows, connection)
    const written = yield* wait(connection.run(statement, parameters))
    if (written.rows < rows.length) throw new Unplanned()
    keys.push(...listKeys(rows, written))
    from += rows.length
  }
}

function listKeys(rows: readonly BoundInsert[], { counted, keys }: RowsWritten): readonly (KeyValues | undefined)[] {
  if (rows[0]!.key !== undefined) return rows.map(({ key }) => key)
  // The last key is the highest: refuses keys out of range.
  const last = keyFromCount(counted, rows[0]!.resource)
  if (rows.length === 1) return [last]
  const all = keys?.()
  return rows.map(({ resource }, index) => all && keyFromCount(all[index]!, resource))
}

/** Returns how many of the rows the next statement inserts. */
function countTogether(rows: number, { columns: { length } }: BoundInsert): number {
  const { insertedRows, insertedValues, insertedEach } = thresholds
  const most = length === 0 ? 1 : Math.max(1, Math.min(rows, insertedRows, Math.floor(insertedValues / length)))
  return most <= insertedEach ? most : 2 ** Math.floor(Math.log2(most))
}

function bindRows(rows: readonly BoundInsert[], { dialect }: RowConnection): BoundStatement {
  const { stored, columns } = rows[0]!
  const compile = () => dialect.writing.insertRows(stored, columns, rows.length)
  return {
    statement: findStatement(`insert ${rows.length}`, stored, columns, compile),
    parameters: rows.flatMap(({ parameters }) => parameters),
  }
}
