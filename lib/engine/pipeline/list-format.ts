/** Writes lists as CSV (RFC 4180), or as NDJSON, one JSON value a line. */
import { Accept, JSON_MEDIA, asksForJson, type MediaType } from '../../foundation/http/accept.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'

export interface ListFormat {
  readonly media: MediaType
  readonly contentType: string
  readonly header: (columns: readonly string[]) => string
  readonly line: (record: JsonRecord, columns: readonly string[]) => string
}

const CSV: ListFormat = {
  media: { name: 'text/csv', parameters: { charset: 'utf-8', header: 'present' } },
  contentType: 'text/csv; charset=utf-8; header=present',
  header: columns => formatLine(columns),
  line: (record, columns) => formatLine(columns.map(column => record[column])),
}

function createNdjson(name: string): ListFormat {
  return { media: { name }, contentType: name, header: () => '', line: record => `${JSON.stringify(record)}\n` }
}

const FORMATS: readonly ListFormat[] = [CSV, ...['application/x-ndjson', 'application/ndjson', 'application/jsonl'].map(createNdjson)]

/** @returns `undefined` for JSON, or where JSON is wanted more */
export function findListFormat(accept: string): ListFormat | undefined {
  if (asksForJson(accept)) return undefined
  const accepted = new Accept(accept)
  const json = accepted.preferenceFor(JSON_MEDIA)
  let best: { readonly format: ListFormat; readonly weight: number } | undefined
  for (const format of FORMATS) {
    const { weight, isNamed } = accepted.preferenceFor(format.media)
    // In `text/csv, */*`, the `*/*` is for servers without CSV.
    const isPreferred = weight > json.weight || (weight === json.weight && !json.isNamed)
    if (isNamed && weight > 0 && isPreferred && (best === undefined || weight > best.weight)) best = { format, weight }
  }
  return best?.format
}

function formatLine(values: readonly unknown[]): string {
  return `${values.map(formatField).join(',')}\r\n`
}

/** NULL is an empty field, an empty text two quotes, as in PostgreSQL. */
function formatField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
