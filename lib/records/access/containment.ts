/** Reads the operands of `$contains`, `$contained` and `$overlap`, as in `{ tags: { $contains: ['a'] } }`. */
import type { ScalarAttribute } from '../../model/model.ts'
import type { Containment } from '../plan/read-plan.ts'

const HOW: Readonly<Record<string, Containment>> = { $contains: 'contains', $contained: 'contained', $overlap: 'overlap' }

export function isContainment(operator: string): boolean {
  return Object.hasOwn(HOW, operator)
}

/** NUL and lone surrogates: jsonb refuses both. */
const NOT_STORED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i

type Refuse = (what: string, code?: 'operator_invalid') => Error

export function readContainment(
  operator: string,
  given: unknown,
  { type, source }: ScalarAttribute,
  refuse: Refuse,
): { readonly how: Containment; readonly text: string } {
  const how = HOW[operator]!
  const isList = type.kind === 'array'
  const isJson = type.kind === 'json' && type.codec === undefined
  if (source.kind !== 'column' || !(isList || (isJson && how !== 'overlap')))
    throw refuse(`"${operator}" compares lists${how === 'overlap' ? '' : ' and JSON'} in a column.`, 'operator_invalid')
  if (isList && !(Array.isArray(given) && given.every(item => typeof item !== 'object' || item === null)))
    throw refuse('the operator takes an array of plain values.')
  const text = JSON.stringify(given)
  if (NOT_STORED.test(text)) throw refuse('no text holds NUL, or half of a character.')
  return { how, text }
}

/** Counts parts of JSON, each with its level. */
export function weigh(given: unknown, count: (level: number) => void, level = 0): void {
  count(level)
  if (typeof given === 'object' && given !== null) for (const each of Object.values(given)) weigh(each, count, level + 1)
}
