/** The test controls for the requests of a world, as a list and as events, and for explanations. */
import { explainNoWayBack } from '../../../engine/assembly/restore-before.ts'
import { computeNetChanges } from '../../../engine/journal/changes.ts'
import { summarize } from '../../../engine/journal/create-entry.ts'
import { writeHar } from '../../../engine/journal/har.ts'
import type { JournalRecord } from '../../../engine/journal/journal-record.ts'
import type { EngineEvent } from '../../../engine/testing/events.ts'
import type { QueryInput } from '../../../foundation/base/query-input.ts'
import { checkNames } from '../../../foundation/base/suggest.ts'
import { restError } from '../../../foundation/errors/errors.ts'
import { TextStream } from '../../../foundation/http/text-stream.ts'
import { isObject } from '../../../foundation/json/json.ts'
import { runtime } from '../../../foundation/runtime/runtime.ts'
import { formatIso } from '../../../foundation/values/iso-time.ts'
import {
  OtherBody,
  blameBody,
  control,
  invalid,
  readChoice,
  readInteger,
  readObject,
  type Control,
  type ControlRequest,
} from './control.ts'
import type { NamedWorld } from './worlds.ts'

export function journalControls(): Control[] {
  return [
    control(
      'GET /requests',
      'the journal of the world: ?since=ID&limit=100, ?bodies=false without bodies and rows, ' +
        '?record=sites/2 for those that changed a record, ?format=har for other tools',
      listRequests,
      ['since', 'limit', 'bodies', 'record', 'format'],
    ),
    control('DELETE /requests', 'empties the journal', ({ world }) => world.engine.clearRequests()),
    control('GET /requests/{id}', 'a request with its bodies, the rows that it has changed, and what it has run', showRequest),
    control(
      'GET /events',
      'what happens from now on, as text/event-stream: ' +
        'request, reset, restore, clock, faults, worlds, mark; ?since=ID begins with the requests after it',
      ({ query, ...request }) =>
        new OtherBody('text/event-stream; charset=UTF-8', new TextStream(streamEvents(request, findSince(query, request)))),
      ['since'],
    ),
    control('POST /marks', 'puts a mark between the requests: { "text": "the order is placed" }', ({ world, body }) => {
      const { text, ...others } = readObject(body, '{ "text": "the order is placed" }')
      blameBody(() => checkNames(others, [], 'the body'))
      blameBody(() => world.engine.mark(text as string))
    }),
    control(
      'POST /explain',
      'what a request would run: { "method": "GET", "path": "/v1/users", "query": { "sort": "name" }, "body": ..., "headers": { ... } }',
      explain,
    ),
  ]
}

function listRequests({ world, query, origin }: ControlRequest): object {
  const since = readInteger(query, 'since', 0, Number.MAX_SAFE_INTEGER)
  const limit = readInteger(query, 'limit', 1, 1_000_000)
  const hasBodies = readChoice(query, 'bodies', ['true', 'false']) !== 'false'
  const { journal, events } = world.internals.parts
  const changed = readRecord(query.get('record'))
  const all = (journal?.recordsSince(since ?? 0) ?? []).filter(record => changed === undefined || changes(record, changed))
  // With `since`, a limit takes the next requests; without, the newest.
  const records = limit === undefined ? all : since === undefined ? all.slice(-limit) : all.slice(0, limit)
  const entries = records.map(record => journal!.show(record))
  if (readChoice(query, 'format', ['har']) === 'har') return new OtherBody('application/json; charset=UTF-8', writeHar(entries, origin))
  return {
    requests: hasBodies ? entries : entries.map(summarize),
    last: world.last,
    marks: events.marks.filter(({ last }) => last >= (since ?? 0)),
  }
}

interface NamedRecord {
  readonly resource: string
  readonly id: string
}

function readRecord(text: string | null): NamedRecord | undefined {
  if (text === null) return undefined
  const slash = text.indexOf('/')
  if (slash < 1 || slash === text.length - 1)
    throw restError('parameter_invalid', `"record" must be a resource and an ID: sites/2, got ${JSON.stringify(text.slice(0, 100))}.`)
  return { resource: text.slice(0, slash), id: text.slice(slash + 1) }
}

function changes(record: JournalRecord, { resource, id }: NamedRecord): boolean {
  return computeNetChanges(record.changes ?? []).some(change => change.resource === resource && String(change.id) === id)
}

async function showRequest({ world, id }: ControlRequest): Promise<object> {
  const record = findRecord(world, id)
  const restore = explainNoWayBack(world.internals.parts, record)
  return { request: await world.internals.showRequest(record), unavailable: restore === undefined ? {} : { restore } }
}

function findRecord(world: NamedWorld, id: string): JournalRecord {
  const { journal } = world.internals.parts
  const record = /^\d{1,15}$/.test(id) ? journal?.find(Number(id)) : undefined
  if (record !== undefined) return record
  const kept = journal?.recordsSince(0).at(0)?.id
  throw restError(
    'path_unknown',
    `The journal of this world has no request ${JSON.stringify(id.slice(0, 100))}: ` +
      (kept === undefined ? 'it is empty.' : `it has those from ${kept} to ${world.last}.`),
  )
}

function findSince(query: URLSearchParams, { lastEvent }: Pick<ControlRequest, 'lastEvent'>): number | undefined {
  if (lastEvent !== undefined && /^\d{1,15}$/.test(lastEvent)) return Number(lastEvent)
  return readInteger(query, 'since', 0, Number.MAX_SAFE_INTEGER)
}

async function explain({ world, body, signal }: ControlRequest): Promise<object> {
  const { method, path, query, body: sent, headers = {}, ...others } = readObject(body, '{ "method": "GET", "path": "/v1/users" }')
  blameBody(() => checkNames(others, [], 'the body'))
  if (typeof method !== 'string' || typeof path !== 'string') throw invalid('"method" and "path" must be strings: "GET", "/v1/users".')
  if (!isObject(headers) || !Object.values(headers).every(value => typeof value === 'string'))
    throw invalid('"headers" must be an object of strings.')
  if (query !== undefined && typeof query !== 'string' && !isObject(query)) throw invalid('"query" must be a string or an object.')
  const context = { headers: headers as Record<string, string>, signal }
  return blameBody(async () => world.engine.explain(method, path, query as QueryInput | undefined, sent, context))
}

const MAX_STREAMS = 50
/** Milliseconds until a comment is sent: sending shows a lost client, and keeps proxies from cutting the connection. */
const BEAT = 15_000
/** Shows at once that the stream is open. */
const HELLO = 'retry: 1000\n: what happens from now on\n\n'

/**
 * Each stream has a bounded queue: a slow or gone client holds nothing up (HTML standard, section 9.2).
 *
 * @param since an ID: the kept requests after this come first
 */
function streamEvents(
  { world, worlds, signal }: Pick<ControlRequest, 'world' | 'worlds' | 'signal'>,
  since: number | undefined,
): AsyncGenerator<string, void, undefined> {
  if (worlds.streams >= MAX_STREAMS)
    throw restError('listeners_exhausted', `The server has ${MAX_STREAMS} event streams already, as many as it may: close some.`)
  return write({ world, worlds, signal: AbortSignal.any([signal, worlds.ends]) }, since)
}

async function* write(
  { world, worlds, signal }: Pick<ControlRequest, 'world' | 'worlds' | 'signal'>,
  since: number | undefined,
): AsyncGenerator<string, void, undefined> {
  // Listens before the journal is read: no request gets lost.
  const events = world.internals.parts.events.listen({ signal })
  const missed = since === undefined ? [] : (world.internals.parts.journal?.recordsSince(since) ?? [])
  worlds.streams++
  world.enter()
  try {
    yield HELLO
    for (const record of missed) {
      if (signal.aborted) return
      yield formatEvent(requestEvent(world, record))
    }
    yield* formatEach(events)
  } finally {
    await events.return?.()
    world.leave()
    worlds.streams--
  }
}

function requestEvent({ internals }: NamedWorld, record: JournalRecord): EngineEvent {
  const { journal } = internals.parts
  return { type: 'request', at: formatIso(record.at), last: record.id, request: summarize(journal!.show(record)) }
}

async function* formatEach(events: AsyncIterator<EngineEvent>): AsyncGenerator<string, void, undefined> {
  let next = events.next()
  for (;;) {
    const event = await orBeat(next)
    if (event === undefined) {
      yield ':\n\n'
      continue
    }
    if (event.done === true) return
    yield formatEvent(event.value)
    next = events.next()
  }
}

async function orBeat<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const beat = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), BEAT)
    runtime.spare(timer)
  })
  try {
    return await Promise.race([promise, beat])
  } finally {
    clearTimeout(timer)
  }
}

function formatEvent({ type, ...facts }: EngineEvent): string {
  const id = type === 'request' ? `id: ${facts.last}\n` : ''
  return `event: ${type}\n${id}data: ${JSON.stringify(facts)}\n\n`
}
