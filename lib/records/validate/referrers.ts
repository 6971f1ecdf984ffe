/**
 * Refuses removals (`owner_required`) that leave records without a needed link: the posts of a user. Counts what the database's cascade
 * removes, too.
 */
import { wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import type { Row } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { idToSegment, type KeyValues, type RecordKey } from '../../model/key.ts'
import { findHierarchyRoot, type Attribute, type Resource, type ToManyAttribute, type ToOneAttribute } from '../../model/model.ts'
import { isNamable } from '../plan/visibility.ts'
import { readRows } from '../read/run-read.ts'
import { lookForReferrers, lookForReferrersOfAll } from './look-ups.ts'

/** Whether MikroORM must remove or unlink other records, too. */
export function cascadesOrUnlinks({ attributes, referrers }: Resource): boolean {
  return (
    attributes.some(cascades) ||
    attributes.some(isShared) ||
    referrers.some(({ attribute }) => attribute.discriminator !== undefined && attribute.onDelete === 'unlink')
  )
}

/** A pivot table of several entities has no foreign key. */
export function isShared(attribute: Attribute): attribute is ToManyAttribute {
  return attribute.kind === 'toMany' && attribute.via.kind === 'pivot' && attribute.via.discriminator !== undefined
}

function cascades(attribute: Attribute): boolean {
  if (attribute.kind === 'embedded') return attribute.attributes.some(cascades)
  if (attribute.kind === 'toOneOf') return attribute.branches.some(cascades)
  return attribute.kind !== 'scalar' && attribute.cascadeRemove
}

interface Removed {
  readonly resource: Resource
  readonly key: KeyValues
}

/** Whether a needed link may refer to the resource. */
export function hasRefusing({ referrers }: Resource): boolean {
  return referrers.some(({ attribute }) => attribute.onDelete === 'refuse')
}

/** A link to several entities, or in a JSON column, has no foreign key. */
function isForeignKey({ discriminator, document }: ToOneAttribute): boolean {
  return discriminator === undefined && document === undefined
}

const takingNeeded = new WeakMap<Resource, boolean>()

/** Whether a cascade of the database may reach records that others need. */
export function takesNeeded(resource: Resource): boolean {
  const known = takingNeeded.get(resource)
  if (known !== undefined) return known
  const reached = new Set([resource])
  for (const { referrers } of reached)
    for (const { resource: other, attribute } of referrers)
      if (attribute.onDelete === 'cascade' && isForeignKey(attribute)) reached.add(other)
  const takes = [...reached].some(
    other => other !== resource && other.referrers.some(({ attribute }) => attribute.onDelete === 'refuse' && isForeignKey(attribute)),
  )
  takingNeeded.set(resource, takes)
  return takes
}

interface LinkToRemoved {
  readonly from: Resource
  readonly attribute: ToOneAttribute
  readonly path: string
  readonly to: Resource
  readonly keys: KeyValues[]
}

/** Each link is looked at once, however many records are removed. */
function groupReferring(removed: readonly Removed[], isMeant: (attribute: ToOneAttribute) => boolean): LinkToRemoved[] {
  const groups = new Map<string, LinkToRemoved>()
  for (const { resource, key } of removed)
    for (const { resource: from, attribute, path } of resource.referrers) {
      if (!isMeant(attribute)) continue
      const name = `${from.className}\0${path}\0${resource.className}`
      if (!groups.has(name)) groups.set(name, { from, attribute, path, to: resource, keys: [] })
      groups.get(name)!.keys.push(key)
    }
  return [...groups.values()]
}

/** One statement where the database compares lists of keys. */
function* readReferring({ from, attribute, keys }: LinkToRemoved, connection: ReadingConnection): Coroutine<readonly Row[]> {
  const { dialect } = connection
  const given = { filters: [], limit: 1, offset: 0 }
  const ofAll = keys.length > 1 ? lookForReferrersOfAll(from, attribute, dialect) : undefined
  if (ofAll !== undefined) {
    const texts = keys.map(key => key.map(String))
    const { parameter: links } = dialect.encodeLinks(texts, { from: [0], parts: attribute.target.key })
    return yield* wait(connection.read(() => readRows(ofAll, { ...given, key: [], links }, dialect)))
  }
  const statement = lookForReferrers(from, attribute, dialect)
  const rows: Row[] = []
  for (const key of keys) rows.push(...(yield* wait(connection.read(() => readRows(statement, { ...given, key }, dialect)))))
  return rows
}

/** A larger cascade only the database refuses, without names. */
const MAX_CASCADED = 1000

/** Lists records removed by a cascade of the database; none where too many are. */
function* listCascaded(removed: readonly Removed[], connection: ReadingConnection): Coroutine<readonly Removed[]> {
  const nameOf = ({ resource, key }: Removed): string => `${findHierarchyRoot(resource).className}\0${key.map(String).join('\0')}`
  const known = new Set(removed.map(nameOf))
  const found: Removed[] = []
  let level = removed.filter(({ resource }) => takesNeeded(resource))
  while (level.length > 0) {
    const next: Removed[] = []
    for (const group of groupReferring(level, attribute => attribute.onDelete === 'cascade' && isForeignKey(attribute)))
      for (const key of yield* readReferring(group, connection)) {
        const cascaded = { resource: group.from, key: key as KeyValues }
        if (known.has(nameOf(cascaded))) continue
        known.add(nameOf(cascaded))
        next.push(cascaded)
      }
    found.push(...next)
    if (found.length > MAX_CASCADED) return []
    level = next
  }
  return found
}

function findStaying(rows: readonly Row[], resource: Resource, removed: readonly Removed[]): readonly Row[] {
  const going = new Set(
    removed.flatMap(record =>
      findHierarchyRoot(record.resource) === findHierarchyRoot(resource) ? [record.key.map(String).join('\0')] : [],
    ),
  )
  return rows.filter(row => !going.has(row.map(String).join('\0')))
}

/** @param path of the body's list or link that no longer has the record */
export function leftWithout(needed: ToOneAttribute, resource: Resource, id: RecordKey, path: string): RestError {
  const named = `${resource.singular} ${idToSegment(id, resource)}`
  return restError('owner_required', `"${path}": the ${named} would be left without its "${needed.name}", which it needs.`)
}

interface Caller {
  readonly connection: ReadingConnection
  isVisible(resource: Resource, key: KeyValues): Awaitable<boolean>
  mayMention(resource: Resource): Awaitable<boolean>
}

/** Refuses also where the database's cascade removes a needed record. */
export function* checkReferrers(given: readonly Removed[], caller: Caller): Coroutine<void> {
  const { connection } = caller
  const cascaded = yield* listCascaded(given, connection)
  const removed = [...given, ...cascaded]
  const direct = groupReferring(given, ({ onDelete }) => onDelete === 'refuse')
  // Without a foreign key, a polymorphic link stops no cascade.
  const within = groupReferring(cascaded, attribute => attribute.onDelete === 'refuse' && isForeignKey(attribute))
  let needed: 'direct' | 'within' | undefined
  const left: string[] = []
  for (const group of [...direct, ...within]) {
    const { from, attribute, path, to } = group
    const staying = findStaying(yield* readReferring(group, connection), from, removed)
    if (staying.length === 0) continue
    const isWithin = within.includes(group)
    if (needed !== 'within') needed = isWithin ? 'within' : 'direct'
    if (attribute.hidden || (isWithin && !(yield* wait(caller.mayMention(to)))) || !(yield* wait(caller.mayMention(from)))) continue
    let count = 0
    for (const row of staying) if (yield* wait(caller.isVisible(from, row as KeyValues))) count++
    if (count > 0) left.push(`${count} ${count === 1 ? from.singular : from.plural} by "${path}"${isWithin ? ` of ${to.plural}` : ''}`)
  }
  if (needed === undefined) return
  const why = needed === 'within' ? 'others need it, or what is deleted with it' : 'records that need it refer to it'
  // Of hidden records, the error says only that some exist.
  const what = left.length === 0 ? '' : `: ${left.join(', ')}`
  const { resource } = removed[0]!
  throw restError('owner_required', `The ${isNamable(resource) ? resource.singular : 'record'} cannot be deleted, since ${why}${what}.`)
}
