/**
 * Runs the command of `--watch` in a child process, and a new child after changes of a module, the JSON file or the seed: Node never
 * unloads a module. The new child tries the model first (try-model.ts); if refused, the former child serves on. Changed rows may make the
 * model fit, so the database file is watched, too. A child's saves restart nothing.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, watch as watchFolder, type FSWatcher } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { pause } from '../../foundation/async/turns.ts'
import type { CommandArguments } from './arguments.ts'
import { CommandError, oneLine } from './command-error.ts'
import { readJsonFile } from './json-file.ts'
import { parseJson } from './json-text.ts'
import { isModule } from './modules.ts'
import { hashContent } from './replace-file.ts'
import { KEPT, TRIAL, type ChildReport, type ParentOrder } from './watched.ts'

// Milliseconds without a change: an editor saves a file in several steps.
const SETTLE = 100
// Milliseconds between trials of a refused model while data change.
const RETRY = 1000
// Milliseconds that a report in the pipe may take.
const LATE = 20
// Milliseconds until a trial is killed that hears no signal.
const PATIENCE = 2000

/**
 * Runs until a signal.
 *
 * @returns the exit code
 */
export async function watch(argv: readonly string[], args: CommandArguments): Promise<number> {
  const files = [args.file, args.config, args.seed].filter(
    file => file !== undefined && (file === args.seed || isModule(file) || isJson(file)),
  )
  if (files.length === 0) throw new CommandError('--watch needs a module, a JSON file or a seed file to watch.', 2)
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-watch-'))
  process.env[KEPT] = join(folder, 'data.sqlite')
  const runner = new Runner(
    argv.filter(argument => argument !== '--watch'),
    args.port,
    path => checkData(path, args),
  )
  const watchers = files.map(file => {
    const path = resolve(file ?? '')
    return watchFile(path, () => runner.changed(path))
  })
  runner.start()
  const code = await runner.ended
  for (const watcher of [...watchers, ...runner.watchers.values()]) watcher.close()
  rmSync(folder, { recursive: true, force: true })
  return code
}

/** Says why a JSON file cannot be served, such as a half-written file. */
async function checkData(path: string, { file, seed, strict, open, id }: CommandArguments): Promise<string | undefined> {
  const name = [file, seed].find(each => each !== undefined && resolve(each) === path)
  if (name === undefined || isModule(name)) return undefined
  try {
    if (name === seed) parseJson(await readFile(path, 'utf8'), name)
    else await readJsonFile(name, path, { strict, open, ...(id === undefined ? {} : { id }) })
    return undefined
  } catch (error) {
    return oneLine(error)
  }
}

function isJson(file: string): boolean {
  return extname(file).toLowerCase() === '.json'
}

/** Watches the folder: a replaced file is a new file, and a module may import neighbours. */
function watchFile(path: string, onChange: () => void): FSWatcher {
  try {
    return watchFolder(dirname(path), (_, name) => {
      if (name === null || name === basename(path) || (isModule(path) && isModule(name))) onChange()
    })
  } catch (error) {
    throw new CommandError(`${path} cannot be watched: ${oneLine(error)}.`)
  }
}

/** Runs a serving child and at most one trial. The trial serves once port and database file are free. */
class Runner {
  readonly #argv: readonly string[]
  readonly #check: (path: string) => Promise<string | undefined>
  /** Later children keep the first child's port. */
  #port: number
  readonly ended: Promise<number>
  #end: (code: number) => void = () => {}
  #serving: ChildProcess | undefined
  #trial: ChildProcess | undefined
  /** The trial has tried the model, and waits for the serving child's end. */
  #isReady = false
  #isOutdated = false
  #isStopping = false
  #code = 0
  #timer: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  readonly #changed = new Set<string>()
  /** By folder with imported files. */
  readonly watchers = new Map<string, FSWatcher>()
  readonly #reached = new Set<string>()
  /** Hashes of the child's saves since the last look at the file. */
  #saves: string[] = []
  #refusal: { readonly sentence: string; readonly isOfData: boolean } | undefined
  #database: string | undefined
  #watcher: FSWatcher | undefined

  constructor(argv: readonly string[], port: number, check: (path: string) => Promise<string | undefined>) {
    this.#argv = argv
    this.#port = port
    this.#check = check
    this.ended = new Promise(end => {
      this.#end = end
    })
    process.on('SIGINT', signal => this.#stop(signal))
    process.on('SIGTERM', signal => this.#stop(signal))
  }

  start(): void {
    this.#serving = this.#spawn({})
    this.#saves = []
  }

  changed(path: string): void {
    if (this.#isStopping) return
    this.#changed.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), SETTLE)
  }

  #spawn(env: Readonly<Record<string, string>>): ChildProcess {
    const port = this.#port === 0 ? [] : ['--port', String(this.#port)]
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...this.#argv, ...port], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    })
    let reason: string | undefined
    child.on('message', message => {
      const { refused } = message as ChildReport
      reason = refused ?? reason
      this.#hear(child, message as ChildReport)
    })
    child.once('exit', code => this.#exited(child, code, reason))
    return child
  }

  #hear(child: ChildProcess, { port, saved, reached = [], database, isReady, isChanged }: ChildReport): void {
    for (const path of reached) this.#follow(path)
    if (port !== undefined) this.#port = port
    if (saved !== undefined) this.#saves.push(saved)
    if (database !== undefined) this.#database = database
    if (isChanged === true) this.#tryAgain()
    if (isReady !== true || child !== this.#trial || this.#isOutdated) return
    console.log('mikro-rest: changed, starting again.')
    this.#isReady = true
    if (this.#serving === undefined) this.#takeOver(child)
    else this.#serving.kill('SIGTERM')
  }

  #follow(path: string): void {
    this.#reached.add(path)
    const folder = dirname(path)
    if (this.watchers.has(folder) || this.#isStopping) return
    try {
      const watcher = watchFolder(folder, (_, name) => {
        if (name === null || isModule(name) || this.#reached.has(join(folder, name))) this.changed(join(folder, name ?? ''))
      })
      watcher.on('error', () => watcher.close())
      this.watchers.set(folder, watcher)
    } catch (error) {
      console.error(`mikro-rest: ${folder} cannot be watched: ${oneLine(error)}.`)
    }
  }

  #takeOver(child: ChildProcess): void {
    this.#serving = child
    this.#trial = undefined
    this.#isReady = false
    this.#saves = []
    this.#accept()
    child.send({ begin: true } satisfies ParentOrder)
  }

  #exited(child: ChildProcess, code: number | null, reason: string | undefined): void {
    if (child === this.#trial) {
      this.#trial = undefined
      this.#isReady = false
    } else {
      this.#serving = undefined
      this.#code = code ?? 0
    }
    if (this.#isStopping) {
      if (this.#serving === undefined && this.#trial === undefined) this.#end(this.#code)
    } else if (this.#trial !== undefined) {
      if (this.#isReady && !this.#isOutdated) this.#takeOver(this.#trial)
    } else if (this.#isOutdated) this.#try()
    else if (this.#serving !== undefined) this.#refuse(reason ?? `The process of the changed model has ended by itself (exit code ${code})`)
    else if (code !== 0) {
      console.error('mikro-rest: waiting for a change.')
      this.#watchDatabase()
    }
  }

  async #look(): Promise<void> {
    const paths = [...this.#changed]
    this.#changed.clear()
    const areSaves = await Promise.all(paths.map(path => this.#isSaveOfChild(path)))
    if (this.#isStopping) return
    if (areSaves.every(Boolean)) {
      // The file is as saved by the child.
      if (this.#refusal?.isOfData === true) this.#accept()
      return
    }
    const [reason] = (await Promise.all(paths.map(path => this.#check(path)))).filter(each => each !== undefined)
    if (this.#isStopping) return
    if (reason !== undefined) return this.#refuse(reason, true)
    this.#refusal = undefined
    this.#try()
  }

  /** Starts a child, or a trial; where a trial runs with former files, another follows. */
  #try(): void {
    const trial = this.#trial
    this.#isOutdated = trial !== undefined
    if (trial !== undefined) {
      trial.kill('SIGTERM')
      setTimeout(() => trial.kill('SIGKILL'), PATIENCE).unref()
    } else if (this.#serving !== undefined) this.#trial = this.#spawn({ [TRIAL]: '1' })
    else {
      console.log('mikro-rest: changed, starting again.')
      this.#accept()
      this.start()
    }
  }

  #refuse(reason: string, isOfData = false): void {
    const served = this.#serving === undefined ? 'waiting for a change' : `the ${isOfData ? 'data' : 'model'} of before is served`
    const sentence = `${reason.replace(/\.$/, '')}: ${served}.`
    if (sentence !== this.#refusal?.sentence) console.error(`mikro-rest: ${sentence}`)
    this.#refusal = { sentence, isOfData }
    this.#serving?.send({ refusal: sentence } satisfies ParentOrder)
    this.#watchDatabase()
  }

  #accept(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    clearTimeout(this.#retry)
    this.#retry = undefined
    if (this.#refusal !== undefined) this.#serving?.send({ refusal: null } satisfies ParentOrder)
    this.#refusal = undefined
  }

  /** SQLite writes into the file, or into a log beside. */
  #watchDatabase(): void {
    if (this.#database === undefined || this.#watcher !== undefined) return
    const name = basename(this.#database)
    this.#watcher = watchFolder(dirname(this.#database), (_, changed) => {
      if (changed === name || changed === `${name}-wal`) this.#tryAgain()
    })
  }

  /** Waits before the next trial: data may change many times a second. */
  #tryAgain(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined
      if (this.#isStopping || this.#refusal?.isOfData === true) return
      if (this.#trial !== undefined) this.#tryAgain()
      else if (this.#refusal !== undefined || this.#serving === undefined) this.#try()
    }, RETRY)
  }

  /** An unreadable file counts as changed. */
  async #isSaveOfChild(path: string): Promise<boolean> {
    const content = await readFile(path).catch(() => undefined)
    if (content === undefined) return false
    const hash = hashContent(content)
    // The child reports a save before writing: the file may be read before the report is.
    if (!this.#saves.includes(hash)) await pause(LATE)
    const index = this.#saves.lastIndexOf(hash)
    // Earlier saves are no longer in the file.
    if (index > 0) this.#saves.splice(0, index)
    return index >= 0
  }

  /** A second signal goes to the children, too. */
  #stop(signal: NodeJS.Signals): void {
    this.#isStopping = true
    clearTimeout(this.#timer)
    clearTimeout(this.#retry)
    this.#watcher?.close()
    this.#trial?.kill(signal)
    if (this.#serving === undefined && this.#trial === undefined) this.#end(0)
    else this.#serving?.kill(signal)
  }
}
