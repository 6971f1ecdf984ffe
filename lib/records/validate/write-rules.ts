/**
 * Checks each touched row against `ResourceConfig.write`, before and after the change, in few statements. Refuses with forbidden, or
 * token_missing where a log-in would help.
 */
import { requireLogIn } from '../access/access-rules.ts'
import { chain, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { formatKey, idToSegment, type KeyValues } from '../../model/key.ts'
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
  /** Rows to check after the write, by hierarchy root. */
  readonly #touched = new Map<Resource, Keys>()

  private constructor(reader: Reader, view: View, writing: Visibility) {
    this.#reader = reader
    this.#view = view
    this.#writing = writing
  }

  /** Undefined: the caller may write all that exists. */
  static of(reader: Reader, view: View): WriteRules | undefined {
    const { writing } = view.visibility
    return writing && new WriteRules(reader, view, writing)
  }

  hasRules(resource: Resource): boolean {
    return findRuled(resource).length > 0
  }

  /** Asks the rules before a change alters the rules' data. */
  prepare(resource: Resource): Awaitable<void> {
    let asking: Awaitable<unknown>
    for (const ruled of findRuled(resource)) asking = chain(asking, () => this.#writing.ask({ resource: ruled, about: 'scope' }))
    return chain(asking, () => undefined)
  }

  /** Refuses the record of a path, except for links in other rows; returns whether the record was found. */
  *admit({ resource, key }: RecordAddress, body: JsonObject): Coroutine<boolean> {
    return this.hasRules(resource) && isAboutOwnRow(body, resource) && (yield* this.requireWritable(resource, [key]))
  }

  /** Call before the change. Returns whether all rows were found; false without a rule. */
  *requireWritable(resource: Resource, keys: readonly KeyValues[]): Coroutine<boolean> {
    if (keys.length === 0 || !this.hasRules(resource)) return false
    const known = this.#rowsOf(resource)
    const others = keys.filter(key => !known.has(formatKey(key)))
    let areFound = false
    for (const ruled of findRuled(resource)) {
      if (!(yield* this.#restricts(ruled))) continue
      const outside = yield* this.#findOutside(ruled, others, this.#writing)
      for (const key of yield* this.#omitGone(ruled, outside)) throw yield* this.#refuse(ruled, key, 'change')
      areFound = outside.length === 0
    }
    for (const key of others) known.set(formatKey(key), key)
    return areFound
  }

  *#restricts(ruled: Resource): Coroutine<boolean> {
    yield* wait(this.#writing.ask({ resource: ruled, about: 'scope' }))
    return this.#writing.scopeOf(ruled) !== undefined
  }

  addNew(resource: Resource, key: KeyValues): void {
    if (this.hasRules(resource)) this.#rowsOf(resource).set(formatKey(key), key)
  }

  /** As `requireWritable`, also for rows deleted or unlinked along by the database. */
  *requireRemovable(
    removed: readonly { readonly resource: Resource; readonly key: KeyValues }[],
    connection: ReadingConnection,
  ): Coroutine<void> {
    const seen = new Set<string>()
    for (let doomed = group(removed); doomed.size > 0;) {
      const next = new Map<Resource, KeyValues[]>()
      for (const [resource, keys] of doomed) {
        const unseen = keys.filter(key => !seen.has(`${findHierarchyRoot(resource).className}\0${formatKey(key)}`))
        for (const key of unseen) seen.add(`${findHierarchyRoot(resource).className}\0${formatKey(key)}`)
        yield* this.requireWritable(resource, unseen)
        for (const { resource: other, attribute } of resource.referrers) {
          if (attribute.onDelete === 'refuse' || unseen.length === 0 || !this.#reaches(other, attribute.onDelete)) continue
          const keysOfOther = yield* this.#findReferring(other, attribute, unseen, connection)
          if (attribute.onDelete === 'unlink') yield* this.requireWritable(other, keysOfOther)
          else next.set(other, [...(next.get(other) ?? []), ...keysOfOther])
        }
      }
      doomed = next
    }
  }

  #reaches(resource: Resource, by: 'cascade' | 'unlink', passed: Set<Resource> = new Set()): boolean {
    if (this.hasRules(resource)) return true
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

  /** Call after all writes. */
  *confirm(): Coroutine<void> {
    for (const [root, rows] of this.#touched) {
      const keys = [...rows.values()]
      for (const ruled of findRuled(root)) {
        if (!(yield* this.#restricts(ruled))) continue
        const outside = yield* this.#findOutside(ruled, keys, this.#writing)
        for (const key of yield* this.#omitGone(ruled, outside)) throw yield* this.#refuse(ruled, key, 'make')
      }
    }
  }

  #rowsOf(resource: Resource): Keys {
    const root = findHierarchyRoot(resource)
    let rows = this.#touched.get(root)
    if (rows === undefined) this.#touched.set(root, (rows = new Map()))
    return rows
  }

  *#omitGone(resource: Resource, outside: readonly KeyValues[]): Coroutine<readonly KeyValues[]> {
    if (outside.length === 0) return outside
    const gone = new Set(yield* this.#findOutside(resource, outside, EVERYTHING))
    return outside.filter(key => !gone.has(key))
  }

  *#findOutside(resource: Resource, keys: readonly KeyValues[], visibility: Visibility): Coroutine<readonly KeyValues[]> {
    if (keys.length === 0) return keys
    const found = keys.length === 1 ? undefined : yield* wait(this.#reader.existing(resource, keys, visibility))
    if (found !== undefined) return keys.filter(key => !found.has(formatKey(key)))
    const missing: KeyValues[] = []
    for (const key of keys) if (!(yield* wait(this.#reader.exists(resource, key, visibility)))) missing.push(key)
    return missing
  }

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

/** The rules of every class in a hierarchy may govern a row. */
function findRuled(resource: Resource): readonly Resource[] {
  const root = findHierarchyRoot(resource)
  let ruled = ruledOf.get(root)
  if (ruled === undefined) {
    const classes = new Set([root, ...(root.hierarchy?.byValue.values() ?? [])])
    ruledOf.set(root, (ruled = [...classes].filter(({ rules }) => rules.write !== undefined)))
  }
  return ruled
}

/** Whether the body has more than links held by other rows. */
function isAboutOwnRow(body: JsonObject, { byName }: Resource): boolean {
  const names = Object.keys(body)
  return names.length === 0 || names.some(name => !isHeldByOtherRows(byName.get(name)))
}

/** A many-to-many link belongs to the record on the owning side. */
export function isHeldByOtherRows(attribute: Attribute | undefined): boolean {
  if (attribute?.kind === 'toMany') return attribute.via.kind === 'foreign' || !attribute.via.owner
  return attribute?.kind === 'toOne' && !attribute.owner
}
