/** Reads the headers `Prefer` and `Accept` of PostgREST's clients, and shows rows accordingly, as JSON, one object or CSV. */
import type { WireAnswer, WireRequest } from '../../foundation/base/wire.ts'
import { Failure } from './failure.ts'
import type { ShownRow } from './keys.ts'
import { formatJson } from './values.ts'

export interface Preferences {
  readonly shown: 'minimal' | 'representation' | 'headers-only'
  readonly isCounted: boolean
  readonly resolution: 'merge-duplicates' | 'ignore-duplicates' | undefined
  readonly isDefault: boolean
  readonly maxAffected: number | undefined
  /** For `Preference-Applied`. */
  readonly applied: readonly string[]
}

const KNOWN =
  /^(?:return=(?:minimal|representation|headers-only)|count=(?:exact|planned|estimated)|resolution=(?:merge|ignore)-duplicates|missing=(?:default|null)|handling=(?:strict|lenient)|max-affected=\d+|tx=(?:commit|rollback)|timezone=.*|params=.*)$/

const NONE_SENT: Preferences = {
  shown: 'minimal',
  isCounted: false,
  resolution: undefined,
  isDefault: false,
  maxAffected: undefined,
  applied: [],
}

/** @throws Failure for an unknown preference, where the client asks to be strict */
export function readPreferences({ headers }: WireRequest): Preferences {
  if (headers['prefer'] === undefined) return NONE_SENT
  const sent = headers['prefer']
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
  const isStrict = sent.includes('handling=strict')
  const unknown = sent.filter(part => !KNOWN.test(part))
  if (isStrict && unknown.length > 0)
    throw new Failure(400, 'PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ')}`,
    })
  const given = (name: string): string | undefined => sent.find(part => part.startsWith(`${name}=`))?.slice(name.length + 1)
  const most = isStrict ? given('max-affected') : undefined
  return {
    shown: (given('return') ?? 'minimal') as Preferences['shown'],
    isCounted: given('count') !== undefined,
    resolution: given('resolution') as Preferences['resolution'],
    isDefault: given('missing') === 'default',
    maxAffected: most === undefined ? undefined : Number(most),
    applied: sent.filter(part => KNOWN.test(part) && !/^(?:tx|timezone|params)=/.test(part)),
  }
}

const OBJECT = 'application/vnd.pgrst.object'

export interface Shown {
  readonly status: number
  readonly rows: readonly ShownRow[]
  /** `0-24/*` */
  readonly range: string
  readonly applied: readonly string[]
}

/** `0-1/5`: rows 0 and 1 of 5. Without rows, a star. */
export function formatRange(offset: number, length: number, total: number | undefined): string {
  return `${length === 0 ? '*' : `${offset}-${offset + length - 1}`}/${total ?? '*'}`
}

/** Lets pages of other origins read the count. */
const EXPOSED = { 'access-control-expose-headers': 'Content-Range, Preference-Applied' }

export function headersOf(range: string, applied: readonly string[]): Record<string, string> {
  return { 'content-range': range, ...EXPOSED, ...(applied.length === 0 ? {} : { 'preference-applied': applied.join(', ') }) }
}

const SERVED = /(?:^|[\s,])(?:\*\/\*|application\/(?:\*|json|vnd\.pgrst\.(?:object|array)(?:\+json)?)|text\/(?:\*|csv))\s*(?:[;,]|$)/

/** @throws Failure for a client that takes no served form */
export function checkAccepted({ headers }: WireRequest): void {
  const { accept = '' } = headers
  if (accept !== '' && !SERVED.test(accept))
    throw new Failure(406, 'PGRST107', `None of these media types are available: ${accept.slice(0, 200)}`)
}

/** @throws Failure for none or several rows, where the client asks for one object */
export function showRows({ headers }: WireRequest, { status, rows, range, applied }: Shown): WireAnswer {
  const accept = headers['accept'] ?? ''
  const more = headersOf(range, applied)
  if (accept.includes(OBJECT)) {
    requireOne(rows)
    return { status, headers: { ...more, 'content-type': `${OBJECT}+json; charset=utf-8` }, body: rows[0] }
  }
  if (accept.startsWith('text/csv'))
    return { status, headers: { ...more, 'content-type': 'text/csv; charset=utf-8' }, body: formatCsv(rows) }
  return { status, headers: { ...more, 'content-type': 'application/json; charset=utf-8' }, body: rows }
}

export function requireOne(rows: readonly unknown[]): void {
  if (rows.length !== 1)
    throw new Failure(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
      details: `The result contains ${rows.length} rows`,
    })
}

export function wantsOne({ headers }: WireRequest): boolean {
  return (headers['accept'] ?? '').includes(OBJECT)
}

function formatCsv(rows: readonly ShownRow[]): string {
  const names = Object.keys(rows[0] ?? {})
  const cell = (value: unknown): string => {
    if (value === null || value === undefined) return ''
    const text = typeof value === 'string' ? value : formatJson(value)
    return text === '' || /[",()\\\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return rows.length === 0 ? '' : [names.map(cell).join(','), ...rows.map(row => names.map(name => cell(row[name])).join(','))].join('\n')
}
