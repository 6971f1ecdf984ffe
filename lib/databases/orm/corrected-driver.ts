/** Corrects how MikroORM's drivers treat keys of several parts, links by other keys, and inserts and updates of several rows. */
import {
  Utils,
  type DeleteOptions,
  type Dictionary,
  type DriverException,
  type EntityData,
  type EntityDictionary,
  type EntityManager,
  type EntityName,
  type EntityProperty,
  type FilterQuery,
  type FindOptions,
  type IDatabaseDriver,
  type MetadataStorage,
  type NativeInsertUpdateManyOptions,
  type NativeInsertUpdateOptions,
  type ObjectQuery,
  type OrderDefinition,
  type Primary,
  type QueryResult,
  type Transaction,
  type UpsertManyOptions,
  type UpsertOptions,
  EntityIdentifier,
} from '@mikro-orm/core'
import { RestError } from '../../foundation/errors/errors.ts'
import { correctComparator } from './corrected-comparator.ts'
import { insertInGroups, updateInGroups } from './grouped-rows.ts'
import { rememberPrototypes } from './shared-classes.ts'
import { loadTargetKeys, type TargetKeyDriver } from './target-keys.ts'

interface Driver extends IDatabaseDriver, TargetKeyDriver {
  readonly comparator: object
}

// oxlint-disable-next-line typescript/no-explicit-any -- the base of a mixin
type DriverClass = new (...given: any[]) => Driver

export function correctedDriver<C extends { readonly prototype: object }>(base: C): C {
  return correctWriting(correctReading(base as unknown as DriverClass)) as unknown as C
}

function correctReading(base: DriverClass): DriverClass {
  return class extends base {
    override setMetadata(metadata: MetadataStorage): void {
      super.setMetadata(metadata)
      correctComparator(this.comparator)
      rememberPrototypes(metadata)
    }

    override convertException(exception: Error): DriverException {
      return exception instanceof RestError ? exception : super.convertException(exception)
    }

    override async find<T extends object, P extends string = never, F extends string = never, E extends string = never>(
      entityName: EntityName<T>,
      where: ObjectQuery<T>,
      options: FindOptions<T, P, F, E> = {},
    ): Promise<EntityData<T>[]> {
      const rows = await super.find(entityName, where, options)
      const { em, ctx } = options as { em?: EntityManager; ctx?: Transaction }
      await loadTargetKeys(this.getMetadata().get(entityName), rows, this, em, ctx)
      return rows
    }

    // oxlint-disable-next-line max-params -- the signature is MikroORM's
    override async loadFromPivotTable<T extends object>(
      prop: EntityProperty,
      owners: Primary<object>[][],
      where?: object,
      orderBy?: OrderDefinition<T>,
      ctx?: Transaction,
      options?: FindOptions<T, string, string, string>,
      pivotJoin?: boolean,
    ): Promise<Dictionary<T[]>> {
      const lists = await super.loadFromPivotTable(prop, owners, where, orderBy, ctx, options as never, pivotJoin)
      await loadTargetKeys(prop.targetMeta!, Object.values(lists).flat() as Dictionary[], this, undefined, ctx)
      return lists
    }
  }
}

function correctWriting(base: DriverClass): DriverClass {
  return class extends base {
    override async nativeUpdate<T extends object>(
      entityName: EntityName<T>,
      where: FilterQuery<T>,
      data: EntityDictionary<T>,
      options: NativeInsertUpdateOptions<T> & UpsertOptions<T> = {},
    ): Promise<QueryResult<T>> {
      resolveKeys(data)
      const { properties } = this.getMetadata().get(entityName)
      flattenKeys(data, name => isLink(properties[name as never]))
      if (Utils.isPlainObject(where)) flattenKeys(where)
      return super.nativeUpdate(entityName, where, data, options)
    }

    override async nativeDelete<T extends object>(
      entityName: EntityName<T>,
      where: FilterQuery<T>,
      options: DeleteOptions<T> = {},
    ): Promise<QueryResult<T>> {
      const [[, condition] = []] = Object.entries(where as Dictionary)
      const keys = (condition as { $in?: unknown } | null | undefined)?.$in
      if (Array.isArray(keys)) flattenKeys(keys)
      return super.nativeDelete(entityName, where, options)
    }

    override async nativeUpdateMany<T extends object>(
      entityName: EntityName<T>,
      where: FilterQuery<T>[],
      data: EntityDictionary<T>[],
      options?: NativeInsertUpdateManyOptions<T> & UpsertManyOptions<T>,
      ...transform: unknown[]
    ): Promise<QueryResult<T>> {
      const update = (own: FilterQuery<T>[], rows: EntityDictionary<T>[]): Promise<QueryResult<T>> =>
        super.nativeUpdateMany(entityName, own, rows, options, ...(transform as []))
      return options?.upsert === true ? update(where, data) : updateInGroups(this.getMetadata().get(entityName), where, data, update)
    }

    override async nativeInsertMany<T extends object>(
      entityName: EntityName<T>,
      data: EntityDictionary<T>[],
      options?: NativeInsertUpdateManyOptions<T>,
      transform?: (sql: string) => string,
    ): Promise<QueryResult<T>> {
      data.forEach(resolveKeys)
      return insertInGroups(this.getMetadata().get(entityName), data, rows => super.nativeInsertMany(entityName, rows, options, transform))
    }
  }
}

/** Fills in the generated keys of earlier records, in keys of any depth. */
function resolveKeys(row: Dictionary): void {
  for (const name in row) {
    const value: unknown = row[name]
    if (Array.isArray(value) && hasOpenKey(value)) row[name] = resolvedKey(value)
  }
}

/** Makes `[1, 2, 3, 4]` of `[1, [2, [3, 4]]]`: MikroORM would compare a key in keys with rows. */
function flattenKeys(holder: Dictionary, isKey: (name: string) => boolean = () => true): void {
  for (const name in holder) {
    const value: unknown = holder[name]
    if (Array.isArray(value) && isKey(name) && value.some(isKeyOfSeveral)) holder[name] = value.flatMap(flattenParts)
  }
}

/** MikroORM itself splits off the discriminator of a polymorphic key. */
function isLink(prop: EntityProperty | undefined): boolean {
  return prop?.joinColumns !== undefined && prop.polymorphic !== true
}

function isKeyOfSeveral(part: unknown): part is object {
  return Array.isArray(part) || Utils.isPlainObject(part)
}

function flattenParts(part: unknown): unknown[] {
  return isKeyOfSeveral(part) ? Object.values(part).flatMap(flattenParts) : [part]
}

function hasOpenKey(value: unknown): boolean {
  return value instanceof EntityIdentifier || (Array.isArray(value) && value.some(hasOpenKey))
}

function resolvedKey(value: unknown): unknown {
  if (value instanceof EntityIdentifier) return resolvedKey(value.getValue())
  return Array.isArray(value) ? value.map(resolvedKey) : value
}
