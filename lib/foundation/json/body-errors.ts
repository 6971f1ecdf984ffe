/**
 * Collects a body's errors, and counts records. Describes only `maxErrors`: a megabyte can have a hundred thousand, and each description
 * searches for the nearest name.
 */
import { briefError, restError, type FieldError, type RestError } from '../errors/errors.ts'
import { isObject } from './json.ts'
import { DEFAULT_LIMITS, type Limits } from '../base/limits.ts'

export class FieldErrors {
  readonly #listed: FieldError[] = []
  readonly #maxErrors: number
  readonly #maxRecords: number
  readonly #isLimit: boolean
  #others = 0
  #records = 0
  #onlyTaken = true

  /**
   * @param limits undefined: data of the application, any number of records
   * @param maxErrors number of listed errors
   */
  constructor(limits?: Pick<Limits, 'maxErrors' | 'maxBodyRecords'>, maxErrors = limits?.maxErrors ?? DEFAULT_LIMITS.maxErrors) {
    this.#isLimit = limits !== undefined
    this.#maxErrors = maxErrors
    this.#maxRecords = limits?.maxBodyRecords ?? Infinity
  }

  push(...errors: readonly FieldError[]): void {
    for (const error of errors) {
      if (error.code !== 'not_unique') this.#onlyTaken = false
      if (this.#listed.length < this.#maxErrors) this.#listed.push(holdsText(error.value) ? omitValue(error) : error)
      else this.#others++
    }
  }

  /** Makes the error only below the limit. Not for `not_unique`. */
  describe(make: () => FieldError): void {
    this.#onlyTaken = false
    if (this.#listed.length < this.#maxErrors) this.#listed.push(make())
    else this.#others++
  }

  get listed(): readonly FieldError[] {
    return this.#listed
  }

  has(attribute: string | undefined): boolean {
    return this.#listed.some(error => error.attribute === attribute)
  }

  /** @throws RestError for too many records */
  countRecord(): void {
    if (++this.#records <= this.#maxRecords) return
    const detail =
      `The body makes or links more than ${this.#maxRecords} records (limits.maxBodyRecords), of which each linked ID is one: ` +
      'send them in several requests, or raise the limit.'
    throw restError('body_invalid', detail, { errors: [{ code: 'limit_exceeded', detail }] })
  }

  /** 409 if all errors are `not_unique`, else 422. */
  refusal(): RestError | undefined {
    const errors = this.#listed
    if (errors.length === 0 && this.#others === 0) return undefined
    const rest =
      this.#others === 0 ? [] : [`And ${this.#others} more errors, which are not listed${this.#isLimit ? ' (limits.maxErrors)' : ''}.`]
    // The attributes of a composite key share a sentence.
    const distinct = errors.filter(({ code, detail }, index) => code !== 'not_unique' || detail !== errors[index - 1]?.detail)
    const detail = [...distinct.map(error => error.detail), ...rest].join(' ')
    return briefError(this.#onlyTaken ? 'unique_conflict' : 'validation_failed', detail, { errors })
  }
}

/** An object in the wrong place may hold a password: the error does not repeat the object. */
function holdsText(value: unknown, within = false): boolean {
  if (typeof value === 'string') return within
  if (Array.isArray(value)) return value.some(item => holdsText(item, within))
  return isObject(value) && Object.values(value).some(member => holdsText(member, true))
}

function omitValue(error: FieldError): FieldError {
  const { value: _, ...rest } = error
  return rest
}
