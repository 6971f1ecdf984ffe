/**
 * Binds a valid change to an insert, update or delete of one row, with defaults and values of the constructor, `onCreate` and `onUpdate`.
 */
import { isRaw } from '@mikro-orm/core'
import { restError } from '../../foundation/errors/errors.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { keepSurroundings } from '../../foundation/async/surroundings.ts'
import { bindParameters } from '../database/bind.ts'
import type { Dialect, Statement, WritingDialect } from '../database/dialect.ts'
import type { Visibility } from '../plan/visibility.ts'
import type { Connection } from '../database/connection.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { Attribute, EmbeddedAttribute, Resource, ToOneAttribute } from '../../model/model.ts'
import type { Computed, StoredColumn, StoredProperty, StoredTable } from '../../model/stored-table.ts'
import { fromProperty, toProperty, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { bindKey, toMadeParameter } from './row-shape.ts'
import type { EmbeddedValue, RecordInput, ValueInput } from '../validate/record-input.ts'
import { toEmbedded } from '../validate/property-values.ts'

export interface BoundStatement {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
}

/** `key` undefined: the database counts. */
export interface BoundInsert extends BoundStatement {
  readonly resource: Resource
  readonly stored: StoredTable
  readonly columns: readonly StoredColumn[]
  readonly key: KeyValues | undefined
}

export interface BoundColumns {
  readonly columns: readonly StoredColumn[]
  readonly parameters: readonly unknown[]
}

/** Stored JSON of embedded objects given in part (planned-documents.ts). */
export type Documents = ReadonlyMap<EmbeddedAttribute, unknown>

const NO_DOCUMENTS: Documents = new Map()

/** A link to another new record of the same write. */
interface BoundLink {
  readonly attribute: ToOneAttribute
  readonly key: KeyValues
}

export function bindInsert(
  change: RecordInput,
  stored: StoredTable,
  connection: Connection,
  linked: readonly BoundLink[] = [],
): BoundInsert {
  const { resource } = change
  const given = takeValues(change, stored)
  for (const { attribute, key } of linked) given[attribute.property] = toLinkValue(key, attribute.target)
  const made = makeWith(given, stored, connection)
  const ask = (computed: Computed): unknown => compute(computed, given, connection)
  const columns: StoredColumn[] = []
  const parameters: unknown[] = []
  const keys: unknown[] = []
  const { writing } = connection.dialect
  for (const property of stored.properties.values()) {
    // The database sets the first version.
    if (property === stored.version) continue
    const value = findValue(property, given, made, stored, ask)
    if (value === undefined) continue
    addColumns(value, property, { columns, parameters }, writing)
    if (stored.keyProperties.includes(property)) keys.push(value)
  }
  const counted = resource.generatedKey ? connection.takeKey(stored, keys[0] ?? undefined) : undefined
  if (counted !== undefined) {
    columns.push(stored.key[0]!)
    parameters.push(BigInt(counted))
  }
  const key = counted === undefined ? findKey(keys, resource) : keyFromCount(counted, resource)
  const statement = findStatement('insert', stored, columns, () => writing.insert(stored, columns))
  return { statement, parameters, key, resource, stored, columns }
}

function findKey(values: readonly unknown[], { key, generatedKey }: Resource): KeyValues | undefined {
  if (values.length === 0 && generatedKey) return undefined
  const parts = values.flat()
  return parts.map((part, index) => toKeyPart(part, key[index]!.type))
}

/** Without the version, counted up by the statement. */
export function bindColumns(
  change: RecordInput,
  stored: StoredTable,
  { dialect }: Connection,
  documents: Documents = NO_DOCUMENTS,
): BoundColumns {
  const given = takeValues(change, stored, documents)
  const columns: StoredColumn[] = []
  const parameters: unknown[] = []
  for (const property in given) {
    const storedProperty = stored.properties.get(property)!
    if (storedProperty !== stored.version) addColumns(given[property], storedProperty, { columns, parameters }, dialect.writing)
  }
  return { columns, parameters }
}

/** Adds values set by every change (`onUpdate`). */
export function addTouched(
  { columns, parameters }: BoundColumns,
  touched: readonly StoredProperty[],
  connection: Connection,
): BoundColumns {
  const all = { columns: [...columns], parameters: [...parameters] }
  for (const property of touched) {
    const value = compute(property.onUpdate!, {}, connection)
    if (value !== undefined) addColumns(value, property, all, connection.dialect.writing)
  }
  return all
}

function addColumns(
  value: unknown,
  { columns }: StoredProperty,
  all: { columns: StoredColumn[]; parameters: unknown[] },
  writing: WritingDialect,
): void {
  for (const column of columns) {
    all.columns.push(column)
    all.parameters.push(toMadeParameter(value, column, writing))
  }
}

/** Finds the row, if some value differs. */
export function bindDiffers(
  { columns, parameters }: BoundColumns,
  stored: StoredTable,
  key: readonly unknown[],
  { dialect }: Connection,
): BoundStatement {
  const statement = findStatement('differs', stored, columns, () => dialect.writing.differs(stored, columns))
  return { statement, parameters: [...parameters, ...key] }
}

/** @param guarded changes the row only where a column differs */
export function bindUpdate(
  { columns, parameters }: BoundColumns,
  stored: StoredTable,
  key: readonly unknown[],
  { dialect }: Connection,
  guarded: boolean,
): BoundStatement {
  const kind = guarded ? 'change' : 'set'
  const statement = findStatement(kind, stored, columns, () => dialect.writing.update(stored, columns, guarded))
  return { statement, parameters: guarded ? [...parameters, ...key, ...parameters] : [...parameters, ...key] }
}

export function bindDelete(stored: StoredTable, key: readonly unknown[], { dialect }: Connection): BoundStatement {
  return { statement: findStatement('delete', stored, [], () => dialect.writing.delete(stored)), parameters: key }
}

export function bindDeleteAll(
  stored: StoredTable,
  keys: readonly KeyValues[],
  resource: Resource,
  connection: Connection,
): readonly BoundStatement[] {
  const { dialect } = connection
  const [first, ...others] = [...new Map(keys.map(key => [key.map(String).join('\0'), key])).values()]
  if (first === undefined) return []
  const bound = [first, ...others].map(key => bindKey(key, resource, stored, connection))
  if (others.length === 0 || stored.key.length > 1 || stored.discriminator !== undefined)
    return bound.map(key => bindDelete(stored, key, connection))
  const statement = findStatement('deleteAll', stored, [], () => dialect.writing.deleteAll(stored))
  const list = dialect.encodeList(
    bound.map(([key]) => key),
    resource.key[0]!.type,
  )
  return [{ statement, parameters: [list] }]
}

/** @param from the first parameter of the caller's scope */
export function bindScope(statement: Statement, from: number, { findValues, ctx }: Visibility, dialect: Dialect): readonly unknown[] {
  return bindParameters(statement, { filters: [], key: [], limit: 0, offset: 0, findValues, ctx }, dialect, from)
}

function takeValues({ values, links }: RecordInput, stored: StoredTable, documents = NO_DOCUMENTS): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const { attribute, value } of values) {
    if (attribute.kind === 'scalar') given[attribute.property] = toProperty(value, attribute.type)
    else if (attribute.document !== undefined)
      given[attribute.property] = stored.properties.get(attribute.property)!.document!(
        toEmbedded(value as EmbeddedValue),
        documents.get(attribute) ?? null,
      )
    else takeInside(value as readonly ValueInput[] | null, attribute, stored, given)
  }
  for (const { attribute, link } of links) {
    if (attribute.owner && link?.kind !== 'new')
      given[attribute.property] = link?.kind === 'existing' ? toLinkValue(link.key, attribute.target) : null
  }
  return given
}

/** Takes the values of an embedded object in columns. `{ "address": null }` sets all columns to NULL. */
function takeInside(
  values: readonly ValueInput[] | null,
  { attributes }: EmbeddedAttribute,
  { inside }: StoredTable,
  given: Record<string, unknown>,
): void {
  const take = (attribute: Attribute, value: unknown): void => {
    if (attribute.kind !== 'scalar' || attribute.source.kind !== 'column') return
    const property = inside.get(attribute.source.column)
    if (property !== undefined) given[property.property] = toProperty(value, attribute.type)
  }
  if (values === null) for (const attribute of attributes) take(attribute, null)
  else for (const { attribute, value } of values) take(attribute, value)
}

function toLinkValue(key: KeyValues, { key: parts }: Resource): unknown {
  return parts.length === 1 ? toProperty(key[0], parts[0]!.type) : key.map((value, part) => toProperty(value, parts[part]!.type))
}

/** Calls the constructor. Times made there become the engine's. */
function makeWith(given: Record<string, unknown>, { construct }: StoredTable, connection: Connection): Record<string, unknown> | undefined {
  if (construct === undefined) return undefined
  const from = Date.now()
  const made = keepSurroundings(construct)
  connection.retime(made, given, from)
  return made
}

function findValue(
  { property, default: fixed, onCreate }: StoredProperty,
  given: Record<string, unknown>,
  made: Record<string, unknown> | undefined,
  { asksTwice }: StoredTable,
  ask: (computed: Computed) => unknown,
): unknown {
  const value = property in given ? given[property] : made?.[property]
  if (onCreate === undefined) return value === undefined ? fixed : value
  if ((value ?? null) !== null) return value
  return ask(onCreate) ?? (asksTwice ? ask(onCreate) : undefined) ?? value
}

/** Refuses SQL (`raw('...')`): the answer could not name the record. */
export function toKeyPart(value: unknown, type: ScalarType): KeyValues[number] {
  if (isRaw(value)) throw restError('validation_failed', 'The model makes a key by SQL (onCreate): a default of the database can do so.')
  return fromProperty(value, type)
}

export function compute(computed: Computed, entity: object, { orm }: Connection): unknown {
  return keepSurroundings(() => computed(entity, orm.em))
}

/** Clients choose the attributes of bodies. */
const SHAPES = 200

interface KnownBinding {
  readonly shapes: LruCache<Statement>
  /** The last of each kind: comparing columns costs less than building a text. */
  readonly last: Map<string, { readonly columns: readonly StoredColumn[]; readonly statement: Statement }>
}

const statements = new WeakMap<StoredTable, KnownBinding>()

export function findStatement(kind: string, stored: StoredTable, columns: readonly StoredColumn[], compile: () => Statement): Statement {
  let known = statements.get(stored)
  if (known === undefined) statements.set(stored, (known = { shapes: new LruCache(SHAPES), last: new Map() }))
  const last = known.last.get(kind)
  if (last !== undefined && areSame(last.columns, columns)) return last.statement
  let shape = kind
  for (const { column } of columns) shape += `\0${column}`
  let statement = known.shapes.get(shape)
  if (statement === undefined) known.shapes.set(shape, (statement = compile()))
  known.last.set(kind, { columns, statement })
  return statement
}

function areSame(some: readonly StoredColumn[], others: readonly StoredColumn[]): boolean {
  if (some.length !== others.length) return false
  for (let index = 0; index < some.length; index++) if (some[index] !== others[index]) return false
  return true
}
