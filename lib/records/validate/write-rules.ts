/**
 * Write rules: holds each row that a request touches against the rules for writing (`ResourceConfig.write`), as it was before the change
 * and as it has become, in a few statements whatever the number of rows. Both ways of writing say which rows they touch: the statements of
 * a plan, and MikroORM's unit of work. Refuses with forbidden, or token_missing where a log-in would help.
 */
import { requireLogIn } from '../access/access-rules.ts'
import { chain, wait, type Awaitable, type Coroutine } from '../../foundation/work/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { idToSegment, type KeyValues } from '../../model/key.ts'
import { findHierarchyRoot, type Attribute, type Resource } from '../../model/model.ts'
import type { ReadingConnection } from '../database/connection.ts'
import { EVERYTHING, type Visibility } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { readRows } from '../read/run-read.ts'
import { lookForReferrers, lookForReferrersOfAll } from './look-ups.ts'
import type { RecordAddress } from './written.ts'

type Keys = Map<string, KeyValues>

export class WriteRules {
  readonly #reader: Reader
  readonly #view: View
  readonly #writing: Visibility
  /** The rows that are held against the rules once they are written, by the roots of their hierarchies. */
  readonly #touched = new Map<Resource, Keys>()

  private constructor(reader: Reader, view: View, writing: Visibility) {
    this.#reader = reader
    this.#view = view
    this.#writing = writing
  }

  /** Returns the rules for what a request writes; undefined where the caller may write all that exists. */
  static of(reader: Reader, view: View): WriteRules | undefined {
    const { writing } = view.visibility
    return writing && new WriteRules(reader, view, writing)
  }

  /** Whether there is a rule for rows of the resource. */
  govern(resource: Resource): boolean {
    return findRuled(resource).length > 0
  }

  /** Evaluates the rules for rows of the resource, before a change alters the data that they read. */
  prepare(resource: Resource): Awaitable<void> {
    let asking: Awaitable<unknown>
    for (const ruled of findRuled(resource)) asking = chain(asking, () => this.#writing.ask({ resource: ruled, about: 'scope' }))
    return chain(asking, () => undefined)
  }

  /**
   * Refuses to change the record of a path, unless the body is about links alone that other rows hold; returns whether it has been found.
   */
  *admit({ resource, key }: RecordAddress, body: JsonObject): Coroutine<boolean> {
    return this.govern(resource) && isAboutOwnRow(body, resource) && (yield* this.change(resource, [key]))
  }

  /**
   * Refuses to change rows that the caller may not write. Must be asked before they are changed. Returns whether all of them have been
   * found: not where nothing is asked of them.
   */
  *change(resource: Resource, keys: readonly KeyValues[]): Coroutine<boolean> {
    if (keys.length === 0 || !this.govern(resource)) return false
    const known = this.#rowsOf(resource)
    const others = keys.filter(key => !known.has(formatKey(key)))
    let areFound = false
    for (const ruled of findRuled(resource)) {
      if (!(yield* this.#restricts(ruled))) continue
      const outside = yield* this.#without(ruled, others, this.#writing)
      for (const key of yield* this.#leaveGone(ruled, outside)) throw yield* this.#refuse(ruled, key, 'change')
      areFound = outside.length === 0
    }
    for (const key of others) known.set(formatKey(key), key)
    return areFound
  }

  /** Whether the rule of a resource leaves out any rows. */
  *#restricts(ruled: Resource): Coroutine<boolean> {
    yield* wait(this.#writing.ask({ resource: ruled, about: 'scope' }))
    return this.#writing.scopeOf(ruled) !== undefined
  }

  /** Remembers a row that the request has made, for `confirm`. */
  made(resource: Resource, key: KeyValues): void {
    if (this.govern(resource)) this.#rowsOf(resource).set(formatKey(key), key)
  }

  /**
   * Refuses to delete rows that the caller may not write, also where the database deletes or unlinks others with them that the caller may
   * not write. Must be asked before they are deleted.
   */
  *remove(removed: readonly { readonly resource: Resource; readonly key: KeyValues }[], connection: ReadingConnection): Coroutine<void> {
    const seen = new Set<string>()
    for (let going = group(removed); going.size > 0;) {
      const next = new Map<Resource, KeyValues[]>()
      for (const [resource, keys] of going) {
        const fresh = keys.filter(key => !seen.has(`${findHierarchyRoot(resource).className}\0${formatKey(key)}`))
        for (const key of fresh) seen.add(`${findHierarchyRoot(resource).className}\0${formatKey(key)}`)
        yield* this.change(resource, fresh)
        for (const { resource: other, attribute } of resource.referrers) {
          if (attribute.onDelete === 'refuse' || fresh.length === 0 || !this.#reaches(other, attribute.onDelete)) continue
          const keysOfOther = yield* this.#findReferring(other, attribute, fresh, connection)
          if (attribute.onDelete === 'unlink') yield* this.change(other, keysOfOther)
          else next.set(other, [...(next.get(other) ?? []), ...keysOfOther])
        }
      }
      going = next
    }
  }

  /** Whether a deletion that comes to a resource comes to rows with rules. */
  #reaches(resource: Resource, by: 'cascade' | 'unlink', passed: Set<Resource> = new Set()): boolean {
    if (this.govern(resource)) return true
    if (by === 'unlink' || passed.has(resource)) return false
    passed.add(resource)
    return resource.referrers.some(
      ({ resource: other, attribute: { onDelete } }) => onDelete !== 'refuse' && this.#reaches(other, onDelete, passed),
    )
  }

  *#findReferring(
    resource: Resource,
    attribute: Resource['referrers'][number]['attribute'],
    keys: readonly KeyValues[],
    connection: ReadingConnection,
  ): Coroutine<readonly KeyValues[]> {
    const { dialect } = connection
    const given = { filters: [], limit: 1, offset: 0 }
    const ofAll = lookForReferrersOfAll(resource, attribute, dialect)
    if (ofAll !== undefined) {
      const texts = keys.map(key => key.map(String))
      const { parameter } = dialect.encodeLinks(texts, { from: [0], parts: attribute.target.key })
      return (yield* wait(connection.read(() => readRows(ofAll, { ...given, key: [], links: parameter }, dialect)))) as readonly KeyValues[]
    }
    const statement = lookForReferrers(resource, attribute, dialect)
    const found: KeyValues[] = []
    for (const key of keys)
      found.push(...((yield* wait(connection.read(() => readRows(statement, { ...given, key }, dialect)))) as readonly KeyValues[]))
    return found
  }

  /** Refuses rows that have become what the caller may not write. To be asked once all is written. */
  *confirm(): Coroutine<void> {
    for (const [root, rows] of this.#touched) {
      const keys = [...rows.values()]
      for (const ruled of findRuled(root)) {
        if (!(yield* this.#restricts(ruled))) continue
        const outside = yield* this.#without(ruled, keys, this.#writing)
        for (const key of yield* this.#leaveGone(ruled, outside)) throw yield* this.#refuse(ruled, key, 'make')
      }
    }
  }

  #rowsOf(resource: Resource): Keys {
    const root = findHierarchyRoot(resource)
    let rows = this.#touched.get(root)
    if (rows === undefined) this.#touched.set(root, (rows = new Map()))
    return rows
  }

  /** Returns those of the keys, whose rows may not be written, of which there are rows. */
  *#leaveGone(resource: Resource, outside: readonly KeyValues[]): Coroutine<readonly KeyValues[]> {
    if (outside.length === 0) return outside
    const gone = new Set(yield* this.#without(resource, outside, EVERYTHING))
    return outside.filter(key => !gone.has(key))
  }

  /** Returns those of the keys whose rows are not among those of a visibility. */
  *#without(resource: Resource, keys: readonly KeyValues[], visibility: Visibility): Coroutine<readonly KeyValues[]> {
    if (keys.length === 0) return keys
    const found = keys.length === 1 ? undefined : yield* wait(this.#reader.existing(resource, keys, visibility))
    if (found !== undefined) return keys.filter(key => !found.has(formatKey(key)))
    const without: KeyValues[] = []
    for (const key of keys) if (!(yield* wait(this.#reader.exists(resource, key, visibility)))) without.push(key)
    return without
  }

  /** Names the row, if it exists for the caller. */
  *#refuse(resource: Resource, key: KeyValues, what: 'change' | 'make'): Coroutine<Error> {
    const { visibility, ctx } = this.#view
    requireLogIn(resource, what === 'change' ? 'update' : 'create', ctx)
    const isShown = yield* wait(this.#reader.exists(resource, key, visibility))
    const id = yield* wait(this.#reader.asStored.id(resource, key))
    if (what === 'change')
      return restError(
        'forbidden',
        isShown
          ? `You may not change the ${resource.singular} ${idToSegment(id ?? key, resource)}.`
          : `You may not change all ${resource.plural} that this changes.`,
      )
    return restError('forbidden', `The ${resource.singular} would be outside of what you may write.`)
  }
}

/** As texts, by which `Reader.existing` names them, too. */
export function formatKey(key: KeyValues): string {
  return key.map(String).join()
}

function group(rows: readonly { readonly resource: Resource; readonly key: KeyValues }[]): Map<Resource, KeyValues[]> {
  const grouped = new Map<Resource, KeyValues[]>()
  for (const { resource, key } of rows) {
    const keys = grouped.get(resource)
    if (keys === undefined) grouped.set(resource, [key])
    else keys.push(key)
  }
  return grouped
}

const ruledOf = new WeakMap<Resource, readonly Resource[]>()

/** Returns the resources whose rules a row of the resource may be subject to: its own, and those of the classes of its hierarchy. */
function findRuled(resource: Resource): readonly Resource[] {
  const root = findHierarchyRoot(resource)
  let ruled = ruledOf.get(root)
  if (ruled === undefined) {
    const classes = new Set([root, ...(root.hierarchy?.byValue.values() ?? [])])
    ruledOf.set(root, (ruled = [...classes].filter(({ rules }) => rules.write !== undefined)))
  }
  return ruled
}

/** Whether a body is about more of a record than links which other rows hold. */
function isAboutOwnRow(body: JsonObject, { byName }: Resource): boolean {
  const names = Object.keys(body)
  return names.length === 0 || names.some(name => !isHeldByOthers(byName.get(name)))
}

/** Whether other rows hold what an attribute links. A many-to-many link belongs to the record on its owning side. */
export function isHeldByOthers(attribute: Attribute | undefined): boolean {
  if (attribute?.kind === 'toMany') return attribute.via.kind === 'foreign' || !attribute.via.owner
  return attribute?.kind === 'toOne' && !attribute.owner
}
