/**
 * Parses the regular expressions of `$re` and `$ire`, the part of PostgreSQL's with the same meaning on all databases. Refuses malformed,
 * too complex and other expressions, such as back-references, in PostgreSQL's words.
 */
import { complementRanges, findClass, joinRanges, type CharacterRange } from './character-set.ts'
import { checkWeight, TOO_COMPLEX, type RegularExpression } from './regular-expression.ts'

/** In UTF-16 units. */
const MAX_LENGTH = 1000
/** In all sets of an expression; `\w` has some 800. */
const MAX_RANGES = 50_000
/** As in PostgreSQL: `a{255}`. */
const MAX_REPEATS = 255

/** As PostgreSQL says. */
const OPEN_BRACKET = 'brackets [] not balanced'
const OPEN_GROUP = 'parentheses () not balanced'
const OPEN_BRACE = 'braces {} not balanced'
const BAD_REPEAT = 'quantifier operand invalid'
const BAD_COUNT = 'invalid repetition count(s)'
const BAD_RANGE = 'invalid character range'
const BAD_ESCAPE = String.raw`invalid escape \ sequence`

/** @param refuse makes the error of `parentheses () not balanced`, or `"\b" is not taken` */
export function parseExpression(text: string, refuse: (what: string) => Error): RegularExpression {
  if (text.length > MAX_LENGTH) throw refuse(`${TOO_COMPLEX}; it may have ${MAX_LENGTH} characters`)
  if (text.includes('\0') || !text.isWellFormed()) throw refuse('no text holds NUL, or half of a character')
  const expression = new ExpressionReader(text, refuse).read()
  checkWeight(expression, refuse)
  return expression
}

/** `\n` is the character 10. */
const CHARACTERS: Readonly<Record<string, number>> = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9, v: 11 }

/** The least and the most digits: `\u00e9`. */
const NUMBERS: Readonly<Record<string, readonly [number, number]>> = { u: [4, 4], U: [8, 8], x: [1, 255] }

const CLASS_LETTERS: Readonly<Record<string, string>> = { d: 'digit', s: 'space', w: 'word' }

class ExpressionReader {
  readonly #text: readonly string[]
  readonly #refuse: (what: string) => Error
  #at = 0
  #ranges = 0

  constructor(text: string, refuse: (what: string) => Error) {
    this.#text = [...text]
    this.#refuse = refuse
  }

  read(): RegularExpression {
    if (this.#sees('***=') || this.#sees('***:')) throw this.#notTaken('"***"')
    if (this.#sees('(?') && /[a-z]/i.test(this.#text[2] ?? '')) throw this.#notTaken('an option such as "(?i)"')
    const read = this.#choice()
    if (this.#at < this.#text.length) throw this.#refuse(OPEN_GROUP)
    return read
  }

  #notTaken(what: string): Error {
    return this.#refuse(`${what} is not taken; there are characters, classes, groups, "|", repetitions, "^" and "$"`)
  }

  #sees(wanted: string): boolean {
    return [...wanted].every((character, index) => this.#text[this.#at + index] === character)
  }

  #take(wanted: string): boolean {
    const isThere = this.#sees(wanted)
    if (isThere) this.#at += wanted.length
    return isThere
  }

  #choice(): RegularExpression {
    const of = [this.#sequence()]
    while (this.#take('|')) of.push(this.#sequence())
    return of.length === 1 ? of[0]! : { kind: 'choice', of }
  }

  #sequence(): RegularExpression {
    const of: RegularExpression[] = []
    while (this.#at < this.#text.length && !this.#sees('|') && !this.#sees(')')) of.push(this.#part())
    return of.length === 1 ? of[0]! : { kind: 'sequence', of }
  }

  /** PostgreSQL repeats no `^` and `$`. */
  #part(): RegularExpression {
    if (this.#take('^') || this.#take('\\A')) return { kind: 'start' }
    if (this.#take('$') || this.#take('\\Z')) return { kind: 'end' }
    if (['*', '+', '?'].some(sign => this.#sees(sign)) || this.#seesCount()) throw this.#refuse(BAD_REPEAT)
    const of = this.#atom()
    const count = this.#count()
    return count === undefined ? of : { kind: 'repeat', of, least: count[0], most: count[1] }
  }

  #seesCount(): boolean {
    return this.#sees('{') && /\d/.test(this.#text[this.#at + 1] ?? '')
  }

  #count(): readonly [number, number] | undefined {
    let count: readonly [number, number]
    if (this.#take('*')) count = [0, Infinity]
    else if (this.#take('+')) count = [1, Infinity]
    else if (this.#take('?')) count = [0, 1]
    else if (this.#seesCount()) count = this.#counts()
    else return undefined
    // As few as possible, by `a*?`: the same texts match.
    this.#take('?')
    return count
  }

  #counts(): readonly [number, number] {
    this.#take('{')
    const least = this.#number()
    const most = this.#take(',') ? (this.#sees('}') ? Infinity : this.#number()) : least
    if (this.#at >= this.#text.length) throw this.#refuse(OPEN_BRACE)
    if (!this.#take('}') || most < least) throw this.#refuse(BAD_COUNT)
    return [least, most]
  }

  #number(): number {
    const digits = this.#digits(/\d/, MAX_LENGTH)
    if (digits === '' && this.#at < this.#text.length) throw this.#refuse(BAD_COUNT)
    if (Number(digits) > MAX_REPEATS) throw this.#refuse(BAD_COUNT)
    return Number(digits)
  }

  #digits(wanted: RegExp, most: number): string {
    let digits = ''
    while (digits.length < most && wanted.test(this.#text[this.#at] ?? '')) digits += this.#text[this.#at++]!
    return digits
  }

  #atom(): RegularExpression {
    if (this.#take('(')) return this.#group()
    if (this.#take('[')) return this.#bracket()
    if (this.#take('.')) return this.#character(true, [])
    if (!this.#sees('\\')) return this.#character(false, [this.#plain()])
    return this.#character(false, this.#escape().ranges)
  }

  #character(isNegated: boolean, ranges: readonly CharacterRange[]): RegularExpression {
    this.#ranges += ranges.length
    if (this.#ranges > MAX_RANGES) throw this.#refuse(`${TOO_COMPLEX}; it may have ${MAX_RANGES} ranges in classes`)
    return { kind: 'character', set: { isNegated, ranges } }
  }

  #plain(): CharacterRange {
    const point = this.#text[this.#at++]!.codePointAt(0)!
    return [point, point]
  }

  #group(): RegularExpression {
    if (['?=', '?!', '?<=', '?<!'].some(sign => this.#sees(sign))) throw this.#notTaken('a look-around such as "(?="')
    if (this.#sees('?#')) throw this.#notTaken('a comment')
    if (!this.#take('?:') && this.#sees('?')) throw this.#refuse(BAD_REPEAT)
    const read = this.#choice()
    if (!this.#take(')')) throw this.#refuse(OPEN_GROUP)
    return read
  }

  #escape(): { readonly ranges: readonly CharacterRange[]; readonly isClass: boolean } {
    this.#take('\\')
    const letter = this.#text[this.#at]
    if (letter === undefined) throw this.#refuse(BAD_ESCAPE)
    if (!/[a-z\d]/i.test(letter)) return { ranges: [this.#plain()], isClass: false }
    this.#at++
    const name = CLASS_LETTERS[letter.toLowerCase()]
    if (name !== undefined) {
      const ranges = findClass(name)!
      return { ranges: letter === letter.toLowerCase() ? ranges : complementRanges(ranges), isClass: true }
    }
    const point = CHARACTERS[letter] ?? this.#numbered(letter)
    return { ranges: [[point, point]], isClass: false }
  }

  #numbered(letter: string): number {
    if (/[1-9]/.test(letter)) throw this.#notTaken(`the back-reference "\\${letter}"`)
    if ('0bBcmMyY'.includes(letter)) throw this.#notTaken(`"\\${letter}"`)
    const [least, most] = NUMBERS[letter] ?? [Infinity, 0]
    const digits = this.#digits(/[\da-f]/i, most)
    const point = Number.parseInt(digits, 16)
    if (digits.length < least || point > 0x10ffff) throw this.#refuse(BAD_ESCAPE)
    return point
  }

  #bracket(): RegularExpression {
    if (this.#sees('[:<:]]') || this.#sees('[:>:]]')) throw this.#notTaken('the border of a word')
    const isNegated = this.#take('^')
    const ranges: CharacterRange[] = []
    for (let isFirst = true; isFirst || !this.#take(']'); isFirst = false) ranges.push(...this.#member(isFirst))
    return this.#character(isNegated, joinRanges(ranges))
  }

  #member(isFirst: boolean): readonly CharacterRange[] {
    if (!isFirst && this.#sees('-') && !this.#sees('-]')) throw this.#refuse(BAD_RANGE)
    const { ranges, isClass } = this.#end()
    if (!this.#sees('-') || this.#sees('-]')) return ranges
    this.#at++
    const other = this.#end()
    const [first, last] = [ranges[0]![0], other.ranges[0]![0]]
    if (isClass || other.isClass || first > last) throw this.#refuse(BAD_RANGE)
    return [[first, last]]
  }

  #end(): { readonly ranges: readonly CharacterRange[]; readonly isClass: boolean } {
    if (this.#at >= this.#text.length) throw this.#refuse(OPEN_BRACKET)
    if (this.#sees('[.') || this.#sees('[=')) throw this.#notTaken('"[." or "[="')
    if (this.#take('[:')) return { ranges: this.#namedClass(), isClass: true }
    return this.#sees('\\') ? this.#escape() : { ranges: [this.#plain()], isClass: false }
  }

  #namedClass(): readonly CharacterRange[] {
    const end = this.#text.findIndex((character, index) => index >= this.#at && character === ':' && this.#text[index + 1] === ']')
    if (end < 0) throw this.#refuse(OPEN_BRACKET)
    const name = this.#text.slice(this.#at, end).join('')
    if (['ascii', 'blank', 'cntrl', 'graph', 'print', 'punct', 'xdigit'].includes(name)) throw this.#notTaken(`"[:${name}:]"`)
    const ranges = findClass(name)
    if (ranges === undefined) throw this.#refuse('invalid character class')
    this.#at = end + 2
    return ranges
  }
}
