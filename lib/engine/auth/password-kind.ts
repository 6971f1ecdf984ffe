/**
 * Decides whether the engine hashes passwords, or compares plain texts. Default: hashes, if the property is hidden, and nothing else may
 * hash; a note reports doubts. Refuses a column too short for a hash.
 */
import { CharacterType, StringType, TextType } from '@mikro-orm/core'
import type { EntityMetadata, EntityName, EntityProperty, EventSubscriber, MikroORM } from '@mikro-orm/core'
import type { Notes } from '../../foundation/errors/notes.ts'
import { DescribedType } from '../../model/metadata/described-type.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import { BodyHashes } from '../../records/validate/hash-passwords.ts'
import type { UserPasswords } from '../../records/validate/password-hashes.ts'
import type { HashingParts } from './authentication.ts'
import { HASH_LENGTH, hashPassword, isPasswordHash } from './password.ts'

/** @throws TypeError where hashing is required but impossible */
export function findPasswordKind(
  { auth, resources, orm: { subscribers = [] } }: HashingParts,
  orm: MikroORM,
  notes: Notes,
): UserPasswords | undefined {
  const options = auth?.options
  if (options?.entity === undefined || options.hash === false || options.plain === true) return undefined
  const meta = orm.getMetadata().get(options.entity)
  const property = meta.properties[options.password] as EntityProperty | undefined
  const where = `${meta.className}.${options.password}`
  if (property === undefined) {
    if (options.hash === true) throw new TypeError(`auth: "hash" is for the property "password", and there is no ${where}.`)
    return undefined
  }
  if (options.hash === undefined) {
    // An application with own checks stores passwords itself.
    if (options.authenticate !== undefined) return undefined
    const doubt = findDoubt(property, meta, { resources, subscribers })
    if (doubt !== undefined) {
      notes.add(`${where}: passwords of bodies are stored as they come, since ${doubt}.`)
      return undefined
    }
  }
  if (isTooShort(property)) throw new TypeError(`auth: ${where} ${describeLength(property)}, or leave out hash: true.`)
  const kind = { entity: meta.class, property: options.password, hash: hashPassword, isHash: isPasswordHash }
  return { entity: meta.class, guard: (users, model) => new BodyHashes(kind, users, model) }
}

/** Whether stored texts may be passwords: by default, unless hidden. */
export function comparesPlain({ auth, resources }: HashingParts, orm: MikroORM): boolean {
  const options = auth?.options
  if (options?.entity === undefined) return false
  const meta = orm.getMetadata().get(options.entity)
  const property = meta.properties[options.password] as EntityProperty | undefined
  return options.plain ?? (options.hash === undefined && property !== undefined && !isHidden(property, meta, resources))
}

/** Why hashing is in doubt, and the way out. */
function findDoubt(
  property: EntityProperty,
  meta: EntityMetadata,
  { resources, subscribers }: Pick<HashingParts, 'resources'> & HashingParts['orm'],
): string | undefined {
  if (!isHidden(property, meta, resources))
    return 'it is not hidden: declare it hidden, or say auth({ hash: true }), or hash: false where hashes come alone'
  if (isTooShort(property)) return `it ${describeLength(property)}, or say hash: false`
  const otherHasher = findOtherHasher(property, meta, [...(subscribers ?? [])])
  return otherHasher === undefined
    ? undefined
    : `${otherHasher} may hash them: say auth({ hash: true }) where it does not, else hash: false`
}

function isTooShort({ length }: EntityProperty): boolean {
  return length !== undefined && length < HASH_LENGTH
}

function describeLength({ length }: EntityProperty): string {
  return `holds ${length} characters at most, and a hash has ${HASH_LENGTH}: give it more`
}

function isHidden(
  { name, hidden }: EntityProperty,
  { class: entity, className }: EntityMetadata,
  resources: readonly ResourceDefinition[],
): boolean {
  if (hidden === true) return true
  return resources.some(({ entity: given, config }) => isSame(given, entity, className) && config.attributes?.[name]?.private === true)
}

function isSame(given: EntityName | string, entity: object, className: string): boolean {
  return given === entity || (given as { readonly meta?: { readonly className?: string } }).meta?.className === className
}

const PLAIN_TYPES: ReadonlySet<unknown> = new Set([StringType, TextType, CharacterType, DescribedType])

/** MikroORM's hooks before the row is written. */
const STORING_HOOKS = ['onInit', 'beforeCreate', 'beforeUpdate', 'beforeUpsert', 'beforeFlush', 'onFlush'] as const

/** Names code around the value before the row is written. */
function findOtherHasher(
  property: EntityProperty,
  { hooks, class: entity, className }: EntityMetadata,
  subscribers: readonly unknown[],
): string | undefined {
  const hook = STORING_HOOKS.find(name => ((hooks as Record<string, readonly unknown[] | undefined>)[name]?.length ?? 0) > 0)
  if (hook !== undefined) return `a hook of ${className} (${hook})`
  const { onCreate, onUpdate, customType, accessor, setter } = property
  if ((onCreate?.length ?? 0) > 0 || (onUpdate?.length ?? 0) > 0) return 'its onCreate or onUpdate'
  if (customType !== undefined && !PLAIN_TYPES.has(customType.constructor)) return 'its type'
  if (accessor !== undefined || setter === true) return 'its setter'
  return subscribers.some(each => subscribes(each, entity, className)) ? 'a subscriber' : undefined
}

function subscribes(subscriber: unknown, entity: object, className: string): boolean {
  const listener = (typeof subscriber === 'function' ? subscriber.prototype : subscriber) as Partial<EventSubscriber>
  if (!STORING_HOOKS.some(name => typeof listener[name] === 'function')) return false
  // Only an instance names entities.
  const entities = typeof subscriber === 'function' ? undefined : listener.getSubscribedEntities?.()
  return entities === undefined || entities.length === 0 || entities.some(each => isSame(each as EntityName, entity, className))
}
