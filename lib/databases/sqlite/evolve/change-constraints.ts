/** Puts the checks and foreign keys of the model into the draft of a table. */
import type { CheckDef, Column, DatabaseTable, ForeignKey } from '@mikro-orm/sqlite'
import { foldCase } from '../schema/existing-table.ts'
import { hasSameRules } from '../schema/link-rules.ts'
import type { TableDraft } from './table-change.ts'
import { foldSql, parseCreate, type ConstraintText } from './create-text.ts'

export function changeChecks(targets: readonly DatabaseTable[], added: readonly Column[], draft: TableDraft): void {
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
export function changeLinks(targets: readonly DatabaseTable[], added: readonly Column[], draft: TableDraft): void {
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
