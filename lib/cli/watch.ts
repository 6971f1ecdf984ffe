/**
 * Watch: runs the command in a child process, and starts it again when a module, the JSON file or the seed changes. A process of its own each time,
 * because Node never forgets a module that it has loaded. A database file is not watched: the engine reads it live, and writes to it. A JSON file that
 * the child itself has saved is no change.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { watch as watchFolder } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import type { CommandArguments } from './arguments.ts'
import { CommandError, oneLine } from './command-error.ts'
import { isModule } from './modules.ts'
import { hashContent } from './save.ts'
import type { SavedMessage } from './save.ts'

// An editor saves a file in several steps, in milliseconds.
const SETTLE = 100

/** Runs until a signal ends it; gives the exit code. `argv` is the command line, `--watch` included. */
export async function watch(argv: readonly string[], args: CommandArguments): Promise<number> {
  const files = [args.file, args.config, args.seed].filter(
    file => file !== undefined && (file === args.seed || isModule(file) || isJson(file)),
  )
  if (files.length === 0) throw new CommandError('--watch needs a module, a JSON file or a seed file to watch.', 2)
  const runner = new Runner(argv.filter(argument => argument !== '--watch'))
  const watchers = files.map(file => {
    const path = resolve(file ?? '')
    return watchFile(path, () => runner.changed(path))
  })
  runner.start()
  const code = await runner.ended
  for (const watcher of watchers) watcher.close()
  return code
}

function isJson(file: string): boolean {
  return extname(file).toLowerCase() === '.json'
}

/** Watches the folder, for a file that is replaced is another file. A module may import its neighbours, so they count as well. */
function watchFile(path: string, onChange: () => void): FSWatcher {
  try {
    return watchFolder(dirname(path), (_, name) => {
      if (name === null || name === basename(path) || (isModule(path) && isModule(name))) onChange()
    })
  } catch (error) {
    throw new CommandError(`${path} cannot be watched: ${oneLine(error)}.`)
  }
}

/** The child process, one at a time: the next one finds the port and the database file free again. */
class Runner {
  readonly #argv: readonly string[]
  /** The exit code, once a signal has ended the command. */
  readonly ended: Promise<number>
  #end: (code: number) => void = () => {}
  #child: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #isChanged = false
  #isStopping = false
  readonly #changed = new Set<string>()
  /** The content that the child has saved last, or is about to. */
  #saved: string | undefined

  constructor(argv: readonly string[]) {
    this.#argv = argv
    this.ended = new Promise(end => {
      this.#end = end
    })
    process.on('SIGINT', signal => this.#stop(signal))
    process.on('SIGTERM', signal => this.#stop(signal))
  }

  start(): void {
    this.#isChanged = false
    this.#child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...this.#argv], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', message => {
      this.#saved = (message as SavedMessage).saved
    })
    this.#child.once('exit', code => {
      this.#child = undefined
      if (this.#isStopping) this.#end(code ?? 0)
      else if (this.#isChanged) this.start()
      else if (code !== 0) console.error('mikro-rest: waiting for a change.')
    })
  }

  /** Starts again when no further change follows for a moment, unless all there is has come from the child. */
  changed(path: string): void {
    if (this.#isStopping) return
    this.#changed.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#restart(), SETTLE)
  }

  async #restart(): Promise<void> {
    const paths = [...this.#changed]
    this.#changed.clear()
    const own = await Promise.all(paths.map(path => this.#isOwn(path)))
    if (own.every(Boolean) || this.#isStopping) return
    console.log('mikro-rest: changed, starting again.')
    this.#isChanged = true
    if (this.#child === undefined) this.start()
    else this.#child.kill('SIGTERM')
  }

  /** Whether a file is as the child has saved it. One that cannot be read has changed. */
  async #isOwn(path: string): Promise<boolean> {
    if (this.#saved === undefined) return false
    const content = await readFile(path).catch(() => undefined)
    return content !== undefined && hashContent(content) === this.#saved
  }

  /** A second signal is passed on too: what it means is up to the child. */
  #stop(signal: NodeJS.Signals): void {
    this.#isStopping = true
    clearTimeout(this.#timer)
    if (this.#child === undefined) this.#end(0)
    else this.#child.kill(signal)
  }
}
