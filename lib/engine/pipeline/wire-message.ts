/** Makes requests for a wire, and responses of a wire's answers and refusals. */
import { checkHeaders } from '../../foundation/base/headers.ts'
import { JSON_TYPE, type RestResponse } from '../../foundation/base/response.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { WholeBytes, WholeText } from '../../foundation/http/text-stream.ts'
import type { Wire, WireAnswer, WireError, WireRequest } from '../../foundation/base/wire.ts'
import { isObject } from '../../foundation/json/json.ts'
import { findTargetBelow } from '../../records/request/address.ts'

interface SentToWire {
  readonly method: string
  /** The path with the query. */
  readonly path: string
  readonly headers: Readonly<Partial<Record<string, string>>>
  readonly body: unknown
}

/** @throws RestError for a path not below the base, and bad percent-encoding */
export function readWireRequest({ method, path: sent, headers, body }: SentToWire, base: string): WireRequest {
  const target = findTargetBelow(sent, base)
  if (target === undefined) throw restError('path_unknown', `The path must begin with "${base}", not "${sent.slice(0, 100)}".`)
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  return {
    method: method.toUpperCase(),
    path,
    base,
    segments: readSegments(path),
    pairs: mark < 0 ? [] : readPairs(target.slice(mark + 1)),
    headers: headers as WireRequest['headers'],
    body,
  }
}

function isFilled(segment: string): boolean {
  return segment !== ''
}

function readSegments(path: string): string[] {
  const all = path.length > 1 ? path.slice(1).split('/') : []
  const segments = all.includes('') ? all.filter(isFilled) : all
  return path.includes('%') || path.includes('\0') ? segments.map(decodeSegment) : segments
}

function decodeSegment(segment: string): string {
  const text = segment.includes('%') ? decode(segment, 'path_malformed', 'path') : segment
  if (text.includes('\0')) throw restError('path_malformed', 'The path contains a NUL character.')
  return text
}

function readPairs(query: string): [string, string][] {
  return query
    .split('&')
    .filter(isFilled)
    .map(pair => {
      const equals = pair.indexOf('=')
      return equals < 0 ? [decodeField(pair), ''] : [decodeField(pair.slice(0, equals)), decodeField(pair.slice(equals + 1))]
    })
}

function decodeField(text: string): string {
  return text.includes('%') || text.includes('+') ? decode(text.replaceAll('+', ' '), 'query_malformed', 'query') : text
}

function decode(text: string, code: 'path_malformed' | 'query_malformed', where: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw restError(code, `The ${where} contains a bad percent-encoding in "${text.slice(0, 100)}".`)
  }
}

/**
 * @param place the function that gave the answer
 * @throws TypeError for an answer that is none
 */
export function buildWireAnswer(answer: WireAnswer, place: string): RestResponse {
  if (!isObject(answer))
    throw new TypeError(`${place} must give { status, headers?, body? }, gave ${answer === null ? 'null' : typeof answer}.`)
  checkNames(answer, ['status', 'headers', 'body', 'again'], place)
  const { status, headers: given, body } = answer as unknown as WireAnswer
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new TypeError(`${place} gave the status ${String(status)}.`)
  const headers = given === undefined ? {} : checkHeaders(given, place)
  if (body === undefined) return { status, headers, body: undefined }
  if (typeof body === 'string')
    return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body: new WholeText(body) }
  if (body instanceof Uint8Array)
    return { status, headers: { 'content-type': 'application/octet-stream', ...headers }, body: new WholeBytes(body) }
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body }
}

interface EngineRefusal {
  readonly code: string
  readonly detail: string
  readonly errors?: readonly object[]
}

export function refuseByWire(wire: Wire, response: RestResponse, asked: SentToWire, base: string): RestResponse {
  const { status, headers, body } = response
  const { code, detail, errors } = body as EngineRefusal
  const { 'content-type': _, vary: _vary, ...more } = headers
  const error: WireError = { status, code, message: detail, detail, headers: more, ...(errors === undefined ? {} : { errors }) }
  const answer = buildWireAnswer(wire.refuse(error, readRefused(asked, base)), 'wire.refuse')
  return { ...answer, headers: { ...more, ...answer.headers } }
}

/** An unreadable request has the path as sent. */
function readRefused(asked: SentToWire, base: string): WireRequest {
  try {
    return readWireRequest(asked, base)
  } catch {
    const path = asked.path.split('?', 1)[0]!
    return { method: asked.method, path, base, segments: [], pairs: [], headers: asked.headers as WireRequest['headers'], body: asked.body }
  }
}
