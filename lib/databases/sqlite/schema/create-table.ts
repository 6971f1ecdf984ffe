/** Create table: the statements for the tables of entities. Pages need no other file of the folder but add-schema.ts. */
import type { MikroORM } from '@mikro-orm/core'
import type { Column, DatabaseTable, IndexDef, SchemaHelper, TableDifference } from '@mikro-orm/sqlite'
import type { RawDatabase } from '../driver/raw-database.ts'
import { foldCase, type Catalog } from './existing-table.ts'

export interface Addition {
  /** `the column "product"."price"` */
  readonly what: string
  readonly sql: string
  /** A note instead of a unique index, if rows have equal values. */
  readonly orNote?: string
}

export class Findings {
  readonly additions: Addition[] = []
  readonly notes: string[] = []
  /** The file is refused. */
  readonly faults: string[] = []
  readonly ways: string[] = []
  readonly otherTypes: { readonly table: string; readonly column: string }[] = []
}

export interface Comparing {
  readonly orm: MikroORM
  readonly db: RawDatabase
  readonly catalog: Catalog
  readonly helper: SchemaHelper
  readonly findings: Findings
  /** In lower case. */
  readonly made: Set<string>
}

/**
 * Adds the parts of all entities of the table.
 *
 * @param targets MikroORM lists a table twice that two circles of links share
 */
export function createTable(targets: readonly DatabaseTable[], comparing: Comparing): void {
  const { helper, made, findings, catalog } = comparing
  const [target, ...narrower] = targets.toSorted((a, b) => b.getColumns().length - a.getColumns().length) as [
    DatabaseTable,
    ...DatabaseTable[],
  ]
  const clash = catalog.objects.get(foldCase(target.name))
  if (clash !== undefined) {
    findings.faults.push(`the table "${target.name}" cannot be created, since an index of "${clash.table}" has its name`)
    return
  }
  made.add(foldCase(target.name))
  const [table, ...others] = helper.createTable(target)
  findings.additions.push({ what: `the table "${target.name}"`, sql: table! })
  const indexes = new Map(target.getIndexes().map(index => [formatStatement(helper.createIndex(index, target)), index]))
  for (const sql of new Set(others)) {
    const index = indexes.get(sql)
    if (index === undefined) findings.additions.push({ what: `a trigger of "${target.name}"`, sql })
    else if (isFree(target, formatIndexName(index), comparing))
      findings.additions.push({ what: `the index "${formatIndexName(index)}"`, sql })
  }
  for (const other of narrower)
    for (const column of other.getColumns().filter(({ name }) => !target.hasColumn(name)))
      findings.additions.push({ what: `the column "${target.name}"."${column.name}"`, sql: formatColumn(other, column, helper) })
}

function formatStatement(sql: string): string {
  const text = sql.trim()
  return text === '' || text.endsWith(';') ? text : `${text};`
}

export function formatColumn(target: DatabaseTable, column: Column, helper: SchemaHelper): string {
  // A copy: MikroORM deletes a foreign key written into the column.
  const difference = { toTable: target, addedForeignKeys: { ...target.getForeignKeys() } }
  const [sql] = (helper as AddsColumns).getAddColumnsSQL(target, [column], difference as TableDifference)
  return sql!
}

interface AddsColumns {
  getAddColumnsSQL(table: DatabaseTable, columns: Column[], difference: TableDifference): string[]
}

/** The name in a statement of the entity, or MikroORM's. */
export function formatIndexName({ expression, keyName }: IndexDef): string {
  const match =
    /^\s*create\s+(?:unique\s+)?index\s+(?:if\s+not\s+exists\s+)?(?:"(?<double>[^"]+)"|`(?<back>[^`]+)`|\[(?<bracket>[^\]]+)\]|(?<word>[\w$]+))/i.exec(
      expression ?? '',
    )?.groups
  return match?.['double'] ?? match?.['back'] ?? match?.['bracket'] ?? match?.['word'] ?? keyName
}

export function isFree({ name: table }: DatabaseTable, name: string, { catalog, made, findings }: Comparing): boolean {
  const clash = catalog.objects.get(foldCase(name))
  if (clash === undefined && !made.has(foldCase(name))) {
    made.add(foldCase(name))
    return true
  }
  const place = clash === undefined || clash.type === 'index' ? `an index of "${clash?.table ?? table}"` : `a ${clash.type}`
  findings.notes.push(`${table}: its index "${name}" is left out, since ${place} has that name.`)
  return false
}
