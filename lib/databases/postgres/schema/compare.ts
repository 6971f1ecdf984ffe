/**
 * Finds differences between a database and the entities by MikroORM's comparator. Takes out false differences (unchanged.ts), and changes
 * nobody asked for: MikroORM guesses renames, and drops indexes, constraints, triggers and policies missing in the model.
 */
import { MikroORM, ReferenceKind, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import {
  DatabaseSchema,
  SchemaComparator,
  type AbstractSqlConnection,
  type AbstractSqlPlatform,
  type DatabaseTable,
  type SchemaDifference,
  type SqlSchemaGenerator,
  type TableDifference,
} from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { Notes } from '../../../foundation/errors/notes.ts'
import { correctMetadata } from '../../orm/correct-metadata.ts'
import { readCatalogue } from '../introspect/catalogue.ts'
import { buildServerEntities } from '../introspect/entities.ts'
import { buildTables } from '../introspect/tables.ts'
import { hasLog } from '../kit/change-log.ts'
import { findPlaces, standardSchema } from '../orm/places.ts'
import { keepUnchanged } from './unchanged.ts'

export interface ComparedDatabase {
  readonly orm: MikroORM
  readonly session: PoolClient
  /** Reading all schemas takes long. */
  readonly schemas: readonly string[]
  /** Parts missing in the model are differences, too. */
  readonly drop: boolean
}

export async function compare({ orm, session, schemas, drop }: ComparedDatabase): Promise<SchemaDifference> {
  return withPlaces(orm, session, async places => {
    const platform = orm.em.getPlatform() as AbstractSqlPlatform
    const { skipTables, skipViews } = orm.config.get('schemaGenerator')
    const to = readTarget(orm)
    const read = [...new Set([...schemas, ...places, ...to.getNamespaces()])]
    const from = await DatabaseSchema.create(
      orm.em.getConnection() as AbstractSqlConnection,
      platform,
      orm.config,
      undefined,
      read,
      undefined,
      skipTables,
      skipViews,
    )
    await from.loadRoutines(orm.em.getConnection() as AbstractSqlConnection, platform, [...to.getNamespaces()])
    from.prune(undefined, [])
    to.prune(undefined, [])
    const difference = new SchemaComparator(platform).compare(from, to)
    const changed = Object.entries(difference.changedTables)
    if (changed.length > 0) {
      const described = await describeTarget(orm, session, read)
      const isOurs = await hasLog(session, schemas[0]!)
      const standard = standardSchema(orm)
      for (const [key, table] of changed) {
        keepOthers(table)
        keepUnchanged(table, findTable(described, table.fromTable, standard), { isOurs, drop })
        const isLeft = table.fromTable.getColumns().some(column => !table.toTable.hasColumn(column.name))
        if (isEmpty(table) && !isLeft) delete difference.changedTables[key]
      }
    }
    difference.removedNativeEnums = []
    difference.orphanedForeignKeys = []
    return difference
  })
}

export async function listStatements(difference: SchemaDifference, { orm, session }: ComparedDatabase): Promise<string[]> {
  const text = await withPlaces(orm, session, async () =>
    (orm.schema as SqlSchemaGenerator).diffToSQL(copyLists(difference), { wrap: false, safe: false, dropTables: false }),
  )
  // `cascade` would drop dependent views of others.
  return splitStatements(text).map(statement => statement.replace(/^(drop (?:materialized )?view .*) cascade$/is, '$1'))
}

export function isNothing(difference: SchemaDifference): boolean {
  const { fromSchema: _, removedTables: __, removedNamespaces: ___, removedViews: ____, removedRoutines: _____, ...lists } = difference
  return Object.values(lists).every(list => (list instanceof Set ? list.size : Object.keys(list as object).length) === 0)
}

/** Omits changes, removals, and additions that replace a removed part. */
export function additionsOf(difference: SchemaDifference): SchemaDifference {
  const changedTables = Object.entries(difference.changedTables).map(([key, table]) => {
    const links = Object.values(table.removedForeignKeys)
    const checks = Object.values(table.removedChecks)
    const keep = <T>(list: Record<string, T>, isKept: (each: T, key: string) => boolean): Record<string, T> =>
      Object.fromEntries(Object.entries(list).filter(([own, each]) => isKept(each, own)))
    const added: TableDifference = {
      ...table,
      addedColumns: keep(table.addedColumns, (_, own) => table.removedColumns[own] === undefined),
      addedIndexes: keep(table.addedIndexes, ({ primary }, own) => !primary && table.removedIndexes[own] === undefined),
      addedPolicies: keep(table.addedPolicies, (_, own) => table.removedPolicies[own] === undefined),
      addedChecks: keep(table.addedChecks, ({ columnName }) => !checks.some(each => each.columnName === columnName)),
      addedForeignKeys: keep(table.addedForeignKeys, link => !links.some(each => each.columnNames.join() === link.columnNames.join())),
    }
    for (const list of LISTS) if (!list.startsWith('added')) Object.assign(added, { [list]: {} })
    for (const member of MEMBERS) delete added[member]
    return [key, added] as const
  })
  return { ...difference, changedTables: Object.fromEntries(changedTables), changedViews: {}, changedRoutines: {} }
}

/** MikroORM deletes written parts from the lists. */
function copyLists(difference: SchemaDifference): SchemaDifference {
  const copied = Object.entries(difference.changedTables).map(([key, table]) => [
    key,
    { ...table, addedForeignKeys: { ...table.addedForeignKeys } },
  ])
  return { ...difference, changedTables: Object.fromEntries(copied) as SchemaDifference['changedTables'] }
}

/** A statement ends a line. */
export function splitStatements(text: string): string[] {
  return text
    .split(/;\s*(?:\n|$)/)
    .map(statement => statement.trim())
    .filter(statement => statement !== '' && !/^set (?:names|session_replication_role)/i.test(statement))
}

function keepOthers(table: TableDifference): void {
  for (const [old, column] of Object.entries(table.renamedColumns)) {
    table.addedColumns[column.name] = column
    table.removedColumns[old] = table.fromTable.getColumn(old)!
  }
  table.renamedColumns = {}
  // An index by another name is the same index.
  table.renamedIndexes = {}
  table.removedTriggers = {}
  table.removedIndexes = Object.fromEntries(
    // An index of another form is made again. An index missing in the model stays.
    Object.entries(table.removedIndexes).filter(([key]) => table.addedIndexes[key] !== undefined),
  )
  table.removedPolicies = Object.fromEntries(
    Object.entries(table.removedPolicies).filter(([key]) => table.addedPolicies[key] !== undefined),
  )
  if (table.changedRlsEnabled === false) delete table.changedRlsEnabled
  if (table.changedRlsForced === false) delete table.changedRlsForced
  if ((table.toTable.comment ?? '') === '') delete table.changedComment
  if (table.toTable.getPartitioning() === undefined) delete table.changedPartitioning
  // Columns missing in the model are dropped only by name, generated columns to be added with another expression.
  table.removedColumns = Object.fromEntries(Object.entries(table.removedColumns).filter(([key]) => table.addedColumns[key] !== undefined))
}

function findTable(
  schema: DatabaseSchema | undefined,
  { name: wanted, schema: own }: DatabaseTable,
  standard: string,
): DatabaseTable | undefined {
  return schema?.getTables().find(table => table.name === wanted && (table.schema ?? standard) === (own ?? standard))
}

const ADDED = ['addedColumns', 'addedForeignKeys', 'addedIndexes', 'addedChecks', 'addedTriggers', 'addedPolicies'] as const
const CHANGED = ['changedColumns', 'changedForeignKeys', 'changedIndexes', 'changedChecks', 'changedTriggers'] as const
const REMOVED = ['removedColumns', 'removedForeignKeys', 'removedIndexes', 'removedChecks', 'removedTriggers', 'removedPolicies'] as const
const RENAMED = ['renamedColumns', 'renamedIndexes'] as const
const LISTS = [...ADDED, ...CHANGED, ...REMOVED, ...RENAMED]

const MEMBERS = ['changedComment', 'changedPartitioning', 'changedRlsEnabled', 'changedRlsForced'] as const

function isEmpty(table: TableDifference): boolean {
  return LISTS.every(list => Object.keys(table[list] as object).length === 0) && MEMBERS.every(member => !(member in table))
}

/**
 * Lets MikroORM look for tables where the server finds them.
 *
 * @param run takes the schemas of such tables
 */
async function withPlaces<T>(orm: MikroORM, session: PoolClient, run: (places: readonly string[]) => Promise<T>): Promise<T> {
  const moved = await findPlaces(orm, session)
  for (const [meta, schema] of moved) meta.schema = schema
  try {
    return await withDeferredReferences(orm, () => run(moved.map(([, schema]) => schema)))
  } finally {
    for (const [meta] of moved) delete (meta as { schema?: string }).schema
  }
}

/**
 * @param schemas of the entities
 * @returns `undefined` for schemas without tables
 */
async function describeTarget(orm: MikroORM, session: PoolClient, schemas: readonly string[]): Promise<DatabaseSchema | undefined> {
  const { entities } = buildServerEntities(buildTables(await readCatalogue(session, schemas), true))
  if (entities.length === 0) return undefined
  const described = new MikroORM({
    entities: [...entities],
    dbName: orm.config.get('dbName'),
    driver: orm.config.get('driver'),
    driverOptions: orm.config.get('driverOptions'),
    entityManager: orm.config.get('entityManager'),
    metadataCache: { enabled: false },
  } as never)
  correctMetadata(described, true, new Notes())
  return readTarget(described)
}

/** MikroORM takes `'-1'::integer` for a number, but compares texts. */
function readTarget(orm: MikroORM): DatabaseSchema {
  const target = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  for (const table of target.getTables())
    for (const column of table.getColumns()) if (typeof column.default === 'number') column.default = String(column.default)
  return target
}

/**
 * Defers references that MikroORM's order of records does not follow, but not unique constraints. The metadata change only while `make`
 * runs: MikroORM would insert a deferred link in a single step, not two as on SQLite, and each step counts as a version.
 */
export async function withDeferredReferences<T>(orm: MikroORM, make: () => Promise<T>): Promise<T> {
  const undo: (() => void)[] = []
  for (const meta of orm.getMetadata()) {
    const { uniques } = meta
    for (const prop of meta.relations) if (isUnordered(prop, meta)) undo.push(...defer(prop, meta))
    undo.push(() => void (meta.uniques = uniques))
  }
  try {
    return await make()
  } finally {
    for (const each of undo) each()
  }
}

function isUnordered(prop: EntityProperty, { inheritanceType }: EntityMetadata): boolean {
  const isOfHierarchy = inheritanceType === 'tpt' || prop.targetMeta?.inheritanceType === 'tpt'
  return (prop.mapToPk || isOfHierarchy) && isOwning(prop) && prop.deferMode === undefined
}

/** The result undoes the change. */
function defer(prop: EntityProperty, meta: EntityMetadata): (() => void)[] {
  const { unique } = prop
  prop.deferMode = 'deferred' as NonNullable<typeof prop.deferMode>
  const undo = [() => void delete prop.deferMode]
  if (unique !== undefined && unique !== false) {
    delete prop.unique
    undo.push(() => void (prop.unique = unique))
    const isKey = prop.primary === true && !meta.compositePK
    const isInherited = meta.tptParent !== undefined && !(meta.ownProps ?? []).some(({ name }) => name === prop.name)
    const named = typeof unique === 'string' ? { name: unique } : {}
    if (!isKey && !isInherited) meta.uniques = [...meta.uniques, { properties: prop.name, ...named }]
  }
  return undo
}

function isOwning({ kind, mappedBy }: EntityProperty): boolean {
  return kind === ReferenceKind.MANY_TO_ONE || (kind === ReferenceKind.ONE_TO_ONE && mappedBy === undefined)
}
