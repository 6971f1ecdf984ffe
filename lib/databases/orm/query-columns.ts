/**
 * Query columns: what a virtual entity's expression and a view give, beside what the entity declares. A query builder of MikroORM's names a
 * relation after its column (`author_id`), where the entity may say `author`: MikroORM leaves such a property out, in the API it is null,
 * with a note. Columns that are called as properties (`full_name as fullName`) are theirs, as in MikroORM.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import type { Notes } from '../../foundation/base/notes.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { isGetter } from '../../model/metadata/property-type.ts'
import { buildQuery } from '../../model/metadata/read-hierarchy.ts'
import { qualifyTable } from '../../model/table-name.ts'
import { tableName } from '../sql/sql.ts'

/** A query whose columns are to be found. */
export interface ColumnQuery {
  readonly meta: EntityMetadata
  /** What stands in a FROM clause. */
  readonly from: string
}

/** The views and virtual entities. The former need their schema. */
export function listQueries(orm: MikroORM): ColumnQuery[] {
  return [...orm.getMetadata()].flatMap(meta => {
    if (meta.virtual !== true && meta.view !== true) return []
    if (meta.virtual !== true) return [{ meta, from: tableName(qualifyTable(meta.tableName, meta.schema)) }]
    const source = buildQuery(meta, orm)
    return source.kind === 'query' ? [{ meta, from: `(${source.sql})` }] : []
  })
}

/**
 * Makes a formula of each property whose column the query does not give.
 *
 * @param columns what it gives
 * @param nullOf writes NULL as a value of a property's column
 */
export function leaveMissingColumns(
  { meta }: ColumnQuery,
  columns: readonly string[],
  notes: Notes,
  nullOf: (prop: EntityProperty) => string = () => 'null',
): void {
  if (meta.virtual === true) for (const prop of meta.props) takeColumnOfName(prop, columns)
  for (const prop of meta.props) {
    const [column] = prop.fieldNames ?? []
    if (!isStored(prop) || column === undefined || columns.includes(column)) continue
    const others = columns.filter(each => !meta.props.some(other => other.fieldNames?.includes(each)))
    const meant = others.find(each => each.startsWith(`${column}_`)) ?? findNearest(column, others)
    notes.add(
      `${meta.className}.${prop.name}: ` +
        `${meta.virtual === true ? 'the expression' : 'the view'} has no column "${column}", so it is null.${formatHint(meant)}`,
    )
    const value = nullOf(prop)
    prop.formula = () => value
    prop.nullable = true
  }
}

/** An expression may call a column as the property is called: MikroORM takes such a value where the column of the property is not there. */
function takeColumnOfName(prop: EntityProperty, columns: readonly string[]): void {
  const [column] = prop.fieldNames ?? []
  if (column === undefined || columns.includes(column) || !columns.includes(prop.name) || !(prop.primary === true || isStored(prop))) return
  prop.fieldNames = [prop.name]
  if (prop.kind !== 'scalar') prop.joinColumns = [prop.name]
}

/** Whether a column of its own holds the property. */
function isStored(prop: EntityProperty): boolean {
  const isLink = (prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)) && prop.fieldNames.length === 1
  if (prop.kind !== 'scalar' && !isLink) return false
  return prop.formula === undefined && prop.persist !== false && !isGetter(prop) && prop.primary !== true
}

/** Notes a query that a database cannot run. */
export function noteBroken({ meta }: ColumnQuery, database: string, error: unknown, notes: Notes): void {
  notes.add(
    `${meta.className}: ${database} cannot run ${meta.virtual === true ? 'its expression' : 'the view'} (${(error as Error).message}).`,
  )
}
