/** The result of a self-test, as data and as text. */

/** Kinds of checks, each with the tested promise. */
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

/** Name of a promise tried by the self-test. */
export type SelfTestCheck = keyof typeof CHECKS

/** A request of a self-test. */
export interface SelfTestRequest {
  readonly method: string
  /** With base, version and query. */
  readonly path: string
  readonly body?: unknown
  /** Undefined: no answer. */
  readonly status?: number
}

/** A broken promise. */
export interface SelfTestFailure {
  readonly check: SelfTestCheck
  /** A resource, an attribute (`users.name`) or a path. */
  readonly where: string
  readonly message: string
  /** The last requests of the failing case, in order, on the initial data. */
  readonly requests: readonly SelfTestRequest[]
  /** The requests as curl commands, for port 3000. */
  readonly curl: readonly string[]
  readonly times: number
}

/** The result of `engine.selfTest`. */
export interface SelfTestReport {
  /** Whether there are no failures. */
  readonly passed: boolean
  readonly seed: number
  readonly runs: number
  readonly requests: number
  /** In milliseconds. */
  readonly duration: number
  /** Checks by kind. */
  readonly checks: Readonly<Record<SelfTestCheck, number>>
  readonly failures: readonly SelfTestFailure[]
  /** Untested parts, a sentence each. */
  readonly skipped: readonly string[]
  toString(): string
}

const ORIGIN = 'http://127.0.0.1:3000'

/** @param headers names of headers; shell variables stand for their values, which may be secret */
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
