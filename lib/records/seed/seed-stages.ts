/**
 * Seed stages: the records of a seed that link others of it by the key that clients know them by. Where the primary keys of those are
 * counted by the database, they are known once the records are there: so the records come in stages, each of which links those before.
 */
import { idFromJson, shownText, type ShownKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { RowKeys } from '../read/row-keys.ts'
import { listNew, listReferences } from '../validate/linked-records.ts'
import type { ExistingRef, RecordInput, RecordRef } from '../validate/record-input.ts'

/** A link to a record of the seed. */
interface NamedLink {
  readonly target: Resource
  readonly ref: ExistingRef & { readonly name: string }
}

/** Lists the links of a record, and of those nested in it, to records of the seed whose keys are not known. */
export function* listNamed(change: RecordInput): Generator<NamedLink> {
  for (const { relation, ref } of listReferences(change)) {
    if (ref.kind === 'new') yield* listNamed(ref.record)
    else if (ref.name !== undefined) yield { target: relation.target, ref: { ...ref, name: ref.name } }
  }
}

interface Divided {
  readonly ready: readonly RecordInput[]
  readonly waiting: readonly RecordInput[]
}

/**
 * Divides records into those that link none but records which are there, and the others. Where the database counts the keys of a table, a
 * record also waits for those that the seed lists before it: `articles: [{ tags: ['x'] }, {}]` gives the IDs 1 and 2.
 */
export function divideByNames(changes: readonly RecordInput[], there: ReadonlySet<string>): Divided {
  const divided = divide(changes, there, true)
  const isStuck = divided.ready.length === 0 && changes.some(needsOneBeside)
  return isStuck ? divide(changes, there, false) : divided
}

/** Whether a record cannot be without one of its own table, which may be listed later. */
function needsOneBeside(change: RecordInput): boolean {
  return change.links.some(
    ({ attribute, link }) => !attribute.nullable && attribute.target === change.resource && link?.kind === 'existing',
  )
}

function divide(changes: readonly RecordInput[], there: ReadonlySet<string>, keepsOrder: boolean): Divided {
  const ready: RecordInput[] = []
  const waiting: RecordInput[] = []
  const held = new Set<Resource>()
  for (const change of changes) {
    const counted = listNew(change).map(({ resource }) => resource)
    const isReady = !counted.some(resource => held.has(resource)) && [...listNamed(change)].every(({ ref }) => there.has(ref.name))
    ;(isReady ? ready : waiting).push(change)
    if (!isReady && keepsOrder) for (const resource of counted) if (resource.generatedKey) held.add(resource)
  }
  return { ready, waiting }
}

/** Collects the keys by which records link others of the seed. */
export function collectShown(changes: readonly RecordInput[]): Map<Resource, Map<string, ShownKey>> {
  const wanted = new Map<Resource, Map<string, ShownKey>>()
  for (const change of changes) {
    for (const { target, ref } of listNamed(change)) {
      const key = idFromJson(ref.given, target) as ShownKey
      const keys = wanted.get(target) ?? new Map<string, ShownKey>()
      wanted.set(target, keys.set(shownText(key, target), key))
    }
  }
  return wanted
}

/** Returns a record with the primary keys of what it links. */
export function withRowKeys(change: RecordInput, found: RowKeys): RecordInput {
  const replace = <R extends RecordRef | null>(ref: R, target: Resource): R => {
    if (ref?.kind === 'new') return { ...ref, record: withRowKeys(ref.record, found) }
    if (ref?.name === undefined) return ref
    const { kind, path, given } = ref
    const key = found.get(target)!.get(shownText(idFromJson(given, target) as ShownKey, target))!
    return { kind, key, path, given } as R
  }
  return {
    ...change,
    links: change.links.map(each => ({ ...each, link: replace(each.link, each.attribute.target) })),
    lists: change.lists.map(each => ({ ...each, items: each.items.map(item => replace(item, each.attribute.target)) })),
  }
}
