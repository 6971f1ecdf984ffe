/**
 * Takes false differences out of MikroORM's comparison of a table, where the server only spells a part differently. Else identities,
 * generated columns, enums with capitals and keys of partitioned tables would be dropped and added.
 */
import type { CheckDef, Column, DatabaseTable, ForeignKey, IndexDef, TableDifference } from '@mikro-orm/postgresql'

interface Fitting {
  /** An engine has made the database: MikroORM's assumptions hold. */
  readonly isOurs: boolean
  readonly drop: boolean
}

/** @param described the table as the database describes it; `undefined` for a table of no model */
export function keepUnchanged(table: TableDifference, described: DatabaseTable | undefined, fitting: Fitting): void {
  keepGenerated(table, described)
  for (const [column, change] of Object.entries(table.changedColumns)) {
    const real = [...change.changedProperties].filter(property => isChanged(property, change, described?.getColumn(column), fitting))
    if (real.length === 0) delete table.changedColumns[column]
    else table.changedColumns[column] = { ...change, changedProperties: new Set(real) }
  }
  keepIndexes(table, described)
  keepChecks(table, described, fitting)
  keepLinks(table, described, fitting)
}

/** MikroORM calls an identity generated, too. */
export function isComputed({ generated }: Column): boolean {
  return generated !== undefined && !/\bidentity$/i.test(generated)
}

/** Only a new expression drops and adds a column. */
function keepGenerated(table: TableDifference, described: DatabaseTable | undefined): void {
  for (const column of table.toTable.getColumns()) {
    const { name } = column
    const found = table.fromTable.getColumn(name)
    const change = table.changedColumns[name]
    const isAnew = table.addedColumns[name] !== undefined
    if (found === undefined || !(isAnew || change?.changedProperties.has('generated') === true)) continue
    delete table.addedColumns[name]
    delete table.removedColumns[name]
    const others = [...(change?.changedProperties ?? [])].filter(property => property !== 'generated')
    const isReal = isComputed(found) !== isComputed(column) || isComputed(found)
    const isSame = described?.getColumn(name)?.generated === column.generated
    if (isSame || !isReal) {
      if (change !== undefined) table.changedColumns[name] = { ...change, changedProperties: new Set(others) }
    } else if (isComputed(found) && isComputed(column)) {
      table.addedColumns[name] = column
      table.removedColumns[name] = found
      delete table.changedColumns[name]
    } else {
      const changedProperties = new Set([...others, 'generated'])
      table.changedColumns[name] = { oldColumnName: name, fromColumn: found, column, changedProperties }
    }
  }
}

const text = (value: string | null | undefined): string => (value ?? '').toLowerCase()

function isChanged(
  property: string,
  { column }: TableDifference['changedColumns'][string],
  described: Column | undefined,
  { isOurs, drop }: Fitting,
): boolean {
  const isNone = (value: string | null | undefined): boolean => text(value) === '' || text(value) === 'null'
  if (property === 'default' && isNone(column.default) && !drop) return false
  if ((property === 'comment' || property === 'collation') && isNone(column[property])) return false
  if (property === 'autoincrement' && !isOurs) return false
  if (described === undefined) return true
  switch (property) {
    case 'type':
      return text(column.type) !== text(described.type) || JSON.stringify(column.enumItems) !== JSON.stringify(described.enumItems)
    case 'enumItems':
      return JSON.stringify(column.enumItems ?? []) !== JSON.stringify(described.enumItems ?? [])
    case 'default':
      return (column.default ?? '') !== (described.default ?? '')
    case 'nullable':
      return (column.nullable === true) !== (described.nullable === true)
    case 'autoincrement':
      return (column.autoincrement === true) !== (described.autoincrement === true)
    default:
      return true
  }
}

const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every(each => other.includes(each))

function isPlain({ expression, where, columns, type, include }: IndexDef): boolean {
  return expression === undefined && where === undefined && columns === undefined && include === undefined && (type ?? 'btree') === 'btree'
}

function serves(found: IndexDef, wanted: IndexDef): boolean {
  if (!isPlain(found) || !isPlain(wanted)) return false
  if (wanted.primary || wanted.unique) return found.unique && sameSet(found.columnNames, wanted.columnNames)
  return found.columnNames.join('\0') === wanted.columnNames.join('\0')
}

function keepIndexes(table: TableDifference, described: DatabaseTable | undefined): void {
  const found = [...table.fromTable.getIndexes(), ...(described?.getIndexes() ?? [])]
  for (const list of [table.addedIndexes, table.changedIndexes])
    for (const [key, wanted] of Object.entries(list)) {
      if (!found.some(index => serves(index, wanted) && (!wanted.primary || index.primary))) continue
      delete list[key]
      delete table.removedIndexes[key]
    }
}

/** Removes differences of spelling: capitals, casts, quotes, blanks, parentheses. */
function normalizeSql(sql: unknown): string {
  return String(sql)
    .split(/('(?:[^']|'')*')/)
    .map((piece, at) => (at % 2 === 1 ? piece : piece.toLowerCase().replaceAll(/::[a-z ]+(?:\[\])?|[\s"()]+/g, '')))
    .join('')
}

function keepChecks(table: TableDifference, described: DatabaseTable | undefined, { isOurs, drop }: Fitting): void {
  const { fromTable, toTable, removedChecks } = table
  const found = [...fromTable.getChecks(), ...(described?.getChecks() ?? [])].map(({ expression }) => normalizeSql(expression))
  for (const list of [table.addedChecks, table.changedChecks])
    for (const [key, { expression }] of Object.entries(list)) if (found.includes(normalizeSql(expression))) delete list[key]
  const replaced = new Set([...Object.values(table.addedChecks), ...Object.values(table.changedChecks)].map(({ columnName }) => columnName))
  table.removedChecks = Object.fromEntries(
    Object.entries(removedChecks).filter(([, check]) => {
      if (!isList(check, fromTable)) return false
      if (replaced.has(check.columnName)) return true
      // A former check would refuse allowed values; a check of others stays.
      const column = toTable.getColumn(check.columnName!)
      return column !== undefined && (column.enumItems ?? []).length === 0 && (isOurs || drop)
    }),
  )
}

function isList({ columnName, expression }: CheckDef, table: DatabaseTable): boolean {
  if (columnName === undefined || (table.getColumn(columnName)?.enumItems ?? []).length === 0) return false
  return String(expression).startsWith(`"${columnName}" in (`)
}

function keepLinks(table: TableDifference, described: DatabaseTable | undefined, fitting: Fitting): void {
  const existing = Object.values(table.fromTable.getForeignKeys())
  const known = Object.values(described?.getForeignKeys() ?? {})
  const wanted = { ...table.addedForeignKeys, ...table.changedForeignKeys }
  table.removedForeignKeys = {}
  table.changedForeignKeys = {}
  table.addedForeignKeys = {}
  for (const [key, link] of Object.entries(wanted)) {
    const found = existing.filter(each => isSameLink(each, link))
    if (found.some(each => hasSameRules(each, link, table.toTable, fitting))) continue
    if (found.length > 0 && known.some(each => isSameLink(each, link) && text(each.deleteRule) === text(link.deleteRule))) continue
    const others = existing.filter(each => found.includes(each) || each.constraintName === key || isOtherWay(each, link))
    for (const each of others) table.removedForeignKeys[each.constraintName] = each
    table.addedForeignKeys[key] = link
  }
}

const bare = (name: string): string => name.replace(/^public\./, '')

function isSameLink(one: ForeignKey, other: ForeignKey): boolean {
  const pairs = ({ columnNames, referencedColumnNames }: ForeignKey): string[] =>
    columnNames.map((column, at) => `${column}\0${referencedColumnNames[at]!}`)
  return bare(one.referencedTableName) === bare(other.referencedTableName) && sameSet(pairs(one), pairs(other))
}

function isOtherWay(one: ForeignKey, other: ForeignKey): boolean {
  return sameSet(one.columnNames, other.columnNames) && bare(one.referencedTableName) !== bare(other.referencedTableName)
}

/** In a database of others, existing rules win over MikroORM's assumptions. */
function hasSameRules(found: ForeignKey, wanted: ForeignKey, table: DatabaseTable, { isOurs }: Fitting): boolean {
  const rule = (given: string | undefined): string => text(given).replace(/^(?:restrict|no action)$/, '')
  const isSame = rule(found.deleteRule) === rule(wanted.deleteRule)
  const isDeferred = wanted.deferMode === undefined || wanted.deferMode === found.deferMode
  if (isOurs) return isSame && isDeferred && rule(found.updateRule) === rule(wanted.updateRule)
  const columns = wanted.columnNames.map(column => table.getColumn(column))
  const key = table.getPrimaryKey()?.columnNames ?? []
  const isKey = wanted.columnNames.every(column => key.includes(column))
  const assumed = isKey ? 'cascade' : columns.every(each => each?.nullable === true) ? 'set null' : ''
  return isSame || wanted.deleteRule === undefined || rule(wanted.deleteRule) === assumed
}
