/**
 * Writes a regular expression in PostgreSQL's spelling, for the collation "C". Classes are ranges, and without case all cases are named,
 * independent of the server's locale: `^A\d` without case is `^[Aa][0-9]`.
 */
import { isInRanges, joinRanges, type CharacterRange, type CharacterSet } from '../../../foundation/expressions/character-set.ts'
import { parseExpression } from '../../../foundation/expressions/parse-expression.ts'
import type { RegularExpression } from '../../../foundation/expressions/regular-expression.ts'
import { listCaseClasses } from './case-folding.ts'

export function formatExpression(text: string, fold: boolean): string {
  return format(
    parseExpression(text, what => new Error(what)),
    fold,
  )
}

function format(expression: RegularExpression, fold: boolean): string {
  switch (expression.kind) {
    case 'start':
      return '^'
    case 'end':
      return '$'
    case 'character':
      return formatSet(fold ? withAllCases(expression.set) : expression.set)
    case 'sequence':
      return expression.of.map(part => format(part, fold)).join('')
    case 'choice':
      return `(?:${expression.of.map(part => format(part, fold)).join('|')})`
    case 'repeat': {
      const { of, least, most } = expression
      const part = of.kind === 'character' ? format(of, fold) : `(?:${format(of, fold)})`
      return `${part}{${least},${most === Infinity ? '' : most}}`
    }
  }
}

function formatSet({ isNegated, ranges }: CharacterSet): string {
  if (ranges.length === 0) return '.'
  const [[first, last]] = ranges as readonly [CharacterRange]
  if (ranges.length === 1 && first === last && !isNegated) return formatPoint(first)
  const spans = ranges.map(range => (range[0] === range[1] ? formatPoint(range[0]) : `${formatPoint(range[0])}-${formatPoint(range[1])}`))
  return `[${isNegated ? '^' : ''}${spans.join('')}]`
}

/** Signs by their numbers: none has a meaning. */
function formatPoint(point: number): string {
  const character = String.fromCodePoint(point)
  if (/[a-z\d]/i.test(character) || (point > 0xa0 && character.isWellFormed())) return character
  return String.raw`\u${point.toString(16).padStart(4, '0')}`
}

function withAllCases({ isNegated, ranges }: CharacterSet): CharacterSet {
  const classes = listCaseClasses()
  const found = new Set<string>()
  for (const [character, smallest] of classes) if (isInRanges(character.codePointAt(0)!, ranges)) found.add(smallest)
  if (found.size === 0) return { isNegated, ranges }
  const others: CharacterRange[] = []
  for (const [character, smallest] of classes) {
    const point = character.codePointAt(0)!
    if (found.has(smallest)) others.push([point, point])
  }
  return { isNegated, ranges: joinRanges([...ranges, ...others]) }
}
