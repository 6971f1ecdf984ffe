/** Writes milliseconds since 1970 as ISO 8601 (`2026-01-31T12:00:00.000Z`), and parses the usual forms of dates and times. */
import { DAY_MS } from '../async/clock.ts'

/** Each part has the next character, as `07:`: fewer texts to join. */
const HOURS = listParts(24, 2, ':')
const MINUTES = listParts(60, 2, ':')
const SECONDS = listParts(60, 2, '.')
const MILLISECONDS = listParts(1000, 3, 'Z')
const dates = new Map<number, string>()

/** Caches dates: the records of a page have few days, and Date is slow. */
export function formatIso(time: number): string {
  // Otherwise -5e-324 would belong to no day.
  const milliseconds = Math.floor(time)
  const day = Math.floor(milliseconds / DAY_MS)
  let date = dates.get(day)
  if (date === undefined) {
    if (!(Math.abs(milliseconds) <= 8.64e15)) return String(milliseconds).toLowerCase()
    const iso = new Date(day * DAY_MS).toISOString()
    date = iso.slice(0, iso.indexOf('T') + 1)
    if (dates.size >= 10_000) dates.clear()
    dates.set(day, date)
  }
  const rest = milliseconds - day * DAY_MS
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  return date + (HOURS[Math.floor(minutes / 60)]! + MINUTES[minutes % 60]!) + (SECONDS[seconds % 60]! + MILLISECONDS[rest % 1000]!)
}

function listParts(count: number, digits: number, end: string): string[] {
  return Array.from({ length: count }, (_, index) => String(index).padStart(digits, '0') + end)
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
/** A time of day; seconds are optional. */
export const TIME = /^([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/
/** RFC 3339 with freedoms of ISO 8601: time, seconds and offset are optional (midnight, UTC). */
const DATETIME = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/

const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function isCalendarDate(text: string): boolean {
  const match = DATE.exec(text)
  return match !== null && isInMonth(Number(match[3]), Number(match[2]), Number(match[1]))
}

function isInMonth(day: number, month: number, year: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : (MONTHS[month - 1] ?? 0))
}

/** Takes zones of other programs, too: `2026-01-31 12:00 UTC`. */
export function parseLenientDatetime(text: string): number | undefined {
  return parseDatetime(text.replace(/ ?(?:UTC|GMT)$/, 'Z').replace(/ (?=Z|[+-]\d\d(?::?\d\d)?$)/, ''))
}

/** A Date by JSON.stringify, on a day of every month: usual, and without further checks. */
const EXACT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Cuts off digits below a millisecond. */
export function parseDatetime(text: string): number | undefined {
  if (EXACT.test(text)) return Date.parse(text)
  const match = DATETIME.exec(text)
  if (match === null || !isCalendarDate(match[1]!)) return undefined
  const [, date, clock = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match
  if (!TIME.test(`${clock}:${seconds}`)) return undefined
  let offset = zone.toUpperCase()
  if (offset !== 'Z') {
    const digits = offset.slice(1).replace(':', '').padEnd(4, '0')
    if (Number(digits.slice(0, 2)) > 23 || Number(digits.slice(2)) > 59) return undefined
    offset = `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
  }
  const value = Date.parse(`${date}T${clock}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`)
  return Number.isNaN(value) ? undefined : value
}

/** A PostgreSQL server's forms beyond ISO 8601: `infinity`, `0044-03-15 12:00:00+00 BC`. */
const SERVER_DATE = /^(\d{4,6})-(\d\d)-(\d\d)( BC)?$/
const SERVER_TIME = /^(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:[+ ]00)?( BC)?$/
const ENDLESS = /^-?infinity$/

export function isServerDate(text: string): boolean {
  return ENDLESS.test(text) || countToDay(text) !== undefined
}

export function parseServerTime(text: string): number | undefined {
  if (ENDLESS.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  const [, date, clock, fraction = '', era = ''] = SERVER_TIME.exec(text) ?? []
  if (date === undefined || !TIME.test(clock!)) return undefined
  const day = countToDay(date + era)
  const time = day === undefined ? NaN : day + Date.parse(`1970-01-01T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  return Math.abs(time) <= 8.64e15 ? time : undefined
}

/** Gives milliseconds since 1970; the year before the first is 1 BC. */
function countToDay(text: string): number | undefined {
  const [, digits = '0', month, day, era] = SERVER_DATE.exec(text) ?? []
  const year = era === undefined ? Number(digits) : 1 - Number(digits)
  if (Number(digits) === 0 || !isInMonth(Number(day), Number(month), year)) return undefined
  return new Date(0).setUTCFullYear(year, Number(month) - 1, Number(day))
}

/** The Date of an entity for `infinity` or `-infinity`. */
export class EndlessDate extends Date {
  readonly #time: number

  constructor(time: number) {
    super(Number.NaN)
    this.#time = time
  }

  override getTime(): number {
    return this.#time
  }

  override valueOf(): number {
    return this.#time
  }

  override toISOString(): string {
    return String(this.#time).toLowerCase()
  }

  override toString(): string {
    return this.toISOString()
  }

  override toJSON(): string {
    return this.toISOString()
  }
}
