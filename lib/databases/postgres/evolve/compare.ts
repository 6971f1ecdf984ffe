/**
 * Compare: what differs between a database of a server and the entities, by MikroORM's comparator, less what it would do unasked: it takes
 * a column for another one by a new name, and drops the indexes, constraints, triggers and policies that the model lacks.
 */
import { DatabaseSchema, SchemaComparator } from '@mikro-orm/postgresql'
import type {
  AbstractSqlConnection,
  AbstractSqlPlatform,
  SchemaDifference,
  SqlSchemaGenerator,
  TableDifference,
} from '@mikro-orm/postgresql'
import type { MikroORM } from '@mikro-orm/core'
import { withDeferredReferences } from '../orm/deferred-references.ts'

/**
 * @param drop whether columns that the model lacks are in the difference
 * @param schemas those of the entities: to read all of a database takes long, and what others have in theirs is nothing of the model's
 */
export async function compare(orm: MikroORM, drop: boolean, schemas: readonly string[]): Promise<SchemaDifference> {
  return withDeferredReferences(orm, async () => {
    const generator = orm.schema as SqlSchemaGenerator
    const platform = orm.em.getPlatform() as AbstractSqlPlatform
    const { skipTables, skipViews } = orm.config.get('schemaGenerator')
    const to = generator.getTargetSchema()
    const from = await DatabaseSchema.create(
      orm.em.getConnection() as AbstractSqlConnection,
      platform,
      orm.config,
      undefined,
      [...new Set([...schemas, ...to.getNamespaces()])],
      undefined,
      skipTables,
      skipViews,
    )
    await from.loadRoutines(orm.em.getConnection() as AbstractSqlConnection, platform, [...to.getNamespaces()])
    from.prune(undefined, [])
    to.prune(undefined, [])
    const difference = new SchemaComparator(platform).compare(from, to)
    for (const table of Object.values(difference.changedTables)) keepOthers(table, drop, orm)
    difference.removedNativeEnums = []
    difference.orphanedForeignKeys = []
    return difference
  })
}

/** Takes out of a difference what nobody asked for. */
function keepOthers(table: TableDifference, drop: boolean, orm: MikroORM): void {
  for (const [old, column] of Object.entries(table.renamedColumns)) {
    table.addedColumns[column.name] = column
    table.removedColumns[old] = table.fromTable.getColumn(old)!
  }
  table.renamedColumns = {}
  table.removedForeignKeys = {}
  table.removedTriggers = {}
  table.removedChecks = Object.fromEntries(Object.entries(table.removedChecks).filter(([name]) => isFormerEnum(name, table, orm)))
  table.removedIndexes = Object.fromEntries(
    // One that changes its form is made anew.
    Object.entries(table.removedIndexes).filter(([name]) => table.addedIndexes[name] !== undefined),
  )
  table.removedPolicies = Object.fromEntries(
    Object.entries(table.removedPolicies).filter(([name]) => table.addedPolicies[name] !== undefined),
  )
  if (drop) return
  // A generated column whose expression changes is dropped and added.
  table.removedColumns = Object.fromEntries(Object.entries(table.removedColumns).filter(([name]) => table.addedColumns[name] !== undefined))
}

/** Whether a check is MikroORM's own of an enum whose property is none any more: it would refuse what the model allows. */
function isFormerEnum(name: string, { toTable }: TableDifference, orm: MikroORM): boolean {
  const naming = orm.config.getNamingStrategy()
  return toTable.getColumns().some(column => naming.indexName(toTable.name, [column.name], 'check') === name)
}
