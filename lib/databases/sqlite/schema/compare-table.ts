/** Compares a table of a file with the entities. Finds parts to add, lasting differences, and faults. */
import { findAffinity } from '../database/affinity.ts'
import type { CheckDef, Column, DatabaseTable, ForeignKey, IndexDef } from '@mikro-orm/sqlite'
import { UuidType, type MikroORM } from '@mikro-orm/core'
import { suggestFill } from '../../orm/suggest-fill.ts'
import { formatColumn, formatIndexName, isFree, type Comparing } from './create-table.ts'
import { foldCase, type Catalog, type ExistingTable } from './existing-table.ts'
import { hasSameDelete } from './link-rules.ts'
import { readDeclared } from '../introspect/column-type.ts'
import type { FileColumn as ExistingColumn } from '../introspect/introspect.ts'
import { name as quoted } from '../../sql/sql.ts'

export function compareTable(targets: readonly DatabaseTable[], existing: ExistingTable, comparing: Comparing): void {
  const { notes } = comparing.findings
  const added = new Set<string>()
  for (const target of targets) {
    for (const column of target.getColumns()) {
      const found = findColumn(existing, column.name)
      if (found !== undefined) compareColumn(column, found, existing, comparing)
      else if (!added.has(foldCase(column.name))) {
        added.add(foldCase(column.name))
        addColumn(target, column, existing, comparing)
      }
    }
    compareKey(target, existing, comparing)
    if (existing.kind !== 'table') continue
    for (const index of target.getIndexes())
      if (!index.primary && !isAssumed(index, existing, comparing)) addIndex(target, index, existing, comparing)
    for (const key of Object.values(target.getForeignKeys())) notes.push(...noteForeignKey(key, target, existing, added))
    for (const check of target.getChecks()) notes.push(...noteCheck(check, existing, added))
    addTriggers(target, comparing)
  }
  const wanted = new Set(targets.flatMap(target => target.getColumns().map(({ name }) => foldCase(name))))
  for (const { name, notNull, defaultSql, generated } of existing.columns) {
    if (existing.kind !== 'table' || wanted.has(foldCase(name)) || !notNull || defaultSql !== undefined || generated) continue
    if (existing.rowidKey && existing.key[0] === name) continue
    notes.push(
      `${existing.name}.${name}: NOT NULL without a default in the file, and no property of an entity: ` +
        `records of "${existing.name}" cannot be created.`,
    )
  }
  if (existing.kind === 'view' && !hasInsteadOfTrigger(existing.name, comparing.catalog))
    notes.push(`${existing.name}: the file has a view of this name without an INSTEAD OF trigger, so writes to it are refused.`)
}

function findColumn({ columns }: ExistingTable, name: string): ExistingColumn | undefined {
  return columns.find(column => foldCase(column.name) === foldCase(name))
}

function addColumn(target: DatabaseTable, column: Column, existing: ExistingTable, { orm, db, helper, findings }: Comparing): void {
  const what = `the column "${existing.name}"."${column.name}"`
  const cannot = (reason: string): void => {
    findings.faults.push(`${what} cannot be added${reason}`)
  }
  if (existing.kind !== 'table') return cannot(`, since "${existing.name}" is a ${existing.kind === 'view' ? 'view' : 'virtual table'}`)
  const isKey = target.getPrimaryKey()?.columnNames.some(name => foldCase(name) === foldCase(column.name)) ?? false
  if (isKey) return cannot(', since it belongs to the primary key of the entity, and the table has another one')
  if (/\bstored\s*$/i.test(column.generated ?? '')) return cannot(', since it is generated and stored: declare it as virtual')
  if (db.prepare(`select 1 from main.${quoted(existing.name)} limit 1`).get() !== undefined) {
    const fallback = column.default ?? 'null'
    const isEmpty = /^null$/i.test(fallback)
    if (!column.nullable && column.generated === undefined && isEmpty) {
      findings.ways.push(suggestFill(orm, target.name, column.name))
      return cannot(', since it is NOT NULL without a default, and the table has rows: make it nullable, or give it a default in SQL')
    }
    if (/^\s*(?:\(|current_)/i.test(fallback))
      return cannot(', since its default is an expression, and the table has rows: make it a constant')
  }
  findings.additions.push({ what, sql: formatColumn(target, column, helper) })
}

function compareColumn(column: Column, found: ExistingColumn, { name: table, kind, key }: ExistingTable, comparing: Comparing): void {
  const { findings, orm } = comparing
  if (found.name !== column.name)
    findings.faults.push(
      `the column "${table}"."${found.name}" is spelt "${column.name}" in the entity: say fieldName('${found.name}') there`,
    )
  if (kind !== 'table') return
  const { notes } = findings
  const place = `${table}.${found.name}`
  if (found.generated && column.generated === undefined) notes.push(`${place}: generated in the file: what is written to it is refused.`)
  if (!found.generated && column.generated !== undefined)
    notes.push(`${place}: an ordinary column in the file, and generated in the entity: new records have no value in it.`)
  const isKey = key.includes(found.name)
  if (found.notNull && column.nullable && !isKey) notes.push(`${place}: NOT NULL in the file, and nullable in the entity: null is refused.`)
  if (!found.notNull && !found.generated && !column.nullable && column.generated === undefined && !isKey && !column.primary)
    notes.push(`${place}: nullable in the file, and not in the entity: records that hold nothing in it show null.`)
  // SQLite expects numbers, but many programs store texts.
  const isLoose = /^(?:json|date|time|numeric|decimal)/i.test(column.type)
  const [wanted, is] = [findAffinity(column.type), findAffinity(found.type)]
  if (!isLoose && wanted !== is && wanted !== 'any' && is !== 'any') {
    findings.otherTypes.push({ table, column: column.name })
    // SQLite takes a UUID column for numbers, but no UUID for a number.
    if (!(readDeclared(found.type) === 'uuid' && holdsUuids(orm, table, column.name)))
      notes.push(
        `${place}: declared as "${found.type}" in the file, and as "${column.type}" in the entity: SQLite stores its values as ${is}s.`,
      )
  }
  const fallback = column.default ?? 'null'
  if (!/^null$/i.test(fallback) && found.defaultSql === undefined && column.generated === undefined)
    notes.push(`${place}: the file lacks the default of the entity (${fallback}), and stays as it is.`)
}

function holdsUuids(orm: MikroORM, table: string, column: string): boolean {
  const metas = [...orm.getMetadata()].filter(meta => foldCase(meta.tableName ?? '') === foldCase(table))
  return metas.some(({ props }) => props.some(prop => prop.customType instanceof UuidType && prop.fieldNames?.includes(column)))
}

function compareKey(target: DatabaseTable, existing: ExistingTable, { db, findings }: Comparing): void {
  const columns = (target.getPrimaryKey()?.columnNames ?? []).flatMap(name => findColumn(existing, name)?.name ?? [])
  if (existing.kind !== 'table' || columns.length === 0 || isUnique(columns, existing)) return
  const names = columns.map(name => `"${name}"`).join(', ')
  const list = columns.map(quoted).join(', ')
  const table = `main.${quoted(existing.name)}`
  const isBroken =
    db.prepare(`select 1 from ${table} where ${columns.map(name => `${quoted(name)} is null`).join(' or ')} limit 1`).get() !== undefined ||
    db.prepare(`select 1 from ${table} group by ${list} having count(*) > 1 limit 1`).get() !== undefined
  if (isBroken)
    findings.faults.push(`rows of "${existing.name}" have the same ${names}, or nothing in it, which is the primary key of the entity`)
  else findings.notes.push(`${existing.name}: ${names} is the key of the entity, and not unique in the file: nothing keeps it so.`)
}

function isUnique(columns: readonly string[], { key, indexes }: ExistingTable): boolean {
  const covers = (unique: readonly (string | undefined)[]): boolean =>
    unique.length > 0 && unique.every(column => column !== undefined && columns.some(name => foldCase(name) === foldCase(column)))
  return covers(key) || indexes.some(index => index.unique && !index.partial && covers(index.columns))
}

/** The file may lack MikroORM's index for a link. */
function isAssumed({ unique, keyName, columnNames }: IndexDef, { name: table, foreignKeys }: ExistingTable, { orm }: Comparing): boolean {
  const assumed = orm.em.getPlatform().getIndexName(table, columnNames, 'index')
  if (unique || foldCase(keyName) !== foldCase(assumed)) return false
  const names = columnNames.map(foldCase).join('\0')
  return foreignKeys.some(({ columns }) => columns.map(foldCase).join('\0') === names)
}

function addIndex(target: DatabaseTable, index: IndexDef, existing: ExistingTable, comparing: Comparing): void {
  const { helper, findings } = comparing
  const isPlain = index.expression === undefined && index.where === undefined && !index.columnNames.some(name => name.includes('.'))
  const name = formatIndexName(index)
  const same = existing.indexes.find(other => foldCase(other.name) === foldCase(name))
  // Another index, added at this start, must not silence the note at the next.
  if (isPlain && same !== undefined && !isThere(index, { ...existing, indexes: [same] })) {
    findings.notes.push(`${existing.name}: the index "${same.name}" of the file is another one than that of the entity, and stays.`)
    return
  }
  // Expressions of indexes may be spelt differently.
  if (same !== undefined || (isPlain && isThere(index, existing))) return
  if (!isFree(target, name, comparing)) return
  const what = `the index "${name}" of "${existing.name}"`
  const columns = index.columnNames.map(column => `"${column}"`).join(', ') || `"${name}"`
  const orNote = `${existing.name}: rows have the same values in ${columns} already, so that the unique index "${name}" is left out.`
  const isUniqueIndex = index.unique || /^\s*create\s+unique/i.test(index.expression ?? '')
  findings.additions.push({ what, sql: helper.createIndex(index, target), ...(isUniqueIndex ? { orNote } : {}) })
}

/** An index of any name, with the same effect. */
export function isThere({ unique, columnNames, columns }: IndexDef, existing: ExistingTable): boolean {
  // Unique columns stay unique with further columns.
  if (unique) return isUnique(columnNames, existing)
  if (columns?.some(({ collation, sort }) => collation !== undefined || sort !== undefined)) return false
  const begins = (others: readonly (string | undefined)[]): boolean =>
    columnNames.every((name, at) => others[at] !== undefined && foldCase(others[at]) === foldCase(name))
  return begins(existing.key) || existing.indexes.some(index => !index.partial && begins(index.columns))
}

function noteForeignKey(key: ForeignKey, own: DatabaseTable, existing: ExistingTable, added: ReadonlySet<string>): string[] {
  if (key.columnNames.every(name => added.has(foldCase(name))) && key.columnNames.length === 1) return []
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every(name => other.some(column => foldCase(column) === foldCase(name)))
  const target = key.referencedTableName.split('.').at(-1)!
  const found = existing.foreignKeys.find(({ columns, table }) => isSame(columns, key.columnNames) && foldCase(table) === foldCase(target))
  const place = `${existing.name}.${key.columnNames.join(', ')}`
  if (found === undefined) return [`${place}: without a foreign key to "${target}" in the file, to which none can be added.`]
  if (hasSameDelete(key, found, own)) return []
  const [there, wanted] = [found.onDelete, key.deleteRule ?? 'no action'].map(rule => rule.toUpperCase())
  return [`${place}: ON DELETE ${there} in the file, and ${wanted} in the entity: that of the file holds.`]
}

function noteCheck({ name, expression, columnName }: CheckDef, { name: table, sql }: ExistingTable, added: ReadonlySet<string>): string[] {
  if (columnName !== undefined && added.has(foldCase(columnName))) return []
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s"'`[\]()]+/g, '')
  if (plain(sql).includes(plain(String(expression)))) return []
  return [`${table}: without the check "${name}" of the entity in the file, to which none can be added.`]
}

function addTriggers(target: DatabaseTable, { catalog, helper, findings }: Comparing): void {
  for (const trigger of target.getTriggers()) {
    const isOne = trigger.events.length === 1 || trigger.expression !== undefined
    for (const event of isOne ? trigger.events.slice(0, 1) : trigger.events) {
      const name = isOne ? trigger.name : `${trigger.name}_${event}`
      if (catalog.triggers.has(foldCase(name))) continue
      const sql = helper.createTrigger(target, isOne ? trigger : { ...trigger, name, events: [event] })
      findings.additions.push({ what: `the trigger "${name}" of "${target.name}"`, sql })
    }
  }
}

function hasInsteadOfTrigger(view: string, { triggers }: Catalog): boolean {
  return [...triggers.values()].some(({ table }) => foldCase(table) === foldCase(view))
}
