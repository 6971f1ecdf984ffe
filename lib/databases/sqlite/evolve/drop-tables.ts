/** Drops tables without an entity. Tables of SQLite, of MikroORM's migrations and of modules stay. */
import type { MikroORM } from '@mikro-orm/core'
import type Database from 'better-sqlite3'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase } from '../schema/existing-table.ts'
import { listMentioned } from './create-text.ts'
import { countOf } from './check-rows.ts'

interface DroppedFrom {
  readonly orm: MikroORM
  readonly db: Database.Database
  readonly isMentioned: (table: string) => boolean
}

interface DroppedTable {
  readonly name: string
  readonly type: 'table' | 'view' | 'shadow' | 'virtual'
}

/** @param wanted the tables and views of the entities */
export function dropTables(wanted: readonly { readonly name: string }[], evolution: DroppedFrom, plan: Plan): void {
  const { orm, db, isMentioned } = evolution
  const kept = new Set([...wanted.map(({ name }) => name), orm.config.get('migrations').tableName ?? 'mikro_orm_migrations'].map(foldCase))
  const rows = db.pragma('main.table_list') as (DroppedTable & { readonly schema: string })[]
  for (const { name, type, schema } of rows) {
    if (type !== 'table' || schema !== 'main' || kept.has(foldCase(name)) || /^sqlite_/i.test(name)) continue
    if (isMentioned(name)) {
      plan.stays.push(`${name}: no entity has it as its table. It stays, since the model reads it.`)
      continue
    }
    const user = findUser(name, db)
    if (user !== undefined) {
      plan.stays.push(`${name}: no entity of the model. It stays, since ${user} names it.`)
      continue
    }
    const count = countOf(db, `from main.${quoted(name)}`)
    const sql = `drop table ${quoted(name)}`
    db.exec(sql)
    plan.add(`${name}: the table is dropped, with ${countRows(count)}.`, [sql])
  }
}

/** Finds another table, a view or a trigger with the name inside. */
function findUser(table: string, db: Database.Database): string | undefined {
  const objects = db
    .prepare(
      "select type, name, tbl_name as 'table', sql from main.sqlite_schema where type in ('table', 'view', 'trigger') and sql is not null",
    )
    .all() as { type: string; name: string; table: string; sql: string }[]
  const user = objects.find(
    ({ type, name, table: ownTable, sql }) =>
      foldCase(ownTable) !== foldCase(table) &&
      (type === 'table'
        ? (db.pragma(`main.foreign_key_list(${quoted(name)})`) as { table: string }[]).some(
            each => foldCase(each.table) === foldCase(table),
          )
        : listMentioned(sql).some(mentioned => foldCase(mentioned) === foldCase(table))),
  )
  return user === undefined ? undefined : `the ${user.type} "${user.name}"`
}
