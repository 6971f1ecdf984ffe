/**
 * Builds SQL as text, with a binding for each `?`, and quotes names and values. A template tag puts pieces together:
 * sql`${column} = ${bind(value)}`.
 */
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { Binding } from '../../records/database/binding.ts'
import type { SqlText } from '../../model/model.ts'
import { splitTable } from '../../model/table-name.ts'

export interface Sql {
  readonly text: string
  readonly bindings: readonly Binding[]
}

const NO_BINDINGS: readonly Binding[] = Object.freeze([])

/** Takes SQL of the model or the engine, never of a client. */
export function text(sql: string): Sql {
  return { text: sql, bindings: NO_BINDINGS }
}

export function bind(binding: Binding): Sql {
  return { text: '?', bindings: [binding] }
}

export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | string)[]): Sql {
  let result = strings[0]!
  let bindings: Binding[] | undefined
  // By index: entries() makes an array for each fragment.
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

export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 1) return parts[0]!
  return { text: parts.map(part => part.text).join(separator), bindings: parts.flatMap(part => part.bindings) }
}

/** Nests by halves: a parser nests a row of `and` as deep as the row is long. */
export function joinEvenly(parts: readonly Sql[], separator: ' and ' | ' or '): Sql {
  if (parts.length <= thresholds.joined) return join(parts, separator)
  const middle = Math.ceil(parts.length / 2)
  return sql`(${joinEvenly(parts.slice(0, middle), separator)})${separator}(${joinEvenly(parts.slice(middle), separator)})`
}

/** Takes a name of the model. Names get into SQL only here. */
export function name(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

export function tableName(table: string): string {
  return splitTable(table).map(name).join('.')
}

/** `(a, b)`; a single expression stays bare. */
export function tuple(expressions: readonly string[]): string {
  return expressions.length === 1 ? expressions[0]! : `(${expressions.join(', ')})`
}

export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/** Writes values into SQL of the model, for places without parameters. */
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
