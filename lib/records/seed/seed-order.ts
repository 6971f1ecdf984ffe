/**
 * Seed order: puts linked records first, for a database that checks references with every statement. Counted keys follow the order of the
 * seed.
 */
import { findGivenKey, recordName } from '../validate/check-database.ts'
import { listNew, listReferences } from '../validate/linked-records.ts'
import type { RecordInput } from '../validate/record-input.ts'

/** Undefined where links form a circle, or another order would change counted keys. */
export function orderByLinks(changes: readonly RecordInput[]): readonly RecordInput[] | undefined {
  const byName = new Map<string, RecordInput>()
  for (const change of changes) {
    const key = findGivenKey(change)
    if (key !== undefined) byName.set(recordName(change.resource, key), change)
  }
  const ordered = new Set<RecordInput>()
  const open = new Map<RecordInput, RecordInput[]>()
  for (const first of changes) {
    for (const stack = [first]; stack.length > 0;) {
      const change = stack.at(-1)!
      let needed = open.get(change)
      if (needed === undefined && !ordered.has(change)) open.set(change, (needed = listLinked(change, byName)))
      const next = needed?.pop()
      if (next !== undefined) {
        if (open.has(next)) return undefined
        stack.push(next)
        continue
      }
      open.delete(change)
      ordered.add(change)
      stack.pop()
    }
  }
  const sorted = [...ordered]
  return keepsCounted(changes, sorted) ? sorted : undefined
}

function keepsCounted(changes: readonly RecordInput[], sorted: readonly RecordInput[]): boolean {
  if (changes.every((change, index) => change === sorted[index])) return true
  const [listed, inserted] = [changes, sorted].map(all => Map.groupBy(all.flatMap(listCounted), ({ resource }) => resource))
  return [...listed!].every(([resource, records]) => {
    const others = inserted!.get(resource)!
    return records.every((record, index) => record === others[index])
  })
}

function listCounted(change: RecordInput): RecordInput[] {
  return listNew(change).filter(each => each.resource.generatedKey && findGivenKey(each) === undefined)
}

/** Also links of nested records. */
function listLinked(change: RecordInput, byName: ReadonlyMap<string, RecordInput>): RecordInput[] {
  const linked: RecordInput[] = []
  const walk = (record: RecordInput): void => {
    for (const { relation, ref } of listReferences(record)) {
      if (ref.kind === 'new') walk(ref.record)
      const other = ref.kind === 'existing' ? byName.get(recordName(relation.target, ref.key)) : undefined
      if (other !== undefined && other !== change) linked.push(other)
    }
  }
  walk(change)
  return linked
}
