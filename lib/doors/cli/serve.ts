/** Serves the engine over HTTP until a signal, and prints the welcome. */
import { stat } from 'node:fs/promises'
import { isIP, type AddressInfo } from 'node:net'
import { styleText } from 'node:util'
import type { RestEngine } from '../../engine.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import { LazyClient } from '../../foundation/async/abort.ts'
import { READ_METHODS } from '../../foundation/http/http-methods.ts'
import type { UnindexedLink } from '../../records/database/explained-statements.ts'
import { findTargetBelow, formatRoot, listVersions, NO_VERSION } from '../../records/request/address.ts'
import { DOCS, TEST_CONTROLS, WORKBENCH } from '../../records/request/reserved-paths.ts'
import { TestControls } from '../server/controls/test-controls.ts'
import { createServer, createWaitingServer } from '../server/http.ts'
import type { RequestLine, ServerOptions } from '../server/server-options.ts'
import type { CommandArguments } from './arguments.ts'
import { CommandError, oneLine } from './command-error.ts'
import { findExampleRequests } from './examples.ts'
import { formatExplanation, escapeControls } from './explanation-text.ts'
import { formatInference } from './json-file.ts'
import type { LoadedSource } from './load.ts'
import type { LogIn } from './log-in.ts'
import { listPathsOf } from './other-grammar.ts'
import type { Saver } from './save.ts'
import { followRefusals, isWatched, report } from './watched.ts'
import { isLocal, servesWorkbench } from './workbench-address.ts'

type HttpServer = ReturnType<typeof createServer>

// Milliseconds: a running request or a stalled upload may delay the end so long.
const SHUTDOWN_TIMEOUT_MS = 10_000
// Milliseconds: signals in this time count once. npm passes Ctrl-C on to a process that has the signal already.
const SAME_SIGNAL = 100

// A foreign key without an index is reported from so many rows on, in so many lines.
const MANY = 10_000
const SHOWN = 3

const MOST_EXAMPLES = 3

export async function serve(engine: RestEngine, loaded: LoadedSource, args: CommandArguments, saver?: Saver): Promise<void> {
  if (args.static !== undefined && !(await isFolder(args.static)))
    throw new CommandError(`--static takes a folder, and ${args.static} is none.`, 2)
  const allChanged = isWatched() ? followRefusals(engine) : undefined
  const onRequest = (line: RequestLine): void => {
    if (!args.quiet) printRequest(line, loaded.json !== undefined)
    if (READ_METHODS.includes(line.method) || !isControl(engine, line.path)) return
    saver?.replaced()
    allChanged?.()
  }
  internalsOf(engine).isSaved = saver !== undefined
  const hasWorkbench = await servesWorkbench(args)
  const options: ServerOptions = {
    readOnly: args.readOnly,
    delay: args.delay,
    // The page describes the engine's own grammar.
    docs: args.as === undefined,
    ...(hasWorkbench ? { workbench: { title: loaded.title } } : {}),
    ...(args.workbench === true ? { testControls: true } : {}),
    ...(args.static === undefined ? {} : { static: args.static }),
    ...(args.cors.length === 0 ? {} : { cors: args.cors, corsCredentials: args.corsCredentials }),
    ...(await listHosts(args)),
    explain: args.explain,
    ...(args.quiet && saver === undefined && allChanged === undefined ? {} : { onRequest }),
  }
  const server =
    saver === undefined || args.save !== 'sync'
      ? createServer(engine, options)
      : createWaitingServer(engine, options, () => saver.settled())
  await listen(server, args)
  const { stopped } = stopOnSignal(server)
  const address = server.address() as AddressInfo
  void report({ port: address.port })
  // After the welcome: this may take time.
  const slow = await internalsOf(engine).unindexedLinks(MANY)
  const paths = listPaths(engine, args, loaded.json !== undefined)
  const requests =
    args.as === undefined
      ? await findExampleRequests(lookAt(engine, loaded), internalsOf(engine).model, loaded.examples, slow)
      : paths.slice(0, MOST_EXAMPLES)
  printWelcome(engine, loaded, { paths, requests }, { ...args, hasWorkbench }, address)
  if (!args.quiet) printMissingIndexes(slow)
  await stopped
}

/** Reads as the user of the log-in, without journal and faults. */
function lookAt(engine: RestEngine, { logIn }: LoadedSource): Parameters<typeof findExampleRequests>[0] {
  const headers = logIn === undefined ? {} : { authorization: `Bearer ${engine.token(logIn.example.id)}` }
  const client = new LazyClient({ headers }, { isPlain: true })
  return { base: engine.base, versions: engine.versions, look: path => internalsOf(engine).look(path, client) }
}

function isControl({ base }: RestEngine, path: string): boolean {
  const below = findTargetBelow(path, base)
  return below !== undefined && TestControls.isControl(below)
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isDirectory(),
    () => false,
  )
}

/** Adds the name of `--host` for a loopback address, or beside `--allow-host`. */
async function listHosts({ host, allowedHosts }: CommandArguments): Promise<{ allowedHosts?: readonly string[] | true }> {
  if (allowedHosts === true) return { allowedHosts }
  const isName = isIP(host) === 0 && host !== 'localhost'
  const isOwn = isName && (await isLocal(host))
  if (isOwn || (isName && allowedHosts.length > 0)) return { allowedHosts: [...allowedHosts, host] }
  return allowedHosts.length === 0 ? {} : { allowedHosts }
}

function listen(server: HttpServer, { port, host }: CommandArguments): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new CommandError(describeListenError(error, port, host))))
    server.listen(port, host, resolve)
  })
}

function describeListenError(error: NodeJS.ErrnoException, port: number, host: string): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use: choose another one with --port, or --port 0 for any that is free.`
    case 'EACCES':
      return `Port ${port} may not be used by this user: choose another one with --port.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine: choose another one with --host.`
    default:
      return `The server cannot listen on ${host}, port ${port}: ${oneLine(error)}.`
  }
}

/** The first signal closes the server, the second ends the process. */
function stopOnSignal(server: HttpServer): { stopped: Promise<void> } {
  let firstAt: number | undefined
  const stopped = new Promise<void>(resolve => {
    const stop = (_: NodeJS.Signals, number: number): void => {
      if (firstAt !== undefined) {
        if (performance.now() - firstAt > SAME_SIGNAL) process.exit(128 + number)
        return
      }
      firstAt = performance.now()
      const timer = setTimeout(() => server.closeAllConnections(), SHUTDOWN_TIMEOUT_MS)
      server.close(() => {
        clearTimeout(timer)
        resolve()
      })
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
  return { stopped }
}

function printWelcome(
  engine: RestEngine,
  { title, json, logIn }: LoadedSource,
  { paths, requests }: { readonly paths: readonly string[]; readonly requests: readonly string[] },
  { workbench, hasWorkbench, as, static: folder }: CommandArguments & { readonly hasWorkbench: boolean },
  address: AddressInfo,
): void {
  const origin = `http://${formatHost(address)}:${address.port}`
  const notes = formatNotes(engine)
  const served = escapeControls(title)
  const hasDocs = as === undefined && !internalsOf(engine).owns(`/${DOCS}`, false)
  const lines = [
    `${styleText('bold', 'mikro-rest')} serves ${served} at ${styleText('cyan', origin)}`,
    ...(hasWorkbench ? [`Workbench: ${styleText('cyan', `${origin}${engine.base}/${WORKBENCH}`)}`] : []),
    ...(folder === undefined ? [] : [`Files of ${escapeControls(folder)}: ${styleText('cyan', origin)}`]),
    ...(hasDocs ? [`Documentation: ${styleText('cyan', `${origin}${engine.base}/${DOCS}`)}`] : []),
    '',
    ...(json === undefined ? [] : [`Inferred from ${escapeControls(json.name)}:`, ...formatInference(json), '']),
    ...(notes.length === 0 ? [] : [...notes.map(note => `  ${note}`), '']),
    'Resources:',
    ...paths.map(path => `  ${escapeControls(path)}`),
    '',
    'Try:',
    ...(logIn === undefined ? [] : [formatLogIn(logIn, { origin, base: engine.base, version: engine.versions[0] ?? NO_VERSION, as })]),
    ...requests.map(path => `  curl ${logIn === undefined ? '' : '-H "authorization: Bearer $TOKEN" '}'${origin}${escapeControls(path)}'`),
    ...(workbench === true
      ? ['', 'Test controls, open to every client of this address:', `  curl '${origin}${engine.base}/${TEST_CONTROLS}'`]
      : []),
    '',
  ]
  console.log(lines.join('\n'))
}

interface LogInPlace {
  readonly origin: string
  readonly base: string
  readonly version: string
  readonly as: CommandArguments['as']
}

const LOG_IN_OF_SUPABASE = '/auth/v1/token?grant_type=password'

function formatLogIn({ identifier, password, example }: LogIn, { origin, base, version, as }: LogInPlace): string {
  const [name, path, token] =
    as === undefined
      ? [identifier, `${formatRoot(base, version)}/login`, 'auth_token']
      : ['email', base + LOG_IN_OF_SUPABASE, 'access_token']
  // The text stands between single quotes of a shell.
  const body = escapeControls(JSON.stringify({ [name]: example.identifier, [as === undefined ? password : 'password']: '...' })).replaceAll(
    "'",
    String.raw`'\''`,
  )
  return `  curl '${origin}${path}' -H 'content-type: application/json' -d '${body}'   # its ${token} is TOKEN`
}

function listPaths(engine: RestEngine, { as }: CommandArguments, isFile: boolean): string[] {
  if (as !== undefined) return listPathsOf(as, internalsOf(engine).model, isFile).map(path => engine.base + path)
  return listVersions(engine.versions).flatMap(version => {
    const root = formatRoot(engine.base, version)
    return internalsOf(engine)
      .modelOf(version)!
      .resources.map(({ plural }) => `${root}/${plural}`)
  })
}

function printMissingIndexes(missing: readonly UnindexedLink[]): void {
  if (missing.length === 0) return
  const lines = missing.slice(0, SHOWN).map(({ table, columns, rows, sql }) => {
    const many = rows > MANY ? `more than ${MANY.toLocaleString('en')}` : rows.toLocaleString('en')
    return `  ${escapeControls(`${table}.${columns.join(', ')}`)} (${many} rows): ${escapeControls(sql)}`
  })
  const others = missing.length > SHOWN ? [`  and ${missing.length - SHOWN} more`] : []
  console.log(
    [
      `${styleText('yellow', 'Slow')}: foreign keys without an index. An index makes related lists and deletions fast:`,
      ...lines,
      ...others,
      '',
    ].join('\n'),
  )
}

function formatHost({ address, family }: AddressInfo): string {
  if (address === '::' || address === '0.0.0.0') return 'localhost'
  return family === 'IPv6' ? `[${address}]` : address
}

function printRequest({ method, path, status, duration, explanation }: RequestLine, isJson: boolean): void {
  const time = styleText('dim', new Date().toTimeString().slice(0, 8))
  const colour = status < 300 ? 'green' : status < 500 ? 'yellow' : 'red'
  // A path may hold control characters of a terminal.
  const shown = path.replaceAll(/[^\u0021-\u007e]/g, encodeURIComponent)
  console.log(`${time} ${method} ${shown} ${styleText(colour, String(status))} ${duration.toFixed(1)} ms`)
  if (explanation !== undefined) console.log(formatExplanation(explanation, isJson))
}

const SHOWN_NOTES = 20

/** Leaves out notes printed elsewhere: steps of an evolution, and notes on copies of a trial or a watched file. */
export function formatNotes({ notes: all }: RestEngine): string[] {
  const notes = all.filter(note => !/^Evolved: |[/\\]mikro-rest-(?:trial|watch)-/.test(note))
  const others = notes.length > SHOWN_NOTES ? [`and ${notes.length - SHOWN_NOTES} more (engine.notes)`] : []
  return [...notes.slice(0, SHOWN_NOTES).map(note => `Note: ${escapeControls(note)}`), ...others]
}
