/** JSON body: turns dates into ISO 8601, bigints into strings, bytes into base64. */

/** @throws TypeError for a function, a symbol or an invalid date */
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
