/** Row shapes: keeps the shapes of bodies by names, and binds values. */
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { fromProperty, readScalar } from '../../foundation/values/scalar-type.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Statement } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { hasIssues } from '../validate/check-schemas.ts'
import { isFilled } from '../validate/fill-body.ts'
import { compute, type MadeValues } from './made-values.ts'
import { makeRowShape, toParameter, type RowShape, type WriteMode } from './row-shape.ts'

/** Clients choose the names, so shapes need a limit. */
const SHAPES = 200

interface KnownShapes {
  readonly shapes: LruCache<RowShape | 'none'>
  /** Comparing names costs less than building a text of names. */
  last: RowShape | undefined
}

interface NewRow {
  readonly shape: RowShape
  readonly resource: Resource
  readonly body: JsonObject
  /** `bindNewRow` adds the other columns. */
  readonly fields: unknown[]
  readonly values: MadeValues | undefined
}

interface BoundRow {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
  /** `undefined`: the database counts the key. */
  readonly key: KeyValues | undefined
}

export class RowShapes {
  readonly #connection: Connection
  readonly #known = { insert: new Map<Resource, KnownShapes>(), update: new Map<Resource, KnownShapes>() }

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** `undefined`: no shape, or the database would set another time than the engine's. */
  findInsert(resource: Resource, body: JsonObject): RowShape | undefined {
    const shape = this.find(resource, body, 'insert')
    return shape !== undefined && this.#connection.keepsTime(shape.row.stored) ? shape : undefined
  }

  find(resource: Resource, body: JsonObject, mode: WriteMode): RowShape | undefined {
    if (!this.#connection.writesAlone()) return undefined
    let known = this.#known[mode].get(resource)
    if (known === undefined) this.#known[mode].set(resource, (known = { shapes: new LruCache(SHAPES), last: undefined }))
    if (known.last === undefined || !hasNames(body, known.last)) known.last = this.#findByNames(resource, body, mode, known)
    return known.last
  }

  #findByNames(resource: Resource, body: JsonObject, mode: WriteMode, { shapes }: KnownShapes): RowShape | undefined {
    const names = Object.keys(body)
    // Unknown names sent by clients are not kept.
    if (names.some(name => body[name] === undefined || !resource.byName.has(name))) return undefined
    const key = names.join('\0')
    let shape = shapes.get(key)
    if (shape === undefined) shapes.set(key, (shape = makeRowShape(resource, names, mode, this.#connection) ?? 'none'))
    return shape === 'none' || (shape.isBound && !isAllowed(body, shape)) ? undefined : shape
  }
}

/** In the same order. */
export function hasNames(body: JsonObject, shape: RowShape): boolean {
  const { names } = shape
  let at = 0
  for (const name in body) if (name !== names[at++] || body[name] === undefined) return false
  return at === names.length && (!shape.isBound || isAllowed(body, shape))
}

/** Whether the engine has filled read-only attributes, no schema refuses a value, and the link nests no body. */
function isAllowed(body: JsonObject, { filled, link }: RowShape): boolean {
  return filled.every(name => isFilled(body, name)) && !hasIssues(body) && (link === undefined || !isObject(body[link.name]))
}

export function bindFields({ fields }: RowShape, body: JsonObject): unknown[] | undefined {
  const parameters: unknown[] = []
  for (const { name, read } of fields) {
    const parameter = read(body[name])
    if (parameter === undefined) return undefined
    parameters.push(parameter)
  }
  return parameters
}

/** `undefined`: a function of the model made a value that has no parameter. */
export function bindNewRow({ shape, resource, body, fields, values }: NewRow, connection: Connection): BoundRow | undefined {
  const { row, made, fixed, keyOf, counting, statement } = shape
  let key: KeyValues | undefined
  if (typeof keyOf?.from === 'string') key = [readScalar(body[keyOf.from], keyOf.type) as KeyValues[number]]
  for (const each of made) {
    const value = compute(each.computed, {}, connection.orm.em, values!)
    const parameter = (value ?? null) === null ? undefined : toParameter(value, each.column, connection.dialect.writing)
    if (parameter === undefined) return undefined
    if (each === keyOf?.from) key = [fromProperty(value, keyOf.type)]
    fields.push(parameter)
  }
  fields.push(...fixed)
  const counted = counting === undefined ? undefined : connection.takeKey(row.stored, undefined)
  if (counted === undefined) return { statement, parameters: fields, key }
  fields.push(BigInt(counted))
  return { statement: counting!, parameters: fields, key: keyFromCount(counted, resource) }
}
