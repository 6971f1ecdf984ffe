/**
 * Bind writing: the values of a valid change become the parameters of statements, with what the model adds: defaults, values that the constructor of the class
 * gives, `onCreate`, `onUpdate`. Gives nothing where a value turns out to be more than a statement can say: then the unit of work writes it, as nothing has run yet.
 */
import { LruCache } from '../base/lru-cache.ts'
import type { Connection, Statement, WritingDialect } from '../database/dialect.ts'
import type { KeyValues } from '../model/key.ts'
import type { Resource } from '../model/model.ts'
import type { StoredColumn, StoredTable } from '../model/stored-table.ts'
import { fromProperty, toProperty } from '../values/scalar-type.ts'
import type { RecordInput } from './write-plan.ts'

/** A statement with its parameters. */
export interface BoundStatement {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
}

/** An insert, and the key of the new record; undefined where the database counts it. */
export interface BoundInsert extends BoundStatement {
  readonly key: KeyValues | undefined
}

/** Columns with the parameters for their values. */
export interface BoundColumns {
  readonly columns: readonly StoredColumn[]
  readonly parameters: readonly unknown[]
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
    // The database begins to count.
    if (column.column === stored.version) continue
    const value = findValue(column, given, made, stored, connection)
    if (value === undefined) continue
    const parameter = toParameter(value, column, writing)
    if (parameter === undefined) return undefined
    if (column === stored.key) key = value
    columns.push(column)
    parameters.push(parameter)
  }
  if (stored.required.some(property => (given[property] ?? made?.[property] ?? null) === null)) return undefined
  const { generatedKey, key: parts } = change.resource
  const counted = generatedKey ? connection.takeKey(stored, key ?? undefined) : undefined
  if (counted !== undefined) {
    key = counted
    columns.push(stored.key)
    parameters.push(BigInt(counted))
  }
  if (key === null || (key === undefined && !generatedKey)) return undefined
  const statement = findStatement('insert', stored, columns, () => writing.insert(stored, columns))
  return { statement, parameters, key: key === undefined ? undefined : [fromProperty(key, parts[0]!.type)] }
}

/** Returns the columns that a change of a record sets, apart from the version; undefined where the unit of work must do it. */
export function bindColumns(change: RecordInput, stored: StoredTable, { dialect }: Connection): BoundColumns | undefined {
  const given = takeValues(change)
  const columns: StoredColumn[] = []
  const parameters: unknown[] = []
  for (const property in given) {
    const column = stored.columns.get(property)!
    if (column.column === stored.version) continue
    const parameter = toParameter(given[property], column, dialect.writing)
    if (parameter === undefined) return undefined
    columns.push(column)
    parameters.push(parameter)
  }
  return { columns, parameters }
}

/** Returns the columns with those that every change sets; undefined where the unit of work must do it. */
export function addTouched(
  { columns, parameters }: BoundColumns,
  touched: readonly StoredColumn[],
  { dialect, orm }: Connection,
): BoundColumns | undefined {
  const all = [...columns]
  const values = [...parameters]
  for (const column of touched) {
    const value = column.onUpdate!({}, orm.em)
    if (value === undefined) continue
    const parameter = toParameter(value, column, dialect.writing)
    if (parameter === undefined) return undefined
    all.push(column)
    values.push(parameter)
  }
  return { columns: all, parameters: values }
}

/** Returns the statement that shows whether the record of a key differs from these values. */
export function bindDiffers(
  { columns, parameters }: BoundColumns,
  stored: StoredTable,
  key: unknown,
  { dialect }: Connection,
): BoundStatement {
  const statement = findStatement('differs', stored, columns, () => dialect.writing.differs(stored, columns))
  return { statement, parameters: [...parameters, key] }
}

/** Returns the statement that sets these columns of the record of a key: in any case, or if one of them changes. */
export function bindUpdate(
  { columns, parameters }: BoundColumns,
  stored: StoredTable,
  key: unknown,
  { dialect }: Connection,
  guarded: boolean,
): BoundStatement {
  const kind = guarded ? 'change' : 'set'
  const statement = findStatement(kind, stored, columns, () => dialect.writing.update(stored, columns, guarded))
  return { statement, parameters: guarded ? [...parameters, key, ...parameters] : [...parameters, key] }
}

/** Returns the statement that deletes the record of a key. */
export function bindDelete(stored: StoredTable, key: unknown, { dialect }: Connection): BoundStatement {
  return { statement: findStatement('delete', stored, [], () => dialect.writing.delete(stored)), parameters: [key] }
}

/** Returns the parameter for a key. */
export function bindKey(key: KeyValues, resource: Resource, { key: column }: StoredTable, { dialect }: Connection): unknown {
  return toParameter(toProperty(key[0], resource.key[0]!.type), column, dialect.writing)
}

/** Returns the values of a change by property, as properties hold them. */
function takeValues({ values, links }: RecordInput): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const { attribute, value } of values) {
    if (attribute.kind === 'scalar') given[attribute.property] = toProperty(value, attribute.type)
  }
  for (const { attribute, link } of links) {
    given[attribute.property] = link?.kind === 'existing' ? toProperty(link.key[0], attribute.target.key[0]!.type) : null
  }
  return given
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

/** Returns the parameter for the value of a property; undefined where it cannot be bound. */
function toParameter(value: unknown, { toColumn, convertsNull }: StoredColumn, writing: WritingDialect): unknown {
  if (value === null) return convertsNull ? undefined : null
  return writing.toParameter(toColumn === undefined ? value : toColumn(value))
}

/** The statements of a table that are kept: clients decide which attributes a body gives. */
const SHAPES = 200

const statements = new WeakMap<StoredTable, LruCache<Statement>>()

function findStatement(kind: string, stored: StoredTable, columns: readonly StoredColumn[], compile: () => Statement): Statement {
  let known = statements.get(stored)
  if (known === undefined) statements.set(stored, (known = new LruCache(SHAPES)))
  let shape = kind
  for (const { property } of columns) shape += `\0${property}`
  let statement = known.get(shape)
  if (statement === undefined) known.set(shape, (statement = compile()))
  return statement
}
