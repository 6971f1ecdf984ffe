/**
 * Bind query: binds the values of a MikroORM statement, where MikroORM itself writes literals. A bound value means what the literal would:
 * texts take the type of their surroundings, numbers and booleans have the literal's type. `undefined` for texts without parameters: DDL,
 * several statements, orders or groupings with values, too many values.
 */
import { JsonProperty, Utils, isRaw, type Platform } from '@mikro-orm/core'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { isBuilder, unwrapQuery } from '../../orm/unwrap-query.ts'
import { readTemplate, type ParameterPlace, type Template } from './query-template.ts'

/** The protocol counts parameters in 16 bits. */
const MAX_PARAMETERS = 65_535

const templates = new LruCache<Template>(1000, { bytes: 4 << 20, weigh: ({ places }, sql) => 100 + 4 * sql.length + 100 * places.length })

function findTemplate(sql: string): Template {
  let template = templates.get(sql)
  if (template === undefined) templates.set(sql, (template = readTemplate(sql)))
  return template
}

interface BoundQuery {
  readonly sql: string
  readonly values: unknown[]
}

/** MikroORM then writes the statement. */
class Unbindable extends Error {}

export function bindQuery(platform: Platform, sql: string, params: readonly unknown[]): BoundQuery | undefined {
  if (params.length === 0) return { sql, values: [] }
  if (!findTemplate(sql).isStatement) return undefined
  const binder = new Binder(platform)
  try {
    const text = binder.write(sql, params)
    return binder.values.length > MAX_PARAMETERS ? undefined : { sql: text, values: binder.values }
  } catch (error) {
    if (error instanceof Unbindable) return undefined
    throw error
  }
}

class Binder {
  readonly values: unknown[] = []
  readonly #platform: Platform

  constructor(platform: Platform) {
    this.#platform = platform
  }

  /** Numbers the parameters, of fragments among the values, too. */
  write(sql: string, params: readonly unknown[]): string {
    if (params.length === 0) return sql
    const { places, rest, isBindable } = findTemplate(sql)
    if (!isBindable || places.length !== params.length) throw new Unbindable()
    let text = ''
    for (const [index, place] of places.entries()) text += place.before + this.#writeAt(place, params[index])
    return text + rest
  }

  #writeAt(place: ParameterPlace, value: unknown): string {
    if (place.isName) return this.#platform.quoteIdentifier(value as string)
    // Grammar, and no expression: `is true`, `interval '1 day'`.
    const isWord = value === null || typeof value === 'boolean'
    if ((place.asks === 'literal' && !isRaw(value)) || (place.asks === 'keyword' && isWord)) return this.#platform.quoteValue(value)
    return this.#writeValue(value, place)
  }

  #isJson(value: object): boolean {
    return Utils.isPlainObject(value) || JsonProperty in value
  }

  #writeValue(value: unknown, place: ParameterPlace): string {
    switch (typeof value) {
      case 'string':
        return this.#bind(value, place)
      case 'bigint':
        return this.#bind(value.toString(), place)
      case 'number':
        return `${this.#bind(value)}::${findNumberType(value)}`
      case 'boolean':
        return `${this.#bind(value)}::bool`
      case 'undefined':
        return this.#bind(null, place)
      case 'object':
        return value === null ? this.#bind(null, place) : this.#writeObject(value, place)
      default:
        throw new Unbindable()
    }
  }

  #writeObject(value: object, place: ParameterPlace): string {
    if (isRaw(value)) return this.write(value.sql, value.params)
    if (isBuilder(value)) {
      const { text, values } = unwrapQuery(value, [])
      return this.write(text, values)
    }
    if (this.#isJson(value)) return this.#bind(JSON.stringify(value), place)
    // MikroORM puts commas between the elements of a list: `in (?)`.
    if (Array.isArray(value)) return value.map(each => this.#writeValue(each, place)).join(', ')
    return this.#bind(this.#format(value), place)
  }

  #format(value: object): string {
    // In MikroORM's time zone. A date needs no escapes.
    if (value instanceof Date) return this.#platform.quoteValue(value).slice(1, -1)
    if (ArrayBuffer.isView(value)) return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
    // eslint-disable-next-line typescript/unbound-method -- compared, not called
    if (value.toString === Object.prototype.toString) throw new Unbindable()
    // eslint-disable-next-line typescript/no-base-to-string -- a form of its own, such as a number of many digits
    return String(value)
  }

  #bind(value: unknown, place?: ParameterPlace): string {
    this.values.push(value)
    return `$${this.values.length}${place?.asks === 'type' ? '::text' : ''}`
  }
}

function findNumberType(value: number): string {
  if (!Number.isFinite(value)) return 'float8'
  if (!Number.isSafeInteger(value)) return 'numeric'
  return Math.abs(value) < 2 ** 31 ? 'int4' : 'int8'
}
