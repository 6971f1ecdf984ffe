/** Writes values and calls as source code, for `--eject`. */

/** Code to write as such: a name, a function. */
export class Code {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** In quotes with fewer escapes. */
function quoted(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  const count = (quote: string): number => inside.split(quote).length
  const quote = count("'") > count('"') ? '"' : "'"
  return quote + inside.replaceAll(quote, `\\${quote}`) + quote
}

/** Writes JSON, dates and code: `{ maxLimit: 50 }`. An object or list with an object inside has a member a line. */
export function literal(value: unknown): string {
  if (value instanceof Code) return value.text
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Date) return `new Date(${quoted(value.toISOString())})`
  if (Array.isArray(value)) return value.some(hasMembers) ? lines('[', value.map(literal), ']') : `[${value.map(literal).join(', ')}]`
  if (!hasMembers(value)) return isObject(value) ? '{}' : String(value)
  const members = Object.entries(value).map(([key, item]) => member(key, literal(item)))
  return Object.values(value).some(hasMembers) ? lines('{', members, '}') : `{ ${members.join(', ')} }`
}

export function isLiteral(value: unknown): boolean {
  if (value === null || value instanceof Code || value instanceof Date) return true
  if (Array.isArray(value)) return value.every(isLiteral)
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol' && value !== undefined
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isLiteral)
}

export function member(name: string, code: string): string {
  return `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)}: ${code}`
}

/** All line breaks of code come from here: nested lines get their indentation. */
export function lines(open: string, items: readonly string[], close: string): string {
  if (items.length === 0) return open + close
  return `${open}${items.map(item => `\n  ${item.replaceAll('\n', '\n  ')},`).join('')}\n${close}`
}

export type LinkedSource = readonly [name: string, ...args: unknown[]]

/** Writes `root.a().b()`. */
export function chain(root: string, links: readonly LinkedSource[]): string {
  return root + links.map(([name, ...args]) => `.${name}(${args.map(literal).join(', ')})`).join('')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Code) && !(value instanceof Date)
}

/** Also in a list: `[{ a: 1 }]`. */
function hasMembers(value: unknown): value is object {
  return isObject(value) && (Array.isArray(value) ? value.some(hasMembers) : Object.keys(value).length > 0)
}
