/** Runs the command `mikro-rest`. Loads FILE, and serves, describes, ejects or tests the model. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { internalsOf } from '../../engine/assembly/internals.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import { readDatabase } from '../../engine/options/database-option.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { describeDatabase, isInMemory, isPglite } from '../../records/database/describe-database.ts'
import type { RestEngine } from '../../engine.ts'
import { formatHelp, parseArguments, type CommandArguments } from './arguments.ts'
import { CommandError, oneLine } from './command-error.ts'
import { describeTo, drawTo } from './describe.ts'
import { formatExplanation, escapeControls } from './explanation-text.ts'
import { announceRecords } from './json-file.ts'
import { load, readJournal, SERVER, type LoadedSource } from './load.ts'
import { Saver } from './save.ts'
import { listReached } from './modules.ts'
import { formatNotes, serve } from './serve.ts'
import { readOwnPackage } from './own-package.ts'
import { watch } from './watch.ts'
import { beginTrial, isTrial, isWatched, report, takeTurn } from './watched.ts'
import { servesWorkbench } from './workbench-address.ts'

/**
 * @param argv without node and script
 * @returns the exit code: 0, 1 for a failure, 2 for wrong usage
 */
export async function main(argv: readonly string[]): Promise<number> {
  // The reader of the output may stop early, as `head` does.
  process.stdout.on('error', () => {})
  try {
    const args = parseArguments(argv)
    if (args.help) return await print(formatHelp(), 0)
    if (args.showsVersion) return await print(`${(await readOwnPackage()).version}\n`, 0)
    if (args.watch) return await watch(argv, args)
    if (isTrial()) beginTrial()
    return await run(args)
  } catch (error) {
    await report({ reached: listReached() })
    if (isTrial()) await report({ refused: oneLine(error) })
    else process.stderr.write(`mikro-rest: ${oneLine(error)}\n`)
    return error instanceof CommandError ? error.exitCode : 1
  }
}

async function run(args: CommandArguments): Promise<number> {
  // Loading MikroORM takes longer than refusing a wrong command line.
  const { RestEngine } = await import('../../engine.ts')
  const { isRecording, openRecorded } = await import('./recording.ts')
  if (await isRecording(args.file)) {
    const recorded = await openRecorded(args, options => RestEngine.create(options))
    return await runWith(recorded.engine, recorded.args, recorded.loaded)
  }
  const loaded = await load(args)
  try {
    if (isWatched() && loaded.running.drop === 'all')
      throw new CommandError(
        "drop: 'all' would take the values of whatever an edit leaves out under --watch: " +
          "name what goes, drop: ['trip.days'], or leave --watch out.",
        2,
      )
    if (args.diff) return await diff(loaded)
    return await runEngine(RestEngine, args, loaded)
  } finally {
    loaded.trial?.remove()
  }
}

async function diff({ options }: LoadedSource): Promise<number> {
  const { formatPlan, nameDatabase, planEvolution } = await import('./evolve.ts')
  const { plan } = await planEvolution(options, undefined)
  return await print(formatPlan(plan, nameDatabase(options), 'the model'), plan.steps.length === 0 ? 0 : 1)
}

/** Empties the database. Tries the model in memory before: a bad model must not cost the tables of a SQLite file. */
async function beginAnew(Engine: typeof RestEngine, { running }: LoadedSource): Promise<EngineOptions> {
  const { isThere } = await import('./evolve-options.ts')
  if (!(await isThere(running))) return running
  if (typeof readDatabase(running.database!) === 'string')
    await (await Engine.create({ ...running, database: ':memory:', onError: () => {} })).close()
  const { beginAnew: begin } = await import('../../engine/assembly/rehearse.ts')
  for (const note of await begin(running)) await print(`${escapeControls(note)}\n`, 0)
  return running
}

async function planEvolving({ running, trial }: LoadedSource): Promise<EngineOptions> {
  if (running.schema !== 'evolve' || running.readOnly === true || trial !== undefined) return running
  const [{ isThere }, { askAtTerminal, formatPlan, nameDatabase, planEvolution }] = await Promise.all([
    import('./evolve-options.ts'),
    import('./evolve.ts'),
  ])
  if (isInMemory(readDatabase(running.database ?? ':memory:')) || !(await isThere(running))) return running
  const { plan, options } = await planEvolution(running, askAtTerminal())
  if (plan.steps.length > 0) await print(`${formatPlan(plan, nameDatabase(options), 'the model')}\n`, 0)
  return options
}

async function runEngine(Engine: typeof RestEngine, args: CommandArguments, loaded: LoadedSource): Promise<number> {
  // Nobody could read the journal, and the memory would grow.
  const journal = (await servesWorkbench(args)) ? {} : { journal: 0 }
  if (loaded.json !== undefined) announceRecords(loaded.json)
  const database = readDatabase(loaded.running.database ?? ':memory:')
  if (typeof database === 'string' && !isInMemory(database)) void report({ database: resolve(database) })
  const create = (all: EngineOptions): Promise<RestEngine> => Engine.create(all)
  if (typeof database !== 'string' && isPglite(database.url) && !isInMemory(database) && isTrial()) {
    const { tryPglite } = await import('./try-model.ts')
    await tryPglite(create, loaded.running, database)
    await takeTurn()
  }
  const running = args.fresh ? await beginAnew(Engine, loaded) : await planEvolving(loaded)
  const options: EngineOptions = {
    ...journal,
    ...running,
    ...(args.serverTiming ? { serverTiming: true } : {}),
    ...(args.timeout === undefined ? {} : { limits: { ...running.limits, timeout: args.timeout } }),
  }
  const engine = await (isWatched() ? createWatched(create, options, loaded) : create(options)).catch(async (error: unknown) => {
    throw await explainStart(error, args, loaded.module)
  })
  if (engine === undefined) return await run(args)
  await report({ reached: listReached() })
  return await runWith(engine, args, loaded)
}

/**
 * A trial of `--watch` tries the new model beside the serving child, and waits for the end of the serving child. A module in memory keeps
 * the data.
 *
 * @returns undefined where the former process has saved the JSON file meanwhile
 */
async function createWatched(
  create: (options: EngineOptions) => Promise<RestEngine>,
  options: EngineOptions,
  { json }: LoadedSource,
): Promise<RestEngine | undefined> {
  const { createKept, findKeptFile } = await import('./kept-data.ts')
  const kept = json === undefined ? findKeptFile(options) : undefined
  if (isTrial()) {
    const { tryModel } = await import('./try-model.ts')
    const engine = await tryModel(create, options, kept)
    await takeTurn()
    if (json !== undefined && (await readFile(json.path, 'utf8')) !== json.text) {
      await engine?.close()
      return undefined
    }
    if (engine !== undefined) return engine
  }
  return kept === undefined ? create(options) : createKept(create, options, kept)
}

async function runWith(engine: RestEngine, args: CommandArguments, loaded: LoadedSource): Promise<number> {
  try {
    if (args.eject !== undefined) return await ejectTo(args.eject, engine, loaded)
    if (args.openapi !== undefined) return await print(await describeTo(args.openapi, engine, args.readOnly), 0)
    if (args.diagram !== undefined) return await print(await drawTo(args.diagram, engine), 0)
    if (args.selfTest) return await selfTest(engine, loaded, args)
    if (args.check !== undefined) return await compare(engine, args.check, args)
    if (args.get !== undefined) return await get(engine, args.get, args, loaded.json !== undefined)
    const saver = args.save !== false && loaded.json !== undefined ? new Saver(engine, loaded.json) : undefined
    await saver?.begin()
    await serve(engine, loaded, args, saver)
    return saver === undefined || (await saver.finish()) ? 0 : 1
  } finally {
    await engine.close()
  }
}

async function ejectTo(folder: string, engine: RestEngine, loaded: LoadedSource): Promise<number> {
  const { eject } = await import('./eject.ts')
  const { files, notes } = await eject(engine, loaded, folder)
  for (const note of notes) process.stderr.write(`mikro-rest: Note: ${oneLine(note)}\n`)
  const same = notes.length === 0 ? 'the same as' : `the same, but for ${notes.length === 1 ? 'a column' : `${notes.length} columns`}, as`
  const lines = [
    `mikro-rest has written ${files.length} files to ${folder}, which serve ${same} ${loaded.title}:`,
    ...files.map(file => `  ${file}`),
    '',
    'Serve it:',
    `  npx mikro-rest ${folder}`,
    '',
  ]
  return await print(lines.join('\n'), 0)
}

async function compare(engine: RestEngine, address: string, { journal: file, headers, writes }: CommandArguments): Promise<number> {
  const { checkAgainst } = await import('../../check-against.ts')
  const journal = file === undefined ? undefined : await readJournal(file)
  const report = await checkAgainst(address, engine, journal, { writes, ...(headers === undefined ? {} : { headers }) })
  return await print(String(report), report.passed ? 0 : 1)
}

/** Tries writes, too, of a file that this run only reads: the model decides about read-only. */
async function selfTest(
  engine: RestEngine,
  { options: { readOnly = false } }: LoadedSource,
  { testSeed, runs, headers, quiet, file, config }: CommandArguments,
): Promise<number> {
  if (!quiet) for (const line of formatNotes(engine)) process.stderr.write(`mikro-rest: ${line}\n`)
  const options = { ...(testSeed === undefined ? {} : { seed: testSeed }), ...(runs === undefined ? {} : { runs }) }
  const { tryPromises } = await import('../../try-promises.ts')
  try {
    const { report } = await tryPromises(engine, { ...options, ...(headers === undefined ? {} : { headers }) }, readOnly)
    return await print(String(report), report.passed ? 0 : 1)
  } catch (error) {
    throw error instanceof RestError && error.code === 'method_not_allowed' ? describeUncopied(error, config ?? file!) : error
  }
}

function describeUncopied({ message }: RestError, model: string): CommandError {
  const test = (module: string): string => `npx mikro-rest pglite: --config ${module} --self-test`
  const how = SERVER.test(model) ? `npx mikro-rest '${describeDatabase(model)}' --eject DIR, then ${test('DIR')}` : test(model)
  const why = message.replace(/^engine\.\w+: /, '')
  return new CommandError(`--self-test tries a copy of the data, which is ${why} Try the model on an empty PGlite: ${how}`)
}

async function get(
  engine: RestEngine,
  path: string,
  { as, delay, explain: explains, quiet }: CommandArguments,
  isJson: boolean,
): Promise<number> {
  if (delay > 0) engine.delay('*', delay)
  if (!quiet) for (const line of formatNotes(engine)) process.stderr.write(`mikro-rest: ${line}\n`)
  if (as !== undefined) {
    const answer = await engine.fetch(`http://localhost${path}`)
    return await print(await answer.text(), answer.ok ? 0 : 1)
  }
  const { response, explain } = explains
    ? await internalsOf(engine).explained('GET', path, undefined, {})
    : { response: await engine.handle('GET', path), explain: undefined }
  const { status, body } = response
  const explanation = await explain?.()
  if (explanation !== undefined) {
    process.stderr.write(
      `GET ${escapeControls(explanation.path)} ${status} ` +
        `${explanation.duration.toFixed(1)} ms\n${formatExplanation(explanation, isJson, process.stderr)}`,
    )
  }
  return await print(`${JSON.stringify(body, undefined, 2)}\n`, status >= 200 && status < 300 ? 0 : 1)
}

/** Written JSON holds only 0x7f to 0x9f of these, and may hold their escapes instead. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Waits until the text is written: an exit would lose the rest. */
function print(text: string, exitCode: number): Promise<number> {
  const shown = text.replaceAll(CONTROLS, control => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return new Promise(resolve => {
    process.stdout.write(shown, () => resolve(exitCode))
  })
}

async function explainStart(error: unknown, { config }: CommandArguments, model: string | undefined): Promise<unknown> {
  if (!(error instanceof Error) || model === undefined) return error
  if (error.message.includes('emitDecoratorMetadata') && /ts$/i.test(model)) {
    const { findTypeScriptLoader } = await import('./typescript.ts')
    return new CommandError(oneLine(error) + (await findTypeScriptLoader(resolve(model))).typesAdvice)
  }
  if (config === undefined && /^The \w+ database .* cannot be opened: /.test(error.message))
    return new CommandError(`${oneLine(error)} To serve the model in memory: mikro-rest :memory: --config ${model}`)
  return error
}
