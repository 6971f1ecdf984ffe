/**
 * Seed stages: divides the records of a seed with links by the key known to clients. The database counts the primary keys, so each stage
 * links records of earlier stages alone.
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

/** Lists links, also of nested records, to records of the seed without a known primary key. */
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
 * Divides records into ready records, with links to inserted records alone, and waiting records. Where the database counts keys, a record
 * also waits for earlier records of the table: `articles: [{ tags: ['x'] }, {}]` gives the IDs 1 and 2.
 */
export function divideByNames(changes: readonly RecordInput[], insertedNames: ReadonlySet<string>): Divided {
  const divided = divide(changes, insertedNames, true)
  const isStuck = divided.ready.length === 0 && changes.some(needsRecordOfSameTable)
  return isStuck ? divide(changes, insertedNames, false) : divided
}

/** Whether a record needs another record of the same table, perhaps listed later. */
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

/** Collects the keys in links to records of the seed. */
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

/** Puts primary keys into the links of a record. */
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
