/**
 * Row shape: how one statement writes a body, by the names in the body alone: `{ name, email }` has one shape, whatever the values. Where
 * the model asks for more than one statement, there is no shape, and plan-body.ts decides.
 */
import { isIds } from '../../model/ids-name.ts'
import { isUnreachable, keyFromJson, type KeyValues } from '../../model/key.ts'
import { tableColumns, type Attribute, type Resource, type ScalarAttribute, type ToOneAttribute } from '../../model/model.ts'
import type { Computed, StoredColumn, StoredProperty, StoredTable } from '../../model/stored-table.ts'
import { toProperty, type ScalarType } from '../../foundation/values/scalar-type.ts'
import type { Statement, WritingDialect } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { findUniqueNames } from '../validate/check-database.ts'
import { planRows, type RowPlan } from './plan-rows.ts'
import { mayHaveForms } from '../validate/unchanged.ts'
import { readValid } from '../validate/validate-scalar.ts'

/** A name of a body with the column that its value is written to. */
interface ShapeField {
  readonly name: string
  readonly column: StoredColumn
  /** Returns the parameter for a value; undefined for one that is refused, or of which only validation can say what it means. */
  readonly read: (value: unknown) => unknown
}

/** The field of a link, whose record must exist. */
export interface LinkField extends ShapeField {
  readonly attribute: ToOneAttribute
  readonly readKey: (value: unknown) => KeyValues | undefined
}

/** How statements write what bodies with these names are about. */
export interface RowShape {
  readonly row: RowPlan
  readonly names: readonly string[]
  readonly fields: readonly ShapeField[]
  /** Those of the names that the engine gives (`AttributeRules.fill`). */
  readonly filled: readonly string[]
  /** Whether more than the names of a body decides: what the engine gives, what a schema refuses, what is linked. */
  readonly isBound: boolean
  readonly link: LinkField | undefined
  /** The columns of the fields, and of a new row those behind them: of what functions of the model make, and of the defaults. */
  readonly columns: readonly StoredColumn[]
  readonly made: readonly Made[]
  readonly fixed: readonly unknown[]
  /** What gives the key of a new row; undefined: it is counted. */
  readonly keyOf: KeySource | undefined
  /** Inserts the row, apart from a key that the engine counts; or sets its columns where one of them differs. */
  readonly statement: Statement
  /** Inserts the row with a key that the engine counts, behind all other columns; undefined: it never does. */
  readonly counting: Statement | undefined
  /** Whether the database may hold a value in another form than the engine writes. A value that equals the shown one is not written. */
  readonly mayBeShown: boolean
  /** See `WritingDialect.updatePlain`: changes a row without stray values, which need not be read before. Undefined: not possible. */
  readonly plain: Statement | undefined
  /** Whether functions of the model would be called for a row before the database refuses a value that is taken. */
  readonly callsEarly: boolean
}

/** A column of a new row whose value a function of the model makes. */
export interface Made {
  readonly computed: Computed
  readonly column: StoredColumn
}

/** The key of a new row is that of a name of the body, or what the function makes. */
export interface KeySource {
  readonly from: string | Made
  readonly type: ScalarType
}

export type WriteMode = 'insert' | 'update'

/** Returns the shape of bodies with these attributes; undefined where one statement is not enough. */
export function makeRowShape(resource: Resource, names: readonly string[], mode: WriteMode, connection: Connection): RowShape | undefined {
  const row = resource.hierarchy === undefined ? planRows(resource) : null
  const properties = row === null ? undefined : findProperties(row, mode, connection)
  if (row === null || properties === undefined) return undefined
  const fields: ShapeField[] = []
  let link: LinkField | undefined
  for (const name of names) {
    const attribute = resource.byName.get(name)!
    // What clients may not give only the engine does: `RowShapes` asks who has.
    if (attribute.readOnly && attribute.fill === undefined) return undefined
    const field = makeField(attribute, properties.get(name), resource, mode, connection)
    // Several links are looked for together.
    if (field === undefined || (isLinkField(field) && link !== undefined)) return undefined
    if (isLinkField(field)) link = field
    fields.push(field)
  }
  const isUnique = hasUnique(names, resource)
  const { refusesTaken, keepsUnique } = row.stored
  if (isUnique && !(refusesTaken && connection.keepsConstraints)) return undefined
  const rest = mode === 'insert' ? findRest(names, row, resource, connection) : NOTHING
  if (rest === undefined) return undefined
  const columns = [...fields.map(({ column }) => column), ...rest.columns]
  const { writing } = connection.dialect
  const { stored } = row
  const statement = mode === 'insert' ? writing.insert(stored, columns) : writing.update(stored, columns, true)
  const counts = mode === 'insert' && resource.generatedKey && connection.countsKeys(stored.table)
  const counting = counts ? writing.insert(stored, [...columns, stored.key[0]!]) : undefined
  const attributes = names.map(name => resource.byName.get(name)!)
  const mayBeShown = mode === 'update' && (connection.mayHoldMisfits || attributes.some(mayHaveForms))
  const isPlain = mode === 'update' && connection.mayHoldMisfits && attributes.every(each => each.kind === 'scalar' && each.lazy !== true)
  const filled = attributes.filter(({ readOnly }) => readOnly).map(({ name }) => name)
  const isBound = filled.length > 0 || link !== undefined || attributes.some(({ schema }) => schema !== undefined)
  return {
    row,
    names,
    filled,
    isBound,
    fields,
    link,
    ...rest,
    columns,
    statement,
    counting,
    mayBeShown,
    plain: isPlain ? writing.updatePlain?.(stored, columns) : undefined,
    callsEarly: isUnique && !keepsUnique,
  }
}

function findProperties(row: RowPlan, mode: WriteMode, { mayHoldMisfits }: Connection): ReadonlyMap<string, StoredProperty> | undefined {
  if (mode === 'update') return mayHoldMisfits ? row.updateOfOthers : row.update
  return row.stored.construct === undefined ? row.insert : undefined
}

/** Whether one of the names is part of what must be unique. */
function hasUnique(names: readonly string[], resource: Resource): boolean {
  const unique = findUniqueNames(resource)
  return names.some(name => unique.has(name))
}

type Rest = Pick<RowShape, 'columns' | 'made' | 'fixed' | 'keyOf'>

const NOTHING: Rest = { columns: [], made: [], fixed: [], keyOf: undefined }

/** Returns what a new row has beside the values of a body; undefined where it is not the same for each, or lacks something. */
function findRest(names: readonly string[], { stored }: RowPlan, resource: Resource, { dialect }: Connection): Rest | undefined {
  const given = new Set(names.map(name => resource.byName.get(name)!.property))
  if (resource.attributes.some(attribute => isIds(attribute) || isMissing(attribute, names))) return undefined
  const made: Made[] = []
  const columns: StoredColumn[] = []
  const fixed: unknown[] = []
  const has = new Set(given)
  for (const property of stored.properties.values()) {
    const { default: value, onCreate, columns: own } = property
    // The database begins to count.
    if (property === stored.version || given.has(property.property) || (value === undefined && onCreate === undefined)) continue
    if (own.length > 1 || property.convertsNull) return undefined
    has.add(property.property)
    const [column] = own as [StoredColumn]
    if (onCreate !== undefined) made.push({ computed: onCreate, column })
    else {
      const parameter = toParameter(value, column, dialect.writing)
      if (parameter === undefined) return undefined
      columns.push(column)
      fixed.push(parameter)
    }
  }
  const keyOf = findKeySource(names, made, stored, resource)
  if (keyOf === null || stored.required.some(property => !has.has(property))) return undefined
  return { columns: [...made.map(({ column }) => column), ...columns], made, fixed, keyOf }
}

function isMissing({ required, name }: Attribute, names: readonly string[]): boolean {
  return required && !names.includes(name)
}

/** Returns what gives the key of a new row; null where it is more than that. */
function findKeySource(
  names: readonly string[],
  made: readonly Made[],
  { key }: StoredTable,
  { key: parts, keyNames, generatedKey }: Resource,
): KeySource | undefined | null {
  const [name] = keyNames
  const isGiven = names.includes(name!)
  if (generatedKey) return isGiven ? null : undefined
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
  // In the place of null a function of the model gives a new record its value.
  const isMade = mode === 'insert' && property.onCreate !== undefined
  if (attribute.kind === 'scalar') {
    return { name: attribute.name, column: column!, read: makeRead(attribute, attribute.nullable && !isMade, column!, dialect, resource) }
  }
  if (isMade) return undefined
  // A new record may say its own key, and link itself.
  if (mode === 'insert' && attribute.target === resource && !resource.generatedKey) return undefined
  return isPlainLink(attribute, resource) ? makeLink(attribute, column!, dialect.writing) : undefined
}

/** Whether nothing else follows from a link: it is neither unique nor part of another key. */
function isPlainLink(attribute: ToOneAttribute, { attributes }: Resource): boolean {
  const [own] = attribute.columns
  return (
    !attribute.unique &&
    attribute.target.hierarchy === undefined &&
    attributes.every(other => other === attribute || !tableColumns(other).includes(own!))
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
  const asked = dialect.storesAll(type) ? undefined : dialect
  return value => {
    if (value === null) return takesNull ? null : undefined
    const typed = readValid(value, type, asked)
    if (typed === undefined || (typeof typed === 'string' && isUnreachable(typed, name, resource))) return undefined
    return toParameter(toProperty(typed, type), column, writing)
  }
}

function makeLink(attribute: ToOneAttribute, column: StoredColumn, writing: WritingDialect): LinkField {
  const { name, target, nullable } = attribute
  const { type } = target.key[0]!
  const readKey = (value: unknown): KeyValues | undefined =>
    typeof value === 'object' || (typeof value === 'string' && !value.isWellFormed()) ? undefined : keyFromJson(value, target)
  const read = (value: unknown): unknown => {
    if (value === null) return nullable ? null : undefined
    const key = readKey(value)
    return key === undefined ? undefined : toParameter(toProperty(key[0], type), column, writing)
  }
  return { name, column, attribute, readKey, read }
}

function isLinkField(field: ShapeField): field is LinkField {
  return 'attribute' in field
}

/** Returns the parameter for the value of a property; undefined where it cannot be bound. */
export function toParameter(value: unknown, { toColumn }: StoredColumn, writing: WritingDialect): unknown {
  if (value === null) return null
  return writing.toParameter(toColumn === undefined ? value : toColumn(value))
}
