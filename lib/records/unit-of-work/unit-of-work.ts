/**
 * Unit of work: the unit of work of one request: the entity manager, what the caller may see and do, and what the write has touched so far.
 */
import type { EntityManager } from '@mikro-orm/core'
import { runCoroutine, type Awaitable } from '../../foundation/work/awaitable.ts'
import type { Connection } from '../database/connection.ts'
import type { Dialect } from '../database/dialect.ts'
import { toPrimaryKey, type Entity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Model, Resource, ToManyAttribute } from '../../model/model.ts'
import type { ListInput } from '../validate/record-input.ts'
import type { WriteRules } from '../validate/write-rules.ts'

/** The unit of work of one request. */
export interface Work {
  readonly em: EntityManager
  readonly connection: Connection
  /** Whether the record exists for the caller. */
  exists(resource: Resource, key: KeyValues): Awaitable<boolean>
  /** Whether the record exists for the caller but for filters of the model with a fixed condition, which a change may take it out of. */
  mayLeave(resource: Resource, key: KeyValues): Awaitable<boolean>
  /** Whether an error may mention records of the resource to the caller. */
  mayMention(resource: Resource): Awaitable<boolean>
  /** Whether the record meets the condition of a list, beside its link. */
  meets(list: ToManyAttribute, key: KeyValues): Awaitable<boolean>
  /** Records that the body puts into lists with a condition, which they must meet once they are written. */
  readonly listed: Listed[]
  /** What the body puts into many-to-many lists: the database may refuse the rows that link it. */
  readonly entered: Pick<ListInput, 'attribute' | 'items'>[]
  /** Refuses an action on records of the resource that the caller may not take. */
  authorize(resource: Resource, action: 'update' | 'delete'): Awaitable<void>
  /** Which rows the caller may write, where that is not all that exist. */
  readonly writing: WriteRules | undefined
  /** Records that the write has created, or linked in another way; the latter with their keys. */
  readonly touched: Touched[]
  /** Names of the records and links that the body sets: its lists must not remove those records, nor those links. */
  readonly named: Set<string>
}

/** A record that a write has created or linked; one that was there before has its key. */
export interface Touched {
  readonly resource: Resource
  readonly entity: Entity
  readonly key?: KeyValues
}

/** A record in a list of a body. */
export interface Listed {
  readonly list: ToManyAttribute
  readonly entity: Entity
  readonly path: string
}

/** What a transaction of a request is translated by. */
export interface Translating {
  readonly dialect: Dialect
  readonly model: Model
  /** The unit of work that writes, if any. */
  work?: Pick<Work, 'entered' | 'touched'>
}

export type EntityName = Parameters<EntityManager['findOne']>[0]

export function entityName(resource: Resource): EntityName {
  return resource.entity as EntityName
}

/** Returns the entity of a key without loading it: it can be linked. */
export function reference(resource: Resource, key: KeyValues, em: EntityManager): Entity {
  return em.getReference(entityName(resource), toPrimaryKey(resource, key)) as Entity
}

/** Loads the entity of a key; undefined when there is none. */
export function load(resource: Resource, key: KeyValues, { em, connection }: Work): Awaitable<Entity | undefined> {
  return connection.load(entityName(resource), toPrimaryKey(resource, key), em) as Awaitable<Entity | undefined>
}

/** Whether loading a record shows that it exists, since it is one row of one table. */
export function loadsAlone(resource: Resource, { connection }: Work): boolean {
  return connection.loadsAlone(entityName(resource))
}

/** Whether a record can be removed by its key alone. */
export function removesAlone(resource: Resource, { connection }: Work): boolean {
  return connection.removesAlone(entityName(resource))
}

/** Refuses to change records that are there which the caller may not write. */
export function mayChange(resource: Resource, keys: readonly KeyValues[], { writing }: Work): Awaitable<unknown> {
  return writing && runCoroutine(writing.change(resource, keys))
}
