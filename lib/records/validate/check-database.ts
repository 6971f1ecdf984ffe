/** Finds links to missing records, and taken values, by queries in the transaction, before the first write. */
import { withArticle } from '../../foundation/base/article.ts'
import { chain, runCoroutine, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Dialect, Reading } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import { idFromJson, idToSegment, keyToSegment, takeKeyParts, sameKey, type KeyValues, type RecordKey } from '../../model/key.ts'
import { findHierarchyRoot, type Attribute, type RelationAttribute, type Resource, type ToOneAttribute } from '../../model/model.ts'
import { readExists, readRows } from '../read/run-read.ts'
import { findAttribute, findChange, findGivenValue } from './find-change.ts'
import { lookForOne, lookForSome, lookForTaken } from './look-ups.ts'
import { owningAttribute, owningName } from './relation-sides.ts'
import { EVERYTHING, type Visibility } from '../plan/visibility.ts'
import { listReferences, type Reference } from './linked-records.ts'
import type { RecordInput, RecordRef } from './record-input.ts'

const WHOLE = { filters: [], limit: 1, offset: 0 } as const

/** The link that the owner of a new record sets; the owner may be new, too. */
export interface Implied {
  readonly name: string
  readonly owner: KeyValues | RecordInput
}

interface Checking {
  /** Undefined: the records are new. */
  readonly self?: KeyValues | undefined
  readonly implied?: Implied | undefined
  /** Names (`recordName`) of records written before links are followed. */
  readonly known?: ReadonlySet<string>
  /** What the database refuses, as in `Validation`. */
  readonly uniquesLater?: boolean
  readonly linksLater?: boolean
}

/** All classes of a hierarchy give the same name. */
export function recordName(resource: Resource, key: KeyValues): string {
  return `${findHierarchyRoot(resource).className} ${keyToSegment(key, resource.key)}`
}

export function formatMissing(id: RecordKey, target: Resource): string {
  return `: there is no ${target.singular} with the ID ${idToSegment(id, target)}.`
}

/** Undefined where a part is unknown. */
export function findGivenKey(change: RecordInput, implied?: Implied): KeyValues | undefined {
  const key: KeyValues[number][] = []
  for (const name of change.resource.keyNames) {
    const found = findChange(change, [name])
    const owner = implied?.name === name ? implied.owner : undefined
    let part: KeyValues | undefined
    if (owner !== undefined) part = 'resource' in owner ? findGivenKey(owner) : owner
    else if (found === undefined) part = undefined
    else if ('link' in found)
      part = found.link?.kind === 'existing' ? found.link.key : found.link?.kind === 'new' ? findGivenKey(found.link.record) : undefined
    else part = [found.value as KeyValues[number]]
    if (part === undefined) return undefined
    key.push(...part)
  }
  return key
}

interface LeavingMembers {
  readonly link: ToOneAttribute
  readonly key: KeyValues
}

interface DatabaseCheck extends Checking {
  readonly dialect: Dialect
  readonly visibility: Visibility
  readonly errors: FieldErrors
  /** Two records of a body must not share a unique value. */
  readonly seen: Set<string>
  /** Whether a record exists: a body may link the same record often. */
  readonly found: Map<string, boolean>
  /** A new record may take over unique values of leaving members. */
  readonly leaving?: LeavingMembers | undefined
}

export function checkChanges(
  changes: readonly RecordInput[],
  checking: Checking,
  connection: ReadingConnection,
  visibility: Visibility,
  errors: FieldErrors,
): Awaitable<void> {
  const { dialect } = connection
  return chain(
    visibility === EVERYTHING ? undefined : runCoroutine(evaluateRules(changes, checking.self !== undefined, visibility)),
    () => {
      if (checking.implied === undefined && changes.every(change => needsNoStatement(change, checking))) return
      const check: DatabaseCheck = { ...checking, dialect, visibility, errors, seen: new Set(), found: new Map() }
      return connection.read(() => checkRecords(changes, check))
    },
  )
}

function needsNoStatement(change: RecordInput, checking: Checking): boolean {
  const { links, lists, values, resource } = change
  if (checking.uniquesLater === true)
    return (
      (links.length === 0 && (lists.length === 0 || checking.linksLater === true)) ||
      listReferences(change).every(({ ref }) => ref.kind === 'new' && needsNoStatement(ref.record, checking))
    )
  if (links.length > 0 || lists.length > 0) return false
  const unique = findUniqueNames(resource)
  return !values.some(({ attribute }) => unique.has(attribute.name))
}

const uniqueNames = new WeakMap<Resource, ReadonlySet<string>>()

/** A unique `address.code` gives `address`. */
export function findUniqueNames(resource: Resource): ReadonlySet<string> {
  let names = uniqueNames.get(resource)
  if (names === undefined) {
    names = new Set([...resource.uniques, resource.keyNames].flat().map(path => path.split('.', 1)[0]!))
    uniqueNames.set(resource, names)
  }
  return names
}

function* checkRecords(changes: readonly RecordInput[], check: DatabaseCheck): Reading<void> {
  for (const change of changes) yield* checkRecord(change, check)
}

/** The check cannot wait for rules, and the change may alter the data of a rule. */
function* evaluateRules(changes: readonly RecordInput[], isStored: boolean, visibility: Visibility): Coroutine<void> {
  for (const change of changes) yield* evaluateRecord(change, isStored, visibility)
}

function* evaluateRecord(change: RecordInput, isStored: boolean, visibility: Visibility): Coroutine<void> {
  yield* wait(visibility.ask({ resource: change.resource, about: 'scope' }))
  if (visibility.writing !== undefined) yield* wait(visibility.writing.ask({ resource: change.resource, about: 'scope' }))
  for (const { ref } of listReferences(change)) if (ref.kind === 'new') yield* evaluateRecord(ref.record, false, visibility)
  const links = change.links.map(({ attribute, link }) => ({ attribute, refs: link === null ? [] : [link] }))
  for (const { attribute, refs } of [...links, ...change.lists.map(({ attribute, items }) => ({ attribute, refs: items }))]) {
    const { target: resource } = attribute
    const isLinked = refs.some(ref => ref.kind === 'existing')
    if (isLinked && !(yield* wait(visibility.permits(resource, 'get')))) continue
    // The current records of the list, or of the inverse link, are read, too.
    const holds = attribute.kind === 'toOne' && attribute.owner
    if (isLinked || !holds) yield* wait(visibility.ask({ resource, about: 'scope' }))
    // A moved foreign key is an update, and an orphan is deleted.
    const other = owningAttribute(attribute)
    if (other !== undefined && (isLinked || (isStored && !attribute.orphanRemoval))) yield* wait(visibility.permits(resource, 'update'))
    if (isStored && attribute.orphanRemoval) yield* wait(visibility.permits(resource, 'delete'))
    if (isStored && holds && attribute.orphanRemoval) yield* wait(visibility.ask({ resource, about: 'scope' }))
    if (other?.orphanRemoval === true) yield* wait(visibility.permits(other.target, 'delete'))
  }
}

function* checkRecord(change: RecordInput, check: DatabaseCheck): Reading<void> {
  const { errors } = check
  const references = listReferences(change)
  const missing = yield* findMissing(references, check)
  if (check.uniquesLater !== true) yield* checkUniques(change, check, missing)
  const ownKey = check.self ?? findGivenKey(change, check.implied)
  for (const { ref, relation } of references) {
    if (ref.kind === 'new') {
      const name = owningName(relation)
      // As for a new owner, since present members may leave.
      const implied = name === undefined ? undefined : { name, owner: change }
      yield* checkRecord(ref.record, { ...check, self: undefined, implied, leaving: findLeaving(relation, check.self) })
      continue
    }
    const { target } = relation
    const holder = owningName(relation)
    if (
      holder !== undefined &&
      target.keyNames.includes(holder) &&
      (ownKey === undefined || !sameKey(ownKey, takeKeyParts(target, holder, ref.key)))
    ) {
      errors.push({
        code: 'key_fixed',
        detail: `"${ref.path}": the "${holder}" of ${withArticle(target.singular)} is part of its key and cannot be changed.`,
        attribute: ref.path,
        value: ref.given,
      })
      continue
    }
    // The list and the foreign key that the list sets share one reference.
    if (missing.delete(ref)) {
      errors.push({
        code: 'reference_not_found',
        // The ID in the body may differ from the key.
        detail: `"${ref.path}"${formatMissing(idFromJson(ref.given, target) ?? ref.key, target)}`,
        attribute: ref.path,
        value: ref.given,
      })
    }
  }
}

/** `PATCH /v1/articles/3 { "comments": [{ "number": 1 }] }` removes other comments. */
function findLeaving(relation: RelationAttribute, owner: KeyValues | undefined): LeavingMembers | undefined {
  const link = owner !== undefined && relation.orphanRemoval ? owningAttribute(relation) : undefined
  return link === undefined || link.targetKey !== undefined ? undefined : { link, key: owner! }
}

interface SoughtLink {
  readonly ref: RecordRef & { readonly kind: 'existing' }
  readonly target: Resource
  readonly name: string
}

/** Hidden records count as missing. */
function* findMissing(references: readonly Reference[], check: DatabaseCheck): Reading<Set<RecordRef>> {
  const { visibility, dialect, found } = check
  const missing = new Set<RecordRef>()
  const sought: SoughtLink[] = []
  for (const { ref, relation } of references) {
    const { target } = relation
    // A new record exists by the time its link to itself is followed.
    const isThere = ref.kind === 'new' || isKnown(ref, target, check) || (ref.isItself === true && visibility.allows(target, 'get'))
    if (!isThere) sought.push({ ref, target, name: nameByClass(target, ref.key) })
  }
  if (sought.length > 1) yield* findListed(sought, check)
  for (const { ref, target, name } of sought) {
    let exists = found.get(name)
    if (exists === undefined) {
      const given = { ...WHOLE, key: ref.key, findValues: visibility.findValues, ctx: visibility.ctx }
      exists = visibility.allows(target, 'get') && (yield* readExists(lookForOne(target, visibility, dialect), given, dialect))
      found.set(name, exists)
    }
    if (!exists) missing.add(ref)
  }
  return missing
}

/** The record comes with the body, or was just found without rules to hide records. */
function isKnown(ref: RecordRef & { readonly kind: 'existing' }, target: Resource, { known, visibility }: DatabaseCheck): boolean {
  return (ref.isThere === true && visibility === EVERYTHING) || known?.has(nameReference(ref, target)) === true
}

export function nameReference({ name, key }: RecordRef & { readonly kind: 'existing' }, target: Resource): string {
  return name ?? recordName(target, key)
}

/** A record of another class of the same table has another name. */
function nameByClass(target: Resource, key: KeyValues): string {
  return `${target.className} ${keyToSegment(key, target.key)}`
}

function* findListed(sought: readonly SoughtLink[], { visibility, dialect, found }: DatabaseCheck): Reading<void> {
  const listed = new Map<Resource, Map<string, string>>()
  for (const { ref, target, name } of sought) {
    const [key] = ref.key
    if (found.has(name) || typeof key === 'object') continue
    const keys = listed.get(target) ?? new Map<string, string>()
    listed.set(target, keys.set(String(key), name))
  }
  for (const [target, keys] of listed) {
    if (keys.size < 2 || !visibility.allows(target, 'get')) continue
    const statement = lookForSome(target, visibility, dialect)
    if (statement === undefined) continue
    const { parameter } = dialect.encodeLinks(
      [...keys.keys()].map(key => [key]),
      { from: [0], parts: target.key },
    )
    const given = { ...WHOLE, key: [], findValues: visibility.findValues, ctx: visibility.ctx, links: parameter }
    const rows = yield* readRows(statement, given, dialect)
    for (const name of keys.values()) found.set(name, false)
    for (const [key] of rows) found.set(keys.get(String(key))!, true)
  }
}

interface UniquePart {
  readonly attribute: Attribute
  readonly given: boolean
  readonly values: readonly unknown[]
  /** A new linked record: two records of one owner must differ. */
  readonly newRecord?: string
}

/** @param missing links without a record for the caller, skipped: uniqueness must reveal nothing about hidden records */
function* checkUniques(
  change: RecordInput,
  { self, implied, dialect, errors, seen, leaving }: DatabaseCheck,
  missing: ReadonlySet<RecordRef>,
): Reading<void> {
  const { resource } = change
  const sets = self === undefined ? [...resource.uniques, resource.keyNames] : resource.uniques
  for (const paths of sets) {
    const parts = findUniqueParts(paths, change, implied, missing)
    // Skips unchanged sets. A new record leaves out NULL or a default: the database checks the set.
    if (parts === undefined || !parts.some(part => part.given) || (self === undefined && !parts.every(part => part.given))) continue
    const text = `${resource.className} ${paths.join()} ${parts.map(formatPart).join()}`
    let taken = parts.every(part => part.given) && seen.has(text)
    seen.add(text)
    if (!taken && parts.every(part => part.newRecord === undefined)) {
      taken = yield* isTaken(resource, parts, self, dialect)
      if (taken && leaving !== undefined)
        taken = !(yield* isTaken(resource, [...parts, { attribute: leaving.link, given: true, values: leaving.key }], self, dialect))
    }
    if (!taken) continue
    // A hidden attribute is named only where the body gives a value.
    const named = paths.filter((_, index) => parts[index]!.given || !parts[index]!.attribute.hidden)
    for (const path of named) {
      const at = change.path === '' ? path : `${change.path}.${path}`
      const value = findGivenValue(change, path)
      errors.push({
        code: 'not_unique',
        detail: `Another ${resource.singular} has this ${named.map(name => `"${name}"`).join(' and ')} already.`,
        attribute: at,
        ...(value === undefined ? {} : { value }),
      })
    }
  }
}

function* isTaken(resource: Resource, parts: readonly UniquePart[], self: KeyValues | undefined, dialect: Dialect): Reading<boolean> {
  const statement = lookForTaken(resource, parts, self !== undefined, dialect)
  const given = parts.flatMap(part => part.values)
  return statement !== undefined && (yield* readExists(statement, { ...WHOLE, key: self ?? [], given }, dialect))
}

function formatPart({ values, newRecord }: UniquePart): string {
  if (newRecord !== undefined) return `new ${newRecord}`
  return values.map(value => JSON.stringify(typeof value === 'bigint' ? value.toString() : value)).join()
}

/** Undefined where nothing can conflict (a part becomes NULL, or links a new record), or the check must not look. */
function findUniqueParts(
  paths: readonly string[],
  change: RecordInput,
  implied: Implied | undefined,
  missing: ReadonlySet<RecordRef>,
): UniquePart[] | undefined {
  const parts: UniquePart[] = []
  for (const path of paths) {
    const names = path.split('.')
    const attribute = findAttribute(change.resource, names)
    if (attribute === undefined) return undefined
    const found = findChange(change, names)
    if (implied?.name === path) {
      const { owner } = implied
      // The place does not determine which of several resources is linked: the database checks the set.
      if (attribute.kind === 'toOneOf') return undefined
      parts.push(
        'resource' in owner ? { attribute, given: true, values: [], newRecord: owner.path } : { attribute, given: true, values: owner },
      )
    } else if (found === undefined) {
      parts.push({ attribute, given: false, values: [] })
    } else if ('link' in found) {
      if (found.link === null || found.link.kind === 'new' || missing.has(found.link)) return undefined
      const { key, name } = found.link
      parts.push({ attribute: found.attribute, given: true, values: key, ...(name === undefined ? {} : { newRecord: name }) })
    } else {
      if (found.value === null) return undefined
      parts.push({ attribute, given: true, values: [found.value] })
    }
  }
  return parts
}
