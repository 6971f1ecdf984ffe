/** The options of `createServer` and `listener`, with their check. */
import type { Explanation } from '../../engine/journal/explanation.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import { anything, callable, flag, mustRange, readOptions, text, wire, type OptionTable } from '../../foundation/base/option-table.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { MAX_DELAY } from '../../engine/testing/fault-options.ts'
import type { CorsOrigins } from './cors.ts'
import type { AllowedHosts } from './origin-guard.ts'
import type { TestControlOptions } from './controls/test-controls.ts'

/** The options of `createServer`. */
export interface ServerOptions {
  /** The path before the version. Default: the engine's base. */
  base?: string
  /** Origins whose pages may read answers and, on a loopback address, write: an origin, a list, or `true` for all. Default: none. */
  cors?: CorsOrigins
  /**
   * Let pages of these origins send the user's cookies (`fetch(url, { credentials: 'include' })`). `cors` must name the origins. Default:
   * false.
   */
  corsCredentials?: boolean
  /**
   * Names for `Host` beside the local names: a name, a list (`.example.test` stands for a name and all names below), or `true` for all.
   * Default: none on a loopback address, else all.
   */
  allowedHosts?: AllowedHosts
  /**
   * Answer `/docs` with a page for browsers: diagram, attributes, filters, `curl` commands. A resource or custom route of the path comes
   * first. Default: false.
   */
  docs?: boolean
  /**
   * Answer GET and HEAD outside of the API with the files of this folder; paths of a single-page app with its `index.html`. Default: none.
   */
  static?: string
  /** The grammar of requests and answers. Default: the engine's `wire`, or its own grammar. */
  wire?: Wire
  /** Answer POST, PUT, PATCH and DELETE with 405, apart from logging in and out. Default: false. */
  readOnly?: boolean
  /** Delay every request by milliseconds, in every world, but no test control. Outlasts a reset, unlike `engine.delay`. Default: 0. */
  delay?: number
  /**
   * Let other processes reset, seed, fail and hold by `/_test/...` routes, each in a world of its own by the header or cookie `X-World`.
   * For tests only: whoever reaches the server needs no token. Default: false.
   */
  testControls?: boolean | TestControlOptions
  /**
   * Answer `/_ui` with the workbench, a page to look at data, requests and worlds, and lead browsers from the root address there. Implies
   * `testControls`: whoever reaches the server needs no token. `title` is the name on the page, by default the database. Default: false.
   */
  workbench?: boolean | { readonly title?: string }
  /** Tell `onRequest` the statements, query plans and missing indexes of each request. Default: false. */
  explain?: boolean
  /** Called with each answered request, not where the client or a fault has ended the connection. Default: no report. */
  onRequest?: (line: RequestLine) => void
}

export interface ShownWorkbench {
  readonly title?: string
  /** The address of the list of engines. */
  readonly home?: string
}

/** The options of `listener`. */
export interface ListenerOptions extends Omit<ServerOptions, 'static'> {
  /**
   * Hand a request on to `next` where the path below the base names no version (without versions: no resource), custom route or test
   * control. Default: false.
   */
  fallthrough?: boolean
}

/** One answered request. */
export interface RequestLine {
  readonly method: string
  /** Path and query as sent. */
  readonly path: string
  readonly status: number
  /** Milliseconds from the head of the request to the answer. */
  readonly duration: number
  /** With the option `explain`; absent when the engine was closed meanwhile. */
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
  wire: [wire],
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
