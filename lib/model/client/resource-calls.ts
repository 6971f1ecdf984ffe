/** Does the calls of one resource for the client: `api.users.get(1)` sends `GET /v1/users/1`, and takes the record out of the answer. */
import type { CallOptions, Deleted, Page } from './client-types.ts'
import type { Id } from './entity-types.ts'
import { mergeHeaders, type Call, type Transport } from './transport.ts'
import { writeQuery, type QueryRecord } from './query-text.ts'

type AnswerEnvelope = Readonly<Record<string, unknown>>

/** The engine's default. */
const PAGE = 100

class ListCalls {
  readonly #transport: Transport
  readonly #headers: Readonly<Record<string, string>>
  readonly #path: readonly string[]

  constructor(transport: Transport, headers: Readonly<Record<string, string>>, path: readonly string[]) {
    this.#transport = transport
    this.#headers = headers
    this.#path = path
  }

  async list(query?: QueryRecord, options?: CallOptions): Promise<Page<unknown>> {
    return readPage(await this.call('GET', [], { asked: 'list', query: writeQuery(query) }, options))
  }

  async page(number: number, query: QueryRecord = {}, options?: CallOptions): Promise<Page<unknown>> {
    if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`client: a page is a number from 1, not ${String(number)}.`)
    if (query['offset'] !== undefined) throw new TypeError('client: a page says itself where it begins: give "limit" without "offset".')
    const limit = (query['limit'] as number | undefined) ?? PAGE
    const page = readPage(
      await this.call('GET', [], { asked: 'list', query: writeQuery(query, { limit, offset: (number - 1) * limit }) }, options),
    )
    if (page.limit !== undefined && page.limit !== limit)
      throw new RangeError(`client: pages of ${limit} records are too large; ${page.limit} are the most.`)
    return page
  }

  async *all(query?: QueryRecord, options?: CallOptions): AsyncGenerator<unknown, void, undefined> {
    let text: string | undefined = writeQuery(query)
    const { offset = 0 } = query ?? {}
    let seen = Number(offset)
    while (text !== undefined) {
      const { items, next, count }: Partial<Page<unknown>> & Pick<Page<unknown>, 'items'> = readPage(
        await this.call('GET', [], { asked: 'list', query: text }, options),
      )
      yield* items
      seen += items.length
      // An envelope of the application may omit `next`.
      if (next === undefined && Number.isNaN(seen)) throw new TypeError('client: pages by keys need "next" in the envelope.')
      if (next === undefined) text = items.length === 0 || seen >= (count ?? Infinity) ? undefined : writeQuery(query, { offset: seen })
      else text = next === null ? undefined : next.slice(next.indexOf('?') + 1)
    }
  }

  async get(id: Id, query?: QueryRecord, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('GET', [id], { asked: 'record', query: writeQuery(query) }, options))
  }

  async create(body: unknown, query?: QueryRecord, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('POST', [], { asked: 'record', body, isRecord: true, query: writeQuery(query) }, options))
  }

  protected call(
    method: string,
    behind: readonly Id[],
    what: Partial<Call>,
    { signal, headers }: CallOptions = {},
  ): Promise<AnswerEnvelope> {
    const segments = [...this.#path, ...behind.map(checkSegment)]
    return this.#transport({ ...what, method, segments, headers: mergeHeaders(this.#headers, headers), signal })
  }

  protected relatedTo(id: Id, attribute: string): RelatedCalls {
    return new RelatedCalls(this.#transport, this.#headers, [...this.#path, checkSegment(id), attribute])
  }
}

class RelatedCalls extends ListCalls {
  async link(id: Id, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('PUT', [], { body: { connect: [id] } }, options))
  }

  async unlink(id: Id, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('PUT', [], { body: { disconnect: [id] } }, options))
  }

  async delete(query?: QueryRecord, options?: CallOptions): Promise<Deleted<unknown>> {
    const envelope = await this.call('DELETE', [], { asked: 'removedList', query: writeQuery(query) }, options)
    return { items: readRecords(envelope), count: envelope['count'] as number }
  }
}

export class ResourceCalls extends ListCalls {
  async update(id: Id, body: unknown, query?: QueryRecord, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('PATCH', [id], { asked: 'record', body, isRecord: true, query: writeQuery(query) }, options))
  }

  async upsert(by: string | readonly string[], body: unknown, query: QueryRecord = {}, options?: CallOptions): Promise<unknown> {
    const text = writeQuery(query, { upsert: String(by) })
    return readRecord(await this.call('POST', [], { asked: 'record', body, isRecord: true, query: text }, options))
  }

  async updateWhere(query: QueryRecord, body: unknown, options?: CallOptions): Promise<Deleted<unknown>> {
    const envelope = await this.call('PATCH', [], { asked: 'list', body, isRecord: true, query: writeQuery(query) }, options)
    return { items: readRecords(envelope), count: readRecords(envelope).length }
  }

  async deleteWhere(query: QueryRecord, options?: CallOptions): Promise<Deleted<unknown>> {
    const envelope = await this.call('DELETE', [], { asked: 'removedList', query: writeQuery(query) }, options)
    return { items: readRecords(envelope), count: envelope['count'] as number }
  }

  async delete(id: Id, query?: QueryRecord, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('DELETE', [id], { asked: 'removed', query: writeQuery(query) }, options))
  }

  async getAttribute(id: Id, attribute: string, options?: CallOptions): Promise<unknown> {
    const envelope = await this.call('GET', [id, attribute], { asked: 'attribute' }, options)
    return 'attribute' in envelope && 'value' in envelope ? envelope['value'] : readRecord(envelope)
  }

  async setAttribute(id: Id, attribute: string, value: unknown, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('PUT', [id, attribute], { asked: 'record', body: value }, options))
  }

  async deleteAttribute(id: Id, attribute: string, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('DELETE', [id, attribute], { asked: 'removed' }, options))
  }

  async mark(id: Id, name: string, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('POST', [id, name], { asked: 'record' }, options))
  }

  async unmark(id: Id, name: string, options?: CallOptions): Promise<unknown> {
    return readRecord(await this.call('DELETE', [id, name], { asked: 'record' }, options))
  }

  related(id: Id, attribute: string): RelatedCalls {
    return this.relatedTo(id, attribute)
  }
}

function checkSegment(id: Id): string {
  if (!['string', 'number', 'bigint'].includes(typeof id) || id === '')
    throw new TypeError(`client: an ID is a string or a number, not ${id === '' ? 'an empty string' : JSON.stringify(id)}.`)
  return String(id)
}

/** `resource` names the member. */
function readRecord(envelope: AnswerEnvelope): unknown {
  return envelope[envelope['resource'] as string]
}

function readRecords(envelope: AnswerEnvelope): unknown[] {
  return readRecord(envelope) as unknown[]
}

function readPage(envelope: AnswerEnvelope): Page<unknown> {
  // The server's envelope may omit members.
  const { count, limit, offset, sort, filter, previous, next } = envelope as unknown as Page<unknown>
  return { items: readRecords(envelope), count, limit, offset, sort, filter, previous, next }
}
