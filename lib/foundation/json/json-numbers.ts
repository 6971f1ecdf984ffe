/** Finds numbers in JSON beyond JavaScript's digits, such as 4634343214213523454, and repeated names. */

/** Shorter numbers keep their digits: a double holds 15. */
const MAY_ROUND = /\d[\d.]{15}/

/** Programs write doubles with so many digits: such a fraction counts as a double. */
const DIGITS_OF_DOUBLE = 17

export interface JsonFinding {
  readonly kind: 'rounded' | 'repeated'
  /** As `orders[0].id`. */
  readonly path: string
  /** As `['orders', 0, 'id']`. */
  readonly keys: readonly (string | number)[]
  /** Digits or name. */
  readonly text: string
}

/** The first rounded number. The text must be valid JSON. */
export function findRounded(text: string): JsonFinding | undefined {
  return MAY_ROUND.test(text) ? findInJson(text, false, isRounded).next().value : undefined
}

/** `under "id": 12345678901234567 would become 12345678901234568; ...` */
export function describeRounded({ path, text }: JsonFinding): string {
  const at = path === '' ? '' : `under "${path.slice(0, 100)}": `
  return `${at}${text.slice(0, 100)} would become ${Number(text)}; send it as a string`
}

/** Integers beyond 2^53, rounded fractions, repeated names. The text must be valid JSON. */
export function findOddities(text: string): Generator<JsonFinding, undefined> {
  return findInJson(text, true, token => isLongInteger(token) || isRounded(token))
}

/** Rounded integers become texts. */
export function parseExact(text: string): unknown {
  return MAY_ROUND.test(text) ? parseWith(text, token => isInteger(token) && isRounded(token)) : (JSON.parse(text) as unknown)
}

/** `JSON.stringify` then writes the original digits. */
export function parseKept(text: string): unknown {
  return MAY_ROUND.test(text) ? parseWith(text, isRounded, keepDigits) : (JSON.parse(text) as unknown)
}

// Missing in TypeScript's types.
export const keepDigits = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON

/** Integers beyond 2^53 become texts, rounded or not: all have the same type. */
export function parseLong(text: string): unknown {
  return MAY_ROUND.test(text) ? parseWith(text, isLongInteger) : (JSON.parse(text) as unknown)
}

/** Missing in TypeScript's types. */
type SourceReviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

function parseWith(text: string, isMeant: (token: string) => boolean, replace: (token: string) => unknown = token => token): unknown {
  const revive: SourceReviver = (_, value, context) => {
    // Browsers of before 2025 give no context.
    const source = context?.source
    return typeof value === 'number' && source !== undefined && isMeant(source) ? replace(source) : value
  }
  return JSON.parse(text, revive) as unknown
}

function isInteger(token: string): boolean {
  return /^-?\d+$/.test(token)
}

export function isLongInteger(token: string): boolean {
  return isInteger(token) && !Number.isSafeInteger(Number(token))
}

function isRounded(token: string): boolean {
  if (token.length < 16) return false
  const number = Number(token)
  if (!Number.isFinite(number)) return false
  const given = normalize(token)
  if (given === normalize(String(number))) return false
  // A program may write all digits of a double, as Python's Decimal(0.1).
  return isInteger(token) || (given.indexOf('e') !== DIGITS_OF_DOUBLE && given !== normalize(number.toPrecision(100)))
}

/** Digits without zeros at the ends, and a power of ten. */
function normalize(token: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const bare = digits.replace(/0+$/, '')
  return `${bare}e${Number(power) - fraction.length + digits.length - bare.length}`
}

interface OpenHolder {
  readonly names: Set<string> | undefined
  /** Name or index. */
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

export function findQuote(text: string, from: number): number {
  for (let at = from; ; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) return at
    if (unit === 0x5c) at++
  }
}
