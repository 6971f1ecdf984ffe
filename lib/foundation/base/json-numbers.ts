/**
 * JSON numbers: finds the numbers of a JSON text that JavaScript would round, as 4634343214213523454, and the names that stand twice in an
 * object. Reads the former as texts of all their digits where a text may stand for them.
 */

/** Texts without this have no such number: 15 digits are exact, and so is each number that a program has written from a double. */
const MAY_ROUND = /\d[\d.]{15}/

/** So many digits programs write for any double, whatever it was made of: such a fraction is taken for the double. */
const DIGITS_OF_DOUBLE = 17

/** What a JSON text has at some place: a number that is rounded, or a name that its object has had before. */
export interface JsonFinding {
  readonly kind: 'rounded' | 'repeated'
  /** As `orders[0].id`. */
  readonly path: string
  /** The same, as `['orders', 0, 'id']`. */
  readonly keys: readonly (string | number)[]
  /** The digits, or the name. */
  readonly text: string
}

/** Finds the first number that would be rounded; undefined where there is none. The text is valid JSON. */
export function findRounded(text: string): JsonFinding | undefined {
  return MAY_ROUND.test(text) ? findInJson(text, false, isRounded).next().value : undefined
}

/** Describes a number that would be rounded, as the rest of a sentence. */
export function describeRounded({ path, text }: JsonFinding): string {
  const at = path === '' ? '' : `under "${path.slice(0, 100)}": `
  return `${at}${text.slice(0, 100)} would become ${Number(text)}; send it as a string`
}

/** Lists the integers beyond 2^53, the fractions that are rounded, and the names that stand twice. The text is valid JSON. */
export function findOddities(text: string): Generator<JsonFinding, undefined> {
  return findInJson(text, true, token => isLongInteger(token) || isRounded(token))
}

/** Parses JSON. An integer that JavaScript would round becomes a text of its digits. */
export function parseExact(text: string): unknown {
  return MAY_ROUND.test(text) ? parseWith(text, token => isInteger(token) && isRounded(token)) : (JSON.parse(text) as unknown)
}

/** Parses JSON that is written again: `JSON.stringify` writes each number that JavaScript would round with the digits that it had. */
export function parseKept(text: string): unknown {
  return MAY_ROUND.test(text) ? parseWith(text, isRounded, keepDigits) : (JSON.parse(text) as unknown)
}

// The types of TypeScript do not know it yet.
const keepDigits = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON

/** Parses JSON. Each integer beyond 2^53 becomes a text of its digits, so that those of one kind have one type. */
export function parseLong(text: string): unknown {
  return MAY_ROUND.test(text) ? parseWith(text, isLongInteger) : (JSON.parse(text) as unknown)
}

/** A reviver with the text of each number, which the types of TypeScript do not know yet. */
type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

function parseWith(text: string, isMeant: (token: string) => boolean, replace: (token: string) => unknown = token => token): unknown {
  const revive: SourceReviver = (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && isMeant(source) ? replace(source) : value
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as unknown
}

function isInteger(token: string): boolean {
  return /^-?\d+$/.test(token)
}

function isLongInteger(token: string): boolean {
  return isInteger(token) && !Number.isSafeInteger(Number(token))
}

/** Whether the number that JavaScript makes of a token is written with other digits. */
function isRounded(token: string): boolean {
  if (token.length < 16) return false
  const number = Number(token)
  if (!Number.isFinite(number)) return false
  const given = normalize(token)
  if (given === normalize(String(number))) return false
  // A program may write all digits of a double, as Python does of Decimal(0.1).
  return isInteger(token) || (given.indexOf('e') !== DIGITS_OF_DOUBLE && given !== normalize(number.toPrecision(100)))
}

/** Writes a number as its digits without zeros at the ends, and the power of ten behind them. */
function normalize(token: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const bare = digits.replace(/0+$/, '')
  return `${bare}e${Number(power) - fraction.length + digits.length - bare.length}`
}

/** An object or array around a place of the text. */
interface OpenHolder {
  /** The names so far; undefined in an array. */
  readonly names: Set<string> | undefined
  /** The name of the member, or the place in the array. */
  at: string | number
}

const NUMBER = /-?\d[\d.eE+-]*/y

function* findInJson(text: string, hasNames: boolean, isMeant: (token: string) => boolean): Generator<JsonFinding, undefined> {
  const holders: OpenHolder[] = []
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') {
      const end = findQuote(text, at + 1)
      if (isName) {
        const holder = holders.at(-1)!
        const name = readName(text, at, end)
        holder.at = name
        isName = false
        if (hasNames && holder.names!.size === holder.names!.add(name).size) yield { kind: 'repeated', ...placeIn(holders), text: name }
      }
      at = end
    } else if (character === '{' || character === '[') {
      isName = character === '{'
      holders.push({ names: isName ? new Set() : undefined, at: isName ? '' : 0 })
    } else if (character === '}' || character === ']') {
      holders.pop()
      isName = false
    } else if (character === ',') {
      const holder = holders.at(-1)!
      isName = holder.names !== undefined
      if (typeof holder.at === 'number') holder.at++
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at
      const [token] = NUMBER.exec(text)!
      if (isMeant(token)) yield { kind: 'rounded', ...placeIn(holders), text: token }
      at += token.length - 1
    }
  }
  return undefined
}

function readName(text: string, start: number, end: number): string {
  const bare = text.slice(start + 1, end)
  return bare.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : bare
}

function placeIn(holders: readonly OpenHolder[]): Pick<JsonFinding, 'path' | 'keys'> {
  const keys = holders.map(({ at }) => at)
  return { path: keys.map((key, depth) => (typeof key === 'number' ? `[${key}]` : depth === 0 ? key : `.${key}`)).join(''), keys }
}

/** Returns the place of the quote that ends a string of a JSON text. */
export function findQuote(text: string, from: number): number {
  for (let at = from; ; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) return at
    if (unit === 0x5c) at++
  }
}
