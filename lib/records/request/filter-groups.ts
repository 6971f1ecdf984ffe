/**
 * Parses groups of filters, `(role=admin|age>=18;name=A*)` and `skills(level=1;kind=go)`, into a tree over comparisons. Refuses unbalanced,
 * empty and large groups.
 */
import { parameterError } from '../../foundation/errors/errors.ts'
import { cutMarks } from './operators.ts'

/** A comparison's position in the request, or a group. */
export type FilterTree = number | FilterGroup

export interface FilterGroup {
  /** The client's text. */
  readonly label: string
  readonly joins: 'all' | 'any'
  readonly negated: boolean
  /** Leads to another record; empty: the record itself. */
  readonly path: string
  readonly of: readonly FilterTree[]
}

/** Levels of a client's condition. */
export const MAX_LEVELS = 30
/** Groups and comparisons, together. */
export const MAX_PARTS = 1000

const SIGN = /[=<>]/

/** Whether a bracket is open at the operator: `skills(level=1)`. */
export function isGroup(text: string): boolean {
  if (!text.includes('(')) return false
  if (/^!*\(/.test(text)) return true
  const sign = text.search(SIGN)
  const head = (sign < 0 ? text : text.slice(0, sign)).replaceAll(/\\./gs, '')
  // A JSON key may have brackets: `meta.size(cm)=5`.
  return head.lastIndexOf('(') > head.lastIndexOf(')')
}

/** Escaped brackets, `|` and `;` are part of names. */
export function splitPaths(names: string): readonly string[] {
  if (!names.includes('\\')) return names.split('|')
  return names.split(/(?<!\\)\|/).map(path => path.replaceAll(/\\([|;()])/g, '$1'))
}

export class GroupReader {
  readonly #compare: (text: string, whole: string) => number
  #parts = 0

  /** @param compare keeps a comparison, and returns its position */
  constructor(compare: (text: string, whole: string) => number) {
    this.#compare = compare
  }

  /** @throws RestError parameter_invalid */
  read(text: string): FilterTree {
    const cursor: GroupCursor = { text, at: 0 }
    const tree = this.#term(cursor, 1)
    // From clients with "=" behind every name.
    const rest = text.slice(cursor.at)
    if (rest !== '' && rest !== '=') {
      const why = rest.startsWith(')') ? 'a bracket is closed that is not open' : `"${nameIn(rest)}" follows the closed group`
      throw refuse(text, `${why}. ${LITERAL}`)
    }
    return tree
  }

  #term(cursor: GroupCursor, level: number): FilterTree {
    const { text } = cursor
    const start = cursor.at
    while (text[cursor.at] === '!') cursor.at++
    const negated = (cursor.at - start) % 2 === 1
    const [from, end] = [cursor.at, findEnd(text, cursor.at)]
    if (++this.#parts > MAX_PARTS) throw tooLarge(text, `of more than ${MAX_PARTS} parts`)
    if (text[end] !== '(') {
      cursor.at = end
      return this.#comparison(text.slice(start, end), text)
    }
    if (level > MAX_LEVELS) throw tooLarge(text, `deeper than ${MAX_LEVELS} levels`)
    const path = text.slice(from, end)
    if (SIGN.test(path)) throw refuse(text, `the value of "${nameIn(path)}" has a bracket in it. ${LITERAL}`)
    cursor.at = end + 1
    const group = this.#body(cursor, level)
    if (text[cursor.at] !== ')') throw refuse(text, `a bracket is not closed. ${LITERAL}`)
    cursor.at++
    return { ...group, label: text.slice(start, cursor.at), negated, path: splitPaths(path)[0]! }
  }

  /** `;` binds tighter than `|`. */
  #body(cursor: GroupCursor, level: number): Pick<FilterGroup, 'joins' | 'of'> {
    const { text } = cursor
    const alternatives: FilterTree[] = []
    for (;;) {
      const start = cursor.at
      const together = [this.#term(cursor, level + 1)]
      while (text[cursor.at] === ';') {
        cursor.at++
        together.push(this.#term(cursor, level + 1))
      }
      const label = text.slice(start, cursor.at)
      const isLast = text[cursor.at] !== '|'
      if (isLast && alternatives.length === 0) return { joins: 'all', of: together }
      alternatives.push(together.length === 1 ? together[0]! : { label, joins: 'all', negated: false, path: '', of: together })
      if (isLast) return { joins: 'any', of: alternatives }
      cursor.at++
    }
  }

  #comparison(part: string, whole: string): number {
    if (/^!*$/.test(part)) throw refuse(whole, 'a condition is missing, as in "(a=1|b=2;c=3)".')
    if (SIGN.test(part)) return this.#compare(part, whole)
    const why = `"${part.slice(0, 100)}" has no operator, as "${part.slice(0, 40)}=1" has.`
    throw refuse(whole, whole.includes('|') ? `${why} Several paths are several conditions in a group: "(a=x|b=x)" for "a|b=x".` : why)
  }
}

/** Lists paths and places of values, even of an unreadable group. */
export function listComparisons(text: string): { readonly path: string; readonly from: number; readonly to: number }[] {
  const found: { path: string; from: number; to: number }[] = []
  const prefixes = ['']
  for (let start = 0; start <= text.length;) {
    const end = findEnd(text, start)
    const part = text.slice(start, end)
    const sign = part.search(SIGN)
    const name = cutMarks(sign < 0 ? part : part.slice(0, sign)).replace(/^!+/, '')
    const path = prefixes.at(-1)! + splitPaths(name)[0]!
    // After a refused bracket, the value reaches to the end.
    const isOpen = sign >= 0 && text[end] === '('
    if (sign >= 0) found.push({ path, from: start + sign + 1, to: isOpen ? text.length : end })
    if (isOpen) break
    if (text[end] === '(') prefixes.push(name === '' ? prefixes.at(-1)! : `${path}.`)
    if (text[end] === ')' && prefixes.length > 1) prefixes.pop()
    start = end + 1
  }
  return found
}

interface GroupCursor {
  readonly text: string
  at: number
}

function findEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && !'|;()'.includes(text[at]!)) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

const LITERAL = 'A literal "|", ";", "(" or ")" is written with a backslash before it.'

/** Errors repeat no part of a value: the journal removes only whole secrets. */
function nameIn(comparison: string): string {
  return comparison.split(SIGN, 1)[0]!.slice(0, 100)
}

function shorten(whole: string): string {
  if (whole.length <= 100) return whole
  const last = [...whole.slice(0, 100).matchAll(/\\.|[|;(]/gs)].findLast(([found]) => found.length === 1)
  return `${whole.slice(0, (last?.index ?? -1) + 1)}...`
}

function refuse(whole: string, why: string) {
  const parameter = shorten(whole)
  return parameterError({ code: 'value_invalid', detail: `The group "${parameter}" cannot be read: ${why}`, parameter })
}

function tooLarge(whole: string, what: string) {
  const parameter = shorten(whole)
  return parameterError({ code: 'limit_exceeded', detail: `The group "${parameter}" is ${what}.`, parameter })
}
