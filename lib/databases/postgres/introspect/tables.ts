/**
 * Makes tables of a catalogue, input of `buildEntities`. Leaves out unreadable tables and columns, with a note, and keys, links and unique
 * sets over such columns.
 */
import { completeKey, type Column, type DeleteAction, type ForeignKey, type Table } from '../../introspect/tables.ts'
import { qualifyTable, showTable } from '../../../model/table-name.ts'
import type { Catalogue, ColumnRow, RelationRow } from './catalogue.ts'
import { ServerTypes, type ServerType } from './server-type.ts'

export interface ServerColumn extends Column {
  readonly type: ServerType
  /** By an identity or a sequence. */
  readonly counted: boolean
  /** Only the server gives values. */
  readonly always: boolean
  /** Values allowed by a check. */
  readonly items: readonly (string | number)[] | undefined
}

export interface ServerTable extends Table {
  readonly columns: readonly ServerColumn[]
  /** Rows have a `ctid`, as in tables. */
  readonly hasPlaces: boolean
  readonly isPartial: boolean
}

const ON_DELETE: Readonly<Record<string, DeleteAction>> = { a: 'no action', r: 'restrict', c: 'cascade', n: 'set null', d: 'set default' }

export interface ServerTables {
  readonly tables: readonly ServerTable[]
  readonly notes: readonly string[]
}

/** @param qualified tables are called by schema and name */
export function buildTables(catalogue: Catalogue, qualified: boolean): ServerTables {
  const notes: string[] = []
  const nameOf = ({ schema, name }: RelationRow): string => qualifyTable(name, qualified ? schema : undefined)
  const relations = catalogue.relations.filter(relation => {
    const reason = whyLeftOut(relation)
    if (reason !== undefined) notes.push(`${showTable(nameOf(relation))}: it is left out, since ${reason}.`)
    return reason === undefined
  })
  const ids = new Map(relations.map(relation => [relation.oid, nameOf(relation)]))
  const names = new Map(relations.map(({ oid, name }) => [oid, name]))
  const byRelation = groupByRelation(catalogue)
  const types = new ServerTypes(catalogue.types)
  const tables = relations.map((relation): ServerTable => {
    const rows = byRelation.columns.get(relation.oid) ?? []
    const readable = rows.filter(column => column.readable)
    const shown = new Set(readable.map(({ name }) => name))
    for (const { name } of rows)
      if (!shown.has(name)) notes.push(`${showTable(nameOf(relation))}: the column "${name}" is left out, since the role may not read it.`)
    const isShown = (columns: readonly string[]): boolean => columns.every(column => shown.has(column))
    const constraints = (byRelation.constraints.get(relation.oid) ?? []).filter(({ columns }) => isShown(columns))
    const isTable = relation.kind === 'r' || relation.kind === 'p'
    const checks = constraints.filter(({ kind }) => kind === 'c')
    const table: ServerTable = {
      id: nameOf(relation),
      name: relation.name,
      ...(qualified ? { schema: relation.schema } : {}),
      readOnly: !relation.writable || !isTable,
      columns: readable.map(row => buildColumn(row, types.of(row), checks.find(({ columns }) => columns.join() === row.name)?.definition)),
      key: constraints.find(({ kind }) => kind === 'p')?.columns ?? [],
      foreignKeys: constraints.flatMap(({ kind, columns, target, targets, onDelete }): ForeignKey[] => {
        const found = ids.get(target)
        if (kind !== 'f' || found === undefined) return []
        return [{ columns, table: names.get(target)!, target: found, targets: targets!, onDelete: ON_DELETE[onDelete] ?? 'no action' }]
      }),
      uniques: (byRelation.uniques.get(relation.oid) ?? []).map(({ columns }) => columns).filter(isShown),
      hasPlaces: isTable,
      isPartial: readable.length < rows.length,
    }
    return isTable ? completeKey(table) : table
  })
  return { tables: tables.filter(({ columns }) => columns.length > 0), notes }
}

function groupByRelation({ columns, constraints, uniques }: Catalogue) {
  return {
    columns: Map.groupBy(columns, ({ relation }) => relation),
    constraints: Map.groupBy(constraints, ({ relation }) => relation),
    uniques: Map.groupBy(uniques, ({ relation }) => relation),
  }
}

function whyLeftOut({ readable, extension, filled }: RelationRow): string | undefined {
  if (extension !== null) return `it belongs to the extension ${extension}`
  if (!readable) return 'the role may not read it'
  return filled ? undefined : 'it has not been filled (refresh materialized view)'
}

function buildColumn(row: ColumnRow, type: ServerType, check: string | null | undefined): ServerColumn {
  const expression = row.expression ?? type.defaultSql
  const isGenerated = row.generated !== ''
  const checks = check === undefined || check === null ? type.checks : [check, ...type.checks]
  return {
    name: row.name,
    type,
    notNull: row.notNull || type.notNull,
    // A default of NULL is none.
    defaultSql: isGenerated || expression === null || /^NULL(?:::|$)/.test(expression) ? undefined : expression,
    generated: isGenerated,
    counted: !isGenerated && (row.identity !== '' || expression?.startsWith('nextval(') === true),
    always: row.identity === 'a',
    items: checks.map(findItems).find(items => items !== undefined),
  }
}

/** `CHECK (status = ANY (ARRAY['open', 'done']))`, or of VALUE in a domain. */
const LIST =
  /^CHECK \(\((?:\((?:"(?:[^"]|"")+"|\w+)\)::[\w ]+|"(?:[^"]|"")+"|\w+) = ANY \(\(?ARRAY\[(.+)\]\)?(?:::[\w ]+\[\])?\)\)\)(?: NOT VALID)?$/s

const VALUE = /^(?:\()?(?:'((?:[^']|'')*)'|(-?\d+))(?:\))?(?:::[\w ]+(?:\(\d+\))?)?(?:\s*,\s*|$)/

/** @returns `undefined` for any other check */
function findItems(definition: string): readonly (string | number)[] | undefined {
  let rest = LIST.exec(definition)?.[1]
  if (rest === undefined) return undefined
  const items: (string | number)[] = []
  while (rest !== '') {
    const found: RegExpExecArray | null = VALUE.exec(rest)
    if (found === null) return undefined
    const [whole, text, number] = found
    items.push(text === undefined ? Number(number) : text.replaceAll("''", "'"))
    rest = rest.slice(whole.length)
  }
  return items
}
