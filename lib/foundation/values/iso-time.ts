/** Formats milliseconds since 1970 as ISO 8601 text (UTC, milliseconds, `Z`), and parses the usual forms of such texts. */
import { DAY_MS } from '../base/clock.ts'

/** The parts of a time of day, each with the character behind it: short texts are joined faster than long ones. */
const HOURS = listParts(24, 2, ':')
const MINUTES = listParts(60, 2, ':')
const SECONDS = listParts(60, 2, '.')
const MILLISECONDS = listParts(1000, 3, 'Z')
const dates = new Map<number, string>()

/** Formats milliseconds since 1970. Date parts are cached: the records of a page have few different days, and Date is slow. */
export function formatIso(time: number): string {
  // A day number needs whole milliseconds: -5e-324 would belong to none.
  const milliseconds = Math.floor(time)
  const day = Math.floor(milliseconds / DAY_MS)
  let date = dates.get(day)
  if (date === undefined) {
    if (!(Math.abs(milliseconds) <= 8.64e15)) return String(milliseconds)
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

const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
/** A time of day; seconds may be left out. */
export const TIME = /^([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/
/** RFC 3339 with some freedoms of ISO 8601: without a time it is midnight, without an offset UTC, and seconds may be left out. */
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

/** Parses a date-time that another program has written: its zone may be called UTC or GMT, and stand apart. */
export function parseLenientDatetime(text: string): number | undefined {
  return parseDatetime(text.replace(/ ?(?:UTC|GMT)$/, 'Z').replace(/ (?=Z|[+-]\d\d(?::?\d\d)?$)/, ''))
}

/** Days from March 1 of the year 0, which the months are counted from, to the beginning of 1970. */
const EPOCH = 719_468

/**
 * Parses a date-time as JSON.stringify writes a Date, which is what most clients send; undefined for any other text. By hand in a fraction
 * of the time of Date.
 */
function parseExact(text: string): number | undefined {
  if (
    text[4] !== '-' ||
    text[7] !== '-' ||
    text[10] !== 'T' ||
    text[13] !== ':' ||
    text[16] !== ':' ||
    text[19] !== '.' ||
    text[23] !== 'Z'
  )
    return undefined
  const [year, month, day] = [readDigits(text, 0, 4), readDigits(text, 5, 7), readDigits(text, 8, 10)]
  const [hour, minute, second] = [readDigits(text, 11, 13), readDigits(text, 14, 16), readDigits(text, 17, 19)]
  const time = (hour * 60 + minute) * 60_000 + second * 1000 + readDigits(text, 20, 23)
  if (!(isInMonth(day, month, year) && hour < 24 && minute < 60 && second < 60) || Number.isNaN(year + time)) return undefined
  const fromMarch = (month + 9) % 12
  const years = month > 2 ? year : year - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return (365 * years + leapDays + Math.floor((153 * fromMarch + 2) / 5) + day - 1 - EPOCH) * DAY_MS + time
}

/** Reads a part of a text as a number; NaN where something else than a digit is in it. */
function readDigits(text: string, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return NaN
    number = number * 10 + digit
  }
  return number
}

/** Parses a date-time to milliseconds since 1970. Finer digits are cut off, because a JavaScript Date has none. */
export function parseDatetime(text: string): number | undefined {
  const exact = text.length === ISO_LENGTH ? parseExact(text) : undefined
  if (exact !== undefined) return exact
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
