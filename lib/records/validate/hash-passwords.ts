/**
 * Hash passwords: puts hashes in the place of the plain passwords of a body, those of nested records included. It is done before a
 * transaction begins, so that no lock is held meanwhile; what is written afterwards is a body like any other. A resource that leads to no
 * user costs nothing.
 */
import type { EntityName } from '@mikro-orm/core'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { EntityConnection } from '../database/connection.ts'
import type { RequestAbort } from '../../foundation/work/abort.ts'
import type { Awaitable } from '../../foundation/work/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { countCharacters } from '../../foundation/values/scalar-type.ts'
import { findHierarchyRoot, isRelation, listTargets } from '../../model/model.ts'
import type { Attribute, EmbeddedAttribute, Model, Resource } from '../../model/model.ts'
import type { SeedData } from '../../model/seed-rows.ts'

/** Whose passwords are hashed, and how. */
export interface PasswordKind {
  readonly entity: object
  readonly property: string
  readonly hash: (plain: string) => Promise<string>
  /** Whether a text is such a hash already: it is kept. */
  readonly isHash: (text: string) => boolean
}

/** Users that are looked through for plain passwords. */
const LOOKED_THROUGH = 1000

/** Passwords of a seed that are hashed at the same time: as many as Node.js has threads for it. */
const AT_ONCE = 4

type Replace = (plain: string) => string

export class PasswordHashes {
  readonly #kind: PasswordKind
  readonly #users: Resource
  /** The resources whose bodies may hold a user. */
  readonly #leading: ReadonlySet<Resource>
  /** Hashes that were made before the transaction of a request, by what ends the request. */
  readonly #ahead = new WeakMap<RequestAbort, Map<string, string[]>>()

  /** @param users the resource of the users */
  constructor(kind: PasswordKind, users: Resource, { entities }: Model) {
    this.#kind = kind
    this.#users = users
    this.#leading = findLeading(findHierarchyRoot(users), entities)
  }

  /** Returns the body of a request with hashes in the place of passwords. */
  inBody(body: unknown, resource: Resource, end?: RequestAbort): Awaitable<unknown> {
    const plain = this.#list(body, resource)
    if (plain.length === 0) return body
    const ahead = end === undefined ? undefined : this.#ahead.get(end)
    return this.#hashEach(plain, ahead, end).then(hashes => this.#walk(body, resource, () => hashes.shift()!))
  }

  /** Makes the hashes of a request ahead, where the application begins the transaction; undefined where there is no password. */
  prepare(body: unknown, resource: Resource, end: RequestAbort): Promise<void> | undefined {
    const plain = this.#list(body, resource)
    return plain.length === 0 || this.#ahead.has(end) ? undefined : this.#keepAhead(plain, end)
  }

  async #keepAhead(plain: readonly string[], end: RequestAbort): Promise<void> {
    const hashes = await this.#hashEach(plain, undefined, end)
    const ahead = new Map<string, string[]>()
    for (const [index, text] of plain.entries()) ahead.set(text, [...(ahead.get(text) ?? []), hashes[index]!])
    this.#ahead.set(end, ahead)
  }

  /**
   * Returns records that the application inserts, with hashes in the place of passwords. Those that are the same are hashed once: a test
   * has many users.
   */
  async inRecords<T extends object>(records: readonly T[], resource: Resource): Promise<readonly T[]> {
    const hashes = await this.#hashOnce(this.#list(records, resource))
    return hashes.size === 0 ? records : (this.#walk(records, resource, text => hashes.get(text)!) as readonly T[])
  }

  /** Returns a seed with hashes in the place of passwords. */
  async inSeed(data: SeedData, { byName }: Model): Promise<SeedData> {
    const lists = Object.entries(data).flatMap(([name, records]) => {
      const resource = byName.get(name)
      return resource === undefined ? [] : [{ name, records, resource }]
    })
    const hashes = await this.#hashOnce(lists.flatMap(({ records, resource }) => this.#list(records, resource)))
    if (hashes.size === 0) return data
    const hashed = lists.map(({ name, records, resource }) => [name, this.#walk(records, resource, text => hashes.get(text)!)])
    return { ...data, ...(Object.fromEntries(hashed) as SeedData) }
  }

  /**
   * Notes users whose password is no hash, after a seeder of MikroORM has run: what a seeder writes is stored as it comes, and the log-in
   * of such a user answers 401.
   */
  async notePlain({ orm }: EntityConnection, seeder: string, notes: Notes): Promise<void> {
    const { entity, property, isHash } = this.#kind
    const em = orm.em.fork()
    const users = (await em.find(entity as EntityName, {}, { fields: [property], filters: false, limit: LOOKED_THROUGH })) as JsonObject[]
    const plain = users.filter(({ [property]: value }) => typeof value === 'string' && value !== '' && !isHash(value)).length
    if (plain > 0)
      notes.add(
        `${this.#users.plural}: ${plain} ${plain === 1 ? 'record has' : 'records have'} a plain "${property}" after ${seeder}, ` +
          'and cannot log in: a seeder stores what it is given, so write await hashPassword(...) of mikro-rest there.',
      )
  }

  async #hashOnce(plain: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const left = [...new Set(plain)]
    const hashes = new Map<string, string>()
    const work = async (): Promise<void> => {
      for (let text = left.pop(); text !== undefined; text = left.pop()) hashes.set(text, await this.#kind.hash(text))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return hashes
  }

  /** One after the other: a request with many passwords leaves the other threads to others. */
  async #hashEach(plain: readonly string[], ahead: Map<string, string[]> | undefined, end: RequestAbort | undefined): Promise<string[]> {
    const hashes: string[] = []
    for (const text of plain) {
      end?.throwIfReached()
      end?.checkTime()
      const known = ahead?.get(text)
      const hash = known?.shift() ?? (await this.#kind.hash(text))
      // The records may be made once more, one by one.
      known?.push(hash)
      hashes.push(hash)
    }
    return hashes
  }

  #list(body: unknown, resource: Resource): string[] {
    const plain: string[] = []
    if (this.#leading.has(resource)) this.#walk(body, resource, text => (plain.push(text), text))
    return plain
  }

  /** Returns the value with other texts in the place of passwords; what has none is the same value. */
  #walk(value: unknown, resource: Resource, replace: Replace): unknown {
    if (!this.#leading.has(resource)) return value
    return walkObjects(value, record =>
      walkMembers(record, resource, (attribute, member) => {
        if (this.#isPassword(attribute, resource)) return this.#isPlain(member, attribute) ? replace(member) : member
        return this.#walkInner(attribute, member, replace)
      }),
    )
  }

  #walkInner(attribute: Attribute, value: unknown, replace: Replace): unknown {
    if (isRelation(attribute)) return this.#walk(value, attribute.target, replace)
    if (attribute.kind === 'toOneOf') {
      const type = isObject(value) ? value[attribute.typeName] : undefined
      // Without a type it is a change of the record that is linked, whichever that is.
      const targets = listTargets(attribute).filter(({ singular }) => type === undefined || type === singular)
      return targets.reduce((walked, target) => this.#walk(walked, target, replace), value)
    }
    return attribute.kind === 'embedded' ? this.#walkEmbedded(attribute, value, replace) : value
  }

  #walkEmbedded({ byName }: EmbeddedAttribute, value: unknown, replace: Replace): unknown {
    return walkObjects(value, object => walkMembers(object, { byName }, (child, inner) => this.#walkInner(child, inner, replace)))
  }

  #isPassword({ property, classValues }: Attribute, resource: Resource): boolean {
    if (property !== this.#kind.property || findHierarchyRoot(resource) !== findHierarchyRoot(this.#users)) return false
    const classValue = this.#users.hierarchy?.classValue
    return classValues === undefined || classValue === undefined || classValues.has(classValue)
  }

  /** An empty text stands for no password: nobody logs in by it. What validation refuses is left to it. */
  #isPlain(value: unknown, attribute: Attribute): value is string {
    if (typeof value !== 'string' || value === '' || !value.isWellFormed() || this.#kind.isHash(value)) return false
    const most = attribute.kind === 'scalar' ? attribute.type.length : undefined
    return most === undefined || value.length <= most || countCharacters(value) <= most
  }
}

/** Returns a seed with hashes in the place of passwords, where they are hashed. */
export function hashedSeed(
  data: SeedData,
  { hashes, model }: { readonly hashes: PasswordHashes | undefined; readonly model: Model },
): Awaitable<SeedData> {
  return hashes === undefined ? data : hashes.inSeed(data, model)
}

/** Replaces an object, or each of an array. */
function walkObjects(value: unknown, walk: (object: JsonObject) => JsonObject): unknown {
  if (Array.isArray(value)) {
    const walked = value.map((item: unknown) => walkObjects(item, walk))
    return walked.every((item, index) => item === value[index]) ? value : walked
  }
  return isObject(value) ? walk(value) : value
}

function walkMembers(
  object: JsonObject,
  { byName }: Pick<Resource, 'byName'>,
  walk: (attribute: Attribute, value: unknown) => unknown,
): JsonObject {
  let copy = object
  for (const name of Object.keys(object)) {
    const attribute = byName.get(name)
    if (attribute === undefined) continue
    const value = object[name]
    const walked = walk(attribute, value)
    if (walked !== value) copy = { ...copy, [name]: walked }
  }
  return copy
}

/** Finds the resources that lead to the users by relations. */
function findLeading(users: Resource, entities: readonly Resource[]): ReadonlySet<Resource> {
  const leading = new Set(entities.filter(resource => findHierarchyRoot(resource) === users))
  for (let size = 0; size < leading.size;) {
    size = leading.size
    for (const resource of entities) if (listLinked(resource.attributes).some(target => leading.has(target))) leading.add(resource)
  }
  return leading
}

function listLinked(attributes: readonly Attribute[]): readonly Resource[] {
  return attributes.flatMap(attribute => {
    if (isRelation(attribute) || attribute.kind === 'toOneOf') return listTargets(attribute)
    return attribute.kind === 'embedded' ? listLinked(attribute.attributes) : []
  })
}
