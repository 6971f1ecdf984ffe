/** Writes a date-time for people, and for a browser's picker. */

const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Such as `5 Jan 2026, 10:00 UTC`, with seconds if other than 0. Undefined: the text is no date-time. */
export function readableTime(text: string): string | undefined {
  const [, year, month = '', day, time, seconds = '00', parts = '', zone] = FORM.exec(text) ?? []
  const name = MONTHS[Number(month) - 1]
  if (name === undefined) return undefined
  const part = parts.replace(/0+$/, '')
  const precise = part !== '' ? `:${seconds}.${part}` : seconds === '00' ? '' : `:${seconds}`
  return `${Number(day)} ${name} ${year}, ${time}${precise}${zone === undefined ? '' : zone === 'Z' ? ' UTC' : ` ${zone}`}`
}

export const PICKERS: Readonly<Record<string, 'datetime-local' | 'date' | 'time'>> = {
  datetime: 'datetime-local',
  date: 'date',
  time: 'time',
}

/** The text for a picker; empty: the text is no such value. A picker has no zone: date-times are in UTC. */
export function writePicked(text: string, type: string): string {
  if (type !== 'datetime') return text
  const time = FORM.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, -1)
}

export function readPicked(picked: string, type: string): string {
  const whole = /T?\d{2}:\d{2}$/.test(picked) ? `${picked}:00` : picked
  return type === 'datetime' ? `${whole}Z` : whole
}
