/**
 * Replaces plain passwords by hashes before the transaction: slow hashing would hold locks. A resource without a way to users costs
 * nothing.
 */
import type { EntityName } from '@mikro-orm/core'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { EntityConnection } from '../database/connection.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { countCharacters } from '../../foundation/values/scalar-type.ts'
import { findHierarchyRoot, isRelation, listTargets } from '../../model/model.ts'
import type { Attribute, EmbeddedAttribute, Model, Resource } from '../../model/model.ts'
import type { SeedData } from '../../model/seeds.ts'
import type { PasswordHashes } from './password-hashes.ts'

interface PasswordKind {
  readonly entity: object
  readonly property: string
  readonly hash: (plain: string) => Promise<string>
  readonly isHash: (text: string) => boolean
}

/** Users read in search of plain passwords. */
const MAX_USERS_READ = 1000

/** Node.js has as many threads for hashing. */
const PARALLEL_HASHES = 4

type Replace = (plain: string) => string

export class BodyHashes implements PasswordHashes {
  readonly #kind: PasswordKind
  readonly #users: Resource
  /** May hold a user. */
  readonly #holders: ReadonlySet<Resource>
  readonly #hashedAhead = new WeakMap<RequestAbort, Map<string, string[]>>()

  constructor(kind: PasswordKind, users: Resource, { entities }: Model) {
    this.#kind = kind
    this.#users = users
    this.#holders = findHolders(findHierarchyRoot(users), entities)
  }

  inBody(body: unknown, resource: Resource, end?: RequestAbort): Awaitable<unknown> {
    const plain = this.#listPlain(body, resource)
    if (plain.length === 0) return body
    const hashedAhead = end === undefined ? undefined : this.#hashedAhead.get(end)
    return chain(this.#hashEach(plain, hashedAhead, end), hashes => this.#walk(body, resource, () => hashes.shift()!))
  }

  prepare(body: unknown, resource: Resource, end: RequestAbort): Promise<void> | undefined {
    const plain = this.#listPlain(body, resource)
    return plain.length === 0 || this.#hashedAhead.has(end) ? undefined : this.#keepAhead(plain, end)
  }

  async #keepAhead(plain: readonly string[], end: RequestAbort): Promise<void> {
    const hashes = await this.#hashEach(plain, undefined, end)
    const hashedAhead = new Map<string, string[]>()
    for (const [index, text] of plain.entries()) hashedAhead.set(text, [...(hashedAhead.get(text) ?? []), hashes[index]!])
    this.#hashedAhead.set(end, hashedAhead)
  }

  async inRecords<T extends object>(records: readonly T[], resource: Resource): Promise<readonly T[]> {
    const hashes = await this.#hashOnce(this.#listPlain(records, resource))
    return hashes.size === 0 ? records : (this.#walk(records, resource, text => hashes.get(text)!) as readonly T[])
  }

  async inSeed(data: SeedData, { byName }: Model): Promise<SeedData> {
    const lists = Object.entries(data).flatMap(([name, records]) => {
      const resource = byName.get(name)
      return resource === undefined ? [] : [{ name, records, resource }]
    })
    const hashes = await this.#hashOnce(lists.flatMap(({ records, resource }) => this.#listPlain(records, resource)))
    if (hashes.size === 0) return data
    const hashed = lists.map(({ name, records, resource }) => [name, this.#walk(records, resource, text => hashes.get(text)!)])
    return { ...data, ...(Object.fromEntries(hashed) as SeedData) }
  }

  async notePlain({ orm }: EntityConnection, seeder: string, notes: Notes): Promise<void> {
    const { entity, property, isHash } = this.#kind
    const em = orm.em.fork()
    const users = (await em.find(entity as EntityName, {}, { fields: [property], filters: false, limit: MAX_USERS_READ })) as JsonObject[]
    const plain = users.filter(({ [property]: value }) => typeof value === 'string' && value !== '' && !isHash(value)).length
    if (plain > 0)
      notes.add(
        `${this.#users.plural}: ${plain} ${plain === 1 ? 'record has' : 'records have'} a plain "${property}" after ${seeder}, ` +
          'and cannot log in: a seeder stores what it is given, so write await hashPassword(...) of mikro-rest there.',
      )
  }

  async #hashOnce(plain: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const remaining = [...new Set(plain)]
    const hashes = new Map<string, string>()
    const work = async (): Promise<void> => {
      for (let text = remaining.pop(); text !== undefined; text = remaining.pop()) hashes.set(text, await this.#kind.hash(text))
    }
    await Promise.all(Array.from({ length: PARALLEL_HASHES }, work))
    return hashes
  }

  /** One by one, so that other requests find free threads. */
  async #hashEach(
    plain: readonly string[],
    hashedAhead: Map<string, string[]> | undefined,
    end: RequestAbort | undefined,
  ): Promise<string[]> {
    const hashes: string[] = []
    for (const text of plain) {
      end?.throwIfReached()
      end?.checkTime()
      const known = hashedAhead?.get(text)
      const hash = known?.shift() ?? (await this.#kind.hash(text))
      // The records may be made once more, one by one.
      known?.push(hash)
      hashes.push(hash)
    }
    return hashes
  }

  #listPlain(body: unknown, resource: Resource): string[] {
    const plain: string[] = []
    if (this.#holders.has(resource)) this.#walk(body, resource, text => (plain.push(text), text))
    return plain
  }

  #walk(value: unknown, resource: Resource, replace: Replace): unknown {
    if (!this.#holders.has(resource)) return value
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
      // Without a type, the body changes the linked record.
      const targets = listTargets(attribute).filter(({ singular }) => type === undefined || type === singular)
      return targets.reduce((walked, target) => this.#walk(walked, target, replace), value)
    }
    if (attribute.kind !== 'embedded') return value
    return walkObjects(value, object => walkMembers(object, attribute, (child, inner) => this.#walkInner(child, inner, replace)))
  }

  #isPassword({ property, classValues }: Attribute, resource: Resource): boolean {
    if (property !== this.#kind.property || findHierarchyRoot(resource) !== findHierarchyRoot(this.#users)) return false
    const classValue = this.#users.hierarchy?.classValue
    return classValues === undefined || classValue === undefined || classValues.has(classValue)
  }

  /** An empty text stands for no password. */
  #isPlain(value: unknown, attribute: Attribute): value is string {
    if (typeof value !== 'string' || value === '' || !value.isWellFormed() || this.#kind.isHash(value)) return false
    const maxLength = attribute.kind === 'scalar' ? attribute.type.length : undefined
    return maxLength === undefined || value.length <= maxLength || countCharacters(value) <= maxLength
  }
}

function walkObjects(value: unknown, walk: (object: JsonObject) => JsonObject): unknown {
  if (Array.isArray(value)) {
    const walked = value.map((item: unknown) => walkObjects(item, walk))
    return walked.every((item, index) => item === value[index]) ? value : walked
  }
  return isObject(value) ? walk(value) : value
}

function walkMembers(
  object: JsonObject,
  { byName }: Pick<Resource | EmbeddedAttribute, 'byName'>,
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

function findHolders(users: Resource, entities: readonly Resource[]): ReadonlySet<Resource> {
  const holders = new Set(entities.filter(resource => findHierarchyRoot(resource) === users))
  for (let size = 0; size < holders.size;) {
    size = holders.size
    for (const resource of entities) if (listLinked(resource.attributes).some(target => holders.has(target))) holders.add(resource)
  }
  return holders
}

function listLinked(attributes: readonly Attribute[]): readonly Resource[] {
  return attributes.flatMap(attribute => {
    if (isRelation(attribute) || attribute.kind === 'toOneOf') return listTargets(attribute)
    return attribute.kind === 'embedded' ? listLinked(attribute.attributes) : []
  })
}
