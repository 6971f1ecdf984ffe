/**
 * Creates missing tables, columns and indexes in a single transaction. Nothing existing changes: differences are noted, or refused before
 * anything is written.
 */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import type { DatabaseTable, SchemaHelper, SqlSchemaGenerator } from '@mikro-orm/sqlite'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { compareTable } from './compare-table.ts'
import { Findings, createTable, type Addition, type Comparing } from './create-table.ts'
import { readCatalog, readExistingTable, foldCase } from './existing-table.ts'
import { name as quoted } from '../../sql/sql.ts'

const SHOWN = 5

interface SchemaDatabase {
  readonly orm: MikroORM
  readonly db: RawDatabase
  readonly path: string
  readonly notes: Notes
}

/**
 * @param build runs on the new schema; when it throws, nothing is added
 * @throws Error in one line, with the differences that can be neither served nor added.
 */
export function addSchema<T>({ orm, db, path, notes }: SchemaDatabase, build: () => T): T {
  /** Unique indexes that existing rows violate. */
  const broken = new Set<string>()
  for (;;) {
    // Both see one state of the file.
    const { findings, version } = db.transaction(() => ({ findings: compareSchema(orm, db), version: readVersion(db) }))()
    if (findings.faults.length > 0) throw schemaError(findings.faults, path, { ways: findings.ways })
    const additions = findings.additions.filter(({ what }) => !broken.has(what))
    const outcome = additions.length === 0 ? { built: build() } : run(additions, { db, version, path }, build)
    if (outcome === 'changed') continue
    if ('what' in outcome) {
      broken.add(outcome.what)
      continue
    }
    for (const { table, column } of findings.otherTypes) takeAnyType(orm, table, column)
    for (const note of findings.notes) notes.add(note)
    for (const { what, orNote } of findings.additions) if (broken.has(what)) notes.add(orNote!)
    return outcome.built
  }
}

/** MikroORM would refuse to save a value of another type. The engine checks client values. */
export function takeAnyType(orm: MikroORM, table: string, column: string): void {
  for (const meta of orm.getMetadata())
    if (foldCase(meta.tableName ?? '') === foldCase(table))
      meta.validateProps = meta.validateProps.filter(({ fieldNames }) => !fieldNames?.includes(column))
}

interface SchemaState {
  readonly db: RawDatabase
  readonly version: number
  readonly path: string
}

/** Adds nothing if another process has changed the schema, or rows violate the returned unique index. */
function run<T>(additions: readonly Addition[], { db, version, path }: SchemaState, build: () => T): { built: T } | Addition | 'changed' {
  let current: Addition | undefined
  const add = db.transaction(() => {
    if (readVersion(db) !== version) return 'changed' as const
    for (const addition of additions) {
      current = addition
      db.exec(addition.sql)
    }
    current = undefined
    return { built: build() }
  })
  try {
    return add.immediate()
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (current === undefined) throw error
    if (code === 'SQLITE_CONSTRAINT_UNIQUE' && current.orNote !== undefined) return current
    // A failing file or device is no problem of the entities.
    if (code !== 'SQLITE_ERROR' && !code?.startsWith('SQLITE_CONSTRAINT')) throw error
    throw schemaError([`${current.what} cannot be created: ${message}`], path, { cause: error })
  }
}

function readVersion(db: RawDatabase): number {
  return db.pragma('main.schema_version', { simple: true }) as number
}

/** @param ways a `fill` for columns that need values */
function schemaError(
  faults: readonly string[],
  path: string,
  { ways = [], cause }: { readonly ways?: readonly string[]; readonly cause?: unknown },
): Error {
  const place = path === ':memory:' ? 'The database' : path
  const more = faults.length > SHOWN ? `; and ${faults.length - SHOWN} more` : ''
  const fills = [...new Set(ways)].slice(0, SHOWN).join(', ')
  const way =
    path === ':memory:'
      ? ''
      : ` schema: 'evolve' (--evolve) changes tables with their rows${fills === '' ? '' : `, which get what fill says: fill: ${fills}`}.`
  return new Error(
    `${place} does not fit the entities, and nothing in it was changed: ${faults.slice(0, SHOWN).join('; ')}${more}.${way}`,
    {
      cause,
    },
  )
}

export function compareSchema(orm: MikroORM, db: RawDatabase): Findings {
  const findings = new Findings()
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  const helper = orm.em.getPlatform().getSchemaHelper() as SchemaHelper
  const comparing: Comparing = { orm, db, catalog: readCatalog(db), helper, findings, made: new Set() }
  const tables = Map.groupBy(schema.getTables(), ({ name }) => foldCase(name))
  const views = schema.getViews()
  for (const targets of tables.values()) addTable(targets, comparing)
  for (const { name, definition } of views) {
    const meta = [...orm.getMetadata()].find(({ tableName, view }) => view === true && tableName === name)
    addView(name, helper.createView(name, undefined, definition), meta, comparing)
  }
  return findings
}

function addTable(targets: readonly DatabaseTable[], comparing: Comparing): void {
  const { db, catalog, findings } = comparing
  const [target] = targets
  try {
    const existing = readExistingTable(db, catalog, target!.name)
    if (existing !== undefined) compareTable(targets, existing, comparing)
    else createTable(targets, comparing)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== 'SQLITE_ERROR') throw error
    findings.faults.push(`"${target!.name}" cannot be read: ${message}`)
  }
}

function addView(name: string, sql: string, meta: EntityMetadata | undefined, { db, catalog, findings, made }: Comparing): void {
  const found = catalog.objects.get(foldCase(name))
  if (found === undefined && !made.has(foldCase(name))) {
    made.add(foldCase(name))
    findings.additions.push({ what: `the view "${name}"`, sql })
    return
  }
  if (found === undefined || found.type === 'index') {
    findings.faults.push(`the view "${name}" cannot be created, since an index has its name`)
    return
  }
  let columns: readonly string[]
  try {
    columns = db
      .prepare(`select * from main.${quoted(found.name)}`)
      .columns()
      .map(column => foldCase(column.name))
  } catch (error) {
    findings.faults.push(`the view "${name}" cannot be read: ${(error as Error).message}`)
    return
  }
  const wanted = (meta?.props ?? []).filter(({ persist, formula }) => persist !== false && formula === undefined)
  for (const column of wanted.flatMap(({ fieldNames }) => fieldNames ?? []))
    if (!columns.includes(foldCase(column))) findings.faults.push(`the view "${found.name}" has no column "${column}", and stays as it is`)
}
