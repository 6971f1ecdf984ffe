/** Keeps the shapes of bodies by names, and binds values to a shape. */
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { readScalar } from '../../foundation/values/scalar-type.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Connection } from '../database/connection.ts'
import { hasIssues } from '../validate/check-schemas.ts'
import { isFilled } from '../validate/fill-body.ts'
import { compute, toKeyPart, type BoundInsert } from './bind-write.ts'
import { makeRowShape, toMadeParameter, type RowShape, type WriteMode } from './row-shape.ts'

/** Clients choose the names. */
const SHAPES = 200

interface KnownShapes {
  readonly shapes: LruCache<RowShape | 'none'>
  /** Comparing names costs less than building a text. */
  last: RowShape | undefined
}

export interface NewFlatRow {
  readonly shape: RowShape
  readonly resource: Resource
  readonly body: JsonObject
  /** `bindNewRow` adds other columns. */
  readonly fields: unknown[]
  /** Undefined: no array. */
  readonly member?: JsonObject
}

/** From functions of the model, for members of a refused array: the functions run once a request. */
const madeForMembers = new WeakMap<JsonObject, readonly unknown[]>()

export class RowShapes {
  readonly #connection: Connection
  readonly #known: Readonly<Record<WriteMode, Map<Resource, KnownShapes>>> = { insert: new Map(), update: new Map(), seed: new Map() }

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Undefined: no shape, or the database would set its own time. */
  find(resource: Resource, body: JsonObject, mode: WriteMode): RowShape | undefined {
    if (!this.#connection.writesAlone()) return undefined
    let known = this.#known[mode].get(resource)
    if (known === undefined) this.#known[mode].set(resource, (known = { shapes: new LruCache(SHAPES), last: undefined }))
    if (known.last === undefined || !hasNames(body, known.last)) known.last = this.#findByNames(resource, body, mode, known)
    const { last } = known
    return last !== undefined && mode === 'insert' && !this.#connection.keepsTime(last.row.stored) ? undefined : last
  }

  #findByNames(resource: Resource, body: JsonObject, mode: WriteMode, { shapes }: KnownShapes): RowShape | undefined {
    const names = Object.keys(body)
    // Names unknown to the model are not kept.
    if (names.some(name => body[name] === undefined || !resource.byName.has(name))) return undefined
    const key = names.join('\0')
    let shape = shapes.get(key)
    if (shape === undefined) shapes.set(key, (shape = makeRowShape(resource, names, mode, this.#connection) ?? 'none'))
    return shape === 'none' || (shape.isBound && !isAllowed(body, shape)) ? undefined : shape
  }
}

/** Whether the body has the shape's names, in order, and allowed values. */
export function hasNames(body: JsonObject, shape: RowShape): boolean {
  const { names } = shape
  let at = 0
  for (const name in body) if (name !== names[at++] || body[name] === undefined) return false
  return at === names.length && (!shape.isBound || isAllowed(body, shape))
}

/** Read-only attributes come from the engine, no schema refuses, no link nests a body. */
function isAllowed(body: JsonObject, { filled, links }: RowShape): boolean {
  return filled.every(name => isFilled(body, name)) && !hasIssues(body) && links.every(({ name }) => !isObject(body[name]))
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

export function bindNewRow(flat: NewFlatRow, connection: Connection): BoundInsert {
  const { shape, resource, body, fields } = flat
  const { row, fixed, keyOf, counting, statement, columns } = shape
  const { stored } = row
  let key: KeyValues | undefined
  if (typeof keyOf?.from === 'string') key = [readScalar(body[keyOf.from], keyOf.type) as KeyValues[number]]
  if (shape.made.length > 0) {
    const values = computeMade(flat, connection)
    for (const [index, each] of shape.made.entries()) {
      if (each === keyOf?.from) key = [toKeyPart(values[index], keyOf.type)]
      fields.push(toMadeParameter(values[index], each.column, connection.dialect.writing))
    }
  }
  fields.push(...fixed)
  // Later records must not be counted to a given key.
  if (key !== undefined && resource.generatedKey) connection.takeKey(stored, key[0])
  const counted = counting === undefined ? undefined : connection.takeKey(stored, undefined)
  if (counted === undefined) return { statement, columns, parameters: fields, key, resource, stored }
  fields.push(BigInt(counted))
  return { ...counting!, parameters: fields, key: keyFromCount(counted, resource), resource, stored }
}

function computeMade({ shape, body, member }: NewFlatRow, connection: Connection): readonly unknown[] {
  const values = madeForMembers.get(member ?? body) ?? shape.made.map(({ computed }) => compute(computed, {}, connection))
  if (member === undefined) madeForMembers.delete(body)
  else madeForMembers.set(member, values)
  return values
}

export function forgetMade(members: readonly JsonObject[]): void {
  for (const member of members) madeForMembers.delete(member)
}
