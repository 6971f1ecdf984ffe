/**
 * Statements that set, remove and read links of several rows; parameters as in `WritingDialect`. A list of keys is a single JSON text.
 */
import type { SeenRows, Statement } from '../../../records/database/dialect.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../../model/stored-table.ts'
import { VALUE, compileLeave as compileLeaving, countChange, inOrder, plainStatement } from '../../sql/compile-write.ts'
import { name, sql, tableName } from '../../sql/sql.ts'
import { SQLITE_FLAVOUR } from './flavour.ts'

const LISTED = '(select value from json_each(?))'

export function compileDeleteAll({ table, key }: StoredTable): Statement {
  return plainStatement(`delete from ${tableName(table)} where ${name(key[0]!.column)} in ${LISTED}`)
}

export function compileLink({ table, key, version }: StoredTable, { column }: StoredColumn): Statement {
  const field = name(column)
  return plainStatement(
    `update ${tableName(table)} set ${field} = ?${countChange(version)} where ${name(key[0]!.column)} in ${LISTED} and ${field} is not ?`,
  )
}

export function compileUnlink({ table, key, version }: StoredTable, { column }: StoredColumn): Statement {
  const field = name(column)
  return plainStatement(
    `update ${tableName(table)} set ${field} = null${countChange(version)} where ${field} = ? and ${name(key[0]!.column)} not in ${LISTED}`,
  )
}

export function compileDeleteOthers({ table, key }: StoredTable, { column }: StoredColumn): Statement {
  return plainStatement(`delete from ${tableName(table)} where ${name(column)} = ? and ${name(key[0]!.column)} not in ${LISTED}`)
}

export function compileOthers({ table, key }: StoredTable, { column }: StoredColumn): Statement {
  const field = name(key[0]!.column)
  return plainStatement(`select cast(${field} as text) from ${tableName(table)} where ${name(column)} = ? and ${field} not in ${LISTED}`)
}

export function compileUnlinked({ table, key }: StoredTable, { column }: StoredColumn): Statement {
  const differs = `exists (select 1 from ${tableName(table)} as t where t.${name(key[0]!.column)} = l.value and t.${name(column)} is not ?)`
  return plainStatement(`select cast(l.value as text) from json_each(?) as l where ${differs} order by l.key`)
}

export function compileLeave(pivot: PivotTable, seen?: SeenRows): Statement {
  const { table, member, members } = pivot
  const exists =
    members === undefined
      ? ''
      : ` and exists (select 1 from ${tableName(members.table)} as t where t.${name(members.key)} = ${tableName(table)}.${name(member)})`
  return compileLeaving(SQLITE_FLAVOUR, pivot, sql`${name(member)} not in (select value from json_each(${VALUE}))${exists}`, seen)
}

export function compileTake({ table, owner, member }: PivotTable): Statement {
  return plainStatement(`delete from ${tableName(table)} where ${name(owner)} = ? and ${name(member)} in ${LISTED}`)
}

export function compileEnter({ table, owner, member }: PivotTable): Statement {
  const there = `(select ${name(member)} from ${tableName(table)} where ${name(owner)} = ? and ${name(member)} is not null)`
  const listed = `select ?, value from json_each(?) where value not in ${there} order by key`
  return plainStatement(`insert into ${tableName(table)} (${name(owner)}, ${name(member)}) ${listed}`)
}

export function compileMembers({ table, owner, member, order }: PivotTable): Statement {
  return plainStatement(
    `select cast(${name(member)} as text) ` +
      `from ${tableName(table)} where ${name(owner)} = ? and ${name(member)} is not null${inOrder(order)}`,
  )
}
