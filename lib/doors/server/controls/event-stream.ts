/**
 * Streams the events of a world as `text/event-stream` (HTML standard, section 9.2). Each stream has a bounded queue: a slow or gone client
 * holds nothing up. Refuses with listeners_exhausted.
 */
import { restError } from '../../../foundation/errors/errors.ts'
import { runtime } from '../../../foundation/runtime/runtime.ts'
import { formatIso } from '../../../foundation/values/iso-time.ts'
import type { JournalRecord } from '../../../engine/journal/journal-record.ts'
import { summarize } from '../../../engine/journal/create-entry.ts'
import type { EngineEvent } from '../../../engine/testing/events.ts'
import type { ControlRequest } from './control.ts'
import type { NamedWorld } from './worlds.ts'

const MAX_STREAMS = 50
/** Milliseconds until a comment is sent: sending shows a lost client, and keeps proxies from cutting the connection. */
const BEAT = 15_000
/** Shows at once that the stream is open. */
const HELLO = 'retry: 1000\n: what happens from now on\n\n'

/** @param since an ID: the kept requests after this come first */
export function streamEvents(
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
      yield formatEvent(showRequest(world, record))
    }
    yield* formatEach(events)
  } finally {
    await events.return?.()
    world.leave()
    worlds.streams--
  }
}

function showRequest({ internals }: NamedWorld, record: JournalRecord): EngineEvent {
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
