/**
 * MikroORM's PostgreSQL driver on the engine's sessions, corrected: times of the engine's clock, `infinity`, lists, sequences behind given
 * keys.
 */
import type {
  Configuration,
  EntityDictionary,
  EntityManagerType,
  EntityMetadata,
  EntityName,
  FilterQuery,
  NativeInsertUpdateManyOptions,
  NativeInsertUpdateOptions,
  QueryResult,
  Transaction,
  UpsertOptions,
} from '@mikro-orm/core'
import { AbstractSqlDriver, EntityManager, PostgreSqlDriver, PostgreSqlPlatform } from '@mikro-orm/postgresql'
import type { Clock } from '../../../foundation/async/clock.ts'
import { insertInGroups } from '../../orm/grouped-rows.ts'
import { EndlessDate, parseServerTime } from '../../../foundation/values/iso-time.ts'
import { formatTime } from '../sql/encode.ts'
import { correctedDriver } from '../../orm/corrected-driver.ts'
import { correctedManager } from '../../orm/corrected-manager.ts'
import { qualifyTable } from '../../../model/table-name.ts'
import { tableName } from '../../sql/sql.ts'
import { raiseSequence } from '../sql/write-rows.ts'
import { parseArray } from '../server/sessions.ts'
import { BoundPostgresConnection } from './bound-connection.ts'
import type { LentDialect } from './lent-dialect.ts'
import { followClock, withTime } from './server-time.ts'

/** `{1,NULL,"a b",{2}}` */
function formatArray(values: readonly unknown[]): string {
  const items = values.map(value => {
    if (value === null || value === undefined) return 'NULL'
    if (Array.isArray(value)) return formatArray(value)
    const text = value instanceof Date ? value.toISOString() : `${value as string | number | bigint | boolean}`
    return /^[\w.+-]+$/.test(text) && !/^null$/i.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  })
  return `{${items.join(',')}}`
}

class LentPlatform extends PostgreSqlPlatform {
  /** 32 bits would change JavaScript's numbers. */
  override getFloatDeclarationSQL(): string {
    return this.getDoubleDeclarationSQL()
  }

  /** Also nested lists, NULL, line breaks and the word null. */
  override marshallArray(values: readonly unknown[]): string {
    return formatArray(values)
  }

  override unmarshallArray(text: string): string[] {
    return parseArray(text)
  }

  /** `infinity` must be a Date, not a number. */
  override parseDate(value: string | number): Date {
    // MikroORM appends its zone to a time without zone.
    const time = typeof value === 'string' ? parseServerTime(value.replace(/Z$/, '')) : undefined
    if (time === undefined) return super.parseDate(value)
    return Number.isFinite(time) ? new Date(time) : new EndlessDate(time)
  }

  override processDateProperty(value: unknown): string | number | Date {
    return value instanceof EndlessDate ? value.toISOString() : super.processDateProperty(value)
  }

  override formatDate(date: Date): string {
    return this.timezone === 'Z' ? formatTime(date.getTime()) : super.formatDate(date)
  }

  override getCurrentTimestampSQL(length: number): string {
    const usual = super.getCurrentTimestampSQL(length)
    const clock = findClock(this.config)
    return clock === undefined || clock.isSystem ? usual : (withTime(usual, clock.time()) ?? usual)
  }
}

function findClock(config: Configuration): Clock | undefined {
  return (config.get('driverOptions') as LentDialect).host.clock()
}

export class OrmDriver extends correctedDriver(AbstractSqlDriver<BoundPostgresConnection>) {
  constructor(config: Configuration) {
    super(config, new LentPlatform(), BoundPostgresConnection, ['kysely', 'pg'])
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    // MikroORM's types allow no other driver.
    const Manager = correctedManager(this.config.get('entityManager', EntityManager as never) as typeof EntityManager)
    return new Manager(this.config, this as never, this.metadata, useContext)
  }

  get #clock(): Clock | undefined {
    return findClock(this.config)
  }

  override async nativeUpdate<T extends object>(
    entityName: EntityName<T>,
    where: FilterQuery<T>,
    data: EntityDictionary<T>,
    options: NativeInsertUpdateOptions<T> & UpsertOptions<T> = {},
  ): Promise<QueryResult<T>> {
    followClock(this.metadata.get(entityName), [data], this.#clock, false)
    return super.nativeUpdate(entityName, where, data, options)
  }

  override async nativeInsertMany<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>[],
    options?: NativeInsertUpdateManyOptions<T>,
    transform?: (sql: string) => string,
  ): Promise<QueryResult<T>> {
    const meta = this.metadata.get(entityName)
    followClock(meta, data, this.#clock, true)
    return insertInGroups(meta, data, async rows => {
      const result = await super.nativeInsertMany(entityName, rows, options, transform)
      // The next group may get keys of the sequence.
      await this.#raiseSequence(meta, rows, options?.ctx)
      return result
    })
  }

  override async nativeInsert<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>,
    options?: NativeInsertUpdateOptions<T>,
  ): Promise<QueryResult<T>> {
    followClock(this.metadata.get(entityName), [data], this.#clock, true)
    const result = await super.nativeInsert(entityName, data, options)
    await this.#raiseSequence(this.metadata.get(entityName), [data], options?.ctx)
    return result
  }

  /** The sequence must not repeat inserted keys. */
  async #raiseSequence<T extends object>(meta: EntityMetadata<T>, rows: readonly EntityDictionary<T>[], ctx?: Transaction): Promise<void> {
    const counter = meta.props.find(prop => prop.autoincrement === true)
    if (counter === undefined) return
    let highest: bigint | undefined
    for (const row of rows) {
      const given: unknown = row[counter.name]
      if (
        (typeof given === 'number' && Number.isSafeInteger(given)) ||
        typeof given === 'bigint' ||
        (typeof given === 'string' && /^\d+$/.test(given))
      )
        highest = highest === undefined || BigInt(given) > highest ? BigInt(given) : highest
    }
    if (highest === undefined || highest < 1n) return
    const place = [tableName(qualifyTable(meta.tableName, meta.schema)), counter.fieldNames[0]!]
    await this.execute(raiseSequence('select ?::bigint as k', ['?', '?']), [highest, ...place], 'run', ctx)
  }

  override getORMClass(): ReturnType<PostgreSqlDriver['getORMClass']> {
    return PostgreSqlDriver.prototype.getORMClass.call(this)
  }
}
