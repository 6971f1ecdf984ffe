/**
 * Parses and formats date-times of SQLite files: texts of several forms, seconds or milliseconds since 1970, Julian days
 * (https://www.sqlite.org/lang_datefunc.html).
 */
import { DAY_MS } from '../../../foundation/async/clock.ts'
import { formatIso, parseLenientDatetime } from '../../../foundation/values/iso-time.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'

/** How a file's column stores date-times. */
export interface StoredTime {
  readonly unit: 'text' | 'seconds' | 'milliseconds' | 'julian'
  /** Of texts: between date and time. */
  readonly separator: ' ' | 'T'
  /** Of texts: `none` for plain dates. */
  readonly clock: 'none' | 'minutes' | 'seconds'
  /** Of texts: digits of a second's fraction. */
  readonly digits: number
  /** Such as `Z`; empty where UTC is implied. */
  readonly zone: string
  /** All values have the form, and compare as stored. */
  readonly uniform: boolean
}

export type FileScalar = ScalarType & { readonly time?: StoredTime }

/** @returns undefined for types other than date-times of a file */
export function findForm(type: ScalarType): StoredTime | undefined {
  return (type as FileScalar).time
}

/** For a column without rows: as current_timestamp. */
const DEFAULT_FORM: StoredTime = { unit: 'text', separator: ' ', clock: 'seconds', digits: 0, zone: '', uniform: true }

/** 1970-01-01T00:00:00Z. */
const EPOCH = 2440587.5

/** Smaller Unix times are seconds (until the year 5138), others milliseconds (from 1973 on). */
const MOST_SECONDS = 1e11

const TEXT =
  /^\d{4}-\d\d-\d\d(?:(?<separator>[ T])\d\d:\d\d(?<seconds>:\d\d(?:\.(?<digits>\d{1,9}))?)?(?<space> ?)(?<zone>Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/

/** Milliseconds since 1970; undefined where no date-time. */
export function parseStoredTime(stored: unknown, unit: StoredTime['unit'] = 'text'): number | undefined {
  if (typeof stored === 'number') return toMilliseconds(stored, unit)
  return typeof stored === 'string' ? parseLenientDatetime(stored) : undefined
}

function toMilliseconds(value: number, unit: StoredTime['unit']): number | undefined {
  const time =
    unit === 'text'
      ? toMilliseconds(value, guessUnit(value))
      : Math.round(unit === 'milliseconds' ? value : unit === 'seconds' ? value * 1000 : (value - EPOCH) * DAY_MS)
  return time !== undefined && Math.abs(time) <= 8.64e15 ? time : undefined
}

function guessUnit(value: number): 'seconds' | 'milliseconds' | 'julian' {
  if (!Number.isInteger(value) && value > 1e6 && value < 5.4e6) return 'julian'
  return Math.abs(value) < MOST_SECONDS ? 'seconds' : 'milliseconds'
}

/** Undefined for an unknown form. A date without a time is midnight. */
function recognizeForm(stored: unknown): Omit<StoredTime, 'uniform'> | undefined {
  if (parseStoredTime(stored) === undefined) return undefined
  if (typeof stored === 'number') return { ...DEFAULT_FORM, unit: guessUnit(stored) }
  const groups = TEXT.exec(stored as string)?.groups
  if (groups === undefined) return undefined
  const { separator, seconds, digits = '', space = '', zone = '' } = groups
  if (separator === undefined) return { ...DEFAULT_FORM, clock: 'none' }
  return {
    unit: 'text',
    separator: separator as ' ' | 'T',
    clock: seconds === undefined ? 'minutes' : 'seconds',
    digits: digits.length,
    zone: `${space}${zone}`,
  }
}

export function findStoredTime(samples: readonly unknown[]): StoredTime {
  const counts = new Map<unknown, { form: Omit<StoredTime, 'uniform'> | undefined; count: number }>()
  for (const sample of samples) {
    // Only digits may differ in texts of the same form.
    const key = typeof sample === 'string' ? sample.replaceAll(/\d/g, '0') : JSON.stringify(recognizeForm(sample) ?? null)
    const entry = counts.get(key)
    if (entry === undefined) counts.set(key, { form: recognizeForm(sample), count: 1 })
    else entry.count++
  }
  const known = [...counts.values()].filter(({ form }) => form !== undefined).toSorted((a, b) => b.count - a.count)
  const form = known[0]?.form
  if (form === undefined) return { ...DEFAULT_FORM, uniform: samples.length === 0 }
  // Texts with another offset than UTC do not sort by time, nor plain dates beside date-times.
  const isUtc = /^ ?(?:Z|UTC|[+-]00(?::?00)?)?$/.test(form.zone)
  return {
    ...form,
    zone: isUtc ? form.zone : form.zone.replace(/[+-]\d\d/, '+00').replace(/:?\d\d$/, digits => digits.replaceAll(/\d/g, '0')),
    uniform: counts.size === 1 && isUtc,
  }
}

/** At least half of the times are plain dates. Strays, such as `n/a`, do not count. */
export function areDates(samples: readonly unknown[]): boolean {
  const forms = samples.flatMap(sample => recognizeForm(sample) ?? [])
  const dates = forms.filter(({ clock, unit }) => clock === 'none' && unit === 'text').length
  return dates >= forms.length - dates
}

export function formatStoredTime(milliseconds: number, form: StoredTime): string | number {
  switch (form.unit) {
    case 'milliseconds':
      return milliseconds
    case 'seconds':
      return milliseconds / 1000
    case 'julian':
      return milliseconds / DAY_MS + EPOCH
    case 'text':
      return formatText(milliseconds, form)
  }
}

/**
 * Gives a value that sorts before (-1) or after (1) all stored forms of a time: another day for texts, since an offset is less than a day;
 * the next millisecond for numbers.
 */
export function findNeighbour(milliseconds: number, unit: StoredTime['unit'], side: -1 | 1): string | number {
  if (unit !== 'text') return formatStoredTime(milliseconds + side, { ...DEFAULT_FORM, unit })
  const iso = formatIso(milliseconds + side * DAY_MS)
  // Years before 0 and after 9999 do not occur in texts.
  if (/^[+-]/.test(iso)) return side === 1 ? ':' : ''
  // `2026-01-31~` sorts after every text of the day.
  return side === 1 ? `${iso.slice(0, 10)}~` : iso.slice(0, 10)
}

function formatText(milliseconds: number, { separator, clock, digits, zone }: StoredTime): string {
  const iso = formatIso(milliseconds)
  const date = iso.slice(0, iso.indexOf('T'))
  const [whole = '', fraction = ''] = iso.slice(iso.indexOf('T') + 1, -1).split('.')
  if (clock === 'none' && whole === '00:00:00' && fraction === '000') return date
  // A column of plain dates stores a time in SQLite's own form.
  if (clock === 'none') return `${date} ${whole}${fraction === '000' ? '' : `.${fraction}`}`
  const time = clock === 'minutes' ? whole.slice(0, 5) : digits === 0 ? whole : `${whole}.${fraction.padEnd(digits, '0').slice(0, digits)}`
  return `${date}${separator}${time}${zone}`
}
