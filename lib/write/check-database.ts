/**
 * Check: the errors of a change that only the database can tell: references to records that do not exist, values that must be unique and are taken.
 * Runs inside the transaction of the change, before anything is written.
 */
import { withArticle } from '../base/article.ts'
import { chain } from '../base/awaitable.ts'
import type { Awaitable } from '../base/awaitable.ts'
import type { Connection, Dialect, Reading } from '../database/dialect.ts'
import type { FieldErrors } from '../base/body-errors.ts'
import { keyToSegment, partsOf, sameKey } from '../model/key.ts'
import type { KeyValues } from '../model/key.ts'
import { pathOf, rootOf } from '../model/model.ts'
import type { Attribute, RelationAttribute, Resource } from '../model/model.ts'
import { readExists } from '../read/run-read.ts'
import { owningAttribute, owningName } from './relation-sides.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Visibility } from '../plan/visibility.ts'
import type { LinkInput, RecordInput, RecordRef, ValueInput } from './write-plan.ts'

const WHOLE = { filters: [], limit: 1, offset: 0 } as const

/** The place of a record that is to be made, which sets one of its links: the key of its owner, or the owner's own change. */
export interface Implied {
  readonly name: string
  readonly owner: KeyValues | RecordInput
}

/** What a check of changes knows beside them. */
export interface Checking {
  /** The key of the record that is changed; without it, records are made. */
  readonly self?: KeyValues | undefined
  readonly implied?: Implied | undefined
  /** Records that will exist when the references are followed, as `recordName` calls them. */
  readonly known?: ReadonlySet<string>
}

/** One name for each record there can be. */
export function recordName(resource: Resource, key: KeyValues): string {
  return `${rootOf(resource).className} ${keyToSegment(key, resource)}`
}

/** The key that a new record gives itself or has by its place, as far as it is known. */
export function givenKey(change: RecordInput, implied?: Implied): KeyValues | undefined {
  const key: KeyValues[number][] = []
  for (const name of change.resource.keyNames) {
    const found = changeAt(change, [name])
    const owner = implied?.name === name ? implied.owner : undefined
    let part: KeyValues | undefined
    if (owner !== undefined) part = 'resource' in owner ? givenKey(owner) : owner
    else if (found === undefined) part = undefined
    else if ('link' in found)
      part = found.link?.kind === 'existing' ? found.link.key : found.link?.kind === 'new' ? givenKey(found.link.record) : undefined
    else part = [found.value as KeyValues[number]]
    if (part === undefined) return undefined
    key.push(...part)
  }
  return key
}

interface Check extends Checking {
  readonly dialect: Dialect
  readonly visibility: Visibility
  readonly errors: FieldErrors
  /** The unique values of the records before: two records of one body must not share them either. */
  readonly seen: Set<string>
  /** Whether the records that were asked for exist: a body may link one often. */
  readonly found: Map<string, boolean>
}

/** Adds to the errors what the database tells about the changes of a body. */
export function checkChanges(
  changes: readonly RecordInput[],
  checking: Checking,
  connection: Connection,
  visibility: Visibility,
  errors: FieldErrors,
): Awaitable<void> {
  const { dialect } = connection
  return chain(visibility === EVERYTHING ? undefined : askAboutAll(changes, checking.self !== undefined, visibility), () => {
    if (checking.implied === undefined && changes.every(asksNothing)) return
    const check: Check = { ...checking, dialect, visibility, errors, seen: new Set(), found: new Map() }
    return connection.read(() => checkRecords(changes, check))
  })
}

async function askAboutAll(changes: readonly RecordInput[], isStored: boolean, visibility: Visibility): Promise<void> {
  for (const change of changes) await askAbout(change, isStored, visibility)
}

/** Whether there is nothing to ask about a change of a record: no link, and no value that must be unique. */
function asksNothing({ links, lists, values, resource }: RecordInput): boolean {
  return (
    links.length === 0 &&
    lists.length === 0 &&
    [...resource.uniques, resource.keyNames].every(paths => !paths.some(path => gives(values, path)))
  )
}

function gives(values: readonly ValueInput[], path: string): boolean {
  const [name] = path.split('.', 1)
  return values.some(({ attribute }) => attribute.name === name)
}

function* checkRecords(changes: readonly RecordInput[], check: Check): Reading<void> {
  for (const change of changes) yield* checkRecord(change, check)
}

/** Asks the rules of all resources that a change touches, since the check itself cannot wait, and what it lets through may alter what they look at. */
async function askAbout(change: RecordInput, isStored: boolean, visibility: Visibility): Promise<void> {
  await visibility.ask({ resource: change.resource, about: 'scope' })
  for (const { ref } of references(change)) if (ref.kind === 'new') await askAbout(ref.record, false, visibility)
  const relations = [
    ...change.links.map(({ attribute, link }) => ({ attribute, refs: link === null ? [] : [link] })),
    ...change.lists.map(({ attribute, items }) => ({ attribute, refs: items })),
  ]
  for (const { attribute, refs } of relations) {
    const { target: resource } = attribute
    const isLinked = refs.some(ref => ref.kind === 'existing')
    if (isLinked && !(await visibility.permits(resource, 'get'))) continue
    // The records that a list or an inverse link has now are looked at as well.
    const holds = attribute.kind === 'toOne' && attribute.owner
    if (isLinked || !holds) await visibility.ask({ resource, about: 'scope' })
    // What is linked otherwise by its own foreign key is changed, and an orphan is deleted.
    const other = owningAttribute(attribute)
    if (other !== undefined && (isLinked || (isStored && !attribute.orphanRemoval))) await visibility.permits(resource, 'update')
    if (isStored && attribute.orphanRemoval) await visibility.permits(resource, 'delete')
    if (isStored && holds && attribute.orphanRemoval) await visibility.ask({ resource, about: 'scope' })
    if (other?.orphanRemoval === true) await visibility.permits(other.target, 'delete')
  }
}

function* checkRecord(change: RecordInput, check: Check): Reading<void> {
  const { errors } = check
  const missing = yield* missingIn(change, check)
  yield* checkUniques(change, check, missing)
  const own = check.self ?? givenKey(change, check.implied)
  for (const { ref, relation } of references(change)) {
    if (ref.kind === 'new') {
      const name = owningName(relation)
      // The members that an owner has now may be about to go, so the owner counts as new here: what does not fit then, the database tells.
      yield* checkRecord(ref.record, { ...check, self: undefined, implied: name === undefined ? undefined : { name, owner: change } })
      continue
    }
    const { target } = relation
    const holder = owningName(relation)
    if (
      holder !== undefined &&
      target.keyNames.includes(holder) &&
      (own === undefined || !sameKey(own, partsOf(target, holder, ref.key)))
    ) {
      errors.push({
        code: 'key_fixed',
        detail: `"${ref.path}": the "${holder}" of ${withArticle(target.singular)} is part of its key and cannot be changed.`,
        attribute: ref.path,
        value: ref.given,
      })
      continue
    }
    if (missing.has(ref)) {
      errors.push({
        code: 'reference_not_found',
        detail: `"${ref.path}": there is no ${target.singular} with the ID ${keyToSegment(ref.key, target)}.`,
        attribute: ref.path,
        value: ref.given,
      })
    }
  }
}

/** The links to records that do not exist for the caller. One that he may not read does not. */
function* missingIn(change: RecordInput, { known, visibility, dialect, found }: Check): Reading<ReadonlySet<RecordRef>> {
  const missing = new Set<RecordRef>()
  for (const { ref, relation } of references(change)) {
    const { target } = relation
    if (ref.kind === 'new' || known?.has(recordName(target, ref.key)) === true) continue
    // The name of the entity itself, not of its root: a record of another class is not one of these.
    const name = `${target.className} ${keyToSegment(ref.key, target)}`
    let exists = found.get(name)
    if (exists === undefined) {
      const given = { ...WHOLE, key: ref.key, valuesOf: visibility.valuesOf }
      exists = visibility.allows(target, 'get') && (yield* readExists(dialect.exists(target, visibility.scopeOf), given, dialect))
      found.set(name, exists)
    }
    if (!exists) missing.add(ref)
  }
  return missing
}

function references(change: RecordInput): { ref: RecordRef; relation: RelationAttribute }[] {
  return [
    ...change.links.flatMap(({ attribute, link }) => (link === null ? [] : [{ ref: link, relation: attribute }])),
    ...change.lists.flatMap(({ attribute, items }) => items.map(ref => ({ ref, relation: attribute }))),
  ]
}

/** An attribute of a unique set, with its new value where the change gives one. */
interface UniquePart {
  readonly attribute: Attribute
  readonly given: boolean
  readonly values: readonly unknown[]
  /** The owner that the place of the record gives: two records of one owner must differ. */
  readonly made?: RecordInput
}

/** @param missing whether others link what does not exist for the caller is not told */
function* checkUniques(
  change: RecordInput,
  { self, implied, dialect, errors, seen }: Check,
  missing: ReadonlySet<RecordRef>,
): Reading<void> {
  const { resource } = change
  const sets = self === undefined ? [...resource.uniques, resource.keyNames] : resource.uniques
  for (const paths of sets) {
    const parts = uniqueParts(paths, change, implied, missing)
    // A set that the change does not touch stays as it is; what a new record leaves out is NULL or a default, which the database judges.
    if (parts === undefined || !parts.some(part => part.given) || (self === undefined && !parts.every(part => part.given))) continue
    const text = `${resource.className} ${paths.join()} ${parts.map(textOfPart).join()}`
    let taken = parts.every(part => part.given) && seen.has(text)
    seen.add(text)
    if (!taken && parts.every(part => part.made === undefined)) {
      const statement = dialect.taken(resource, parts, self !== undefined)
      const given = parts.flatMap(part => part.values)
      taken = statement !== undefined && (yield* readExists(statement, { ...WHOLE, key: self ?? [], given }, dialect))
    }
    if (!taken) continue
    // A hidden attribute is named only when the body gives it.
    const named = paths.filter((_, index) => parts[index]!.given || !parts[index]!.attribute.hidden)
    for (const path of named) {
      const at = change.path === '' ? path : `${change.path}.${path}`
      const value = valueGiven(change, path)
      errors.push({
        code: 'not_unique',
        detail: `Another ${resource.singular} has this ${named.map(name => `"${name}"`).join(' and ')} already.`,
        attribute: at,
        ...(value === undefined ? {} : { value }),
      })
    }
  }
}

function textOfPart({ values, made }: UniquePart): string {
  if (made !== undefined) return `new ${made.path}`
  return values.map(value => JSON.stringify(typeof value === 'bigint' ? value.toString() : value)).join()
}

/** The parts of a unique set, or undefined when one of them becomes NULL, which conflicts with nothing, or a record that no other can link. */
function uniqueParts(
  paths: readonly string[],
  change: RecordInput,
  implied: Implied | undefined,
  missing: ReadonlySet<RecordRef>,
): UniquePart[] | undefined {
  const parts: UniquePart[] = []
  for (const path of paths) {
    const names = path.split('.')
    const attribute = attributeAt(change.resource, names)
    if (attribute === undefined) return undefined
    const found = changeAt(change, names)
    if (implied?.name === path) {
      const { owner } = implied
      // Its place does not tell which of several resources it is a record of; the database judges.
      if (attribute.kind === 'toOneOf') return undefined
      parts.push('resource' in owner ? { attribute, given: true, values: [], made: owner } : { attribute, given: true, values: owner })
    } else if (found === undefined) {
      parts.push({ attribute, given: false, values: [] })
    } else if ('link' in found) {
      if (found.link === null || found.link.kind === 'new' || missing.has(found.link)) return undefined
      parts.push({ attribute: found.attribute, given: true, values: found.link.key })
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

function changeAt(change: RecordInput, names: readonly string[]): ValueInput | LinkInput | undefined {
  const link = change.links.find(({ attribute, within = [] }) => pathOf({ attribute, within }) === names.join('.'))
  if (link !== undefined) return link
  let values: readonly ValueInput[] = change.values
  for (const [index, name] of names.entries()) {
    const found = values.find(({ attribute }) => attribute.name === name)
    if (found === undefined || index === names.length - 1 || found.value === null) return found
    values = Array.isArray(found.value) ? (found.value as readonly ValueInput[]) : []
  }
  return undefined
}

/** The value as the body gave it, for the error. */
function valueGiven(change: RecordInput, path: string): unknown {
  const found = changeAt(change, path.split('.'))
  if (found === undefined) return undefined
  if ('link' in found) return found.link?.kind === 'existing' ? found.link.given : undefined
  const { value } = found
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return undefined
  return found.attribute.kind === 'scalar' && found.attribute.type.kind === 'datetime' ? new Date(value as number).toISOString() : value
}
