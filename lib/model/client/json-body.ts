/**
 * JSON body: writes a value as JSON has it: dates in ISO 8601, bigints as strings, bytes in base64; members that are undefined are left
 * out.
 */

/** @throws TypeError for a function or a symbol, and for an invalid date. */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`client: a body cannot have a ${typeof value}.`)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError('client: a body cannot have an invalid date.')
    return value.toISOString()
  }
  if (value instanceof Uint8Array) return btoa(Array.from(value, byte => String.fromCharCode(byte)).join(''))
  if (Array.isArray(value)) return value.map(toJson)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
}
