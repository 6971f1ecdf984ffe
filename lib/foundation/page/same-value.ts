/** Compares two values with their parts and classes in a page, as `util.isDeepStrictEqual` of Node does. */

/** Pairs under comparison: values may hold themselves. */
type Compared = Map<object, object>

export function isSameValue(a: unknown, b: unknown): boolean {
  return isSame(a, b, new Map())
}

function isSame(a: unknown, b: unknown, compared: Compared): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const known = compared.get(a)
  if (known !== undefined) return known === b
  compared.set(a, b)
  const same = hasSameContent(a, b, compared) && hasSameProperties(a, b, compared)
  compared.delete(a)
  return same
}

/** Compares content beside properties: the time of a Date. */
function hasSameContent(a: object, b: object, compared: Compared): boolean {
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime())
  if (a instanceof RegExp) return isSameExpression(a, b as RegExp)
  if (a instanceof Error) return a.message === (b as Error).message && a.name === (b as Error).name
  if (a instanceof ArrayBuffer) return isSame(new Uint8Array(a), new Uint8Array(b as ArrayBuffer), compared)
  if (a instanceof Map) return haveSameEntries(a, b as Map<unknown, unknown>, compared)
  if (a instanceof Set) return haveSameMembers([...a], [...(b as Set<unknown>)], compared)
  if (isBoxed(a)) return Object.is(a.valueOf(), b.valueOf())
  return !Array.isArray(a) || a.length === (b as unknown[]).length
}

function isSameExpression(a: RegExp, b: RegExp): boolean {
  return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex
}

function isBoxed(value: object): boolean {
  return [String, Number, Boolean, BigInt, Symbol].some(Boxed => value instanceof Boxed)
}

function haveSameEntries(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>, compared: Compared): boolean {
  return haveSameMembers([...a], [...b], compared)
}

/** Compares members in any order. */
function haveSameMembers(a: readonly unknown[], b: readonly unknown[], compared: Compared): boolean {
  if (a.length !== b.length) return false
  const left = [...b]
  return a.every(member => {
    const at = left.findIndex(other => isSame(member, other, compared))
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
}

function hasSameProperties(a: object, b: object, compared: Compared): boolean {
  const [keys, others] = [listKeys(a), listKeys(b)]
  const read = (value: object, key: PropertyKey): unknown => (value as Readonly<Record<PropertyKey, unknown>>)[key]
  return (
    keys.length === others.length &&
    keys.every(key => Object.prototype.propertyIsEnumerable.call(b, key) && isSame(read(a, key), read(b, key), compared))
  )
}

function listKeys(value: object): PropertyKey[] {
  return Reflect.ownKeys(value).filter(key => Object.prototype.propertyIsEnumerable.call(value, key))
}
