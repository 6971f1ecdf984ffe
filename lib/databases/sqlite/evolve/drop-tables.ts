/**
 * Drops tables without an entity if `drop` says so, else notes that such tables stay. Leaves tables of SQLite, of MikroORM's migrations and
 * of modules alone.
 */
import type { MikroORM } from '@mikro-orm/core'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { DropRequest } from '../../evolve/drop-request.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase } from '../schema/existing-table.ts'
import { listMentioned } from './create-text.ts'
import { countOf } from './check-rows.ts'

interface DroppedFrom {
  readonly orm: MikroORM
  readonly db: RawDatabase
  readonly isMentioned: (table: string) => boolean
  readonly drops: DropRequest
}

interface ListedTable {
  readonly name: string
  readonly type: 'table' | 'view' | 'shadow' | 'virtual'
}

export function listLoneTables(wanted: readonly { readonly name: string }[], { orm, db }: Pick<DroppedFrom, 'orm' | 'db'>): string[] {
  const kept = new Set([...wanted.map(({ name }) => name), orm.config.get('migrations').tableName ?? 'mikro_orm_migrations'].map(foldCase))
  const rows = db.pragma('main.table_list') as (ListedTable & { readonly schema: string })[]
  return rows.flatMap(({ name, type, schema }) =>
    type !== 'table' || schema !== 'main' || kept.has(foldCase(name)) || /^sqlite_/i.test(name) ? [] : [name],
  )
}

export function dropTables(wanted: readonly { readonly name: string }[], evolution: DroppedFrom, plan: Plan): void {
  const { db, isMentioned, drops } = evolution
  const taken: { readonly name: string; readonly count: number }[] = []
  for (const name of listLoneTables(wanted, evolution)) {
    const count = countOf(db, `from main.${quoted(name)}`)
    if (isMentioned(name)) {
      drops.meet(name)
      plan.stays.push(`${name}: no entity has it as its table. It stays, since the model reads it.`)
    } else if (drops.takesTable(name, count)) taken.push({ name, count })
    else plan.stays.push(`${name}: no entity of the model, ${countRows(count)}. The table stays as it is.`)
  }
  for (let left = taken; left.length > 0;) {
    const free = left.filter(({ name }) => findUser(name, db) === undefined)
    if (free.length === 0) {
      for (const { name } of left) plan.stays.push(`${name}: no entity of the model. It stays, since ${findUser(name, db)} names it.`)
      return
    }
    for (const { name, count } of free) {
      const sql = `drop table ${quoted(name)}`
      db.exec(sql)
      plan.add(`${name}: the table is dropped, with ${countRows(count)}.`, [sql])
    }
    left = left.filter(each => !free.includes(each))
  }
}

function findUser(table: string, db: RawDatabase): string | undefined {
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
