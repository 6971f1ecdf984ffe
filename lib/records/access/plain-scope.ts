/**
 * Reads the result of a scope or write rule, such as `{ owner: 5 }`. The next result mostly has the same properties: the condition is kept,
 * and only values are read.
 */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { whenReadable } from '../../foundation/expressions/load-expressions.ts'
import type { Attribute, Resource } from '../../model/model.ts'
import type { Condition } from '../plan/read-plan.ts'
import { typedValue } from './given-values.ts'
import { FilterQueryReader } from './orm-filter.ts'

export interface ReadScope {
  readonly condition: Condition | undefined
  readonly values: readonly unknown[]
  /** The condition without values, for cache keys of plans. */
  readonly shape: string
}

/** Readers return undefined for a wrong type. */
interface KnownScope {
  readonly names: readonly string[]
  readonly read: readonly ((value: unknown) => unknown)[]
  readonly scope: ReadScope
}

const known = { scope: new WeakMap<Resource, KnownScope>(), write: new WeakMap<Resource, KnownScope>() }

/** @param prefix of the shape */
export function readScope(query: object, resource: Resource, kind: keyof typeof known, prefix = ''): Awaitable<ReadScope> {
  const last = known[kind].get(resource)
  const values = last && readValues(query, last)
  if (values !== undefined) return { ...last!.scope, values }
  return chain(whenReadable(query), () => readAnew(query, resource, kind, prefix))
}

function readAnew(query: object, resource: Resource, kind: keyof typeof known, prefix: string): ReadScope {
  const reader = new FilterQueryReader(resource)
  const condition = reader.read(query, resource, `${kind} of ${resource.className}`)
  const scope = { condition, values: reader.values, shape: prefix + reader.shape }
  const read = findReaders(query, resource)
  if (read !== undefined) known[kind].set(resource, { names: Object.keys(query), read, scope: { ...scope, values: [] } })
  return scope
}

/** Undefined for other properties or conditions. */
function readValues(query: object, { names, read }: KnownScope): readonly unknown[] | undefined {
  if (Object.getPrototypeOf(query) !== Object.prototype || Object.getOwnPropertySymbols(query).length > 0) return undefined
  const values: unknown[] = []
  for (const name in query) {
    const at = values.length
    const given = (query as Record<string, unknown>)[name]
    const value = name === names[at] && isPlainValue(given) ? read[at]!(given) : undefined
    if (value === undefined) return undefined
    values.push(value)
  }
  return values.length === names.length ? values : undefined
}

function findReaders(query: object, { attributes }: Resource): readonly ((value: unknown) => unknown)[] | undefined {
  const readers: ((value: unknown) => unknown)[] = []
  for (const [name, value] of Object.entries(query)) {
    const reader = isPlainValue(value) ? findReader(attributes.find(({ property }) => property === name)) : undefined
    if (reader === undefined) return undefined
    readers.push(reader)
  }
  return readers
}

function findReader(attribute: Attribute | undefined): ((value: unknown) => unknown) | undefined {
  if (attribute?.kind === 'scalar') return value => typedValue(value, attribute.type)
  if (attribute?.kind !== 'toOne' || attribute.targetKey !== undefined || attribute.target.key.length > 1) return undefined
  const { type } = attribute.target.key[0]!
  return value => {
    const typed = typedValue(value, type)
    return typed === undefined ? undefined : [typed]
  }
}

function isPlainValue(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol'
}
