/** SQL: text with the bindings of its `?` in the order of the text, put together by a template tag. */
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { Binding } from '../../records/database/binding.ts'
import type { SqlText } from '../../model/model.ts'
import { splitTable } from '../../model/table-name.ts'

/** A piece of SQL with its bindings. */
export interface Sql {
  readonly text: string
  readonly bindings: readonly Binding[]
}

const NO_BINDINGS: readonly Binding[] = Object.freeze([])

/** SQL text without parameters: only what the model or this folder wrote, never what a client sent. */
export function text(sql: string): Sql {
  return { text: sql, bindings: NO_BINDINGS }
}

/** One parameter. */
export function bind(binding: Binding): Sql {
  return { text: '?', bindings: [binding] }
}

/** Puts fragments together; a plain string is taken as SQL text. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | string)[]): Sql {
  let result = strings[0]!
  let bindings: Binding[] | undefined
  // By index: a request of a new shape puts a hundred fragments together, and entries() makes an array for each part.
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!
    if (typeof part === 'string') {
      result += part
    } else {
      result += part.text
      if (part.bindings.length > 0) (bindings ??= []).push(...part.bindings)
    }
    result += strings[index + 1]!
  }
  return { text: result, bindings: bindings ?? NO_BINDINGS }
}

/** Joins fragments with a separator. */
export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 1) return parts[0]!
  return { text: parts.map(part => part.text).join(separator), bindings: parts.flatMap(part => part.bindings) }
}

/** Joins conditions with `and` or `or`, by halves: a parser nests what stands in a row as deep as it is long, and its depth is limited. */
export function joinEvenly(parts: readonly Sql[], separator: ' and ' | ' or '): Sql {
  if (parts.length <= thresholds.joined) return join(parts, separator)
  const middle = Math.ceil(parts.length / 2)
  return sql`(${joinEvenly(parts.slice(0, middle), separator)})${separator}(${joinEvenly(parts.slice(middle), separator)})`
}

/** A quoted identifier. The only place where names get into SQL; they come from the model. */
export function name(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

/** A quoted reference to a table. */
export function tableName(table: string): string {
  return splitTable(table).map(name).join('.')
}

/** A row value of SQL: `(a, b)`; a single expression stays as it is. */
export function tuple(expressions: readonly string[]): string {
  return expressions.length === 1 ? expressions[0]! : `(${expressions.join(', ')})`
}

/** A quoted text literal, for JSON paths of the model. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/**
 * An expression of the model's own, its values as literals: the text stands in places that take no parameters.
 *
 * @param formatBoolean see `Flavour`
 */
export function withLiterals({ sql: expression, values }: SqlText, formatBoolean: (value: boolean) => string): string {
  if (values.length === 0) return expression
  const left = [...values]
  return expression.replaceAll('?', () => formatLiteral(left.shift(), formatBoolean))
}

function formatLiteral(value: unknown, formatBoolean: (value: boolean) => string): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return formatBoolean(value)
  return literal(typeof value === 'string' ? value : JSON.stringify(value))
}
