/**
 * Seed stages: divides a seed whose records link each other by the key that clients know. Primary keys are counted later, so each stage
 * links only earlier stages.
 */
import { idFromJson, shownText, type ShownKey } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { RowKeys } from '../read/row-keys.ts'
import { listNew, listReferences } from '../validate/linked-records.ts'
import type { ExistingRef, RecordInput, RecordRef } from '../validate/record-input.ts'

interface NamedLink {
  readonly target: Resource
  readonly ref: ExistingRef & { readonly name: string }
}

/** Also links of nested records; the primary key is not known yet. */
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

/** Ready records link inserted records only. Counted keys follow the seed: `articles: [{ tags: ['x'] }, {}]` gives the IDs 1 and 2. */
export function divideByNames(changes: readonly RecordInput[], insertedNames: ReadonlySet<string>): Divided {
  const divided = divide(changes, insertedNames, true)
  const isStuck = divided.ready.length === 0 && changes.some(needsRecordOfSameTable)
  return isStuck ? divide(changes, insertedNames, false) : divided
}

/** A needed record of the same table may be listed later. */
function needsRecordOfSameTable(change: RecordInput): boolean {
  return change.links.some(
    ({ attribute, link }) => !attribute.nullable && attribute.target === change.resource && link?.kind === 'existing',
  )
}

function divide(changes: readonly RecordInput[], insertedNames: ReadonlySet<string>, keepsOrder: boolean): Divided {
  const ready: RecordInput[] = []
  const waiting: RecordInput[] = []
  const waitingResources = new Set<Resource>()
  for (const change of changes) {
    const counted = listNew(change).map(({ resource }) => resource)
    const isReady =
      !counted.some(resource => waitingResources.has(resource)) && [...listNamed(change)].every(({ ref }) => insertedNames.has(ref.name))
    ;(isReady ? ready : waiting).push(change)
    if (!isReady && keepsOrder) for (const resource of counted) if (resource.generatedKey) waitingResources.add(resource)
  }
  return { ready, waiting }
}

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
