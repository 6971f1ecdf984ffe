/**
 * Drafts a table that fits the entities, by replacing parts of the CREATE TABLE in the file. Mere additions are left to
 * ../schema/add-schema.ts.
 */
import type { Column, DatabaseTable, CheckDef, ForeignKey } from '@mikro-orm/sqlite'
import { mayHoldAny } from '../../../foundation/values/scalar-type.ts'
import { name as quoted } from '../../sql/sql.ts'
import { readDeclared } from '../introspect/column-type.ts'
import type { FileColumn } from '../introspect/introspect.ts'
import { foldCase, type ExistingTable } from '../schema/existing-table.ts'
import { hasSameRules } from '../schema/link-rules.ts'
import { classify, strictType } from './column-class.ts'
import { foldSql, parseCreate, type Clause, type ColumnText, type ConstraintText } from './create-text.ts'
import { EMPTY_PREFIX, type Changing, type TableDraft, type TableChange } from './table-change.ts'

/**
 * @param targets of the entities that share the table
 * @returns undefined where the table fits, or only lacks what can be added
 */
export function changeTable(targets: readonly DatabaseTable[], existing: ExistingTable, changing: Changing): TableChange | undefined {
  const { columns, constraints, options } = parseCreate(existing.sql)
  const lists = { differences: [], filled: [], needed: [], converted: [], required: [], checks: [], links: [], dropped: [] }
  const draft: TableDraft = {
    existing,
    ...lists,
    text: { columns, constraints, options },
    columns: [...columns],
    constraints: [...constraints],
    changing,
  }
  const wanted = new Map(targets.flatMap(target => target.getColumns().map(column => [foldCase(column.name), column] as const)))
  const added: Column[] = []
  for (const [folded, column] of wanted) {
    const found = existing.columns.find(({ name }) => foldCase(name) === folded)
    if (found === undefined) added.push(column)
    else compareColumn(column, found, draft)
  }
  for (const column of existing.columns) if (!wanted.has(foldCase(column.name))) leaveColumn(column, draft)
  const needed = added.filter(column => isBeyondAdding(column, draft))
  changeChecks(targets, added, draft)
  changeLinks(targets, added, draft)
  if (draft.differences.length === 0 && needed.length === 0) return undefined
  for (const column of added) addColumn(column, targets, draft)
  return { ...draft, text: { columns: draft.columns, constraints: draft.constraints, options } }
}

function describe(column: Column, { changing: { isStrict } }: TableDraft): string {
  const { name, type, nullable, generated, collation } = column
  const fallback = column.default ?? 'null'
  return [
    quoted(name),
    isStrict ? strictType(type) : type,
    generated === undefined ? '' : `generated always as ${generated}`,
    collation === undefined ? '' : `collate ${quoted(collation)}`,
    generated !== undefined ? '' : nullable ? 'null' : 'not null',
    /^null$/i.test(fallback) ? '' : `default ${fallback}`,
  ]
    .filter(text => text !== '')
    .join(' ')
}

function hasDefault(column: Column): boolean {
  return !/^null$/i.test(column.default ?? 'null')
}

/** `alter table ... add column` takes no stored column, and rows get only constants. */
function isBeyondAdding(column: Column, { changing: { hasRows, request, table } }: TableDraft): boolean {
  if (!hasRows) return /\bstored\s*$/i.test(column.generated ?? '')
  if (column.generated !== undefined) return /\bstored\s*$/i.test(column.generated)
  if (request.fill.get(table)?.has(column.name) === true) return true
  return hasDefault(column) ? /^\s*(?:\(|current_)/i.test(column.default!) : column.nullable !== true
}

function addColumn(column: Column, targets: readonly DatabaseTable[], draft: TableDraft): void {
  const { existing, changing } = draft
  const { plan, request, hasRows } = changing
  const place = `${existing.name}.${column.name}`
  if (column.primary === true || targets.some(target => target.getPrimaryKey()?.columnNames.includes(column.name) === true)) {
    plan.faults.push(`${place} belongs to the primary key of the entity, and the table has another key, which evolving does not change`)
    return
  }
  const text = describe(column, draft)
  draft.columns.push({ name: column.name, written: quoted(column.name), type: text.slice(quoted(column.name).length + 1), clauses: [] })
  const value = request.fill.get(changing.table)?.get(column.name)
  const needsValue = hasRows && column.generated === undefined && (value !== undefined || (column.nullable !== true && !hasDefault(column)))
  draft.differences.push({
    sentence: `${place}: the column is added${hasRows && !needsValue && hasDefault(column) ? ` (rows get ${column.default})` : ''}`,
    part: text,
  })
  if (!needsValue) return
  if (value === undefined) draft.needed.push(column.name)
  else draft.filled.push({ column: column.name, value, isNew: true })
}

function replaceColumn(draft: TableDraft, name: string, change: (column: ColumnText) => ColumnText): string {
  const at = draft.columns.findIndex(column => foldCase(column.name) === foldCase(name))
  const changed = change(draft.columns[at]!)
  draft.columns[at] = changed
  return [changed.written, changed.type, ...changed.clauses.map(({ text }) => text)].filter(text => text !== '').join(' ')
}

function replaceClause(kinds: readonly Clause['kind'][], text: string | undefined) {
  return (column: ColumnText): ColumnText => {
    const clauses = column.clauses.filter(({ kind }) => !kinds.includes(kind))
    return { ...column, clauses: text === undefined ? clauses : [...clauses, { kind: kinds[0]!, text, content: '' }] }
  }
}

function compareColumn(column: Column, found: FileColumn, draft: TableDraft): void {
  const { existing } = draft
  const isKey = existing.key.includes(found.name)
  const place = `${existing.name}.${found.name}`
  if (compareGenerated(column, found, draft)) return
  compareType(column, found, isKey, draft)
  if (!isKey && column.generated === undefined) compareNullable(column, found, draft)
  if (column.generated !== undefined) return
  const wanted = hasDefault(column) ? column.default! : undefined
  const isSame = wanted === undefined ? found.defaultSql === undefined || !draft.changing.drops.takesAll : sameSql(wanted, found.defaultSql)
  if (isSame || isKey) return
  const part = replaceColumn(draft, found.name, replaceClause(['default'], wanted === undefined ? undefined : `default ${wanted}`))
  draft.differences.push({
    sentence:
      `${place}: new rows get ${wanted ?? 'nothing'} by ` +
      `default${found.defaultSql === undefined ? '' : `, instead of ${found.defaultSql}`}`,
    part,
  })
}

function sameSql(one: string, other: string | undefined): boolean {
  return other !== undefined && normalise(one) === normalise(other)
}

function normalise(text: string): string {
  // SQLite reads a default in double quotes as a text.
  const sql = text.replace(/^"((?:[^"]|"")*)"$/s, (_, inner: string) => `'${inner.replaceAll('""', '"').replaceAll("'", "''")}'`)
  const plain = foldSql(sql)
  const bare = /^\((.*)\)$/s.exec(plain)?.[1]
  // `(a) or (b)` is not in brackets as a whole.
  if (bare !== undefined && !/\)[^(]*\(/.test(bare)) return normalise(bare)
  return plain === 'true' ? '1' : plain === 'false' ? '0' : plain
}

/** @returns whether the comparison ends here */
function compareGenerated(column: Column, found: FileColumn, draft: TableDraft): boolean {
  const { existing, changing } = draft
  const place = `${existing.name}.${found.name}`
  if (column.generated === undefined && !found.generated) return false
  if (column.generated !== undefined && !found.generated) {
    changing.plan.refuseGenerated(place)
    return true
  }
  const clause = draft.columns.find(({ name }) => foldCase(name) === foldCase(found.name))!.clauses.find(({ kind }) => kind === 'generated')
  const wanted = column.generated
  // An ejected model has the column's name as expression.
  if (wanted !== undefined && foldCase(wanted) === foldCase(found.name)) return true
  if (wanted !== undefined && sameSql(wanted.replace(/\s*\b(?:stored|virtual)\s*$/i, ''), clause?.content)) return true
  const part = replaceColumn(
    draft,
    found.name,
    replaceClause(['generated'], wanted === undefined ? undefined : `generated always as ${wanted}`),
  )
  draft.differences.push({
    sentence: wanted === undefined ? `${place}: what was generated is kept as values` : `${place}: it is generated by another expression`,
    part,
  })
  return wanted !== undefined
}

function compareType(column: Column, found: FileColumn, isKey: boolean, draft: TableDraft): void {
  const { existing, changing } = draft
  const evolved = changing.request.columns.get(changing.table)?.get(column.name)
  // Read from a file, a property is stored as in the file (`fileType`).
  if (evolved?.type !== undefined && (mayHoldAny(evolved.type) || evolved.type.kind === readDeclared(found.type))) return
  const type = changing.isStrict ? strictType(column.type) : column.type
  const [from, to] = [classify(found.type), classify(type)]
  if (from === to || (changing.isStrict && from === 'any')) return
  const place = `${existing.name}.${found.name}`
  if (isKey) {
    // A key declared otherwise by hand may hold the same values.
    if ((from === 'text') !== (to === 'text'))
      changing.plan.faults.push(
        `${place} is the key, "${found.type}" in the file and "${column.type}" in the entity: evolving changes no keys`,
      )
    return
  }
  if (evolved === undefined) {
    changing.plan.faults.push(
      `${place} is "${found.type}" in the file and "${column.type}" in the entity, and its values cannot be converted`,
    )
    return
  }
  // SQLite gives the usual types in capitals.
  const was = draft.columns.find(({ name }) => foldCase(name) === foldCase(found.name))!.type
  const part = replaceColumn(draft, found.name, text => ({ ...text, type }))
  draft.converted.push({ column: found.name, from, to: evolved })
  draft.differences.push({ sentence: `${place}: its values become "${type}", which were "${was}"`, part })
}

function compareNullable(column: Column, found: FileColumn, draft: TableDraft): void {
  const { existing, changing } = draft
  const place = `${existing.name}.${found.name}`
  if (found.notNull === (column.nullable !== true) || found.generated) return
  if (found.notNull) {
    const part = replaceColumn(draft, found.name, replaceClause(['not null'], undefined))
    draft.differences.push({ sentence: `${place}: it may be empty`, part })
    return
  }
  const part = replaceColumn(draft, found.name, replaceClause(['not null', 'null'], 'not null'))
  draft.differences.push({ sentence: `${place}: it may be empty no more`, part })
  const value = changing.request.fill.get(changing.table)?.get(column.name)
  if (value === undefined) draft.required.push(found.name)
  else draft.filled.push({ column: found.name, value, isNew: false })
}

/** A column without a property must not prevent new rows. */
function leaveColumn(found: FileColumn, draft: TableDraft): void {
  const { existing, changing } = draft
  const place = `${existing.name}.${found.name}`
  const isKey = existing.key.includes(found.name)
  if (found.name.startsWith(EMPTY_PREFIX)) {
    dropColumn(found, draft)
    return
  }
  const count = found.generated ? 0 : changing.countValues(found.name)
  if (
    changing.drops.takesColumn(
      [changing.request.resourceOf(changing.table), ...changing.request.namesOf(changing.table), existing.name],
      found.name,
      count,
    )
  ) {
    if (isKey) changing.plan.faults.push(`${place} belongs to the key of the table, so it cannot be dropped`)
    else dropColumn(found, draft)
    return
  }
  changing.plan.stays.push(`${place}: no property of the model. It stays as it is.`)
  if (isKey || found.generated || !found.notNull || found.defaultSql !== undefined) return
  const part = replaceColumn(draft, found.name, replaceClause(['not null'], undefined))
  draft.differences.push({ sentence: `${place}: no property of the model any more. It stays, and may be empty in new rows`, part })
}

function dropColumn(found: FileColumn, draft: TableDraft): void {
  const is = (name: string): boolean => foldCase(name) === foldCase(found.name)
  draft.columns = draft.columns.filter(({ name }) => !is(name))
  draft.constraints = draft.constraints.filter(({ columns }) => !columns.some(is))
  draft.dropped.push(found.name)
  const isMade = found.name.startsWith(EMPTY_PREFIX)
  draft.differences.push({
    sentence: isMade
      ? `${draft.existing.name}.${found.name.slice(EMPTY_PREFIX.length)}: the empty column of that name makes room`
      : `${draft.existing.name}.${found.name}: the column is dropped, with its values`,
    part: `drop ${quoted(found.name)}`,
  })
}

function changeChecks(targets: readonly DatabaseTable[], added: readonly Column[], draft: TableDraft): void {
  const { existing } = draft
  const wanted = new Map(targets.flatMap(target => target.getChecks().map(check => [check.name, check] as const)))
  const missing = [...wanted.values()].filter(check => !listChecks(draft).some(content => isSame(content, String(check.expression))))
  for (const check of missing) {
    const expression = String(check.expression)
    removeCheck(check, draft)
    const text = `constraint "${check.name.replaceAll('"', '""')}" check (${expression})`
    draft.constraints.push({ kind: 'check', name: check.name, text, columns: [], content: expression })
    draft.checks.push({ name: check.name, expression })
    if (!added.some(({ name }) => name === check.columnName))
      draft.differences.push({ sentence: `${existing.name}: rows must meet the check "${check.name}"`, part: text })
  }
  removeFormerItems(targets, [...wanted.values()], draft)
}

function listChecks({ columns, constraints }: TableDraft): string[] {
  const ofColumns = columns.flatMap(({ clauses }) => clauses.filter(({ kind }) => kind === 'check'))
  return [...ofColumns, ...constraints.filter(({ kind }) => kind === 'check')].map(({ content }) => content)
}

function isSame(one: string, other: string): boolean {
  return foldSql(one, ['(', ')']) === foldSql(other, ['(', ')'])
}

function listsItems(content: string, column: string): boolean {
  return new RegExp(`^\\s*[\`"[]?${column.replaceAll(/[^\w]/g, String.raw`\$&`)}[\`"\\]]?\\s+in\\s*\\(`, 'i').test(content)
}

function removeCheck({ name, columnName }: CheckDef, draft: TableDraft): void {
  draft.constraints = draft.constraints.filter(
    each => each.kind !== 'check' || !(each.name === name || (columnName !== undefined && listsItems(each.content, columnName))),
  )
  if (columnName === undefined) return
  draft.columns = draft.columns.map(column =>
    foldCase(column.name) === foldCase(columnName)
      ? { ...column, clauses: column.clauses.filter(({ kind, content }) => kind !== 'check' || !listsItems(content, columnName)) }
      : column,
  )
}

/** The check of a former enum would refuse new items. */
function removeFormerItems(targets: readonly DatabaseTable[], wanted: readonly CheckDef[], draft: TableDraft): void {
  const isWanted = (content: string): boolean => wanted.some(({ expression }) => isSame(content, String(expression)))
  const columns = targets.flatMap(target => target.getColumns().map(({ name }) => name))
  const isFormer = (content: string): boolean =>
    !isWanted(content) && columns.some(column => content.startsWith(`\`${column}\` in (`) && listsItems(content, column))
  const former = listChecks(draft).filter(isFormer)
  if (former.length === 0) return
  draft.constraints = draft.constraints.filter(({ kind, content }) => kind !== 'check' || !isFormer(content))
  draft.columns = draft.columns.map(column => ({
    ...column,
    clauses: column.clauses.filter(({ kind, content }) => kind !== 'check' || !isFormer(content)),
  }))
  for (const content of former)
    draft.differences.push({ sentence: `${draft.existing.name}: rows need not meet ${content} any more`, part: `drop check (${content})` })
}

/** @param added new columns, which bring their own foreign keys */
function changeLinks(targets: readonly DatabaseTable[], added: readonly Column[], draft: TableDraft): void {
  const keys = new Map(
    targets.flatMap(target => Object.values(target.getForeignKeys()).map(key => [key.constraintName, { key, target }] as const)),
  )
  for (const { key, target } of keys.values()) {
    const isNew = key.columnNames.some(name => added.some(column => column.name === name))
    const found = draft.existing.foreignKeys.find(({ columns }) => sameNames(columns, key.columnNames))
    const table = key.referencedTableName.split('.').at(-1)!
    if (found !== undefined && foldCase(found.table) === foldCase(table) && hasSameRules(key, found, target)) continue
    const written = draft.changing.helper.createForeignKey(target, key, false).trim().replace(/;$/, '')
    if (written === '') continue
    const [text] = parseCreate(`create table t (x, ${written})`).constraints as [ConstraintText]
    // `alter table … add column … references …` adds the foreign key, too.
    if (isNew && key.columnNames.length === 1) {
      draft.constraints.push(text)
      draft.links.push({ columns: key.columnNames, table, targets: key.referencedColumnNames })
      continue
    }
    removeLink(key, draft)
    draft.constraints.push(text)
    draft.links.push({ columns: key.columnNames, table, targets: key.referencedColumnNames })
    const place = `${draft.existing.name}.${key.columnNames.join(', ')}`
    const sentence = found === undefined ? `${place}: it must refer to a row of "${table}"` : `${place}: its foreign key follows the model`
    draft.differences.push({ sentence, part: text.text })
  }
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every(name => other.some(each => foldCase(each) === foldCase(name)))
}

function removeLink({ columnNames }: ForeignKey, draft: TableDraft): void {
  draft.constraints = draft.constraints.filter(({ kind, columns }) => kind !== 'foreign' || !sameNames(columns, columnNames))
  if (columnNames.length !== 1) return
  draft.columns = draft.columns.map(column =>
    foldCase(column.name) === foldCase(columnNames[0]!)
      ? { ...column, clauses: column.clauses.filter(({ kind }) => kind !== 'references') }
      : column,
  )
}
