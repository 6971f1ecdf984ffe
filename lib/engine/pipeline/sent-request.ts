/** Turns `engine.send('POST /v1/users', { body })` into arguments of `handle`. */
import type { QueryInput } from '../../foundation/base/query-input.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { HandleContext } from './arrival.ts'

/** Options of `engine.send`. */
export interface SendOptions extends HandleContext {
  /** As the third argument of `handle`: a text, URLSearchParams or an object. */
  readonly query?: QueryInput | undefined
  /** The parsed JSON value. */
  readonly body?: unknown
}

const OPTIONS = ['body', 'query', 'headers', 'signal'] as const

/** @throws TypeError for a line without method and path, and an unknown option */
export function readSent(line: string, options: SendOptions): readonly [string, string, QueryInput | undefined, unknown, HandleContext] {
  const [, method, path] = (typeof line === 'string' ? /^([A-Za-z]+) (\/.*)$/s.exec(line) : null) ?? []
  if (method === undefined || path === undefined)
    throw new TypeError(`send: the request must be a method and a path, such as "POST /v1/users", got ${JSON.stringify(line)}.`)
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`send: the options must be an object, such as { body: { name: 'Ann' } }.`)
  for (const name of Object.keys(options))
    if (!(OPTIONS as readonly string[]).includes(name))
      throw new TypeError(`send: unknown option "${name}".${formatHint(findNearest(name, OPTIONS))} Known are ${OPTIONS.join(', ')}.`)
  const { query, body, headers, signal } = options
  return [method, path, query, body, { ...(headers && { headers }), ...(signal && { signal }) }]
}
