/**
 * A row shape says how a statement writes bodies with the same names, such as `{ name, email }`, whatever the values. Without a shape,
 * plan-body.ts decides.
 */
import { isRaw } from '@mikro-orm/core'
import { isIds } from '../../model/ids-name.ts'
import { idNames, isUnreachable, keyFromJson, type KeyValues } from '../../model/key.ts'
import {
  tableColumns,
  type Attribute,
  type Resource,
  type ScalarAttribute,
  type ToManyAttribute,
  type ToOneAttribute,
} from '../../model/model.ts'
import type { Computed, StoredColumn, StoredProperty, StoredTable } from '../../model/stored-table.ts'
import { toProperty, type ScalarType } from '../../foundation/values/scalar-type.ts'
import type { Statement, WritingDialect } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { UnboundValue } from '../database/unbound-value.ts'
import { findUniqueNames } from '../validate/check-database.ts'
import { canWritePivot } from './plan-body.ts'
import { planColumns, planRows, type RowPlan } from './plan-rows.ts'
import { mayHaveForms } from '../validate/unchanged.ts'
import { readValid } from '../validate/validate-scalar.ts'

interface ShapeField {
  readonly name: string
  readonly column: StoredColumn
  /** Undefined: refused, or a case for validation. */
  readonly read: (value: unknown) => unknown
}

/** A field with a link to an existing record. */
export interface LinkField extends ShapeField {
  readonly attribute: ToOneAttribute
  readonly readKey: (value: unknown) => KeyValues | undefined
}

/** IDs of members, to become pivot rows. */
interface ListField {
  readonly name: string
  readonly list: ToManyAttribute
}

export interface RowShape {
  readonly row: RowPlan
  readonly names: readonly string[]
  readonly fields: readonly ShapeField[]
  /** Names given by the engine (`AttributeRules.fill`). */
  readonly filled: readonly string[]
  /** The values decide, too: filled by the engine, refused by schemas, nested. */
  readonly isBound: boolean
  readonly link: LinkField | undefined
  /** Several, and lists, only in seeds. */
  readonly links: readonly LinkField[]
  readonly lists: readonly ListField[]
  /** Of the fields; in a new row, then `made`, then `fixed`. */
  readonly columns: readonly StoredColumn[]
  readonly made: readonly Made[]
  readonly fixed: readonly unknown[]
  /** Undefined: counted. */
  readonly keyOf: KeySource | undefined
  /** An insert without counted key, or an update for differing values. */
  readonly statement: Statement
  /** With the engine's counted key, in the last column; undefined: never counted. */
  readonly counting: { readonly statement: Statement; readonly columns: readonly StoredColumn[] } | undefined
  /** Whether values may be stored in other forms than the engine's: a value as shown is then not written. */
  readonly mayBeShown: boolean
  /** Skips rows with stray values (`WritingDialect.updatePlain`). */
  readonly plain: Statement | undefined
  /** Functions of the model would run before a taken value is refused. */
  readonly callsEarly: boolean
}

export interface Made {
  readonly computed: Computed
  readonly column: StoredColumn
}

interface KeySource {
  readonly from: string | Made
  readonly type: ScalarType
}

/** `seed`: the database checks links at the end, and a key may be given instead of counted. */
export type WriteMode = 'insert' | 'update' | 'seed'

/** Undefined: no single statement will do. */
export function makeRowShape(resource: Resource, names: readonly string[], mode: WriteMode, connection: Connection): RowShape | undefined {
  const row = resource.hierarchy === undefined ? (mode === 'seed' ? planColumns : planRows)(resource) : null
  const properties = row === null ? undefined : findProperties(row, mode, connection)
  if (row === null || properties === undefined) return undefined
  const named = readNames(names, properties, resource, mode, connection)
  if (named === undefined) return undefined
  const { fields, links, lists } = named
  const unique = findUniqueNames(resource)
  const isUnique = names.some(name => unique.has(name))
  const { refusesTaken, keepsUnique } = row.stored
  if (isUnique && !(refusesTaken && connection.keepsConstraints)) return undefined
  const rest = mode === 'update' ? NOTHING : findRest(names, row, resource, mode, connection)
  if (rest === undefined) return undefined
  const columns = [...fields.map(({ column }) => column), ...rest.columns]
  const { writing } = connection.dialect
  const { stored } = row
  const statement = mode === 'update' ? writing.update(stored, columns, true) : writing.insert(stored, columns)
  const counts = mode !== 'update' && rest.keyOf === undefined && connection.countsKeys(stored.table)
  const withKey = [...columns, stored.key[0]!]
  const counting = counts ? { statement: writing.insert(stored, withKey), columns: withKey } : undefined
  const attributes = names.map(name => resource.byName.get(name)!)
  const mayBeShown = mode === 'update' && (connection.mayHoldMisfits || attributes.some(mayHaveForms))
  const isPlain = mode === 'update' && connection.mayHoldMisfits && attributes.every(each => each.kind === 'scalar' && each.lazy !== true)
  const filled = attributes.filter(({ readOnly }) => readOnly).map(({ name }) => name)
  const isBound = filled.length > 0 || links.length > 0 || attributes.some(({ schema }) => schema !== undefined)
  return {
    row,
    names,
    filled,
    isBound,
    fields,
    link: links[0],
    links,
    lists,
    ...rest,
    columns,
    statement,
    counting,
    mayBeShown,
    plain: isPlain ? writing.updatePlain?.(stored, columns) : undefined,
    callsEarly: isUnique && !keepsUnique,
  }
}

/** Undefined: a name needs more than a column, or than pivot rows. */
function readNames(
  names: readonly string[],
  properties: ReadonlyMap<string, StoredProperty>,
  resource: Resource,
  mode: WriteMode,
  connection: Connection,
): Pick<RowShape, 'fields' | 'links' | 'lists'> | undefined {
  const fields: ShapeField[] = []
  const links: LinkField[] = []
  const lists: ListField[] = []
  for (const name of names) {
    const attribute = resource.byName.get(name)!
    // Only by the engine: `RowShapes` checks.
    if (attribute.readOnly && attribute.fill === undefined) return undefined
    if (mode === 'seed' && attribute.kind === 'toMany' && !isIds(attribute) && isPlainList(attribute, resource)) {
      lists.push({ name, list: attribute })
      continue
    }
    const field = makeField(attribute, properties.get(name), resource, mode, connection)
    if (field === undefined) return undefined
    if (isLinkField(field)) links.push(field)
    fields.push(field)
  }
  // A request looks up several links together.
  if (links.length > 1 && mode !== 'seed') return undefined
  return { fields, links, lists }
}

function findProperties(row: RowPlan, mode: WriteMode, { mayHoldMisfits }: Connection): ReadonlyMap<string, StoredProperty> | undefined {
  if (mode === 'update') return mayHoldMisfits ? row.updateOfOthers : row.update
  return row.stored.construct === undefined ? row.insert : undefined
}

type Rest = Pick<RowShape, 'columns' | 'made' | 'fixed' | 'keyOf'>

const NOTHING: Rest = { columns: [], made: [], fixed: [], keyOf: undefined }

/** Finds columns beside the body's; undefined: rows differ, or lack a value. */
function findRest(
  names: readonly string[],
  { stored }: RowPlan,
  resource: Resource,
  mode: WriteMode,
  { dialect }: Connection,
): Rest | undefined {
  const given = new Set(names.map(name => resource.byName.get(name)!.property))
  if (resource.attributes.some(attribute => isIds(attribute) || (attribute.required && !names.includes(attribute.name)))) return undefined
  const made: Made[] = []
  const columns: StoredColumn[] = []
  const fixed: unknown[] = []
  const covered = new Set(given)
  for (const property of stored.properties.values()) {
    const { default: value, onCreate, columns: propertyColumns } = property
    if (property === stored.version || given.has(property.property) || (value === undefined && onCreate === undefined)) continue
    if (propertyColumns.length > 1 || property.convertsNull) return undefined
    covered.add(property.property)
    const [column] = propertyColumns as [StoredColumn]
    if (onCreate !== undefined) made.push({ computed: onCreate, column })
    else {
      const parameter = toParameter(value, column, dialect.writing)
      if (parameter === undefined) return undefined
      columns.push(column)
      fixed.push(parameter)
    }
  }
  const keyOf = findKeySource(names, made, stored, resource, mode)
  if (keyOf === null || stored.required.some(property => !covered.has(property))) return undefined
  return { columns: [...made.map(({ column }) => column), ...columns], made, fixed, keyOf }
}

/** `undefined`: counted; `null`: not by one name or function. */
function findKeySource(
  names: readonly string[],
  made: readonly Made[],
  { key }: StoredTable,
  { key: parts, keyNames, generatedKey }: Resource,
  mode: WriteMode,
): KeySource | undefined | null {
  const [name] = keyNames
  const isGiven = names.includes(name!)
  if (generatedKey && !(isGiven && mode === 'seed')) return isGiven ? null : undefined
  if (key.length > 1) return null
  const from = isGiven ? name! : made.find(({ column }) => column === key[0])
  return from === undefined ? null : { from, type: parts[0]!.type }
}

function makeField(
  attribute: Attribute,
  property: StoredProperty | undefined,
  resource: Resource,
  mode: WriteMode,
  { dialect }: Connection,
): ShapeField | undefined {
  if (property === undefined || property.convertsNull || property.columns.length > 1 || isIds(attribute)) return undefined
  if ((attribute.kind !== 'scalar' && attribute.kind !== 'toOne') || attribute === resource.version || attribute.render !== undefined)
    return undefined
  if (attribute.primary && (mode === 'update' || attribute.kind === 'toOne')) return undefined
  const [column] = property.columns
  // Functions of the model replace null.
  const isMade = mode !== 'update' && property.onCreate !== undefined
  if (attribute.kind === 'scalar') {
    return { name: attribute.name, column: column!, read: makeRead(attribute, attribute.nullable && !isMade, column!, dialect, resource) }
  }
  if (isMade) return undefined
  // The clients' keys are unknown before the records exist.
  if (mode === 'seed' && attribute.target.shownKey !== undefined) return undefined
  // A new record might give its key, and link itself.
  if (mode === 'insert' && attribute.target === resource && !(resource.generatedKey && resource.shownKey === undefined)) return undefined
  return isPlainLink(attribute, resource) ? makeLink(attribute, column!, dialect.writing) : undefined
}

/** Whether pivot rows are all of the list. */
function isPlainList(list: ToManyAttribute, { key }: Resource): boolean {
  return canWritePivot(list) && key.length === 1 && list.where === undefined && !list.readOnly && list.target.shownKey === undefined
}

function isPlainLink(attribute: ToOneAttribute, { attributes }: Resource): boolean {
  const [linkColumn] = attribute.columns
  return (
    !attribute.unique &&
    attribute.target.hierarchy === undefined &&
    attributes.every(other => other === attribute || !tableColumns(other).includes(linkColumn!))
  )
}

function makeRead(
  { type, name }: ScalarAttribute,
  takesNull: boolean,
  column: StoredColumn,
  dialect: Connection['dialect'],
  resource: Resource,
): ShapeField['read'] {
  const { writing } = dialect
  const checkingDialect = dialect.storesAll(type) ? undefined : dialect
  const isId = idNames(resource).includes(name)
  return value => {
    if (value === null) return takesNull ? null : undefined
    const typed = readValid(value, type, checkingDialect)
    if (typed === undefined || (isId && isUnreachable(typed, name, resource))) return undefined
    return toParameter(toProperty(typed, type), column, writing)
  }
}

function makeLink(attribute: ToOneAttribute, column: StoredColumn, writing: WritingDialect): LinkField {
  const { name, target, nullable } = attribute
  const { type } = target.key[0]!
  const readKey = (value: unknown): KeyValues | undefined => readPlainKey(value, target)
  const read = (value: unknown): unknown => {
    if (value === null) return nullable ? null : undefined
    const key = readKey(value)
    return key === undefined ? undefined : toParameter(toProperty(key[0], type), column, writing)
  }
  return { name, column, attribute, readKey, read }
}

export function readPlainKey(id: unknown, target: Resource): KeyValues | undefined {
  return typeof id === 'object' || (typeof id === 'string' && !id.isWellFormed()) ? undefined : keyFromJson(id, target)
}

function isLinkField(field: ShapeField): field is LinkField {
  return 'attribute' in field
}

function toParameter(value: unknown, { toColumn }: StoredColumn, writing: WritingDialect): unknown {
  if (value === null) return null
  return writing.toParameter(toColumn === undefined ? value : toColumn(value))
}

export function bindKey(
  key: KeyValues,
  resource: Resource,
  { key: columns, discriminator }: StoredTable,
  { dialect }: Pick<Connection, 'dialect'>,
): readonly unknown[] {
  const { writing } = dialect
  const parameters: unknown[] = []
  for (let part = 0; part < columns.length; part++) {
    parameters.push(toParameter(toProperty(key[part], resource.key[part]!.type), columns[part]!, writing))
  }
  if (discriminator !== undefined) parameters.push(toParameter(discriminator.value, discriminator.column, writing))
  return parameters
}

/** Made by the model's code, maybe SQL (`raw`). */
export function toMadeParameter(value: unknown, { toColumn }: StoredColumn, writing: WritingDialect): unknown {
  if ((value ?? null) === null) return null
  const converted = toColumn === undefined || isRaw(value) ? value : toColumn(value)
  const parameter = writing.toParameter(converted)
  return parameter === undefined ? new UnboundValue(converted) : parameter
}
