/** Report: the result of a self-test, as data and as text: each failure in plain words, with the requests that repeat it. */

/** The kinds of checks, each with the promise that it tries. */
export const CHECKS = {
  answer: 'a request is answered, in time and without an error of the server (5xx)',
  described: 'status, headers and body are as the OpenAPI document describes them',
  methods: 'OPTIONS lists the methods of a path; every other method is refused with 405 and Allow',
  refused: 'wrong parameters, paths and bodies are refused, and nothing is written',
  counted: 'the count is the number of records, on every page',
  paged: 'pages add up to the list, without a record lost or repeated',
  sorted: 'a list is in the order that it was asked for',
  filtered: 'a filter and its complement split the list, and each record is in the right part',
  read: 'a record and its attributes read alike in a list and by their own paths',
  selected: 'depth, expand and attributes show the attributes that they name',
  created: 'a record that was created can be read, as it was sent',
  changed: 'a change reads back as it was sent, and leaves other attributes as they were',
  deleted: 'a record that was deleted is gone',
} as const

/** A promise that the self-test tries. */
export type SelfTestCheck = keyof typeof CHECKS

/** A request of a self-test. */
export interface SelfTestRequest {
  readonly method: string
  /** With the base, the version and the query. */
  readonly path: string
  /** Undefined: none. */
  readonly body?: unknown
  /** The status of its answer; undefined when there was none. */
  readonly status?: number
}

/** A promise that was broken. */
export interface SelfTestFailure {
  readonly check: SelfTestCheck
  /** The place that it is about: a resource, an attribute (`users.name`), a path. */
  readonly where: string
  /** One plain sentence or more. */
  readonly message: string
  /** The requests that repeat it, in this order, on the data that the test began with. */
  readonly requests: readonly SelfTestRequest[]
  /** The same requests as commands for curl, to a server on port 3000. */
  readonly curl: readonly string[]
  /** How often it failed in the same way. */
  readonly times: number
}

/** The result of `engine.selfTest`. */
export interface SelfTestReport {
  /** Whether nothing failed. */
  readonly passed: boolean
  /** The number that all generated requests follow from. */
  readonly seed: number
  readonly runs: number
  /** Requests that were sent. */
  readonly requests: number
  /** Milliseconds that it took. */
  readonly duration: number
  /** How often each kind of check was made. */
  readonly checks: Readonly<Record<SelfTestCheck, number>>
  readonly failures: readonly SelfTestFailure[]
  /** What could not be tried, one sentence each. */
  readonly skipped: readonly string[]
  /** All of this as a text for people. */
  toString(): string
}

/** The server that commands for curl are written for. */
const ORIGIN = 'http://127.0.0.1:3000'

/**
 * Writes a request as a command for a POSIX shell.
 *
 * @param headers names of headers that each request needs; their values may be secret, so that the shell's variables stand for them
 */
export function formatCurl({ method, path, body }: SelfTestRequest, headers: readonly string[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  return [
    method === 'HEAD' ? 'curl -I' : 'curl',
    ...(method === 'GET' || method === 'HEAD' ? [] : [`-X ${method}`]),
    quote(ORIGIN + path),
    ...headers.map(name => `-H "${name}: $${name.toUpperCase().replaceAll(/\W/g, '_')}"`),
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
  ].join(' ')
}

/** Writes a report as a text. */
export function formatReport(report: Omit<SelfTestReport, 'toString'>): string {
  const { failures, skipped, seed, runs, requests, duration, checks } = report
  const made = Object.values(checks).reduce((sum, count) => sum + count, 0)
  const all = `${requests} requests, ${made} checks, ${(duration / 1000).toFixed(1)} s; --seed ${seed} --runs ${runs}`
  return [
    ...failures.flatMap(({ check, where, message, curl, times }, index) => [
      `${index + 1}. ${where}: ${message}${times > 1 ? ` (${times} times)` : ''}`,
      `   Promise (${check}): ${CHECKS[check]}.`,
      ...curl.map(line => `   ${line}`),
      '',
    ]),
    ...(skipped.length === 0 ? [] : ['Not tried:', ...skipped.map(line => `- ${line}`), '']),
    failures.length === 0 ? `Nothing failed: ${all}.` : `${failures.length} failed: ${all}.`,
    '',
  ].join('\n')
}
