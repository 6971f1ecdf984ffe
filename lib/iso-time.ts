/** ISO time: milliseconds since the epoch as ISO 8601 text, in UTC with milliseconds and `Z`. */

const TWO = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'))
const THREE = Array.from({ length: 1000 }, (_, index) => String(index).padStart(3, '0'))
const DAY = 86_400_000
const dates = new Map<number, string>()

/** ISO 8601 of milliseconds since the epoch. The date part is remembered: a page of records has few different days, and Date is slow. */
export function isoOf(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY)
  let date = dates.get(day)
  if (date === undefined) {
    if (!(Math.abs(milliseconds) <= 8.64e15)) return String(milliseconds)
    const iso = new Date(day * DAY).toISOString()
    date = iso.slice(0, iso.indexOf('T') + 1)
    if (dates.size >= 10_000) dates.clear()
    dates.set(day, date)
  }
  const rest = Math.floor(milliseconds - day * DAY)
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${date}${TWO[Math.floor(minutes / 60)]!}:${TWO[minutes % 60]!}:${TWO[seconds % 60]!}.${THREE[rest % 1000]!}Z`
}
