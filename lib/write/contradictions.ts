/**
 * Contradictions: the errors of a body in which two places decide one link, and not alike. Records of a body name each other by their own foreign keys, by the
 * other sides of one-to-ones, and by lists, which also say that no other record is in them. Needs the model alone.
 */
import { recordName } from './check-database.ts'
import type { FieldError } from '../base/errors.ts'
import type { FieldErrors } from '../base/body-errors.ts'
import type { KeyValues } from '../model/key.ts'
import { rootOf } from '../model/model.ts'
import type { RelationAttribute, Resource, ToManyAttribute } from '../model/model.ts'
import { owningAttribute } from './relation-sides.ts'
import type { RecordInput, RecordRef } from './write-plan.ts'

/** A record of a body: a new one, which is its own change, or the name of one that exists. */
type Identity = RecordInput | string

/** What one place says of a foreign key: which record it links, if any. */
interface LinkStatement {
  readonly path: string
  readonly value: unknown
  readonly links: Identity | null
}

/** What one place says of all records that link one, or are linked with it. */
interface Whole {
  readonly path: string
  readonly members: ReadonlyMap<Identity, LinkStatement>
}

/** Values by a record, and by one of its attributes. */
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

interface Gathered {
  readonly errors: FieldErrors
  /** By the record that has the foreign key, and its attribute. */
  readonly foreign: ByRecord<LinkStatement>
  /** By the record that is linked, and the attribute of the others. */
  readonly inverse: ByRecord<Whole>
  /** By the record that has a many-to-many list, and the side of the pivot table. */
  readonly pivots: ByRecord<Whole>
}

/**
 * Adds the errors of a body that says two things of one link.
 *
 * @param self the key of the record that is changed
 */
export function addContradictions(change: RecordInput, self: KeyValues | undefined, errors: FieldErrors): void {
  // It takes two places to contradict each other.
  if (change.links.length + change.lists.length < 2 && refsOf(change).every(({ kind }) => kind === 'existing')) return
  const gathered: Gathered = { errors, foreign: new ByRecord(), inverse: new ByRecord(), pivots: new ByRecord() }
  gather(change, self === undefined ? change : recordName(change.resource, self), gathered)
  const { foreign, inverse, pivots } = gathered
  for (const [record, name, said] of foreign) {
    const whole = said.links === null ? undefined : inverse.get(said.links, name)
    if (whole !== undefined && !whole.members.has(record)) errors.push(contradiction(said, whole.path))
  }
  for (const [record, side, { members }] of pivots) {
    for (const [member, said] of members) {
      const whole = pivots.get(member, otherSide(side))
      if (whole !== undefined && !whole.members.has(record)) errors.push(contradiction(said, whole.path))
    }
  }
}

function refsOf({ links, lists }: RecordInput): RecordRef[] {
  return [...links.flatMap(({ link }) => link ?? []), ...lists.flatMap(({ items }) => items)]
}

function gather(change: RecordInput, record: Identity, gathered: Gathered): void {
  for (const { attribute, within, path, link } of change.links) {
    if (!attribute.owner) refer(attribute, record, path, link === null ? [] : [link], gathered)
    else if (within === undefined) decide(record, nameOf(change.resource, attribute.name), saidOf(attribute, link, path), gathered)
  }
  for (const { attribute, path, items } of change.lists) {
    if (attribute.via.kind === 'foreign') refer(attribute, record, path, items, gathered)
    else gathered.pivots.set(record, sideOf(attribute), { path, members: membersOf(attribute, items) })
  }
  for (const ref of refsOf(change)) if (ref.kind === 'new') gather(ref.record, ref.record, gathered)
}

/** What a record says of those that link it by their own foreign keys: which they are. */
function refer(relation: RelationAttribute, record: Identity, path: string, refs: readonly RecordRef[], gathered: Gathered): void {
  const name = nameOf(relation.target, owningAttribute(relation)!.name)
  const members = membersOf(relation, refs)
  for (const [member, said] of members) decide(member, name, { ...said, links: record }, gathered)
  gathered.inverse.set(record, name, { path, members })
}

function decide(record: Identity, name: string, said: LinkStatement, { foreign, errors }: Gathered): void {
  const before = foreign.get(record, name)
  if (before === undefined) foreign.set(record, name, said)
  else if (before.links !== said.links) errors.push(contradiction(said, before.path))
}

function membersOf(relation: RelationAttribute, refs: readonly RecordRef[]): ReadonlyMap<Identity, LinkStatement> {
  const said = refs.map(ref => saidOf(relation, ref, ''))
  return new Map(said.map(each => [each.links!, each]))
}

function saidOf({ target }: RelationAttribute, ref: RecordRef | null, path: string): LinkStatement {
  if (ref === null) return { path, value: null, links: null }
  if (ref.kind === 'new') return { path: ref.record.path, value: undefined, links: ref.record }
  return { path: ref.path, value: ref.given, links: recordName(target, ref.key) }
}

/** One name for an attribute of all classes that inherit it. */
function nameOf(resource: Resource, attribute: string): string {
  return `${rootOf(resource).className}.${attribute}`
}

/** One name for each side of a pivot table. */
function sideOf({ via }: ToManyAttribute): string {
  return via.kind === 'pivot' ? `${via.owner ? '>' : '<'}${via.table}` : ''
}

function otherSide(side: string): string {
  return `${side.startsWith('>') ? '<' : '>'}${side.slice(1)}`
}

function contradiction({ path, value }: LinkStatement, other: string): FieldError {
  return {
    code: 'conflict',
    detail: `"${path}" contradicts "${other}": both say what one record links.`,
    attribute: path,
    ...(value === undefined ? {} : { value }),
  }
}
