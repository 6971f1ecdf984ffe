/** Finds, for each attribute of a resource, the columns for the engine's own statements. */
import type { Attribute, EmbeddedAttribute, Resource, ScalarAttribute } from '../../model/model.ts'
import type { StoredProperty, StoredTable } from '../../model/stored-table.ts'
import { cascadesOrUnlinks } from '../validate/referrers.ts'

export interface RowPlan {
  readonly stored: StoredTable
  /** By attribute; undefined: no statement can write. */
  readonly insert: ReadonlyMap<string, StoredProperty> | undefined
  readonly update: ReadonlyMap<string, StoredProperty> | undefined
  /** For an existing file, with values of other types. */
  readonly updateOfOthers: ReadonlyMap<string, StoredProperty> | undefined
  readonly touched: readonly StoredProperty[]
  readonly deletes: boolean
}

const plans = new WeakMap<Resource, RowPlan | null>()

/** `null`: the unit of work writes. */
export function planRows(resource: Resource): RowPlan | null {
  return resource.open === undefined ? planColumns(resource) : null
}

/** Also for an open resource, of records without learned names. */
export function planColumns(resource: Resource): RowPlan | null {
  let plan = plans.get(resource)
  if (plan === undefined) plans.set(resource, (plan = makePlan(resource)))
  return plan
}

function makePlan(resource: Resource): RowPlan | null {
  const { attributes } = resource
  const stored = resource.readStored()
  if (stored === undefined) return null
  const writable = attributes.flatMap(attribute => {
    const isInside = attribute.kind === 'embedded' && attribute.document === undefined
    const property = isInside ? findWithin(attribute, stored) : stored.properties.get(attribute.property)
    return property !== undefined && isStoredIn(attribute, property) ? [[attribute, property] as const] : []
  })
  const changeable = writable.filter(([attribute, property]) => isChangeable(attribute, property, resource))
  const nameAll = (all: typeof writable) => new Map(all.map(([{ name }, property]) => [name, property]))
  return {
    stored,
    insert: stored.inserts ? nameAll(writable) : undefined,
    update: stored.updates ? nameAll(changeable) : undefined,
    updateOfOthers: stored.updates ? nameAll(changeable.filter(([attribute]) => isCompared(attribute))) : undefined,
    touched: [...stored.properties.values()].filter(({ onUpdate }) => onUpdate !== undefined),
    deletes: stored.deletes && !cascadesOrUnlinks(resource),
  }
}

function findWithin({ attributes, property, variants }: EmbeddedAttribute, { inside }: StoredTable): StoredProperty | undefined {
  if (variants !== undefined) return undefined
  const parts: StoredProperty[] = []
  for (const inner of attributes) {
    if (inner.kind === 'scalar' && inner.readOnly && inner.source.kind !== 'column') continue
    const part = inner.kind === 'scalar' && inner.source.kind === 'column' ? inside.get(inner.source.column) : undefined
    if (part === undefined || part.convertsNull || !isStoredIn(inner, part)) return undefined
    parts.push(part)
  }
  return {
    property,
    columns: parts.flatMap(({ columns }) => columns),
    convertsNull: false,
    comparable: parts.every(({ comparable }) => comparable),
    default: undefined,
    onCreate: undefined,
    onUpdate: undefined,
  }
}

/** Whether the columns hold the whole value. */
function isStoredIn(attribute: Attribute, { columns, document }: StoredProperty): boolean {
  if (attribute.kind === 'embedded') return attribute.document === undefined || (document !== undefined && isDocument(attribute))
  if (attribute.kind === 'scalar')
    return attribute.source.kind === 'column' && attribute.source.column === columns[0]!.column && attribute.links === undefined
  return (
    attribute.kind === 'toOne' &&
    attribute.owner &&
    attribute.formula === undefined &&
    attribute.targetKey === undefined &&
    attribute.discriminator === undefined &&
    attribute.document === undefined &&
    attribute.columns.length === columns.length &&
    columns.every(({ column }, index) => column === attribute.columns[index])
  )
}

/** The JSON holds the whole object, and bodies must give all needs of a new object. */
function isDocument({ attributes, variants }: EmbeddedAttribute): boolean {
  return (
    variants === undefined &&
    attributes.every(inner =>
      inner.kind === 'embedded'
        ? inner.needed === inner.required && isDocument(inner)
        : inner.kind === 'scalar' && (inner.source.kind === 'document' ? inner.links === undefined : inner.readOnly),
    )
  )
}

/** Whether nothing follows from a change, and the database sees the same changes as the unit of work. */
function isChangeable(attribute: Attribute, { comparable, onUpdate }: StoredProperty, { referrers }: Resource): boolean {
  if (!comparable || onUpdate !== undefined) return false
  if (attribute.kind === 'toOne') return !attribute.orphanRemoval
  if (attribute.kind === 'embedded')
    return attribute.document !== undefined || attribute.attributes.every(inner => inner.kind === 'scalar' && hasKnownForm(inner))
  return (
    attribute.kind === 'scalar' &&
    !referrers.some(({ attribute: link }) => link.targetKey?.property === attribute.property) &&
    hasKnownForm(attribute)
  )
}

function hasKnownForm(attribute: ScalarAttribute): boolean {
  const { source, hidden } = attribute
  return hasOneForm(attribute) || (source.kind === 'column' && !source.rawDefault && !hidden)
}

/** Whether comparing with the shown value tells a change. Objects may be shown in part, hidden values not at all. */
function isCompared(attribute: Attribute): boolean {
  return attribute.kind === 'toOne' || (attribute.kind === 'scalar' && !attribute.hidden)
}

/** Equal values are stored alike: validation need not compare shown values. */
function hasOneForm({ type }: ScalarAttribute): boolean {
  return type.kind === 'integer' || type.kind === 'float' || type.kind === 'boolean' || type.kind === 'text'
}
