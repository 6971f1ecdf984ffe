/** Serves a recording of `engine.record`. Refuses options for other files. */
import { open } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { RestEngine } from '../../engine.ts'
import type { JournalEntry } from '../../engine/journal/journal-entry.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { openRecording } from '../../open-recording.ts'
import { NO_VERSION, formatRoot } from '../../records/request/address.ts'
import type { CommandArguments } from './arguments.ts'
import { CommandError } from './command-error.ts'
import { escapeControls } from './explanation-text.ts'
import type { LoadedSource } from './load.ts'

const SHOWN = 3

/** Only this machine may use the test controls. */
const LOCAL = ['127.0.0.1', 'localhost', '::1']

export async function isRecording(file: string | undefined): Promise<boolean> {
  if (file === undefined) return false
  if (extname(file).toLowerCase() === '.mikro') return true
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    const { buffer } = await handle.read(Buffer.alloc(21), 0, 21, 0)
    return buffer.toString('latin1') === 'mikro-rest recording '
  } catch {
    return false
  } finally {
    await handle.close()
  }
}

export async function openRecorded(
  args: CommandArguments,
  create: (options: EngineOptions) => Promise<RestEngine>,
): Promise<{ readonly engine: RestEngine; readonly args: CommandArguments; readonly loaded: LoadedSource }> {
  const file = args.file!
  const misfits: readonly (readonly [string, boolean])[] = [
    ['--config', args.config !== undefined],
    ['--seed', args.seed !== undefined],
    ['--save', args.save !== false],
    ['--hide', args.hide.length > 0],
    ['--migrate', args.migrate],
    ['--context', args.context !== undefined],
    ['--server-timing', args.serverTiming],
    ['--timeout', args.timeout !== undefined],
    ['--evolve', args.evolve],
    ['--fresh', args.fresh],
    ['diff', args.diff],
    ['--strict', args.strict],
    ['--open', args.open],
    ['--required', args.required],
    ['--id', args.id !== undefined],
    ['--eject', args.eject !== undefined],
    ['--base', args.base !== undefined],
    ['--api-version', args.versions !== undefined],
  ]
  const misfit = misfits.find(([, isGiven]) => isGiven)
  if (misfit !== undefined) throw new CommandError(`${misfit[0]} does not go with a recording, which says all that there is.`, 2)
  const { engine, facts } = await openRecording(file, create).catch((error: Error) => {
    throw new CommandError(escapeControls(error.message))
  })
  const of = facts.test === undefined ? '' : ` of the test ${JSON.stringify(facts.test.slice(0, 200))}`
  const title = escapeControls(`the recording ${basename(file)}${of}, ${facts.requests.length} requests, in memory`)
  const loaded = { options: {}, running: {}, title, examples: findExamples(engine, facts.requests) }
  return { engine, loaded, args: LOCAL.includes(args.host) ? { ...args, workbench: args.workbench ?? true } : args }
}

/** Paths of successful readings in the test, else of a list. Sends no request: the journal is the test's. */
function findExamples(engine: RestEngine, requests: readonly JournalEntry[]): string[] {
  const root = formatRoot(engine.base, engine.versions[0] ?? NO_VERSION)
  const read = requests.filter(({ method, path, status = 0 }) => method === 'GET' && status < 400 && path.startsWith(`${root}/`))
  const paths = [...new Set(read.map(({ path }) => escapeControls(path.slice(root.length))))].slice(0, SHOWN)
  const [first] = internalsOf(engine).model.resources
  return paths.length > 0 || first === undefined ? paths : [`/${first.plural}`]
}
