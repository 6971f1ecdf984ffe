/** `engine.rateLimit`: a token bucket, full at first, filled evenly by the engine's clock. Refuses with rate_limited. */
import { parseDuration, type Clock } from '../../foundation/async/clock.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'

/** Options of `engine.rateLimit`. */
export interface RateLimit {
  /** Requests in the time, above 0; so many may come at once. */
  readonly requests: number
  /** The time: milliseconds, or a string such as `1s`, `1m`, `1h`. */
  readonly per: number | string
}

const MAX_CREDIT = Number.MAX_SAFE_INTEGER

export class TokenBucket {
  readonly #clock: Pick<Clock, 'time'>
  readonly #requests: number
  readonly #per: number
  /** In whole numbers: a request costs `per`, each millisecond gives `requests`. */
  #credit: number
  #filledAt: number

  /** @throws RangeError for malformed numbers */
  constructor({ requests, per }: RateLimit, clock: Pick<Clock, 'time'>) {
    const duration = typeof per === 'string' ? parseDuration(per, 'rateLimit: per') : per
    if (!Number.isSafeInteger(requests) || requests < 1)
      throw new RangeError(`rateLimit: "requests" must be an integer above 0, got ${String(requests)}.`)
    if (!Number.isSafeInteger(duration) || duration < 1)
      throw new RangeError(`rateLimit: "per" must be a whole number of milliseconds above 0, or a string such as "1m", got ${String(per)}.`)
    if (requests * duration > MAX_CREDIT)
      throw new RangeError(`rateLimit: ${requests} requests per ${String(per)} are more than can be counted.`)
    this.#clock = clock
    this.#requests = requests
    this.#per = duration
    this.#credit = requests * duration
    this.#filledAt = clock.time()
  }

  /** Undefined: the request may pass. A refusal has `Retry-After` (RFC 9110 section 10.2.3). */
  take(label: string): RestError | undefined {
    this.#fill()
    if (this.#credit >= this.#per) {
      this.#credit -= this.#per
      return undefined
    }
    const seconds = Math.ceil(Math.ceil((this.#per - this.#credit) / this.#requests) / 1000)
    const allowed = `${this.#requests} ${this.#requests === 1 ? 'request' : 'requests'} in ${this.#per / 1000} s`
    return restError('rate_limited', `A test allows ${allowed} here (rateLimit("${label}")). Try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }

  #fill(): void {
    const now = this.#clock.time()
    // A clock set back gives and takes nothing.
    const passed = Math.max(0, now - this.#filledAt)
    this.#filledAt = now
    this.#credit = Math.min(this.#requests * this.#per, this.#credit + passed * this.#requests)
  }
}
