/**
 * The type Work has what the steps of a write by MikroORM share: the entity manager, the caller's permissions, and what to check after the
 * flush.
 */
import type { EntityManager } from '@mikro-orm/core'
import { runCoroutine, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { Connection } from '../database/connection.ts'
import type { Dialect } from '../database/dialect.ts'
import { toPrimaryKey, type Entity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Model, Resource, ToManyAttribute } from '../../model/model.ts'
import type { MadeLinks } from '../validate/linked-records.ts'
import type { ListInput } from '../validate/record-input.ts'
import type { WriteRules } from '../validate/write-rules.ts'

export interface Work {
  readonly em: EntityManager
  readonly connection: Connection
  isVisible(resource: Resource, key: KeyValues): Awaitable<boolean>
  /** Only the model's fixed filters hide the record: a change may move a record out of such a filter. */
  mayLeave(resource: Resource, key: KeyValues): Awaitable<boolean>
  mayMention(resource: Resource): Awaitable<boolean>
  meets(list: ToManyAttribute, key: KeyValues): Awaitable<boolean>
  /** Members of lists with a condition (`where`), to be met after the flush. */
  readonly conditional: ConditionalMember[]
  /** New members of many-to-many lists: errors of pivot rows name them. */
  readonly newMembers: Pick<ListInput, 'attribute' | 'items'>[]
  authorize(resource: Resource, action: 'update' | 'delete'): Awaitable<void>
  /** `undefined`: the caller may write all visible rows. */
  readonly writing: WriteRules | undefined
  /** Records that must be visible after the flush. */
  readonly touched: Touched[]
  /** Records and links (`listLinkedNames`) that lists of the body must not remove. */
  readonly setByBody: Set<string>
}

/** `key` is set for a record that was stored before. */
export interface Touched {
  readonly resource: Resource
  readonly entity: Entity
  readonly key?: KeyValues
}

export interface ConditionalMember {
  readonly list: ToManyAttribute
  readonly entity: Entity
  readonly path: string
}

export interface Translating {
  readonly dialect: Dialect
  readonly model: Model
  /** `undefined`: unknown. */
  work?: MadeLinks
}

export type EntityName = Parameters<EntityManager['findOne']>[0]

export function entityName(resource: Resource): EntityName {
  return resource.entity as EntityName
}

/** An unloaded entity, fit to be linked. */
export function reference(resource: Resource, key: KeyValues, em: EntityManager): Entity {
  return em.getReference(entityName(resource), toPrimaryKey(resource, key)) as Entity
}

export function load(resource: Resource, key: KeyValues, { em, connection }: Work): Awaitable<Entity | undefined> {
  return connection.load(entityName(resource), toPrimaryKey(resource, key), em) as Awaitable<Entity | undefined>
}

export function loadsAlone(resource: Resource, { connection }: Work): boolean {
  return connection.loadsAlone(entityName(resource))
}

export function removesAlone(resource: Resource, { connection }: Work): boolean {
  return connection.removesAlone(entityName(resource))
}

/** @throws RestError where the rules of writing refuse a record */
export function requireWritable(resource: Resource, keys: readonly KeyValues[], { writing }: Work): Awaitable<unknown> {
  return writing && runCoroutine(writing.requireWritable(resource, keys))
}
