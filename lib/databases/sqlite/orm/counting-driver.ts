/** MikroORM's driver with keys counted by the engine, where SQLite would reuse keys. */
import type {
  Dictionary,
  EntityDictionary,
  EntityName,
  NativeInsertUpdateManyOptions,
  NativeInsertUpdateOptions,
  QueryResult,
} from '@mikro-orm/core'
import { keysUsedUp } from '../../../model/key.ts'
import type { ConnectionHost } from './connection-host.ts'
import type { SharedSqliteDialect } from './shared-dialect.ts'
import { BoundSqliteDriver } from './driver.ts'

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
