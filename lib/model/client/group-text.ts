/** Writes groups of a query object for a URL: `{ '|': [{ a: 1 }, { b: 2, c: 3 }] }` becomes `(a=1|b=2;c=3)`. */

export interface GroupWriter {
  readonly write: (name: string, value: unknown) => string
  readonly refuse: (name: string, why: string, isLimit?: boolean) => Error
}

export const ALTERNATIVES = /^!*\|$/

/** More levels than the engine takes. */
const MOST_LEVELS = 40

export function hasConditions(name: string, value: unknown): boolean {
  return ALTERNATIVES.test(name) || (isPlainObject(value) && Object.keys(value).length > 0)
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

export function writeGroup(name: string, value: unknown, writer: GroupWriter, level = 1): string {
  if (level > MOST_LEVELS) throw writer.refuse(name, `is deeper than ${MOST_LEVELS} levels.`, true)
  if (!ALTERNATIVES.test(name)) return `${escapeName(name, writer)}(${writeAll(name, value, writer, level)})`
  if (!Array.isArray(value) || value.length === 0)
    throw writer.refuse(name, `takes an array of query objects, any of which holds: { "${name}": [{ ... }, { ... }] }.`)
  const alternatives = value.map((each: unknown) => writeAll(name, each, writer, level))
  return `${name.slice(0, -1)}(${alternatives.join('|')})`
}

function writeAll(name: string, conditions: unknown, writer: GroupWriter, level: number): string {
  if (!isPlainObject(conditions)) throw writer.refuse(name, 'takes query objects: names with operators, and their values.')
  const parts = Object.entries(conditions).filter(([, value]) => value !== undefined)
  if (parts.length === 0) throw writer.refuse(name, 'has a query object without conditions.')
  return parts.map(([key, value]) => writePart(key, value, writer, level)).join(';')
}

function writePart(name: string, value: unknown, writer: GroupWriter, level: number): string {
  if (hasConditions(name, value)) return writeGroup(name, value, writer, level + 1)
  const text = writer.write(name, value)
  if (/(?<!\\)(?:\\\\)*\\$/.test(text))
    throw writer.refuse(name, 'has a value that ends with a lone backslash; write two for a literal one.')
  const path = escapeName(name, writer)
  if (!/[=<>]$/.test(name)) return `${path}=${escapeMarks(text)}`
  // Behind `>`, "=" would belong to the operator.
  return `${path}${/[<>]$/.test(name) && text.startsWith('=') ? '\\' : ''}${escapeMarks(text)}`
}

function escapeName(name: string, { refuse }: GroupWriter): string {
  if (/(?<!\\)\|/.test(name))
    throw refuse(name, 'names several paths, which are several conditions in a group: { "|": [{ ... }, { ... }] }.')
  return escapeMarks(name)
}

/** In groups, `|`, `;`, `(` and `)` have a meaning. */
function escapeMarks(text: string): string {
  return text.replaceAll(/\\.|[|;()]/gs, found => (found.length > 1 ? found : `\\${found}`))
}
