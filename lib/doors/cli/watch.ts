/**
 * Watch: runs the command in a child process, and restarts the child when a module, the JSON file or the seed changes: Node never unloads a
 * module. A database file is not watched, since the engine itself reads and writes the file. Saves of the child restart nothing.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, watch as watchFolder, type FSWatcher } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { CommandArguments } from './arguments.ts'
import { CommandError, oneLine } from './command-error.ts'
import { readJsonFile } from './json-file.ts'
import { parseJson } from './json-text.ts'
import { isModule } from './modules.ts'
import type { ListeningMessage } from './serve.ts'
import { hashContent } from './replace-file.ts'
import type { SavedMessage } from './save.ts'

// Milliseconds to wait for the end of a change: editors save a file in several steps.
const SETTLE = 100

/** Names the file for data of a module in memory to the serving process. */
export const KEPT = 'MIKRO_REST_KEPT'

/** Takes the command line, `--watch` included. Runs until a signal, and returns the exit code. */
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
  for (const watcher of watchers) watcher.close()
  rmSync(folder, { recursive: true, force: true })
  return code
}

/** Returns why a JSON file cannot be served at present, as while an editor writes; `undefined`: no reason, or another file. */
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

/** Watches the folder: a replaced file is a new file, and a module may import its neighbours. */
function watchFile(path: string, onChange: () => void): FSWatcher {
  try {
    return watchFolder(dirname(path), (_, name) => {
      if (name === null || name === basename(path) || (isModule(path) && isModule(name))) onChange()
    })
  } catch (error) {
    throw new CommandError(`${path} cannot be watched: ${oneLine(error)}.`)
  }
}

/** Runs one child at a time, so that the next finds port and database file free. */
class Runner {
  readonly #argv: readonly string[]
  readonly #check: (path: string) => Promise<string | undefined>
  /** Later children keep the first child's port. */
  #port: number
  /** The exit code, once a signal has ended the command. */
  readonly ended: Promise<number>
  #end: (code: number) => void = () => {}
  #child: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #isChanged = false
  #isStopping = false
  readonly #changed = new Set<string>()
  /** The hash of content that the child has saved last, or is about to save. */
  #saved: string | undefined

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
    this.#isChanged = false
    const port = this.#port === 0 ? [] : ['--port', String(this.#port)]
    this.#child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...this.#argv, ...port], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', message => {
      const { saved, port } = message as Partial<SavedMessage & ListeningMessage>
      if (saved !== undefined) this.#saved = saved
      if (port !== undefined) this.#port = port
    })
    this.#child.once('exit', code => {
      this.#child = undefined
      if (this.#isStopping) this.#end(code ?? 0)
      else if (this.#isChanged) this.start()
      else if (code !== 0) console.error('mikro-rest: waiting for a change.')
    })
  }

  /** Restarts after a short pause without changes, unless the child made all changes. */
  changed(path: string): void {
    if (this.#isStopping) return
    this.#changed.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#restart(), SETTLE)
  }

  async #restart(): Promise<void> {
    const paths = [...this.#changed]
    this.#changed.clear()
    const areSaves = await Promise.all(paths.map(path => this.#isSaveOfChild(path)))
    if (areSaves.every(Boolean) || this.#isStopping) return
    const [reason] = (await Promise.all(paths.map(path => this.#check(path)))).filter(each => each !== undefined)
    if (reason !== undefined) {
      console.error(
        `mikro-rest: ${reason.replace(/\.$/, '')}: ${this.#child === undefined ? 'waiting for a change' : 'the data of before is served'}.`,
      )
      return
    }
    if (this.#isStopping) return
    console.log('mikro-rest: changed, starting again.')
    this.#isChanged = true
    if (this.#child === undefined) this.start()
    else this.#child.kill('SIGTERM')
  }

  /** A file that cannot be read counts as changed. */
  async #isSaveOfChild(path: string): Promise<boolean> {
    if (this.#saved === undefined) return false
    const content = await readFile(path).catch(() => undefined)
    return content !== undefined && hashContent(content) === this.#saved
  }

  /** Passes every signal on to the child, which decides about a second signal. */
  #stop(signal: NodeJS.Signals): void {
    this.#isStopping = true
    clearTimeout(this.#timer)
    if (this.#child === undefined) this.#end(0)
    else this.#child.kill(signal)
  }
}
