/** The clock of an engine, which gives every timestamp and expiry. Tests freeze and advance it. */

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000

const UNITS: Readonly<Record<string, number>> = { d: DAY_MS, h: 3_600_000, m: 60_000, s: 1000 }

/** The years that ISO 8601 writes with four digits, as every database takes them. */
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.UTC(10_000, 0) - 1

/** The setting of a clock. */
export interface ClockSetting {
  /** The time at which the clock stands still, in milliseconds since 1970. Undefined: the clock runs. */
  readonly frozen: number | undefined
  /** How far the clock is ahead of its source, in milliseconds. */
  readonly ahead: number
}

/** The clock of an engine. */
export class Clock {
  readonly #source: (() => Date) | undefined
  #frozen: number | undefined
  #ahead = 0
  readonly #listeners: (() => void)[] = []

  /** @param source gives the current time; the system's by default */
  constructor(source?: () => Date) {
    this.#source = source
  }

  /** From now on the listener is called when the time has been set or moved. */
  whenMoved(listener: () => void): void {
    this.#listeners.push(listener)
  }

  #moved(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Whether the clock shows the system's own time: it has no other source, and was not set or moved. */
  get isSystem(): boolean {
    return this.#source === undefined && this.#frozen === undefined && this.#ahead === 0
  }

  /**
   * The time of a clock that stands still, in milliseconds since 1970, or of one that an application drives by a source of its own.
   * Undefined: the clock follows the system's.
   */
  get standing(): number | undefined {
    return this.#frozen === undefined && this.#source === undefined ? undefined : this.time()
  }

  /** The current time of the engine. */
  now(): Date {
    return new Date(this.time())
  }

  /** The current time in milliseconds since 1970. */
  time(): number {
    return this.#frozen ?? (this.#source === undefined ? Date.now() : this.#source().getTime()) + this.#ahead
  }

  /**
   * Sets the time and freezes it there.
   *
   * @throws RangeError when the date is not valid, or out of the years 1 to 9999.
   * @example engine.clock.set(new Date('2026-01-01T00:00:00Z'))
   */
  set(date: Date | string | number): void {
    const time = new Date(date).getTime()
    if (Number.isNaN(time)) throw new RangeError(`clock.set: not a date: ${String(date)}.`)
    if (!isWritable(time))
      throw new RangeError(`clock.set: ${new Date(time).toISOString()} is out of the years 1 to 9999, which times can be written in.`)
    this.#frozen = time
    this.#moved()
  }

  /**
   * Moves the time forward, frozen or not, by milliseconds or by a text such as `31d`, `2h`, `15m`, `90s`.
   *
   * @throws RangeError when the duration has another form, or leads out of the years 1 to 9999.
   * @example engine.clock.advance('31d')
   */
  advance(duration: string | number): void {
    const milliseconds = typeof duration === 'number' ? duration : parseDuration(duration, 'clock.advance')
    if (!Number.isFinite(milliseconds)) throw new RangeError(`clock.advance: not a number of milliseconds: ${duration}.`)
    if (!isWritable(this.time() + milliseconds))
      throw new RangeError(`clock.advance: ${String(duration)} leads out of the years 1 to 9999, which times can be written in.`)
    if (this.#frozen === undefined) this.#ahead += milliseconds
    else this.#frozen += milliseconds
    this.#moved()
  }

  /** The setting of the clock, which snapshots keep. */
  get setting(): ClockSetting {
    return { frozen: this.#frozen, ahead: this.#ahead }
  }

  /** Applies a setting: that of a snapshot, or of another engine's clock. */
  restore({ frozen, ahead }: ClockSetting): void {
    const isMoved = frozen !== this.#frozen || ahead !== this.#ahead
    this.#frozen = frozen
    this.#ahead = ahead
    if (isMoved) this.#moved()
  }

  /** Returns to the source's own time. */
  reset(): void {
    this.restore({ frozen: undefined, ahead: 0 })
  }
}

function isWritable(time: number): boolean {
  return time >= FIRST && time <= LAST
}

/**
 * Returns the milliseconds of a text such as `31d`, `2h`, `15m`, `90s`, `250ms`.
 *
 * @throws RangeError, which begins with `where`, when it has another form.
 */
export function parseDuration(text: string, where: string): number {
  const match = /^(-?\d+(?:\.\d+)?)(d|h|m|s|ms)$/.exec(text)
  if (match === null) throw new RangeError(`${where}: a duration must be written like "31d", "2h", "15m", "90s" or "250ms", not "${text}".`)
  return Number(match[1]) * (UNITS[match[2]!] ?? 1)
}
