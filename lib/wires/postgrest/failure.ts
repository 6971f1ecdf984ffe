/** Refusals in PostgREST's shape, with PostgreSQL's words for errors of the engine, such as 409 `23505` for `not_unique`. */
import type { WireAnswer, WireError, WireResource } from '../../foundation/base/wire.ts'

interface FailureHints {
  readonly details?: unknown
  readonly hint?: string
  readonly headers?: Readonly<Record<string, string>>
  /** After a conflict with another request: the wire begins anew. */
  readonly again?: boolean
}

export class Failure extends Error {
  readonly status: number
  readonly code: string
  readonly parts: FailureHints

  constructor(status: number, code: string, message: string, parts: FailureHints = {}) {
    super(message)
    this.status = status
    this.code = code
    this.parts = parts
  }

  get answer(): WireAnswer {
    const { details = null, hint = null, headers = {}, again = false } = this.parts
    return { status: this.status, headers, body: { code: this.code, details, hint, message: this.message }, again }
  }
}

type UnreadablePart = 'select parameter' | 'order' | 'filter' | 'logic tree' | 'limit' | 'offset'

export function unreadable(what: UnreadablePart, text: string, found: string): Failure {
  return new Failure(400, 'PGRST100', `"failed to parse ${what} (${text.slice(0, 200)})" (line 1, column 1)`, { details: found })
}

export function notServed(what: string): Failure {
  return new Failure(400, '0A000', `${what} is not served here.`)
}

/** @param what as PostgreSQL says it: `integer ~ unknown` */
export function noOperator(what: string): Failure {
  return new Failure(404, '42883', `operator does not exist: ${what}`, {
    hint: 'No operator matches the given name and argument types. You might need to add explicit type casts.',
  })
}

interface ThrownRefusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly errors?: readonly object[] | undefined
  readonly headers?: Readonly<Record<string, string>>
}

interface Entry {
  readonly code?: string
  readonly attribute?: string
  readonly parameter?: string
  readonly detail?: string
  readonly value?: unknown
}

export interface RefusedRequest {
  readonly resource: WireResource | undefined
  readonly isAnonymous: boolean
  readonly method: string
}

export function isRefusal(error: unknown): error is ThrownRefusal {
  if (!(error instanceof Error)) return false
  const { status, code } = error as Partial<ThrownRefusal>
  return typeof status === 'number' && typeof code === 'string'
}

export function translate(refusal: ThrownRefusal | WireError, asked: RefusedRequest): Failure {
  const { status, code, message, errors = [], headers = {} } = refusal
  const entry = (errors[0] ?? {}) as Entry
  const ofEntry = entry.code === undefined ? undefined : translateEntry(entry, message, asked)
  if (ofEntry !== undefined) return ofEntry
  const table = asked.resource?.table ?? ''
  if (code === 'owner_required')
    return new Failure(409, '23503', `update or delete on table "${table}" violates foreign key constraint`, { details: message })
  if (code === 'unique_conflict') return new Failure(409, '23505', `duplicate key value violates unique constraint on "${table}"`)
  if (code === 'outside_scope')
    return new Failure(asked.isAnonymous ? 401 : 403, '42501', `new row violates row-level security policy for table "${table}"`)
  if (code === 'forbidden' || code === 'token_missing')
    return new Failure(asked.isAnonymous ? 401 : 403, '42501', `permission denied for table ${table}`, { headers })
  if (code.startsWith('token_')) return new Failure(401, 'PGRST301', message, { headers })
  if (code === 'json_malformed' || code === 'body_invalid')
    return new Failure(400, 'PGRST102', 'Empty or invalid json', { details: message })
  if (code === 'media_type_unsupported') return new Failure(415, 'PGRST102', 'Content-Type not acceptable', { details: message })
  if (code === 'method_not_allowed') return new Failure(405, 'PGRST117', `Unsupported HTTP method: ${asked.method}`, { headers })
  if (code === 'timeout') return new Failure(status, '57014', 'canceling statement due to statement timeout')
  return new Failure(status, code, message, { headers })
}

function findPlace({ attribute = '', parameter = '' }: Entry, resource: WireResource | undefined) {
  const names = (attribute === '' ? parameter : attribute).split('.').filter(name => !/^\d+$|^where$/.test(name))
  const name = names[0] ?? ''
  const known = resource?.attributes.find(each => each.name === name)
  return { known, name, column: known?.column ?? name, table: resource?.table ?? '' }
}

function translateEntry(entry: Entry, message: string, { resource }: RefusedRequest): Failure | undefined {
  const { known, name, column, table } = findPlace(entry, resource)
  const value = typeof entry.value === 'string' ? entry.value : JSON.stringify(entry.value)
  const row = { details: 'Failing row contains (...).' }
  const text = entry.detail ?? message
  switch (entry.code) {
    case 'not_unique': {
      const constraint = resource?.key.includes(name) === true ? `${table}_pkey` : `${table}_${column}_key`
      const details = value === undefined ? `The value of (${column}) already exists.` : `Key (${column})=(${value}) already exists.`
      return new Failure(409, '23505', `duplicate key value violates unique constraint "${constraint}"`, { details })
    }
    case 'reference_not_found': {
      const details = `Key (${column})=(${value}) is not present in table "${known?.target ?? ''}".`
      return new Failure(409, '23503', `insert or update on table "${table}" violates foreign key constraint "${table}_${column}_fkey"`, {
        details,
      })
    }
    case 'required':
    case 'null_not_allowed':
      return new Failure(400, '23502', `null value in column "${column}" of relation "${table}" violates not-null constraint`, row)
    case 'too_long':
      return new Failure(400, '22001', 'value too long for type character varying', { details: text })
    case 'not_allowed':
      return new Failure(400, '23514', `new row for relation "${table}" violates check constraint "${table}_${column}_check"`, row)
    case 'value_invalid':
      return new Failure(400, '22P02', `invalid input syntax for type ${known?.type ?? 'integer'}: "${value ?? ''}"`, { details: text })
    case 'attribute_unknown':
    case 'not_filterable':
    case 'not_sortable':
    case 'flag_needed':
      return new Failure(400, '42703', `column ${table}.${findUnknown(text, column)} does not exist`)
    case 'read_only':
    case 'key_fixed':
      return new Failure(400, '428C9', `column "${column}" can only be updated to DEFAULT`, { details: text })
    case 'operator_invalid':
      return noOperator(text)
    case 'expression_invalid': {
      const [found, hint] = /invalid regular expression: [^]*?(?=\.?$)/.exec(text)![0].split('; ') as [string, string?]
      return new Failure(400, '2201B', found, hint === undefined ? {} : { hint })
    }
    case 'limit_exceeded':
      return new Failure(400, '54001', text)
    default:
      return undefined
  }
}

/** Reads `There is no attribute "x".` */
function findUnknown(text: string, otherwise: string): string {
  return /"([^"]+)"/.exec(text)?.[1] ?? otherwise
}
