/**
 * Still clocks: clocks that show the same on every machine, for pictures: one that stands still, and one that goes on by a little whenever
 * somebody looks.
 */

/** The time that pictures show. */
export const TIME = '2026-01-31T12:00:00.000Z'

/** How far the clock of durations goes on by each look, in milliseconds. */
const STEP = 0.2

/** Durations of this process are no longer measured, but counted. */
export function countDurations(): void {
  let now = 0
  performance.now = () => (now += STEP)
}

/** The same for a page, as a script that runs before its own. */
export const COUNTED_DURATIONS = `{ let now = 0; performance.now = () => (now += ${STEP}) }`
