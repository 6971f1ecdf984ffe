/**
 * Splits a filter into paths, operator and values, without the model. Refuses values with a lone backslash at the end (parameter_invalid).
 */
import { parameterError } from '../../foundation/errors/errors.ts'
import { splitPaths } from './filter-groups.ts'
import { OPERATORS, type Operator, type WrittenSign } from './operators.ts'

/** Unescaped: null, a text, or a pattern's texts between stars. */
export type RawValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly pieces: readonly string[] }

export interface RawFilter {
  /** Name with operator: `!name`, `age>=`. */
  readonly label: string
  /** The decoded value. */
  readonly text: string
  readonly negated: boolean
  /** Dotted paths, alternatives separated by `|`. */
  readonly paths: readonly string[]
  readonly operator: Operator
  readonly values: readonly RawValue[]
  /** No value: `name`, or `name=`. */
  readonly bare: boolean
  readonly isGrouped: boolean
}

export interface Pair {
  readonly name: string
  readonly operator: WrittenSign
  readonly value: string
  readonly bare: boolean
  /** An array's texts, joined in `value`. */
  readonly items?: readonly string[]
  /** The name is a group, maybe behind a relation. */
  readonly isGroup?: true
  /** An object's other meaning: lists for `expand`, conditions for other names. */
  readonly other?: { readonly key: string; readonly make: () => Pair }
  /** Refuses an object fit only for `expand`. */
  readonly refuse?: (() => void) | undefined
}

export function parseFilter(pair: Pair, isGrouped = false): RawFilter {
  const marks = /^!*/.exec(pair.name)![0].length
  const sign = pair.operator === '' ? '=' : pair.operator
  const compared = OPERATORS[sign]
  const isNegation = 'negates' in compared
  const negations = marks + (isNegation ? 1 : 0)
  const label = pair.name + pair.operator
  return {
    label,
    text: pair.value,
    negated: negations % 2 === 1,
    paths: splitPaths(pair.name.slice(marks)),
    operator: isNegation ? compared.negates : (sign as Operator),
    values: parseValues(label, pair.value),
    bare: pair.bare,
    isGrouped,
  }
}

/** Cuts a filter value at commas and stars; a backslash escapes. */
function parseValues(parameter: string, text: string): RawValue[] {
  if (!/[\\,*]/.test(text)) return [text === 'null' ? { kind: 'null' } : { kind: 'text', text }]
  const values: RawValue[] = []
  let pieces: string[] = []
  let piece = ''
  let escaped = false
  const finish = (): void => {
    if (pieces.length > 0) values.push({ kind: 'pattern', pieces: [...pieces, piece] })
    else values.push(piece === 'null' && !escaped ? { kind: 'null' } : { kind: 'text', text: piece })
    pieces = []
    piece = ''
    escaped = false
  }
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (character === '\\') {
      index++
      if (index === text.length) {
        throw parameterError({
          code: 'value_invalid',
          detail: `The value of "${parameter}" ends with a lone backslash; write two for a literal one.`,
          parameter,
          value: text,
        })
      }
      piece += text[index]!
      escaped = true
    } else if (character === ',') {
      finish()
    } else if (character === '*') {
      pieces.push(piece)
      piece = ''
    } else {
      piece += character
    }
  }
  finish()
  return values
}
