/** Describes one test control, such as `POST /_test/reset`, and reads its request. */
import type { Awaitable } from '../../../foundation/async/awaitable.ts'
import { checkNames, findNearest, formatHint } from '../../../foundation/base/suggest.ts'
import { restError, type RestError } from '../../../foundation/errors/errors.ts'
import type { TextStream } from '../../../foundation/http/text-stream.ts'
import { isObject } from '../../../foundation/json/json.ts'
import type { NamedWorld, Worlds } from './worlds.ts'

export interface ControlRequest {
  readonly world: NamedWorld
  /** `undefined`: the engine's own world. */
  readonly worldName: string | undefined
  readonly worlds: Worlds
  /** The value of `{...}` in the path. */
  readonly id: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly signal: AbortSignal
  readonly base: string
  readonly origin: string
  readonly lastEvent: string | undefined
}

/** Not JSON. */
export class OtherBody {
  readonly type: string
  readonly body: object | TextStream

  constructor(type: string, body: object | TextStream) {
    this.type = type
    this.body = body
  }
}

export interface Control {
  readonly method: string
  readonly path: string
  readonly does: string
  /** Query parameters beside `world`. */
  readonly parameters: readonly string[]
  /** `undefined`: the answer says that the work is done. */
  readonly run: (request: ControlRequest) => Awaitable<object | void>
}

export function control(line: string, does: string, run: Control['run'], parameters: readonly string[] = []): Control {
  const [method = '', path = ''] = line.split(' ')
  return { method, path: path === '/' ? '' : path, does, parameters, run }
}

export function invalid(detail: string, cause?: unknown): RestError {
  return restError('body_invalid', detail, cause === undefined ? {} : { cause })
}

export function checkQuery(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name))
      throw restError(
        'parameter_invalid',
        `There is no parameter "${name.slice(0, 100)}" here.${formatHint(findNearest(name, known))} Known are ${known.join(', ')}.`,
      )
    if (query.getAll(name).length > 1) throw restError('parameter_invalid', `"${name}" comes twice in the query.`)
  }
}

export function readInteger(query: URLSearchParams, name: string, least: number, most: number): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (!(value >= least && value <= most))
    throw restError(
      'parameter_invalid',
      `"${name}" must be an integer from ${least} to ${most}, got ${JSON.stringify(text.slice(0, 100))}.`,
    )
  return value
}

export function readChoice<Choice extends string>(query: URLSearchParams, name: string, choices: readonly Choice[]): Choice | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const found = choices.find(choice => choice === text)
  if (found === undefined)
    throw restError(
      'parameter_invalid',
      `"${name}" must be one of ${choices.join(', ')}, got ${JSON.stringify(text.slice(0, 100))}.${formatHint(findNearest(text, choices))}`,
    )
  return found
}

export function readObject(body: unknown, example: string): Record<string, unknown> {
  if (!isObject(body)) throw invalid(`The body must be an object, such as ${example}.`)
  return body
}

export function optionalObject(body: unknown, names: readonly string[], example: string): Record<string, unknown> {
  if (body === undefined) return {}
  const object = readObject(body, example)
  blameBody(() => checkNames(object, names, 'the body'))
  return object
}

/** Throws `body_invalid` for TypeError and RangeError: the arguments are the client's. */
export function blameBody<T>(work: () => T): T {
  const refuse = (error: unknown): never => {
    throw error instanceof TypeError || error instanceof RangeError ? invalid(error.message, error) : error
  }
  try {
    const result = work()
    return result instanceof Promise ? (result.catch(refuse) as T) : result
  } catch (error) {
    return refuse(error)
  }
}

export function unknownId(id: string, what: string, ids: readonly string[]): RestError {
  return restError('path_unknown', `This world has no ${what} "${id}".${formatHint(findNearest(id, ids))}`)
}

const WORLD_NAME = /^[\w.:-]{1,100}$/

/** Header or cookie. */
export function readWorldName(headers: Readonly<Record<string, unknown>>): string | undefined {
  const name = headers['x-world'] ?? readCookie(headers['cookie'], 'x-world')
  if (name === undefined || name === '') return undefined
  if (typeof name === 'string' && WORLD_NAME.test(name)) return name
  throw restError('request_malformed', 'X-World must be a name of at most 100 letters, digits and "_", ".", ":", "-".')
}

export function checkWorldName(name: unknown, what: string): string {
  if (typeof name === 'string' && WORLD_NAME.test(name)) return name
  throw restError('body_invalid', `${what} must be a name of at most 100 letters, digits and "_", ".", ":", "-".`)
}

export function readScenarioName(headers: Readonly<Record<string, unknown>>): string | undefined {
  const name = headers['x-scenario'] ?? readCookie(headers['cookie'], 'x-scenario')
  return typeof name === 'string' && name !== '' ? name : undefined
}

function readCookie(header: unknown, name: string): string | undefined {
  if (typeof header !== 'string') return undefined
  // Cookies are separated by "; " (RFC 6265 section 4.2.1).
  const cookie = header
    .split(';')
    .map(pair => pair.trim())
    .find(pair => pair.toLowerCase().startsWith(`${name}=`))
  return cookie?.slice(name.length + 1).replaceAll('"', '')
}
