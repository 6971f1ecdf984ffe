/**
 * Sends all pages of a list as CSV or NDJSON. Reads the first page before the answer begins, to answer refusals, each later page when the
 * client has taken the earlier text.
 */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { TextStream } from '../../foundation/http/text-stream.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { View } from '../../records/read/reader.ts'
import type { ListFormat } from './list-format.ts'

interface StreamParts {
  readonly format: ListFormat
  readonly view: View
  readonly pageSize: number
  readonly answer: (view: View) => Awaitable<RestResponse>
  readonly columns: () => Awaitable<readonly string[]>
}

/** A wrapper's answer without a list stays as it is. */
export function streamList(parts: StreamParts): Awaitable<RestResponse> {
  const { format, view, answer, columns } = parts
  const { limit, offset = 0 } = view.parameters
  const first = viewPage(parts, offset, limit ?? Infinity)
  return chain(answer(first), response => {
    const records = findRecords(response)
    if (records === undefined) return response
    return chain(columns(), names => ({
      status: response.status,
      headers: { ...response.headers, 'content-type': format.contentType, vary: 'Accept' },
      body: new TextStream(writePages(parts, records, names)),
    }))
  })
}

async function* writePages(
  parts: StreamParts,
  first: readonly JsonRecord[],
  columns: readonly string[],
): AsyncGenerator<string, void, undefined> {
  const { format, view, pageSize, answer } = parts
  const { limit = Infinity, offset = 0 } = view.parameters
  yield format.header(columns) + first.map(record => format.line(record, columns)).join('')
  let written = first.length
  let lastSize = first.length
  while (lastSize === pageSize && written < limit) {
    view.end?.throwIfReached()
    const page = await answer({
      ...viewPage(parts, offset + written, limit - written),
      end: view.end?.renew(),
      tally: undefined,
      trace: undefined,
    } as View)
    const records = findRecords(page)
    if (records === undefined) throw new Error(`A later page of the list is answered with the status ${page.status}.`)
    lastSize = records.length
    written += lastSize
    if (lastSize > 0) yield records.map(record => format.line(record, columns)).join('')
  }
}

function viewPage({ view, pageSize }: StreamParts, offset: number, left: number): View {
  return { ...view, parameters: { ...view.parameters, offset, limit: Math.min(pageSize, left) } }
}

function findRecords({ status, body }: RestResponse): readonly JsonRecord[] | undefined {
  const { resource } = (body ?? {}) as { readonly resource?: unknown }
  const records: unknown = typeof resource === 'string' ? (body as Readonly<Record<string, unknown>>)[resource] : undefined
  return status === 200 && Array.isArray(records) ? (records as readonly JsonRecord[]) : undefined
}
