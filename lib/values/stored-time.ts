/**
 * Stored time: the forms in which SQLite files hold date-times, which have no type of their own there: texts of several shapes, seconds or milliseconds
 * since 1970 (Unix time), days since 4714 BC (Julian day numbers, https://www.sqlite.org/lang_datefunc.html). What a column holds is told by its rows.
 */
import { parseDatetime, formatIso } from './iso-time.ts'

/** How a column of a SQLite file holds date-times. See stored-time.ts. */
export interface StoredTime {
  readonly unit: 'text' | 'seconds' | 'milliseconds' | 'julian'
  /** Of texts: what stands between date and time. */
  readonly separator: ' ' | 'T'
  /** Of texts: how far the time goes; `none` for plain dates. */
  readonly clock: 'none' | 'minutes' | 'seconds'
  /** Of texts: digits of the fraction of a second. */
  readonly digits: number
  /** Of texts: what stands at the end, such as `Z`; empty where UTC is understood. */
  readonly zone: string
  /** All values have this form, so that they compare as they are stored. */
  readonly uniform: boolean
}

/** The form of new values where no row tells another: that of SQLite's own current_timestamp. */
const DEFAULT_FORM: StoredTime = { unit: 'text', separator: ' ', clock: 'seconds', digits: 0, zone: '', uniform: true }

/** 1970-01-01T00:00:00Z as a Julian day number. */
const EPOCH = 2440587.5
const DAY = 86_400_000

/** Unix times below this are seconds (until the year 5138), others milliseconds (from 1973 on). */
const MOST_SECONDS = 1e11

const TEXT =
  /^\d{4}-\d\d-\d\d(?:(?<separator>[ T])\d\d:\d\d(?<seconds>:\d\d(?:\.(?<digits>\d{1,9}))?)?(?<space> ?)(?<zone>Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/

/** Milliseconds since 1970 of a stored value, or undefined when it is no date-time. */
export function parseStoredTime(stored: unknown, unit: StoredTime['unit'] = 'text'): number | undefined {
  if (typeof stored === 'number') return toMilliseconds(stored, unit)
  if (typeof stored !== 'string') return undefined
  const text = stored.replace(/ ?(?:UTC|GMT)$/, 'Z').replace(/ (?=Z|[+-]\d\d(?::?\d\d)?$)/, '')
  return parseDatetime(text)
}

function toMilliseconds(value: number, unit: StoredTime['unit']): number | undefined {
  const time =
    unit === 'text'
      ? toMilliseconds(value, guessUnit(value))
      : Math.round(unit === 'milliseconds' ? value : unit === 'seconds' ? value * 1000 : (value - EPOCH) * DAY)
  return time !== undefined && Math.abs(time) <= 8.64e15 ? time : undefined
}

/** The unit that a bare number is likely to be in. */
function guessUnit(value: number): 'seconds' | 'milliseconds' | 'julian' {
  if (!Number.isInteger(value) && value > 1e6 && value < 5.4e6) return 'julian'
  return Math.abs(value) < MOST_SECONDS ? 'seconds' : 'milliseconds'
}

/** The form of one value, or undefined when it is none that is known. A date without a time is taken for midnight. */
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

/** The form of a column, by the values of some of its rows: the most frequent one. */
export function findStoredTime(samples: readonly unknown[]): StoredTime {
  const counts = new Map<unknown, { form: Omit<StoredTime, 'uniform'> | undefined; count: number }>()
  for (const sample of samples) {
    // Texts that differ in their digits alone have one form.
    const key = typeof sample === 'string' ? sample.replaceAll(/\d/g, '0') : JSON.stringify(recognizeForm(sample) ?? null)
    const entry = counts.get(key)
    if (entry === undefined) counts.set(key, { form: recognizeForm(sample), count: 1 })
    else entry.count++
  }
  const known = [...counts.values()].filter(({ form }) => form !== undefined).toSorted((a, b) => b.count - a.count)
  const form = known[0]?.form
  if (form === undefined) return { ...DEFAULT_FORM, uniform: samples.length === 0 }
  // Texts with another offset than that of UTC do not sort as time does. Nor do plain dates, with what is written beside them.
  const isUtc = /^ ?(?:Z|UTC|[+-]00(?::?00)?)?$/.test(form.zone)
  return {
    ...form,
    zone: isUtc ? form.zone : form.zone.replace(/[+-]\d\d/, '+00').replace(/:?\d\d$/, digits => digits.replaceAll(/\d/g, '0')),
    uniform: counts.size === 1 && isUtc,
  }
}

/** Whether values are plain dates, without a time. */
export function areDates(samples: readonly unknown[]): boolean {
  return samples.every(sample => typeof sample === 'string' && recognizeForm(sample)?.clock === 'none')
}

/** A date-time as a column holds it. */
export function formatStoredTime(milliseconds: number, form: StoredTime): string | number {
  switch (form.unit) {
    case 'milliseconds':
      return milliseconds
    case 'seconds':
      return milliseconds / 1000
    case 'julian':
      return milliseconds / DAY + EPOCH
    case 'text':
      return formatText(milliseconds, form)
  }
}

/**
 * A stored value that surely comes before (-1) or after (1) all that are shown as the given time, in the order of stored values. Of texts it is another day, since
 * an offset moves a time by less than one; of numbers, the next millisecond.
 */
export function findNeighbour(milliseconds: number, unit: StoredTime['unit'], side: -1 | 1): string | number {
  if (unit !== 'text') return formatStoredTime(milliseconds + side, { ...DEFAULT_FORM, unit })
  const iso = formatIso(milliseconds + side * DAY)
  // The years before 0 and after 9999, which no text has.
  if (/^[+-]/.test(iso)) return side === 1 ? ':' : ''
  // Behind the day, whatever follows it.
  return side === 1 ? `${iso.slice(0, 10)}~` : iso.slice(0, 10)
}

function formatText(milliseconds: number, { separator, clock, digits, zone }: StoredTime): string {
  const iso = formatIso(milliseconds)
  const date = iso.slice(0, iso.indexOf('T'))
  const [whole = '', fraction = ''] = iso.slice(iso.indexOf('T') + 1, -1).split('.')
  if (clock === 'none' && whole === '00:00:00' && fraction === '000') return date
  // Where there are plain dates only, a time is still kept: in the form of SQLite's own.
  if (clock === 'none') return `${date} ${whole}${fraction === '000' ? '' : `.${fraction}`}`
  const time = clock === 'minutes' ? whole.slice(0, 5) : digits === 0 ? whole : `${whole}.${fraction.padEnd(digits, '0').slice(0, digits)}`
  return `${date}${separator}${time}${zone}`
}
