/**
 * Binds the values of a MikroORM statement as parameters, which MikroORM itself writes into the text as literals. A bound value means what
 * its literal would: texts, and what MikroORM quotes as such, take the type of what they stand beside; numbers and booleans have that of
 * their literal. Undefined for a text that takes no parameters: DDL, several statements, an order or a grouping with values in it, and more
 * values than the server takes.
 */
import { JsonProperty, Utils, isRaw, type Platform } from '@mikro-orm/core'
import { LruCache } from '../../../foundation/base/lru-cache.ts'
import { isBuilder, unwrapQuery } from '../../orm/unwrap-query.ts'
import { readTemplate, type ParameterPlace, type Template } from './query-template.ts'

/** The protocol counts them in 16 bits. */
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

/** Thrown for a value or a text that cannot be bound; the statement is MikroORM's then. */
class Unbindable extends Error {}

/** Returns the text with its bound values. Undefined when they cannot be bound. */
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

  /** Returns a text, of a statement or of a fragment among its values, with numbered parameters. */
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
    // MikroORM writes the elements of a list with commas between: `in (?)`.
    if (Array.isArray(value)) return value.map(each => this.#writeValue(each, place)).join(', ')
    return this.#bind(this.#format(value), place)
  }

  #format(value: object): string {
    // In the time zone of MikroORM's options. A date has nothing in it that is quoted.
    if (value instanceof Date) return this.#platform.quoteValue(value).slice(1, -1)
    if (ArrayBuffer.isView(value)) return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
    // eslint-disable-next-line typescript/unbound-method -- it is compared, not called
    if (value.toString === Object.prototype.toString) throw new Unbindable()
    // eslint-disable-next-line typescript/no-base-to-string -- it has a form of its own, as a number of many digits has
    return String(value)
  }

  #bind(value: unknown, place?: ParameterPlace): string {
    this.values.push(value)
    return `$${this.values.length}${place?.asks === 'type' ? '::text' : ''}`
  }
}

/** Returns the type of a number's literal. */
function findNumberType(value: number): string {
  if (!Number.isFinite(value)) return 'float8'
  if (!Number.isSafeInteger(value)) return 'numeric'
  return Math.abs(value) < 2 ** 31 ? 'int4' : 'int8'
}
