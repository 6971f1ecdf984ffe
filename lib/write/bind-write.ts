/**
 * Bind writing: the values of a valid change become the parameters of a statement, with what the model adds: defaults, values that the constructor of the class
 * gives, `onCreate`. Gives nothing where a value turns out to be more than a statement can say: then the unit of work writes it, as nothing has run yet.
 */
import { LruCache } from '../base/lru-cache.ts'
import type { Connection, Statement } from '../database/dialect.ts'
import type { KeyValues } from '../model/key.ts'
import type { StoredColumn, StoredTable } from '../model/stored-table.ts'
import { fromProperty, toProperty } from '../values/scalar-type.ts'
import type { RecordInput } from './write-plan.ts'

/** A statement with its parameters. */
export interface BoundInsert {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
  /** The key of the new record; undefined where the database counts it. */
  readonly key: KeyValues | undefined
}

/** Returns the values of a change by property. */
export function takeValues({ values, links }: RecordInput): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const { attribute, value } of values) if (attribute.kind === 'scalar') given[attribute.property] = toProperty(value, attribute.type)
  for (const { attribute, link } of links)
    given[attribute.property] = link?.kind === 'existing' ? toProperty(link.key[0], attribute.target.key[0]!.type) : null
  return given
}

/** Returns the statement that inserts a record; undefined where the unit of work must do it. */
export function bindInsert(change: RecordInput, stored: StoredTable, connection: Connection): BoundInsert | undefined {
  const given = takeValues(change)
  const made = makeWith(given, stored, connection)
  const columns: StoredColumn[] = []
  const parameters: unknown[] = []
  let key: unknown
  const { writing } = connection.dialect
  for (const column of stored.columns.values()) {
    const value = findValue(column, given, made, stored, connection)
    if (value === undefined) continue
    if (value === null && column.convertsNull) return undefined
    const parameter = writing.toParameter(toStored(value, column))
    if (parameter === undefined) return undefined
    if (column === stored.key) key = value
    columns.push(column)
    parameters.push(parameter)
  }
  const written = new Set(columns.flatMap(({ property }, at) => (parameters[at] === null ? [] : [property])))
  if (!stored.required.every(property => written.has(property))) return undefined
  const { generatedKey, key: parts } = change.resource
  if (key === null || (key === undefined && !generatedKey)) return undefined
  return {
    statement: findInsert(stored, columns, connection),
    parameters,
    key: key === undefined ? undefined : [fromProperty(key, parts[0]!.type)],
  }
}

/** Calls the constructor of the class, where there is code in it. The time that it sets is that of the engine. */
function makeWith(given: Record<string, unknown>, { construct }: StoredTable, connection: Connection): Record<string, unknown> | undefined {
  if (construct === undefined) return undefined
  const from = Date.now()
  const made = construct()
  connection.retime(made, given, from)
  return made
}

function findValue(
  { property, default: fixed, onCreate }: StoredColumn,
  given: Record<string, unknown>,
  made: Record<string, unknown> | undefined,
  { asksTwice }: StoredTable,
  { orm }: Connection,
): unknown {
  const value = property in given ? given[property] : made?.[property]
  if (onCreate === undefined) return value === undefined ? fixed : value
  if ((value ?? null) !== null) return value
  return onCreate(given, orm.em) ?? (asksTwice ? onCreate(given, orm.em) : undefined) ?? value
}

function toStored(value: unknown, { toColumn }: StoredColumn): unknown {
  return value === null || toColumn === undefined ? value : toColumn(value)
}

/** The statements of a table that are kept: clients decide which attributes a body gives. */
const SHAPES = 200

const inserts = new WeakMap<StoredTable, LruCache<Statement>>()

function findInsert(stored: StoredTable, columns: readonly StoredColumn[], { dialect }: Connection): Statement {
  let known = inserts.get(stored)
  if (known === undefined) inserts.set(stored, (known = new LruCache(SHAPES)))
  const shape = columns.map(({ property }) => property).join('\0')
  let statement = known.get(shape)
  if (statement === undefined) known.set(shape, (statement = dialect.writing.insert(stored, columns)))
  return statement
}
