/** Makes up values by an attribute's type and name. Readable values come first, then others, for conflicts. */
import { DAY_MS } from '../../foundation/async/clock.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import { words } from '../../model/resource-names.ts'
import { Random } from './random.ts'
import type { Readable } from './faker-text.ts'
import { countCharacters, type ScalarType } from '../../foundation/values/scalar-type.ts'

interface Making {
  readonly random: Random
  readonly readable: Readable | undefined
  /** Of a frozen clock. Undefined: the clock runs, and days are fixed. */
  readonly now: number | undefined
  readonly bearer: string
}

const TRIES = 5000

/** The number of possible values. Infinity: very many. */
export function countDomain({ items, kind, length }: ScalarType): number {
  if (items !== undefined) return items.length
  if (kind === 'boolean') return 2
  if (kind === 'text' && length !== undefined && length <= 2) return 36 ** length
  return kind === 'date' ? 365 : kind === 'time' ? 86_400 : Infinity
}

export function* fakeValues(
  { type, name, primary }: Pick<ScalarAttribute, 'type' | 'name' | 'primary'>,
  making: Making,
): Generator<unknown, void> {
  const { random } = making
  const { items } = type
  // A list is empty at first; a unique list has items.
  if (type.kind === 'array') {
    yield []
    return yield* lists(type, making)
  }
  if (items !== undefined) return yield* rotated(items, random)
  switch (type.kind) {
    case 'boolean':
      return yield* rotated([false, true], random)
    case 'text': {
      const make = findColumnTexts(type.column)
      if (make !== undefined) return yield* several(() => make(random))
      return yield* texts(words(name), type.length ?? Infinity, primary, making)
    }
    case 'integer':
      return yield* integers(words(name), making)
    case 'bigint':
      for (const value of integers(words(name), making)) yield String(value)
      return
    case 'float':
      return yield* several(attempt => Number(`${whole(words(name), attempt, making)}.${random.between(1, 9)}`))
    case 'decimal':
      return yield* several(attempt => decimal(type, words(name), attempt, making))
    case 'datetime':
      return yield* several(() => `${new Date(moment(words(name), making)).toISOString().slice(0, 19)}.000Z`)
    case 'date':
      return yield* rotated(days(words(name), making), random)
    case 'time':
      return yield* several(() => [23, 59, 59].map(high => String(random.between(0, high)).padStart(2, '0')).join(':'))
    case 'uuid':
      return yield* several(() => random.uuid())
    case 'json':
      yield {}
      return yield* several(attempt => ({ number: attempt }))
    case 'blob':
      return yield* several(() => runtime.formatBytes(random.bytes(8), 'base64'))
    case 'any':
      return yield* texts(words(name), Infinity, primary, making)
    case 'custom':
      for (const value of candidates(words(name), primary, making)) if (type.codec?.fromJson(value) !== undefined) yield value
  }
}

/** Makes up values for `fill: { notes: 'made-up' }`. */
export function makeUp(type: ScalarType, name: string, bearer: string, round: number): Iterator<unknown> {
  const random = new Random(`${bearer}.${name} ${round}`)
  return fakeValues({ type, name, primary: false }, { random, readable: undefined, now: undefined, bearer })
}

function* lists({ items, codec }: ScalarType, { random }: Making): Generator<unknown[], void> {
  const takes = (list: unknown[]): boolean => codec === undefined || codec.fromJson(list) !== undefined
  for (let attempt = 1; attempt < TRIES; attempt++) {
    const number = random.between(1, 2_147_483_647)
    const list =
      items === undefined ? [`item ${number}`] : Array.from({ length: attempt }, () => items[random.between(0, items.length - 1)])
    if (takes(list)) yield list
    else if (items === undefined && takes([number])) yield [number]
    else return
  }
}

/** For types of the application: values of every JSON form. */
function* candidates(name: readonly string[], primary: boolean, making: Making): Generator<unknown, void> {
  const { random } = making
  let count = 0
  for (const text of texts(name, Infinity, primary, making)) {
    yield text
    yield random.uuid()
    yield whole(name, count, making)
    yield new Date(moment(name, making)).toISOString()
    yield random.between(1, 9_999_999) / 100
    if (count === 0) yield* [`${name.join('.')}${random.between(1, 9999)}@example.com`, 'https://example.com/', 'a', '1', true, [], {}]
    if (++count > 50) return
  }
}

function* rotated<T>(items: readonly T[], random: Random): Generator<T, void> {
  const start = random.between(0, items.length - 1)
  yield* items.slice(start)
  yield* items.slice(0, start)
}

function* several<T>(make: (attempt: number) => T): Generator<T, void> {
  for (let attempt = 0; attempt < TRIES; attempt++) yield make(attempt)
}

/** Small numbers fit the narrowest column. */
function* integers(name: readonly string[], making: Making): Generator<number, void> {
  yield* several(attempt => whole(name, attempt, making))
}

function whole(name: readonly string[], attempt: number, { random, now }: Making): number {
  const last = name.at(-1)
  if (attempt === 0 && last === 'age') return random.between(18, 80)
  if (attempt === 0 && last === 'year') return new Date(now ?? PAST_BEFORE).getUTCFullYear() - random.between(0, 20)
  return random.between(1, attempt < 4 ? 100 : attempt < 8 ? 32_767 : 2_147_483_647)
}

function decimal({ precision, scale = 0 }: ScalarType, name: readonly string[], attempt: number, making: Making): string {
  const { random } = making
  const digits = precision === undefined ? 15 : precision - scale
  const before = digits <= 0 ? 0 : whole(name, attempt, making) % 10 ** Math.min(digits, 9)
  // With nine digits before the point, every database can store six.
  const shown = Math.min(scale, 6)
  const after = Array.from({ length: shown }, (_, index) => random.between(index === shown - 1 ? 1 : 0, 9)).join('')
  return scale === 0 ? String(before) : `${before}.${after}`
}

/** For a running clock: with the real time, a seed would give new values each day. An end, as `expiresAt`, must lie after the test. */
const PAST_BEFORE = Date.UTC(2026, 0, 1)
const COMING_AFTER = Date.UTC(2099, 0, 1)

function moment(name: readonly string[], { random, now }: Making): number {
  const milliseconds = random.between(1, 365 * 86_400 - 1) * 1000
  return isComing(name) ? (now ?? COMING_AFTER) + milliseconds : (now ?? PAST_BEFORE) - milliseconds
}

function days(name: readonly string[], { now }: Making): string[] {
  const past = now ?? PAST_BEFORE
  const isBirth = name.some(word => BIRTH.has(word))
  const first = isBirth ? past - 40 * 365 * DAY_MS : isComing(name) ? (now ?? COMING_AFTER) + DAY_MS : past - 365 * DAY_MS
  return Array.from({ length: 365 }, (_, day) => new Date(first + day * DAY_MS).toISOString().slice(0, 10))
}

const COMING = new Set(['expires', 'expiry', 'expiration', 'due', 'deadline', 'until', 'end', 'ends', 'to'])
const BIRTH = new Set(['born', 'birth', 'birthday', 'birthdate', 'dob'])

function isComing(name: readonly string[]): boolean {
  return name.some(word => COMING.has(word))
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

function* texts(name: readonly string[], length: number, primary: boolean, making: Making): Generator<string, void> {
  const { random, readable, bearer } = making
  const label = name.length === 0 ? ['value'] : name
  const fits = (text: string): boolean => countCharacters(text) <= length
  const seen = new Set<string>()
  function* fresh(candidates: Iterable<string>): Generator<string, void> {
    for (const text of candidates) {
      if (!fits(text) || seen.has(text)) continue
      seen.add(text)
      yield text
    }
  }
  const readableText = primary ? undefined : readable?.(name, words(bearer), random)
  const first = readableText !== undefined && fits(readableText) ? readableText : plain(label, primary, random)
  yield* fresh([first])
  if (readableText !== undefined) yield* fresh([readable!(name, words(bearer), random)!])
  yield* fresh(Array.from({ length: 8 }, (_, index) => counted(first, index + 2)))
  yield* fresh(Array.from({ length: 8 }, () => plain(label, primary, random)))
  yield* codes(Math.min(length, 10), random)
}

/** A key needs no encoding in a path. */
function plain(name: readonly string[], primary: boolean, random: Random): string {
  const number = random.between(1, 9999)
  switch (name.at(-1)) {
    case 'email':
      return `${name.join('.')}${number}@example.com`
    case 'url':
    case 'website':
    case 'homepage':
      return `https://example.com/${number}`
    default:
      return primary ? `${name.join('-')}-${number}` : `${name.join(' ')} ${number}`
  }
}

/** Puts the number in: `ann2@example.test`, `Blue lamp 2`. */
function counted(text: string, number: number): string {
  const at = text.indexOf('@')
  if (at > 0) return `${text.slice(0, at)}${number}${text.slice(at)}`
  if (text.startsWith('https://')) return `${text}/${number}`
  return text.includes(' ') ? `${text} ${number}` : `${text}-${number}`
}

/** Letters and digits; for a length of 1 or 2 all possible texts. */
function* codes(length: number, random: Random): Generator<string, void> {
  const count = 36 ** length
  const start = Array.from({ length }, () => random.between(0, 35)).reduce((value, digit) => value * 36 + digit, 0)
  for (let step = 0; step < Math.min(count, TRIES); step++) yield code((start + step) % count, length)
}

function code(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 36)) text = DIGITS[rest % 36]! + text
  return text
}

/** Makes a text of a column type's form, such as an interval. */
type Make = (random: Random) => string

const EMPTY: Make = () => 'empty'

const address: Make = random => `10.${random.between(0, 255)}.${random.between(0, 255)}.${random.between(1, 254)}`

const pad = (value: number): string => String(value).padStart(2, '0')

const day: Make = random => `20${pad(random.between(0, 29))}-${pad(random.between(1, 12))}-${pad(random.between(1, 28))}`

const clock: Make = random => [23, 59, 59].map(high => pad(random.between(0, high))).join(':')

const MAKERS: Readonly<Record<string, Make>> = {
  interval: random => `${random.between(1, 1000)} days`,
  inet: address,
  cidr: address,
  macaddr: random => Array.from({ length: 6 }, () => random.between(16, 255).toString(16)).join(':'),
  money: random => `${random.between(1, 1000)}.00`,
  numeric: random => String(random.between(1, 1000)),
  timestamptz: random => `${day(random)} ${clock(random)}+00`,
  timestamp: random => `${day(random)} ${clock(random)}`,
  time: clock,
  timetz: random => `${clock(random)}+00`,
  xml: random => `<value>${random.between(1, 1000)}</value>`,
  point: random => `(${random.between(0, 90)},${random.between(0, 90)})`,
  int4range: EMPTY,
  int8range: EMPTY,
  numrange: EMPTY,
  tsrange: EMPTY,
  tstzrange: EMPTY,
  daterange: EMPTY,
}

function findColumnTexts(column: string | undefined): Make | undefined {
  const name = column?.replace(/^pg_catalog\./, '')
  return name !== undefined && Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
}
