/** Describes refusals by status, with their codes. */
import { ERRORS, FIELD_ERRORS } from '../../foundation/errors/errors.ts'
import { PROBLEM_TYPE } from '../../foundation/base/response.ts'
import { describeObject, type ObjectMembers, type Schema } from './schema.ts'
import { Describer } from './describer.ts'

const STATUSES: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'The path, the query or the body cannot be understood.'],
  401: ['Unauthorized', 'A token is missing, or not valid.'],
  403: ['Forbidden', 'The caller may not do this.'],
  404: ['NotFound', 'There is nothing at the path that exists for the caller.'],
  405: ['MethodNotAllowed', 'Not taken here, or not without filters.'],
  409: ['Conflict', 'The change conflicts with other records, or with another change.'],
  412: ['PreconditionFailed', 'A condition of the request does not hold; nothing is changed.'],
  413: ['ContentTooLarge', 'The body is too large.'],
  415: ['UnsupportedMediaType', 'The body is not said to be JSON.'],
  422: ['UnprocessableContent', 'The model refuses the body; `errors` lists every error.'],
  429: ['TooManyRequests', 'Too many requests, or too many log-ins that have failed.'],
  500: ['InternalServerError', 'The server has failed. Nothing is changed.'],
  503: ['ServiceUnavailable', 'The server cannot do this at present. Nothing is changed.'],
}

const OF_ANY = new Set([400, 401, 413, 415, 500, 503])

const RETRIED = new Set([429, 503])

export class Failures extends Describer {
  /**
   * With `attributes: true` adds 400, 500 and 503; otherwise leaves statuses that any request may get to `default`. A brief document has
   * only `4XX`.
   *
   * @param always statuses to list in addition to `default`
   */
  of(statuses: readonly number[], always: readonly number[] = []): Schema {
    const { validationStatus, runsApplicationCode } = this.source
    const { attributes, brief } = this.options
    if (brief) return { '4XX': this.#any() }
    const given = statuses.map(status => (status === 422 ? validationStatus : status))
    const own = attributes ? [400, ...given, 500, 503] : given.filter(status => !OF_ANY.has(status) || status === validationStatus)
    // Only a bad query can be refused here.
    const listed = own.length === 0 ? [400] : own
    const known = [...new Set([...listed, ...always])].toSorted((a, b) => a - b)
    return {
      ...Object.fromEntries(known.map(status => [String(status), this.#refer(status)])),
      ...(runsApplicationCode || !attributes ? { default: this.#other() } : {}),
    }
  }

  #refer(status: number): Schema {
    const [name, description] = STATUSES[status]!
    return this.components.refer('responses', name, `status ${status}`, () => {
      const codes = listCodes(status, this.source.validationStatus)
      const narrow = (schema: Schema): Schema =>
        this.source.runsApplicationCode || this.source.envelope?.error !== undefined
          ? schema
          : { allOf: [schema, { type: 'object', properties: { status: { const: status }, code: { enum: codes } } }] }
      const list = codes.map(code => `\`${code}\``).join(', ')
      const isWhole = this.options.attributes
      return {
        description: isWhole ? `${description} Codes: ${list}.` : description,
        ...(RETRIED.has(status) || status === 401 || status === 412 ? { headers: this.#headers(status) } : {}),
        content: this.#content(narrow, isWhole ? narrow : schema => schema),
      }
    })
  }

  #any(): Schema {
    return this.components.refer('responses', 'Error', 'status any', () => ({
      description: 'A refusal: `status` and `code` say which.',
      content: { 'application/json': { schema: this.#failure() } },
    }))
  }

  #content(narrow: (schema: Schema) => Schema, narrowProblem = narrow): Schema {
    return { 'application/json': { schema: narrow(this.#failure()) }, [PROBLEM_TYPE]: { schema: narrowProblem(this.#problem()) } }
  }

  #headers(status: number): Schema {
    if (status === 412) return { ETag: header('The entity tag as it is, where there is one.', 'string') }
    return status === 401 ? { 'WWW-Authenticate': CHALLENGE } : { 'Retry-After': RETRY }
  }

  /** Refusals by application functions, and without `attributes: true` also statuses in `OF_ANY`. */
  #other(): Schema {
    const { attributes } = this.options
    if (!attributes) {
      return this.components.refer('responses', 'Refused', 'status other', () => ({
        description: 'Any other refusal.',
        headers: {
          'Retry-After': RETRY,
          'WWW-Authenticate': CHALLENGE,
          ETag: header('The entity tag as it is, where there is one.', 'string'),
        },
        content: this.#content(schema => schema),
      }))
    }
    return this.components.refer('responses', 'OtherFailure', 'status other', () => ({
      description: 'What the application itself refuses with, by a code of its own.',
      content: this.#content(schema => schema),
    }))
  }

  #failure(): Schema {
    if (this.source.envelope?.error !== undefined)
      return this.components.refer('schemas', 'Failure', 'failure', () => ({ description: 'A refusal in the form of the application.' }))
    return this.components.refer('schemas', 'Failure', 'failure', () => ({
      ...describeObject({ ...this.#members(), isOpen: this.options.brief }),
      description: 'The one form of every refusal. `code` is stable; `title` and `detail` are for people and may change.',
    }))
  }

  #problem(): Schema {
    return this.components.refer('schemas', 'Problem', 'problem', () => {
      const { properties, required } = this.#members()
      const type = { type: 'string', format: 'uri', description: 'Names the code, or is `about:blank` for one of the application.' }
      return {
        ...describeObject({ properties: { type, ...properties }, required: ['type', ...required] }),
        description: 'A refusal as problem details (RFC 9457), for requests whose `Accept` names them.',
      }
    })
  }

  #members(): ObjectMembers {
    return {
      properties: {
        success: { const: false },
        timestamp: { type: 'string', format: 'date-time' },
        status: { type: 'integer', minimum: 400, maximum: 599 },
        code: this.#codes(),
        title: { type: 'string' },
        detail: { type: 'string' },
        errors: { type: 'array', items: this.#fieldError() },
      },
      required: ['success', 'timestamp', 'status', 'code', 'title', 'detail'],
    }
  }

  #codes(): Schema {
    const codes = Object.keys(ERRORS)
    return this.source.runsApplicationCode
      ? { type: 'string', examples: codes, description: 'A code of the engine, or one of the application.' }
      : this.components.refer('schemas', 'ErrorCode', 'code', () => ({ type: 'string', enum: codes }))
  }

  #fieldError(): Schema {
    return this.components.refer('schemas', 'FieldError', 'fieldError', () => {
      const codes = Object.keys(FIELD_ERRORS)
      return {
        ...describeObject({
          properties: {
            code: this.source.runsApplicationCode ? { type: 'string', examples: codes } : { type: 'string', enum: codes },
            detail: { type: 'string' },
            attribute: { type: 'string', description: 'Dotted path of the attribute in the body.' },
            parameter: { type: 'string', description: 'Name of the parameter, as it was sent.' },
            value: { description: 'What was given.' },
            allowed: { type: 'array', items: {}, description: 'What may be given.' },
            suggestion: { type: 'string', description: 'The nearest name that exists.' },
          },
          required: ['code', 'detail'],
          isOpen: this.source.runsApplicationCode || this.options.brief,
        }),
        description: 'One error of a request, with its place.',
      }
    })
  }
}

function listCodes(status: number, validationStatus: number): string[] {
  return Object.entries(ERRORS)
    .filter(([code, error]) => (code === 'validation_failed' ? validationStatus : error.status) === status)
    .map(([code]) => code)
}

export function header(description: string, type: string, format?: string): Schema {
  return { description, schema: { type, ...(format === undefined ? {} : { format }) } }
}

const CHALLENGE = header('How to log in (RFC 6750).', 'string')
const RETRY = header('Seconds after which to try again, where that is known.', 'integer')
