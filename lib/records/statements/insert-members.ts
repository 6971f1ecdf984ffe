/** Insert members: inserts the pivot rows of new records' lists, many by one statement. */
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import type { StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { Statement } from '../database/dialect.ts'
import type { RowConnection } from '../database/connection.ts'
import { bindKey, findStatement, type BoundInsert } from './bind-write.ts'
import { insertRows } from './insert-rows.ts'
import type { NewRecords } from './new-rows.ts'

/** The pivot table as a table of rows. */
interface StoredPivot {
  readonly stored: StoredTable
  readonly columns: readonly StoredColumn[]
  readonly statement: Statement
}

const NO_KEY: KeyValues = []

const pivots = new WeakMap<ToManyAttribute, StoredPivot>()

export function* insertMembers(rows: NewRecords, connection: RowConnection): Coroutine<void> {
  yield* insertRows(bindMembers(rows, connection), connection)
}

function* bindMembers(rows: NewRecords, connection: RowConnection): Generator<BoundInsert, void, undefined> {
  for (const { relation, owner, members } of rows.lists) {
    const list = relation as ToManyAttribute
    const { resource } = owner
    const pivot = findPivot(list, resource, connection)
    const bind = (key: KeyValues, of: Resource): unknown => bindKey(key, of, of.readStored()!, connection)[0]
    const key = bind(rows.keyOf(owner), resource)
    // A list may name a member twice.
    for (const member of new Set(members.map(each => bind(rows.keyOf(each), list.target)))) {
      yield { ...pivot, resource, parameters: [key, member], key: NO_KEY }
    }
  }
}

function findPivot(list: ToManyAttribute, owner: Resource, { dialect: { writing } }: RowConnection): StoredPivot {
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
