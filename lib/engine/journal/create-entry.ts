/** Makes the entry of a request in the journal: masks secrets, and computes net changes. */
import { computeNetChanges, type Change } from './changes.ts'
import type { RawChange } from '../../records/database/changes.ts'
import type { Model } from '../../model/model.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import { BodyText, type JournalRecord } from './journal-record.ts'
import type { Masked, Secrets } from './redact.ts'
import type { JournalEntry, RequestSummary } from './journal-entry.ts'

const NAMED_CHANGES = 50

const NO_CHANGES: readonly RawChange[] = Object.freeze([])

export interface EntryParts {
  readonly secrets: Secrets
  readonly first: Model
  readonly isRecording: boolean
}

export function createEntry(record: JournalRecord, { secrets, first, isRecording }: EntryParts): JournalEntry {
  const masked = maskRecord(record, secrets, first)
  const { id, at, method, path, query, status, duration, ...others } = listFacts(record, masked)
  return Object.freeze({
    id,
    at,
    method,
    path,
    query,
    body: masked.body,
    status,
    response: masked.response,
    duration,
    changes:
      record.isForgotten || !isRecording
        ? undefined
        : Object.freeze(computeNetChanges(record.changes ?? NO_CHANGES).map(change => masked.copy(change) as Change)),
    ...others,
    ...(record.timing === undefined ? {} : { timing: record.timing }),
  })
}

export function summarize(entry: JournalEntry): RequestSummary {
  const { body: _, response: __, timing: ___, changes, ...facts } = entry
  return {
    ...facts,
    changed: changes?.length,
    changes: changes?.slice(0, NAMED_CHANGES).map(({ type, resource, id }) => ({ type, resource, id })),
  }
}

function listFacts(record: JournalRecord, masked: Masked): Omit<JournalEntry, 'body' | 'response' | 'changes' | 'timing'> {
  const { id, at, method, status, time, nested, fault, test, user } = record
  return {
    id,
    at: formatIso(at),
    method: method.toUpperCase(),
    path: masked.path,
    query: Object.freeze(masked.query),
    status,
    duration: Math.round(time * 1000) / 1000,
    nested,
    ...(fault === undefined ? {} : { fault }),
    ...(test === undefined ? {} : { test: masked.copy(test) as string }),
    ...(user === undefined ? {} : { user }),
    ...(masked.error === undefined ? {} : { error: masked.error }),
  }
}

export function maskRecord(record: JournalRecord, secrets: Secrets, first: Model): Masked {
  const { method, depth, pairs, body, resource, attribute, model = first, response, failure } = record
  return secrets.mask({
    method: method.toUpperCase(),
    path: pairs === undefined ? record.path.split('?', 1)[0]! : record.path,
    depth,
    pairs: pairs ?? [],
    body: body instanceof BodyText ? JSON.parse(body.text) : body,
    resource,
    attribute,
    model,
    response,
    error: failure === undefined ? undefined : formatError(failure),
  })
}

function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : `${error.name}: ${error.message}`
}
