/** MikroORM's SQLite driver on the engine's connection, corrected: column types of other databases, empty texts in lists, misfits. */
import {
  type Configuration,
  type Dictionary,
  type DriverException,
  type EntityData,
  type EntityManagerType,
  type EntityMetadata,
  type PopulateOptions,
  ArrayType,
  BigIntType,
  BlobType,
  DecimalType,
  DoubleType,
  JsonType,
  Uint8ArrayType,
  type EntityProperty,
  type Platform,
  type EntityDictionary,
  type EntityName,
  type NativeInsertUpdateManyOptions,
  type NativeInsertUpdateOptions,
  type QueryResult,
} from '@mikro-orm/core'
import { AbstractSqlDriver, EntityManager, SqliteConnection, SqliteDriver, SqlitePlatform, type AnyQueryBuilder } from '@mikro-orm/sqlite'
import { runtime } from '../../../foundation/runtime/runtime.ts'
import { formatIso } from '../../../foundation/values/iso-time.ts'
import { keysUsedUp } from '../../../model/key.ts'
import { correctedDriver } from '../../orm/corrected-driver.ts'
import { correctedManager } from '../../orm/corrected-manager.ts'
import type { Needed } from '../../orm/orm-members.ts'
import { parseStoredTime } from '../sql/stored-time.ts'
import { LARGEST_KEY } from './autoincrement.ts'
import { BoundSqliteConnection } from './bound-connection.ts'
import type { ConnectionHost } from './connection-host.ts'
import { findMeaning } from './column-types.ts'
import type { SharedSqliteDialect } from './shared-dialect.ts'

export const DRIVER_MEMBERS: readonly Needed[] = [
  { holder: 'SqliteConnection', object: SqliteConnection.prototype, members: ['executeQuery', 'getSql', 'transformRawResult'] },
]

class BoundSqlitePlatform extends SqlitePlatform {
  /** Column types of other databases keep their meaning. */
  override getDefaultMappedType(type: string): ReturnType<SqlitePlatform['getDefaultMappedType']> {
    return super.getDefaultMappedType(findMeaning(type) ?? type)
  }

  /** For a list of an empty text, MikroORM would write an empty list. */
  override marshallArray(values: string[]): string {
    return values.map(value => (value === '' ? '""' : super.marshallArray([value]))).join(',')
  }
}

export class BoundSqliteDriver extends correctedDriver(AbstractSqlDriver<BoundSqliteConnection>) {
  constructor(config: Configuration) {
    super(config, new BoundSqlitePlatform(), BoundSqliteConnection, ['kysely', 'better-sqlite3'])
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    const Manager = correctedManager(this.config.get('entityManager', EntityManager))
    return new Manager(this.config, this, this.metadata, useContext)
  }

  override convertException(exception: Error): DriverException {
    const isFull = (exception as { code?: string }).code === 'SQLITE_FULL'
    const usedUp = isFull ? (this.config.get('driverOptions') as SharedSqliteDialect).host.findUsedUp() : undefined
    return usedUp === undefined ? super.convertException(exception) : keysUsedUp(usedUp, LARGEST_KEY, exception)
  }

  override mapResult<T extends object>(
    row: EntityData<T>,
    meta: EntityMetadata<T>,
    populate?: PopulateOptions<T>[],
    builder?: AnyQueryBuilder<T>,
    map?: Dictionary,
  ): EntityData<T> | null {
    return super.mapResult(dropMisfits(row, meta as EntityMetadata, this.platform), meta, populate, builder, map)
  }

  override getORMClass(): ReturnType<SqliteDriver['getORMClass']> {
    return SqliteDriver.prototype.getORMClass.call(this)
  }
}

interface FitCheck {
  readonly column: string
  readonly fits: (value: unknown) => boolean
  /** In the place of the stored value. */
  readonly instead?: (value: unknown) => unknown
}

const known = new WeakMap<EntityMetadata, readonly FitCheck[]>()

/** Removes values of a wrong type, such as `n/a` in a column of numbers: MikroORM would fail or convert. Other values stay as stored. */
function dropMisfits<T extends object>(row: T, meta: EntityMetadata, platform: Platform): T {
  let checks = known.get(meta)
  if (checks === undefined) {
    checks = meta.props.flatMap(prop => findCheck(prop, platform) ?? [])
    known.set(meta, checks)
  }
  for (const { column, fits, instead } of checks) {
    const value = (row as Record<string, unknown>)[column]
    if (value === null || value === undefined || fits(value)) continue
    const other = instead?.(value)
    if (other === undefined) delete (row as Record<string, unknown>)[column]
    else (row as Record<string, unknown>)[column] = other
  }
  return row
}

/** Keys need no check: records are found by stored values. Types of the application check values. */
function findCheck(prop: EntityProperty, platform: Platform): FitCheck | undefined {
  const [column] = prop.fieldNames ?? []
  if (prop.kind !== 'scalar' || prop.primary === true || column === undefined || prop.persist === false) return undefined
  if (isDate(prop)) return { column, fits: value => isTime(value, platform), instead: formatTime }
  if (isText(prop)) return { column, fits: value => !(value instanceof Uint8Array), instead: formatBase64 }
  const fits = buildCheck(prop)
  return fits === undefined ? undefined : { column, fits }
}

function buildCheck(prop: EntityProperty): FitCheck['fits'] | undefined {
  const { customType: type, items, runtimeType } = prop
  if (type instanceof ArrayType) return value => typeof value === 'string' && canBeRead(value, type)
  if (type === undefined && prop.enum === true && items !== undefined) return value => items.includes(value as string)
  if (type instanceof JsonType) return value => typeof value !== 'bigint'
  if (type instanceof BigIntType) return isInteger
  if (type instanceof DoubleType || type instanceof DecimalType)
    return runtimeType === 'number' ? isNumber : value => !(value instanceof Uint8Array)
  if (type instanceof BlobType || type instanceof Uint8ArrayType) return value => value instanceof Uint8Array || typeof value === 'string'
  return undefined
}

function canBeRead(text: string, type: ArrayType): boolean {
  try {
    type.convertToDatabaseValue(type.convertToJSValue(text, type.platform!), type.platform!, {})
    return true
  } catch {
    return false
  }
}

function isText({ customType, runtimeType, enum: isEnum }: EntityProperty): boolean {
  return customType === undefined && runtimeType === 'string' && isEnum !== true
}

/** Setting the shown text changes nothing. */
function formatBase64(value: unknown): string {
  return runtime.formatBytes(value as Uint8Array, 'base64')
}

function isDate({ customType, runtimeType }: EntityProperty): boolean {
  return customType === undefined && runtimeType === 'Date'
}

/** A text without a time zone is read in the zone of the connection. */
function isTime(value: unknown, platform: Platform): boolean {
  if (typeof value === 'bigint') return !Number.isNaN(new Date(Number(value)).getTime())
  if (typeof value !== 'string') return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
  const zone = platform.getTimezone()
  const namesZone = value.includes('+') || value.lastIndexOf('-') > 10 || value.endsWith('Z')
  return !Number.isNaN(Date.parse(zone === undefined || zone === 'local' || namesZone ? value : value + zone))
}

/** The API shows times that MikroORM cannot read, such as `2024-01-01 10:00:00 UTC`. */
function formatTime(value: unknown): string | undefined {
  const time = typeof value === 'string' ? parseStoredTime(value) : undefined
  return time === undefined ? undefined : formatIso(time)
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value) || (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value))
}

function isNumber(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && Number.isFinite(Number(value))
  return typeof value === 'number'
}

interface Counter {
  readonly table: string
  readonly property: string
  readonly column: string
  /** Places of rows whose counted keys are numbers. */
  readonly numbered: readonly number[]
}

/** A bigint may be a text. */
function readKey(value: unknown): bigint | undefined {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return BigInt(value as number)
  return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined
}

/** Counts keys for the engine, where SQLite would reuse keys. */
export class CountingDriver extends BoundSqliteDriver {
  override async nativeInsert<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>,
    options?: NativeInsertUpdateOptions<T>,
  ): Promise<QueryResult<T>> {
    const counter = this.#count(entityName, [data])
    const result = await super.nativeInsert(entityName, data, options)
    return counter === undefined ? result : this.#addKeys(result, [data], counter)
  }

  override async nativeInsertMany<T extends object>(
    entityName: EntityName<T>,
    data: EntityDictionary<T>[],
    options?: NativeInsertUpdateManyOptions<T>,
    transform?: (sql: string) => string,
  ): Promise<QueryResult<T>> {
    const counter = this.#count(entityName, data)
    const result = await super.nativeInsertMany(entityName, data, options, transform)
    return counter === undefined ? result : this.#addKeys(result, data, counter)
  }

  get #host(): ConnectionHost {
    return (this.config.get('driverOptions') as SharedSqliteDialect).host
  }

  #count<T extends object>(entityName: EntityName<T>, data: readonly Dictionary[]): Counter | undefined {
    const { tableName, props } = this.metadata.get(entityName)
    const counter = props.find(prop => prop.autoincrement === true)
    if (counter === undefined) return undefined
    const { name, fieldNames, runtimeType } = counter
    const counted = runtimeType === 'number' ? [...data.keys()].filter(index => (data[index]![name] ?? null) === null) : []
    if (this.#host.counts) this.#assign(tableName, name, data)
    return { table: tableName, property: name, column: fieldNames[0]!, numbered: counted }
  }

  #assign(table: string, name: string, data: readonly Dictionary[]): void {
    const host = this.#host
    // Rows with a given key go first: no other row may get the key.
    for (const row of data) {
      const given = readKey(row[name])
      if (given !== undefined) host.giveKey(table, given)
    }
    for (const row of data) {
      const key = (row[name] as unknown) ?? host.nextKey(table)
      if (key !== undefined) row[name] = key
    }
  }

  /** @throws RestError for a counted key beyond 2^53. */
  #addKeys<T extends object>(result: QueryResult<T>, data: readonly Dictionary[], counter: Counter): QueryResult<T> {
    const { table, column, numbered } = counter
    const all = this.#host.counts ? addKeys(result, data, counter) : result
    for (const index of numbered) {
      const key = (all.rows?.[index]?.[column] as unknown) ?? (index === 0 ? all.insertId : undefined)
      if (Number(key) > Number.MAX_SAFE_INTEGER) throw keysUsedUp(table, Number.MAX_SAFE_INTEGER)
    }
    return all
  }
}

/** MikroORM's result lacks keys that the engine has assigned. */
function addKeys<T extends object>(result: QueryResult<T>, data: readonly Dictionary[], { property, column }: Counter): QueryResult<T> {
  const rows = data.map((row, index): Dictionary => {
    const key = row[property] as unknown
    return { ...(key === undefined ? {} : { [column]: key }), ...result.rows?.[index] }
  })
  const key = rows[0]?.[column] as QueryResult<T>['insertId'] | undefined
  return { ...result, rows, row: { ...rows[0], ...result.row }, ...(key === undefined ? {} : { insertId: key }) }
}
