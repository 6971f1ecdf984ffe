/**
 * Plan rows: finds out which columns of the records of a resource statements can write without MikroORM's unit of work. The decision is by
 * the model; whether they can write what a body is about, plan-body.ts decides.
 */
import type { Attribute, EmbeddedAttribute, Resource, ScalarAttribute } from '../../model/model.ts'
import type { StoredProperty, StoredTable } from '../../model/stored-table.ts'
import { cascadesOrUnlinks } from '../unit-of-work/remove.ts'

/** How statements write the records of a resource. */
export interface RowPlan {
  readonly stored: StoredTable
  /** The attributes that a statement can give a new record; undefined: none can make one. */
  readonly insert: ReadonlyMap<string, StoredProperty> | undefined
  /** The attributes that a statement can change; undefined: none can change any. */
  readonly update: ReadonlyMap<string, StoredProperty> | undefined
  /** Those of them that a statement can change in an existing file, too, where a column may hold a value of another type. */
  readonly updateOfOthers: ReadonlyMap<string, StoredProperty> | undefined
  /** The properties that every change sets. */
  readonly touched: readonly StoredProperty[]
  /** Whether a statement can remove a record. */
  readonly deletes: boolean
}

const plans = new WeakMap<Resource, RowPlan | null>()

/** Returns how statements write the records of a resource; null where the unit of work writes all of them. */
export function planRows(resource: Resource): RowPlan | null {
  let plan = plans.get(resource)
  if (plan === undefined) plans.set(resource, (plan = makePlan(resource)))
  return plan
}

function makePlan(resource: Resource): RowPlan | null {
  const { attributes, open } = resource
  const stored = resource.readStored()
  if (stored === undefined || open !== undefined) return null
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

/** Returns the columns of an embedded object; undefined where statements cannot write all of it. */
function findWithin({ attributes, property, variants }: EmbeddedAttribute, { inside }: StoredTable): StoredProperty | undefined {
  if (variants !== undefined) return undefined
  const parts: StoredProperty[] = []
  for (const inner of attributes) {
    if (inner.kind === 'scalar' && inner.readOnly && inner.source.kind !== 'column') continue
    const part = inner.kind === 'scalar' && inner.source.kind === 'column' ? inside.get(inner.source.column) : undefined
    if (part === undefined || !isStoredIn(inner, part)) return undefined
    parts.push(part)
  }
  return {
    property,
    columns: parts.flatMap(({ columns }) => columns),
    convertsNull: parts.some(({ convertsNull }) => convertsNull),
    comparable: parts.every(({ comparable }) => comparable),
    default: undefined,
    onCreate: undefined,
    onUpdate: undefined,
  }
}

/** Whether the value of an attribute is that of the columns. */
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

/** Whether all of an embedded object is in its JSON, and whatever a new one needs must be given. */
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

/**
 * Whether a statement can change an attribute: nothing else follows from that, and the database sees what the unit of work takes for a
 * change.
 */
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

/** Whether validation, or the database, sees that a value is the stored one. */
function hasKnownForm(attribute: ScalarAttribute): boolean {
  const { source, hidden } = attribute
  return hasOneForm(attribute) || (source.kind === 'column' && !source.rawDefault && !hidden)
}

/**
 * Whether a statement can find out what changes in an existing file, too. There a value is a change where it differs from what is shown,
 * whatever the column holds. Values that are the same have been left out before. Of an object a part may be shown, and of a hidden value
 * nothing is.
 */
function isCompared(attribute: Attribute): boolean {
  return attribute.kind === 'toOne' || (attribute.kind === 'scalar' && !attribute.hidden)
}

/** Whether equal values have one stored form, so that validation need not compare them with what is shown. */
function hasOneForm({ type }: ScalarAttribute): boolean {
  return type.kind === 'integer' || type.kind === 'float' || type.kind === 'boolean' || type.kind === 'text'
}
