/**
 * Collects the errors of one body and counts its records. Only `maxErrors` errors are described, the others are counted: a body of one
 * megabyte can contain a hundred thousand errors, and each description costs a search for the nearest name.
 */
import { briefError, restError, type FieldError, type RestError } from './errors.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'

export class FieldErrors {
  readonly #listed: FieldError[] = []
  readonly #maxErrors: number
  readonly #maxRecords: number
  readonly #isLimit: boolean
  #others = 0
  #records = 0
  /** Whether every error, listed or not, is one of uniqueness. */
  #onlyTaken = true

  /**
   * @param limits undefined: records are not counted, for data that no client has sent
   * @param maxErrors how many errors are listed
   */
  constructor(limits?: Pick<Limits, 'maxErrors' | 'maxBodyRecords'>, maxErrors = limits?.maxErrors ?? DEFAULT_LIMITS.maxErrors) {
    this.#isLimit = limits !== undefined
    this.#maxErrors = maxErrors
    this.#maxRecords = limits?.maxBodyRecords ?? Infinity
  }

  push(...errors: readonly FieldError[]): void {
    for (const error of errors) {
      if (error.code !== 'not_unique') this.#onlyTaken = false
      if (this.#listed.length < this.#maxErrors) this.#listed.push(error)
      else this.#others++
    }
  }

  /** Adds an error whose description is costly. It must not be an error of uniqueness. */
  describe(make: () => FieldError): void {
    this.#onlyTaken = false
    if (this.#listed.length < this.#maxErrors) this.#listed.push(make())
    else this.#others++
  }

  get listed(): readonly FieldError[] {
    return this.#listed
  }

  /** Whether a listed error names the attribute. */
  has(attribute: string | undefined): boolean {
    return this.#listed.some(error => error.attribute === attribute)
  }

  /**
   * Counts a record that the body creates or links.
   * @throws RestError when there are too many.
   */
  countRecord(): void {
    if (++this.#records <= this.#maxRecords) return
    const detail =
      `The body makes or links more than ${this.#maxRecords} records (limits.maxBodyRecords), of which each linked ID is one: ` +
      'send them in several requests, or raise the limit.'
    throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
  }

  /** Returns the refusal of the body, or undefined without errors: 409 when all errors are of uniqueness, else 422. */
  refusal(): RestError | undefined {
    const errors = this.#listed
    if (errors.length === 0 && this.#others === 0) return undefined
    const rest =
      this.#others === 0 ? [] : [`And ${this.#others} more errors, which are not listed${this.#isLimit ? ' (limits.maxErrors)' : ''}.`]
    // The attributes of a composite key share one sentence.
    const detail = [...new Set(errors.map(error => error.detail)), ...rest].join(' ')
    return briefError(this.#onlyTaken ? 'unique_conflict' : 'validation_failed', detail, { errors })
  }
}
