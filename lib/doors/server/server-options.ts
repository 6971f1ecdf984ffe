/** The options of the HTTP server, and their check. */
import type { Explanation } from '../../engine/journal/explanation.ts'
import { isObject } from '../../foundation/json/json.ts'
import { anything, callable, flag, mustRange, readOptions, text, type OptionTable } from '../../foundation/base/option-table.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { MAX_DELAY } from '../../engine/testing/fault-options.ts'
import type { CorsOrigins } from './cors.ts'
import type { AllowedHosts } from './origin-guard.ts'
import type { TestControlOptions } from './controls/test-controls.ts'

/** The options of `createServer`. */
export interface ServerOptions {
  /** The path before the version. Default: that of the engine. */
  base?: string
  /**
   * Origins whose pages may read the answers and, on a loopback address, write: one, several, or `true` for all. Default: none, so that
   * browsers keep other origins out.
   */
  cors?: CorsOrigins
  /**
   * Let pages of these origins send cookies and other credentials of the user (`fetch(url, { credentials: 'include' })`), and read the
   * answers to such requests. The origins must be named: `true` and `'*'` are refused. Default: false.
   */
  corsCredentials?: boolean
  /**
   * Names that requests may have as `Host` beside the local ones: one, several (`.example.test` stands for a name and all below it), or
   * `true` for all. Without the option, a server on a loopback address answers to local names alone, and one on another address to all.
   */
  allowedHosts?: AllowedHosts
  /**
   * Answer `/docs` with a page for browsers: the model as a diagram, attributes, filters, and `curl` commands. A resource or a custom route
   * of that path comes before it. Default: false.
   */
  docs?: boolean
  /**
   * Answer GET and HEAD of paths that are not the API's with the files of this folder, for a front end beside the API: `index.html` for a
   * folder, and for the paths of a single-page app that a browser opens. Default: none.
   */
  static?: string
  /** Answer POST, PUT, PATCH and DELETE with 405, apart from logging in and out. Default: false. */
  readOnly?: boolean
  /**
   * Delay every request by this many milliseconds, whichever world answers it; not those of test controls. Unlike `engine.delay` it
   * outlasts a reset, and it ends when the server is closed. Default: 0.
   */
  delay?: number
  /**
   * Let other processes reset, seed, fail and hold by `/_test/...` routes, and have worlds of their own by the header or cookie `X-World`.
   * Default: false. For tests only: whoever reaches the server may do all that, without a token.
   */
  testControls?: boolean | TestControlOptions
  /**
   * Answer `/_ui` with the workbench, a page to look at data, requests and worlds, and lead browsers there that open the address itself. It
   * implies `testControls`, and is for tests and trying as they are: whoever reaches the server may do all that, without a token. `title`
   * is what the page calls that which is served; default: its database. Default: false.
   */
  workbench?: boolean | { readonly title?: string }
  /**
   * Tell `onRequest` what each request has run: statements, query plans and missing indexes. It is worked out when the answer is out.
   * Default: false.
   */
  explain?: boolean
  /**
   * Called when an answer has been handed to the socket; not called for a client that hung up before, or a connection that a test has lost.
   * Default: nothing is reported.
   */
  onRequest?: (line: RequestLine) => void
}

/** The workbench of an engine that is shown beside others. */
export interface ShownWorkbench {
  readonly title?: string
  /** The address of the list of them. */
  readonly home?: string
}

/** The options of `listener`. */
export interface ListenerOptions extends Omit<ServerOptions, 'static'> {
  /**
   * Hand on to `next` what is not the engine's: what is not below the base, or there neither a version nor, without versions, a resource,
   * nor a custom route or a test control. Default: false, so that it is answered with 404.
   */
  fallthrough?: boolean
}

/** One answered request. */
export interface RequestLine {
  readonly method: string
  /** The request target as it was sent: path and query, nothing decoded. */
  readonly path: string
  readonly status: number
  /** Milliseconds from the head of the request to the answer. */
  readonly duration: number
  /** With the option `explain`, of what the engine has answered; absent when it was closed meanwhile. */
  readonly explanation?: Explanation
}

const delay = mustRange(
  `a number of milliseconds from 0 to ${MAX_DELAY}`,
  value => typeof value === 'number' && value >= 0 && value <= MAX_DELAY,
)

const SHARED = {
  base: [anything],
  cors: [anything],
  corsCredentials: [flag],
  allowedHosts: [anything],
  readOnly: [flag],
  delay: [delay],
  docs: [flag],
  testControls: [anything],
  workbench: [checkWorkbench],
  explain: [flag],
  onRequest: [callable],
} as const satisfies OptionTable<Omit<ServerOptions, 'static'>>

export function checkServerOptions(options: ServerOptions): void {
  checkForms(options, { ...SHARED, static: [anything] }, 'createServer')
}

export function checkListenerOptions(options: ListenerOptions): void {
  checkForms(options, { ...SHARED, fallthrough: [flag] }, 'listener')
}

function checkForms<Options extends ServerOptions>(options: Options, table: OptionTable<Options>, where: string): void {
  if (!isObject(options))
    throw new TypeError(`${where}: the options must be an object${typeof options === 'number' ? '; a port is for listen(port)' : ''}.`)
  if ('port' in options) throw new TypeError(`${where}: unknown option "port". A port is for listen(port).`)
  const { cors, corsCredentials, workbench = false, testControls } = readOptions<Options, OptionTable<Options>>(options, table, where)
  if (corsCredentials === true && cors === undefined)
    throw new TypeError(`${where}: "corsCredentials" goes with "cors", which names the origins whose pages may send them.`)
  if (workbench !== false && testControls === false)
    throw new TypeError(`${where}: "workbench" works by test controls, which "testControls: false" turns off: leave one of the two out.`)
}

function checkWorkbench(workbench: unknown, place: string, where: string): void {
  if (typeof workbench === 'boolean') return
  if (!isObject(workbench)) throw new TypeError(`${place} must be true, false or an object: { title: 'My shop' }.`)
  checkNames(workbench, ['title'], `${where}: workbench`)
  const { title } = workbench
  if (title !== undefined) text(title, `${where}: "workbench.title"`, where)
}
