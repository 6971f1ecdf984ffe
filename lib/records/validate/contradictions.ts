/** Finds places of a body that set one link differently: book 5 in the `books` of two authors. A list excludes all other records. */
import { recordName } from './check-database.ts'
import type { FieldError } from '../../foundation/errors/errors.ts'
import type { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { KeyValues } from '../../model/key.ts'
import { findHierarchyRoot, type RelationAttribute, type Resource, type ToManyAttribute } from '../../model/model.ts'
import { owningAttribute } from './relation-sides.ts'
import { listReferences } from './linked-records.ts'
import type { RecordInput, RecordRef } from './record-input.ts'

type Identity = RecordInput | string

/** A place of the body sets a foreign key to a record, or to null. */
interface LinkAssignment {
  readonly path: string
  readonly value: unknown
  readonly links: Identity | null
}

interface LinkedSet {
  readonly path: string
  readonly members: ReadonlyMap<Identity, LinkAssignment>
}

class ByRecord<V> {
  readonly #values = new Map<Identity, Map<string, V>>()

  get(record: Identity, name: string): V | undefined {
    return this.#values.get(record)?.get(name)
  }

  set(record: Identity, name: string, value: V): void {
    const values = this.#values.get(record) ?? new Map<string, V>()
    this.#values.set(record, values.set(name, value))
  }

  *[Symbol.iterator](): Generator<readonly [record: Identity, name: string, value: V]> {
    for (const [record, values] of this.#values) for (const [name, value] of values) yield [record, name, value]
  }
}

interface ContradictedLinks {
  readonly errors: FieldErrors
  /** By the holder of the foreign key, and its attribute. */
  readonly foreign: ByRecord<LinkAssignment>
  /** By the linked record, and the attribute of the holders. */
  readonly inverse: ByRecord<LinkedSet>
  /** By the record with the list, and the side of the pivot table. */
  readonly pivots: ByRecord<LinkedSet>
}

/** @param self the key of the changed record */
export function addContradictions(change: RecordInput, self: KeyValues | undefined, errors: FieldErrors): void {
  if (countPlaces(change) < 2) return
  const links: ContradictedLinks = { errors, foreign: new ByRecord(), inverse: new ByRecord(), pivots: new ByRecord() }
  collectLinks(change, self === undefined ? change : recordName(change.resource, self), links)
  const { foreign, inverse, pivots } = links
  for (const [record, name, assignment] of foreign) {
    const linked = assignment.links === null ? undefined : inverse.get(assignment.links, name)
    if (linked !== undefined && !linked.members.has(record)) errors.push(contradiction(assignment, linked.path))
  }
  for (const [record, side, { members }] of pivots) {
    for (const [member, assignment] of members) {
      const linked = pivots.get(member, otherSide(side))
      if (linked !== undefined && !linked.members.has(record)) errors.push(contradiction(assignment, linked.path))
    }
  }
}

function countPlaces(change: RecordInput): number {
  let count = change.links.length + change.lists.length
  if (count > 0) for (const { ref } of listReferences(change)) if (ref.kind === 'new') count += countPlaces(ref.record)
  return count
}

function collectLinks(change: RecordInput, record: Identity, links: ContradictedLinks): void {
  for (const { attribute, within, path, link } of change.links) {
    if (!attribute.owner) setInverse(attribute, record, path, link === null ? [] : [link], links)
    else if (within === undefined)
      setForeign(record, nameAttribute(change.resource, attribute.name), makeAssignment(attribute, link, path, record), links)
  }
  for (const { attribute, path, items, removed } of change.lists) {
    // `{ connect: [7] }` leaves other members open.
    if (attribute.via.kind === 'foreign' && removed !== undefined) setMembers(attribute, record, items, links)
    else if (attribute.via.kind === 'foreign') setInverse(attribute, record, path, items, links)
    else if (removed === undefined) links.pivots.set(record, nameSide(attribute), { path, members: listMembers(attribute, items, record) })
  }
  for (const { ref } of listReferences(change)) if (ref.kind === 'new') collectLinks(ref.record, ref.record, links)
}

function setInverse(
  relation: RelationAttribute,
  record: Identity,
  path: string,
  refs: readonly RecordRef[],
  links: ContradictedLinks,
): void {
  const members = setMembers(relation, record, refs, links)
  links.inverse.set(record, nameAttribute(relation.target, owningAttribute(relation)!.name), { path, members })
}

function setMembers(
  relation: RelationAttribute,
  record: Identity,
  refs: readonly RecordRef[],
  links: ContradictedLinks,
): ReadonlyMap<Identity, LinkAssignment> {
  const name = nameAttribute(relation.target, owningAttribute(relation)!.name)
  const members = listMembers(relation, refs, record)
  for (const [member, assignment] of members) setForeign(member, name, { ...assignment, links: record }, links)
  return members
}

function setForeign(record: Identity, name: string, assignment: LinkAssignment, { foreign, errors }: ContradictedLinks): void {
  const before = foreign.get(record, name)
  if (before === undefined) foreign.set(record, name, assignment)
  else if (before.links !== assignment.links) errors.push(contradiction(assignment, before.path))
}

function listMembers(relation: RelationAttribute, refs: readonly RecordRef[], record: Identity): ReadonlyMap<Identity, LinkAssignment> {
  const assignments = refs.map(ref => makeAssignment(relation, ref, '', record))
  return new Map(assignments.map(each => [each.links!, each]))
}

/** @param record the holder of the link */
function makeAssignment({ target }: RelationAttribute, ref: RecordRef | null, path: string, record: Identity): LinkAssignment {
  if (ref === null) return { path, value: null, links: null }
  if (ref.kind === 'new') return { path: ref.record.path, value: undefined, links: ref.record }
  return { path: ref.path, value: ref.given, links: ref.isItself === true ? record : recordName(target, ref.key) }
}

function nameAttribute(resource: Resource, attribute: string): string {
  return `${findHierarchyRoot(resource).className}.${attribute}`
}

function nameSide({ via }: ToManyAttribute): string {
  return via.kind === 'pivot' ? `${via.owner ? '>' : '<'}${via.table}` : ''
}

function otherSide(side: string): string {
  return `${side.startsWith('>') ? '<' : '>'}${side.slice(1)}`
}

function contradiction({ path, value }: LinkAssignment, other: string): FieldError {
  return {
    code: 'conflict',
    detail: `"${path}" contradicts "${other}": both say what one record links.`,
    attribute: path,
    ...(value === undefined ? {} : { value }),
  }
}
