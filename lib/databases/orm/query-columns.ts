/**
 * Compares the columns of a view or virtual entity with the properties. MikroORM drops a property `author` where the query says
 * `author_id`: the API shows null, with a note.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import type { Notes } from '../../foundation/errors/notes.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { isGetter } from '../../model/metadata/property-type.ts'
import { buildQuery } from '../../model/metadata/read-hierarchy.ts'
import { qualifyTable } from '../../model/table-name.ts'
import { tableName } from '../sql/sql.ts'

export interface ColumnQuery {
  readonly meta: EntityMetadata
  /** Text after FROM. */
  readonly from: string
}

export function listQueries(orm: MikroORM): ColumnQuery[] {
  return [...orm.getMetadata()].flatMap(meta => {
    if (meta.virtual !== true && meta.view !== true) return []
    if (meta.virtual !== true) return [{ meta, from: tableName(qualifyTable(meta.tableName, meta.schema)) }]
    const source = buildQuery(meta, orm)
    return source.kind === 'query' ? [{ meta, from: `(${source.sql})` }] : []
  })
}

/**
 * Makes a formula for each property without a column.
 *
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

/** MikroORM also takes a column with the property's name. */
function takeColumnOfName(prop: EntityProperty, columns: readonly string[]): void {
  const [column] = prop.fieldNames ?? []
  if (column === undefined || columns.includes(column) || !columns.includes(prop.name) || !(prop.primary === true || isStored(prop))) return
  prop.fieldNames = [prop.name]
  if (prop.kind !== 'scalar') prop.joinColumns = [prop.name]
}

function isStored(prop: EntityProperty): boolean {
  const isLink = (prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)) && prop.fieldNames.length === 1
  if (prop.kind !== 'scalar' && !isLink) return false
  return prop.formula === undefined && prop.persist !== false && !isGetter(prop) && prop.primary !== true
}

export function noteBroken({ meta }: ColumnQuery, database: string, error: unknown, notes: Notes): void {
  notes.add(
    `${meta.className}: ${database} cannot run ${meta.virtual === true ? 'its expression' : 'the view'} (${(error as Error).message}).`,
  )
}
