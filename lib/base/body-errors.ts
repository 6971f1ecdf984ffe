/**
 * Fault list: the faults of one body, as many as an answer lists, and the records that the body speaks of, as many as a body may. The others are counted:
 * a body of a megabyte can have a hundred thousand faults, each of which would cost a search for the nearest name, and a line of the answer.
 */
import { restError } from './errors.ts'
import type { FieldError, RestError } from './errors.ts'
import type { Limits } from './limits.ts'

export class FieldErrors {
  readonly #listed: FieldError[] = []
  readonly #maxErrors: number
  readonly #maxRecords: number
  #others = 0
  #records = 0
  /** Whether all of them, listed or not, say that a value is taken. */
  #onlyTaken = true

  /** @param limits undefined: all are listed, and records are not counted, as for what no client has sent */
  constructor(limits?: Pick<Limits, 'maxErrors' | 'maxBodyRecords'>) {
    this.#maxErrors = limits?.maxErrors ?? Infinity
    this.#maxRecords = limits?.maxBodyRecords ?? Infinity
  }

  push(...faults: readonly FieldError[]): void {
    for (const fault of faults) {
      if (fault.code !== 'not_unique') this.#onlyTaken = false
      if (this.#listed.length < this.#maxErrors) this.#listed.push(fault)
      else this.#others++
    }
  }

  /** Adds a fault that costs something to describe; it is not one of uniqueness. */
  describe(fault: () => FieldError): void {
    this.#onlyTaken = false
    if (this.#listed.length < this.#maxErrors) this.#listed.push(fault())
    else this.#others++
  }

  get listed(): readonly FieldError[] {
    return this.#listed
  }

  /** Whether one that is listed is at the attribute. */
  has(attribute: string | undefined): boolean {
    return this.#listed.some(fault => fault.attribute === attribute)
  }

  /** Counts a record that the body makes or links; throws when there are too many. */
  countRecord(): void {
    if (++this.#records <= this.#maxRecords) return
    const detail = `The body makes or links more than ${this.#maxRecords} records (limits.maxBodyRecords): send them in several requests.`
    throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
  }

  /** The refusal of the body, or nothing when there is no fault: 409 when all that is wrong is uniqueness, else 422. */
  refusal(): RestError | undefined {
    const errors = this.#listed
    if (errors.length === 0 && this.#others === 0) return undefined
    const rest = this.#others === 0 ? [] : [`And ${this.#others} more faults, which are not listed (limits.maxErrors).`]
    const detail = [...errors.map(fault => fault.detail), ...rest].join(' ')
    return restError(this.#onlyTaken ? 'unique_conflict' : 'validation_failed', detail, { errors })
  }
}
