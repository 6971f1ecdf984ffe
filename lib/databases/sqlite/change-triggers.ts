/** Makes temporary triggers of one connection, never in a file, that hand changed rows to the recorder. */
import type { RawDatabase } from './driver/raw-database.ts'
import type { Watched, WatchedTable } from '../../records/database/changes.ts'
import type { Discriminator } from '../../model/model.ts'
import { discriminatorCondition, type Recall } from '../sql/from-clause.ts'
import { compileList, linkColumns, type CompiledList } from '../sql/list-changes.ts'
import { compileImage, recalledKeys, recalledMembers, type CompiledImage, type RecalledKey } from '../sql/row-image.ts'
import { literal, name, sql } from '../sql/sql.ts'
import { SQLITE_FLAVOUR } from './sql/flavour.ts'

const OLD = '"old"'
const NEW = '"new"'

/** For `mikro_changed`. */
export const INSERT = 0
export const UPDATE = 1
export const DELETE = 2

/** A function takes 1,000 arguments (SQLITE_MAX_FUNCTION_ARG); an update hands over two rows. */
const MAX_COLUMNS = 490

/** Asks the recorder for the key of a deleted linked record. */
const recall: Recall = (found, referred, part, column) =>
  sql`ifnull(${found}, mikro_gone(${literal(referred)}, ${String(part)}, ${column}))`

export interface CompiledTable {
  readonly table: WatchedTable
  readonly image: CompiledImage
}

interface TableTriggers {
  readonly table: string
  readonly columns: readonly string[]
  readonly sql: readonly string[]
}

export interface CompiledWatch {
  readonly tables: readonly CompiledTable[]
  readonly lists: readonly CompiledList[]
  readonly triggers: readonly TableTriggers[]
}

const compiledWatches = new WeakMap<Watched, CompiledWatch>()

export function compileWatch(watched: Watched): CompiledWatch {
  let compiled = compiledWatches.get(watched)
  if (compiled !== undefined) return compiled
  const keys = [...watched.tables.flatMap(recalledKeys), ...watched.lists.flatMap(recalledMembers)]
  const recalled = new Map(keys.map(key => [key.name, key]))
  compiled = {
    tables: watched.tables.map(table => ({
      table,
      image: compileImage({ resource: table.resource, fields: table.fields }, NEW, SQLITE_FLAVOUR, recall),
    })),
    lists: watched.lists.map(list => compileList(list, SQLITE_FLAVOUR, NEW, recall)),
    triggers: [
      ...watched.tables.map(({ resource, fields }, index) => {
        const columns = (alias: string): readonly string[] => compileImage({ resource, fields }, alias, SQLITE_FLAVOUR, recall).columns
        return compileTriggers(resource.table, index, { old: columns(OLD), new: columns(NEW) })
      }),
      ...watched.lists.map((list, index) =>
        compileTriggers(
          list.attribute.via.table,
          watched.tables.length + index,
          { old: linkColumns(list, OLD, SQLITE_FLAVOUR, recall), new: linkColumns(list, NEW, SQLITE_FLAVOUR, recall) },
          list.attribute.via.discriminator,
        ),
      ),
      ...[...recalled.values()].map(compileRecall),
    ],
  }
  compiledWatches.set(watched, compiled)
  return compiled
}

/** Triggers of the last database: forks have the same schema. */
const lastStatements = new WeakMap<CompiledWatch, { readonly schema: string; readonly sql: string }>()

export function triggerStatements(watch: CompiledWatch, db: RawDatabase): string {
  const schema = readSchema(db)
  const last = lastStatements.get(watch)
  if (last?.schema === schema) return last.sql
  const sql = watch.triggers.flatMap(each => (fits(db, each) ? each.sql : [])).join('\n')
  lastStatements.set(watch, { schema, sql })
  return sql
}

function readSchema(db: RawDatabase): string {
  const rows = db.prepare('select sql from sqlite_master order by rowid').pluck().all()
  return JSON.stringify(rows)
}

export function dropTriggers(db: RawDatabase): void {
  const rows = db.prepare("select name from sqlite_temp_master where type = 'trigger' and name like 'mikro_changed_%'").pluck().all()
  for (const trigger of rows as string[]) db.exec(`drop trigger temp.${name(trigger)}`)
}

function compileTriggers(
  table: string,
  index: number,
  columns: { readonly old: readonly string[]; readonly new: readonly string[] },
  discriminator?: Discriminator,
): TableTriggers {
  const isMeant = (event: string): string =>
    discriminatorCondition(discriminator, column => `${event === 'insert' ? NEW : OLD}.${name(column)}`)?.text ?? ''
  const when = (event: string): string => (discriminator === undefined ? '' : `when ${isMeant(event)} `)
  const trigger = (event: string, what: number, values: readonly string[]): string =>
    `create temp trigger if not exists ${name(`mikro_changed_${index}_${event}`)} after ${event} on main.${name(table)} ` +
    `${when(event)}begin select mikro_changed(${[String(index), String(what), ...values].join(', ')}); end;`
  return {
    table,
    columns: columns.new,
    sql: [
      trigger('insert', INSERT, columns.new),
      trigger('update', UPDATE, [...columns.old, ...columns.new]),
      trigger('delete', DELETE, columns.old),
    ],
  }
}

/** Remembers a key before the record is deleted or gets another key: SQLite then changes the linking rows. */
function compileRecall({ name: keyName, table, column, key }: RecalledKey, index: number): TableTriggers {
  const columns = [column, ...key].map(each => `${OLD}.${name(each)}`)
  const trigger = (event: string, of: string, when: string): string =>
    `create temp trigger if not exists ${name(`mikro_changed_key_${index}_${event}`)} before ${event}${of} on main.${name(table)} ` +
    `${when}begin select mikro_going(${[literal(keyName), ...columns].join(', ')}); end;`
  const differs = `when ${OLD}.${name(column)} is not ${NEW}.${name(column)} `
  return {
    table,
    columns: [column, ...key].map(each => `${NEW}.${name(each)}`),
    sql: [trigger('update', ` of ${name(column)}`, differs), trigger('delete', '', '')],
  }
}

/** A trigger on a missing column would make every write fail. */
function fits(db: RawDatabase, { table, columns }: TableTriggers): boolean {
  const found = db
    .prepare(
      `select 1 from sqlite_master where type = 'table' and name = ${literal(table)} collate nocase and sql not like 'create virtual%'`,
    )
    .get()
  if (found === undefined || columns.length > MAX_COLUMNS) return false
  try {
    db.prepare(`select ${columns.join(', ')} from ${name(table)} as ${NEW}`)
    return true
  } catch (error) {
    // Readings report the missing column.
    if ((error as Error).message.startsWith('no such column')) return false
    throw error
  }
}
