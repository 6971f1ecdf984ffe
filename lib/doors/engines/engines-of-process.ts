/** Lists the engines of this process on a page, for `MIKRO_REST_WORKBENCH`. Only a waiting engine keeps the process running. */
import { internalsOf } from '../../engine/assembly/internals.ts'
import type { WorldEngine } from '../server/controls/world-engine.ts'
import { findPlace, formatPath, ShownEngine, type Audience, readSettings, type Settings } from './shown-engine.ts'
import { Host, type HostedProcess, type ListedProcess } from './host.ts'

const NAMED = 3
/** Milliseconds of a timer to keep the process running. */
const LONG = 1 << 30

export class EnginesOfProcess implements Audience, HostedProcess {
  readonly settings: Settings
  readonly #engines = new Map<string, ShownEngine>()
  home = ''
  readonly #name = nameProcess(process.argv, process.env, process.cwd())
  #count = 0
  #keepingAlive: NodeJS.Timeout | undefined

  /** @throws RangeError for a wrong environment */
  constructor(env: NodeJS.ProcessEnv) {
    this.settings = readSettings(env)
    void this.#listen(this.settings.port)
    if (this.settings.waiting === 'all') process.once('beforeExit', () => this.#waitForAll())
  }

  /** Fails no test where no port is free. */
  async #listen(port: number): Promise<void> {
    try {
      this.home = `http://127.0.0.1:${await Host.listen(port, this)}/`
      this.#say(`The engines of ${this.#name} are shown at ${this.home}`)
    } catch (error) {
      this.#say(`The engines of ${this.#name} are not shown: ${(error as Error).message}. MIKRO_REST_WORKBENCH names the port ${port}.`)
    }
  }

  show(engine: WorldEngine, stack: string): void {
    const id = String(++this.#count)
    const made = { name: nameEngine(engine), place: findPlace(stack, process.cwd()) }
    const shown = new ShownEngine(id, engine, made, this)
    const internals = internalsOf(engine)
    internals.shown = shown
    // Somebody may look later.
    internals.keepStatements()
    internals.parts.states.keep()
    this.#engines.set(id, shown)
  }

  get state(): ListedProcess {
    const engines = [...this.#engines.values()].filter(({ isHidden }) => !isHidden).map(({ facts }) => facts)
    return { pid: process.pid, name: this.#name, engines }
  }

  changed(): void {
    const waits = [...this.#engines.values()].some(engine => engine.waits)
    if (waits) this.#keepingAlive ??= setInterval(() => {}, LONG)
    else {
      clearInterval(this.#keepingAlive)
      this.#keepingAlive = undefined
    }
  }

  left({ id }: ShownEngine): void {
    this.#engines.delete(id)
    this.changed()
  }

  async open(id: string): Promise<string | undefined> {
    return this.#engines.get(id)?.open()
  }

  letGo(id: string): void {
    this.#engines.get(id)?.letGo()
  }

  #say(sentence: string): void {
    process.stderr.write(`mikro-rest: ${sentence}\n`)
  }

  /** Waits at the end for open engines. */
  #waitForAll(): void {
    for (const engine of this.#engines.values()) if (!engine.isHidden && !engine.waits) void engine.wait()
  }
}

function nameEngine(engine: WorldEngine): string {
  const { model, parts } = internalsOf(engine)
  const names = model.resources.map(({ plural }) => plural)
  const more = names.length - NAMED
  const all = more > 1 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ')
  return parts.isFork ? `fork of ${all}` : all
}

/** The worker of a test runner, or the script. */
function nameProcess([, script = '']: readonly string[], env: NodeJS.ProcessEnv, folder: string): string {
  const worker = (
    [
      ['Vitest', env['VITEST_POOL_ID']],
      ['Playwright', env['TEST_WORKER_INDEX']],
      ['Jest', env['JEST_WORKER_ID']],
    ] as const
  ).find(([, number]) => number !== undefined)
  return worker === undefined ? formatPath(script, folder) : `${worker[0]}, worker ${worker[1]}`
}
