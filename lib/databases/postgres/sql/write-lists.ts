/** Statements that set, remove and read links of several rows. Keys are a single array parameter. */
import type { SeenRows, Statement } from '../../../records/database/dialect.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../../model/stored-table.ts'
import { VALUE, compileLeave as compileLeaving, countChange, inOrder, plainStatement } from '../../sql/compile-write.ts'
import type { Flavour } from '../../sql/flavour.ts'
import { name, sql, tableName } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { castColumn, findSqlType } from './parameters.ts'

/** See `WritingDialect.deleteAll`. */
export function compileDeleteAll(stored: StoredTable): Statement {
  const [key, list] = compareKey(stored, 1)
  return plainStatement(`delete from ${tableName(stored.table)} where ${key} = any(${list})`)
}

/** See `WritingDialect.link`. */
export function compileLink(stored: StoredTable, { column }: StoredColumn): Statement {
  const link = name(column)
  const [key, list] = compareKey(stored, 2)
  return plainStatement(
    `update ${tableName(stored.table)} set ${link} = $1${countChange(stored.version)} where ${key} = any(${list}) ` +
      `and ${link} is distinct from $3`,
  )
}

/** See `WritingDialect.unlink`. */
export function compileUnlink(stored: StoredTable, { column }: StoredColumn): Statement {
  const link = name(column)
  const [key, list] = compareKey(stored, 2)
  return plainStatement(
    `update ${tableName(stored.table)} set ${link} = null${countChange(stored.version)} where ${link} = $1 and ${key} <> all(${list})`,
  )
}

/** See `WritingDialect.deleteOthers`. */
export function compileDeleteOthers(stored: StoredTable, { column }: StoredColumn): Statement {
  const [key, list] = compareKey(stored, 2)
  return plainStatement(`delete from ${tableName(stored.table)} where ${name(column)} = $1 and ${key} <> all(${list})`)
}

/** See `WritingDialect.others`. */
export function compileOthers(stored: StoredTable, { column }: StoredColumn): Statement {
  const [key, list] = compareKey(stored, 2)
  return plainStatement(`select ${key} from ${tableName(stored.table)} where ${name(column)} = $1 and ${key} <> all(${list})`)
}

/** See `WritingDialect.unlinked`. */
export function compileUnlinked(stored: StoredTable, { column }: StoredColumn): Statement {
  const [key, list] = compareKey(stored, 1, 't.')
  const differs = `exists (select from ${tableName(stored.table)} as t where ${key} = l.v and t.${name(column)} is distinct from $2)`
  return plainStatement(`select l.v from unnest(${list}) with ordinality as l(v, i) where ${differs} order by l.i`)
}

/** See `WritingDialect.leave`. */
export function compileLeave(flavour: Flavour, pivot: PivotTable, seen?: SeenRows): Statement {
  const { member, memberType } = pivot
  const isOther = sql`${castColumn(name(member), memberType)} <> all(${VALUE}::${findListedType(memberType)}[])`
  return compileLeaving(flavour, pivot, isOther, seen)
}

/** See `WritingDialect.take`. */
export function compileTake({ table, owner, member, memberType }: PivotTable): Statement {
  const list = `$2::${findListedType(memberType)}[]`
  return plainStatement(
    `delete from ${tableName(table)} where ${name(owner)} = $1 and ${castColumn(name(member), memberType)} = any(${list})`,
  )
}

/** See `WritingDialect.enter`. */
export function compileEnter({ table, owner, ownerType, member, memberType }: PivotTable): Statement {
  const held = castColumn(name(member), memberType)
  const there = `select ${held} from ${tableName(table)} where ${name(owner)} = $3 and ${name(member)} is not null`
  const listed = `unnest($2::${findListedType(memberType)}[]) with ordinality as l(v, i)`
  return plainStatement(
    `insert into ${tableName(table)} (${name(owner)}, ${name(member)}) ` +
      `select $1::${findOwnType(ownerType)}, l.v::${findOwnType(memberType)} ` +
      `from ${listed} where l.v not in (${there}) order by l.i`,
  )
}

/** See `WritingDialect.members`. */
export function compileMembers({ table, owner, member, order }: PivotTable): Statement {
  return plainStatement(
    `select ${name(member)} from ${tableName(table)} where ${name(owner)} = $1 and ${name(member)} is not null${inOrder(order)}`,
  )
}

function compareKey({ key: [key] }: StoredTable, parameter: number, prefix = ''): readonly [string, string] {
  const keyColumn = `${prefix}${name(key!.column)}`
  const { type } = key!
  return type === undefined ? [keyColumn, `$${parameter}`] : [castColumn(keyColumn, type), `$${parameter}::${findListedType(type)}[]`]
}

function findListedType(type: ScalarType): string {
  return findSqlType(type) ?? 'text'
}

/** An enum takes no text without a cast. */
function findOwnType(type: ScalarType): string {
  return type.column ?? findListedType(type)
}
