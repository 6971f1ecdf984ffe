/**
 * Marks links of a new record to itself, by the ID in the body, since no query finds the record yet. A list with the record itself, or the
 * other side of a 1:1, sets the record's foreign key.
 */
import { sameKey } from '../../model/key.ts'
import type { RelationAttribute, Resource } from '../../model/model.ts'
import { findGivenKey } from './check-database.ts'
import type { ImpliedLink } from './fixed-attributes.ts'
import { nameNew } from './references.ts'
import { owningAttribute } from './relation-sides.ts'
import { linksItself, listReferences } from './linked-records.ts'
import type { ExistingRef, LinkInput, RecordInput, RecordRef } from './record-input.ts'

export function mayLeadBack({ target }: RelationAttribute, resource: Resource): boolean {
  return target === resource || [...(target.hierarchy?.byValue.values() ?? [])].includes(resource)
}

export function markOwnLinks(change: RecordInput, implied?: ImpliedLink): RecordInput {
  const { resource, links, lists } = change
  if (!listReferences(change).some(({ relation, ref }) => ref.kind === 'existing' && mayLeadBack(relation, resource))) return change
  const key = findGivenKey(change, implied?.key === undefined ? undefined : { name: implied.name, owner: implied.key })
  const name = nameNew(change)
  const mark = <R extends RecordRef | null>(ref: R, relation: RelationAttribute): R => {
    if (ref?.kind !== 'existing' || !mayLeadBack(relation, resource)) return ref
    const isOwn = ref.name === undefined ? key !== undefined && sameKey(ref.key, key) : ref.name === name
    return isOwn ? { ...ref, isItself: true, key: key ?? ref.key, name: key === undefined ? name : undefined } : ref
  }
  const withMarks = {
    ...change,
    links: links.map(each => ({ ...each, link: mark(each.link, each.attribute) })),
    lists: lists.map(each => ({ ...each, items: each.items.map(item => mark(item, each.attribute)) })),
  }
  return { ...withMarks, links: [...withMarks.links, ...listImplied(withMarks)] }
}

/** Lists foreign keys set by the other side alone. A foreign key given as well may contradict. */
function listImplied(change: RecordInput): LinkInput[] {
  const implied = new Map<string, LinkInput>()
  for (const { relation, ref } of listReferences(change)) {
    const attribute = linksItself(ref) ? owningAttribute(relation) : undefined
    const isGiven = change.links.some(link => link.attribute.name === attribute?.name && link.within === undefined)
    if (attribute !== undefined && !isGiven) implied.set(attribute.name, { attribute, path: (ref as ExistingRef).path, link: ref })
  }
  return [...implied.values()]
}
