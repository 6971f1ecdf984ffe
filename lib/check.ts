/**
 * Check: the faults of a change that only the database can tell: references to records that do not exist, values that must be unique and are taken.
 * Runs inside the transaction of the change, before anything is written.
 */
import type { Connection, Dialect, Reading } from './dialect.ts'
import { refuse } from './errors.ts'
import type { Fault } from './errors.ts'
import type { KeyValues } from './key.ts'
import { keyToSegment } from './key.ts'
import type { Attribute, Resource } from './model.ts'
import { readExists } from './render.ts'
import type { LinkChange, RecordChange, RecordRef, ValueChange } from './write-plan.ts'

const WHOLE = { filters: [], limit: 1, offset: 0 } as const

/** Adds to the faults what the database tells about a change; `self` is the key of the record that is changed. */
export async function checkChange(
  change: RecordChange,
  self: KeyValues | undefined,
  connection: Connection,
  faults: Fault[],
): Promise<void> {
  await connection.read(() => checkRecord(change, self, connection.dialect, faults))
}

/** Refuses a change that has faults: 409 when all that is wrong is uniqueness, else 422. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return
  const detail = faults.map(fault => fault.detail).join(' ')
  throw refuse(faults.every(fault => fault.code === 'not_unique') ? 'unique_conflict' : 'validation_failed', detail, { errors: faults })
}

function* checkRecord(change: RecordChange, self: KeyValues | undefined, dialect: Dialect, faults: Fault[]): Reading<void> {
  yield* checkUniques(change, self, dialect, faults)
  const references: { ref: RecordRef; target: Resource }[] = []
  for (const { attribute, link } of change.links) if (link !== null) references.push({ ref: link, target: attribute.target })
  for (const { attribute, items } of change.lists) for (const item of items) references.push({ ref: item, target: attribute.target })
  for (const { ref, target } of references) {
    if (ref.kind === 'new') {
      yield* checkRecord(ref.record, undefined, dialect, faults)
    } else if (!(yield* readExists(dialect.exists(target), { ...WHOLE, key: ref.key }, dialect))) {
      faults.push({
        code: 'reference_not_found',
        detail: `"${ref.path}": there is no ${target.singular} with the ID ${keyToSegment(ref.key)}.`,
        attribute: ref.path,
        value: ref.given,
      })
    }
  }
}

/** An attribute of a unique set, with its new value where the change gives one. */
interface UniquePart {
  readonly attribute: Attribute
  readonly given: boolean
  readonly values: readonly unknown[]
}

function* checkUniques(change: RecordChange, self: KeyValues | undefined, dialect: Dialect, faults: Fault[]): Reading<void> {
  const { resource } = change
  const sets = self === undefined ? [...resource.uniques, resource.keyNames] : resource.uniques
  for (const paths of sets) {
    const parts = partsOf(paths, change)
    // A set that the change does not touch stays as it is; what a new record leaves out is NULL or a default, which the database judges.
    if (parts === undefined || !parts.some(part => part.given) || (self === undefined && !parts.every(part => part.given))) continue
    const statement = dialect.taken(resource, parts, self !== undefined)
    if (statement === undefined) continue
    if (!(yield* readExists(statement, { ...WHOLE, key: self ?? [], given: parts.flatMap(part => part.values) }, dialect))) continue
    for (const path of paths) {
      const at = change.path === '' ? path : `${change.path}.${path}`
      const value = valueGiven(change, path)
      faults.push({
        code: 'not_unique',
        detail: `Another ${resource.singular} has this ${paths.map(name => `"${name}"`).join(' and ')} already.`,
        attribute: at,
        ...(value === undefined ? {} : { value }),
      })
    }
  }
}

/** The parts of a unique set, or undefined when one of them becomes NULL, which conflicts with nothing, or a record that is yet to be made. */
function partsOf(paths: readonly string[], change: RecordChange): UniquePart[] | undefined {
  const parts: UniquePart[] = []
  for (const path of paths) {
    const names = path.split('.')
    const attribute = attributeAt(change.resource, names)
    if (attribute === undefined) return undefined
    const found = changeAt(change, names)
    if (found === undefined) {
      parts.push({ attribute, given: false, values: [] })
    } else if ('link' in found) {
      if (found.link === null || found.link.kind === 'new') return undefined
      parts.push({ attribute, given: true, values: found.link.key })
    } else {
      if (found.value === null) return undefined
      parts.push({ attribute, given: true, values: [found.value] })
    }
  }
  return parts
}

function attributeAt(resource: Resource, names: readonly string[]): Attribute | undefined {
  let attribute = resource.byName.get(names[0]!)
  for (const name of names.slice(1)) attribute = attribute?.kind === 'embedded' ? attribute.byName.get(name) : undefined
  return attribute
}

function changeAt(change: RecordChange, names: readonly string[]): ValueChange | LinkChange | undefined {
  const link = change.links.find(({ attribute }) => attribute.name === names[0])
  if (link !== undefined) return link
  let values: readonly ValueChange[] = change.values
  for (const [index, name] of names.entries()) {
    const found = values.find(({ attribute }) => attribute.name === name)
    if (found === undefined || index === names.length - 1 || found.value === null) return found
    values = Array.isArray(found.value) ? (found.value as readonly ValueChange[]) : []
  }
  return undefined
}

/** The value as the body gave it, for the fault. */
function valueGiven(change: RecordChange, path: string): unknown {
  const found = changeAt(change, path.split('.'))
  if (found === undefined) return undefined
  if ('link' in found) return found.link?.kind === 'existing' ? found.link.given : undefined
  const { value } = found
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return undefined
  return found.attribute.kind === 'scalar' && found.attribute.type.kind === 'datetime' ? new Date(value as number).toISOString() : value
}
