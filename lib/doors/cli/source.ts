/** Writes values and calls as code, in Prettier's style without semicolons and with single quotes. */
import { group, indent, join, line, list, softline, type Doc } from './layout.ts'

/** A value that exists as code only, such as a name or a function. */
export class Code {
  readonly doc: Doc
  readonly isFunction: boolean

  constructor(doc: Doc, isFunction = false) {
    this.doc = doc
    this.isFunction = isFunction
  }
}

/** Writes a text as a literal, in the quotes that need fewer escapes. */
function quoted(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  const count = (quote: string): number => inside.split(quote).length
  const quote = count("'") > count('"') ? '"' : "'"
  return quote + inside.replaceAll(quote, `\\${quote}`) + quote
}

/** Writes a JSON value, or one with dates and code in it, as an expression. */
export function literal(value: unknown): Doc {
  if (value instanceof Code) return value.doc
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Date) return `new Date(${quoted(value.toISOString())})`
  if (Array.isArray(value)) return list('[', value.map(literal), ']')
  if (typeof value === 'object' && value !== null) return object(Object.entries(value).map(([key, item]) => [key, literal(item)]))
  return String(value)
}

/** Whether `literal` can write the whole value. */
export function isLiteral(value: unknown): boolean {
  if (value === null || value instanceof Code || value instanceof Date) return true
  if (Array.isArray(value)) return value.every(isLiteral)
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol' && value !== undefined
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isLiteral)
}

export function object(members: readonly (readonly [string, Doc])[], forced = false): Doc {
  const needsQuotes = members.some(([key]) => !/^[A-Za-z_$][\w$]*$/.test(key))
  const key = (name: string): string => (needsQuotes && !/^[A-Za-z_$][\w$]*$/.test(name) ? quoted(name) : name)
  return list(
    '{',
    members.map(([name, value]) => [key(name), ': ', value]),
    '}',
    line,
    forced,
  )
}

/** Writes `callee(first, { ... })`, where the last argument opens at the end of the line. */
export function call(callee: string, args: readonly Doc[]): Doc {
  return group([callee, '(', join(args, ', '), ')'])
}

/** One call of a chain: its name and its arguments. */
export type LinkedSource = readonly [name: string, ...args: unknown[]]

/** Writes `root.a().b()` in one line, or with a call a line where it is too long or more than two calls have functions as arguments. */
export function chain(root: string, links: readonly LinkedSource[]): Doc {
  const calls = links.map(([name, ...args]): Doc => [`.${name}(`, join(args.map(literal), ', '), ')'])
  if (calls.length < 3) return [root, ...calls]
  const isForced = links.some(([, ...args]) => args.some(arg => arg instanceof Code && arg.isFunction))
  return group([root, indent(calls.map(each => [softline, each]))], isForced)
}

/** Writes `() => value`, with the value on its own line where it is too long. */
export function later(value: Doc): Doc {
  return group(['() =>', indent([line, value])])
}
