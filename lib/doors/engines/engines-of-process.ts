/**
 * Engines of process: the engines of this process that are shown, and their way into the list. Nothing of it keeps the process, apart from
 * engines that wait at their end.
 */
import { internalsOf } from '../../engine/pipeline/internals.ts'
import type { WorldEngine } from '../server/controls/world-engine.ts'
import { findPlace, formatPath } from './creation-place.ts'
import { Meeting, type OwnProcess } from './meeting.ts'
import { readSettings, type Settings } from './settings.ts'
import { ShownEngine, type Audience } from './shown-engine.ts'
import type { ProcessState } from './state.ts'

/** Resources that a name has. */
const NAMED = 3
/** Milliseconds of a timer that does nothing but keep the process. */
const LONG = 1 << 30

export class EnginesOfProcess implements Audience, OwnProcess {
  readonly settings: Settings
  readonly #engines = new Map<string, ShownEngine>()
  readonly #meeting: Meeting
  readonly #name = nameProcess(process.argv, process.env, process.cwd())
  #count = 0
  #hold: NodeJS.Timeout | undefined

  /** @throws RangeError for an environment that is not of its form. */
  constructor(env: NodeJS.ProcessEnv) {
    this.settings = readSettings(env)
    this.#meeting = new Meeting(this.settings.port, this)
    void this.#meeting.begin()
    if (this.settings.waiting === 'all') process.once('beforeExit', () => this.#waitForAll())
  }

  /**
   * Shows an engine.
   *
   * @param stack of its making
   */
  show(engine: WorldEngine, stack: string): void {
    const id = String(++this.#count)
    const made = { name: nameEngine(engine), place: findPlace(stack, process.cwd()) }
    const shown = new ShownEngine(id, engine, made, this)
    const internals = internalsOf(engine)
    internals.shown = shown
    // Who looks at it later wants to see what the first requests have run.
    internals.keepStatements()
    internals.parts.states.keep()
    this.#engines.set(id, shown)
    this.changed()
  }

  get state(): ProcessState {
    const engines = [...this.#engines.values()].filter(({ isHidden }) => !isHidden).map(({ facts }) => facts)
    return { pid: process.pid, name: this.#name, engines }
  }

  changed(): void {
    const waits = [...this.#engines.values()].some(engine => engine.waits)
    if (waits) this.#hold ??= setInterval(() => {}, LONG)
    else {
      clearInterval(this.#hold)
      this.#hold = undefined
    }
    this.#meeting.tell()
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

  say(sentence: string): void {
    process.stderr.write(`mikro-rest: ${sentence}\n`)
  }

  /** The process has nothing left to do, and engines that nobody has closed. */
  #waitForAll(): void {
    for (const engine of this.#engines.values()) if (!engine.isHidden && !engine.waits) void engine.wait()
  }
}

/** What an engine is called that nobody has named: its resources. */
function nameEngine(engine: WorldEngine): string {
  const { model, parts } = internalsOf(engine)
  const names = model.resources.map(({ plural }) => plural)
  const more = names.length - NAMED
  const all = more > 1 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ')
  return parts.isFork ? `fork of ${all}` : all
}

/** What a process runs, by what test runners tell their workers. */
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
