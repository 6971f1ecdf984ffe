/**
 * World of test: what the fixtures for test runners have in common. Each test has a fork of one engine; when it is over, faults that no
 * request has met are reported, and a failed test leaves a recording. Throws TypeError for options that are unknown or not of their form.
 */
import { basename, join } from 'node:path'
import { RestEngine } from '../../engine.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import type { EngineOptions } from '../../engine/pipeline/options.ts'
import { internalsOf, findInternals } from '../../engine/pipeline/internals.ts'
import type { Recorded } from '../../engine/recording/recorded.ts'

/** The engine whose forks the tests have: options for one, one that is yours to close, or a function that gives either. */
export type EngineSource = EngineOptions | RestEngine | (() => EngineOptions | RestEngine | Promise<EngineOptions | RestEngine>)

/** Options of the fixtures. */
export interface FixtureOptions {
  /** The origins whose requests the engine of the test answers: see `engine.intercept`. Default: none. */
  readonly intercept?: string | URL | readonly (string | URL)[]
  /** The folder that recordings of failed tests go to; `false`: nothing is recorded. Default: `test-results`. */
  readonly recordings?: string | false
  /** What becomes of faults that no request of the test has met: they are reported, they fail the test, or nothing. Default: `report`. */
  readonly unmet?: 'report' | 'fail' | 'ignore'
}

/** What is left of a test. */
interface Outcome {
  /** The recording, where the test has failed. */
  readonly recording: Recorded | undefined
  /** Why there is none although the test has failed. */
  readonly unrecorded: string | undefined
  /** A sentence about the faults that no request has met, if there are any. */
  readonly unmet: string | undefined
}

/** A test, as its runner calls it. */
interface TestName {
  readonly name: string
  readonly file: string | undefined
}

interface WorldOfTest {
  readonly engine: RestEngine
  /**
   * The test is over: closes its engine.
   *
   * @param failure why it has failed; undefined: it has not
   * @throws Error where faults that no request has met are to fail the test, and it has not failed otherwise
   */
  end(failure: string | undefined): Promise<Outcome>
}

const NAMES = ['intercept', 'recordings', 'unmet'] as const

/** The worlds of the tests of one process. */
export class TestWorlds {
  readonly options: Required<Pick<FixtureOptions, 'recordings' | 'unmet'>> & Pick<FixtureOptions, 'intercept'>
  readonly #source: EngineSource
  #base: Promise<RestEngine> | undefined

  /** @throws TypeError */
  constructor(source: EngineSource, options: FixtureOptions) {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null)
      throw new TypeError('withEngine: give options of RestEngine.create, an engine, or a function that gives one of these.')
    checkNames(options, NAMES, 'withEngine')
    const { recordings = 'test-results', unmet = 'report', intercept } = options
    if (recordings !== false && (typeof recordings !== 'string' || recordings === ''))
      throw new TypeError('withEngine: "recordings" must be the path of a folder, or false.')
    if (!['report', 'fail', 'ignore'].includes(unmet)) throw new TypeError('withEngine: "unmet" must be "report", "fail" or "ignore".')
    this.options = { recordings, unmet, ...(intercept === undefined ? {} : { intercept }) }
    this.#source = source
  }

  /** The engine that is forked: made when the first test begins. */
  async #engine(): Promise<RestEngine> {
    const given = typeof this.#source === 'function' ? await this.#source() : this.#source
    if (findInternals(given) !== undefined) return given as RestEngine
    const engine = await RestEngine.create(given as EngineOptions)
    // No test asks it: each has a fork.
    internalsOf(engine).shown?.hide()
    return engine
  }

  /** Begins a test. Interception is the runner's part: it belongs to the code of the test. */
  async begin(test: TestName): Promise<WorldOfTest> {
    const engine = await (await (this.#base ??= this.#engine())).fork()
    internalsOf(engine).keepStatements()
    internalsOf(engine).shown?.rename(test.name, test.file)
    engine.mark(`test: ${test.name}`.slice(0, 500))
    return { engine, end: failure => this.#end(engine, test, failure) }
  }

  async #end(engine: RestEngine, test: TestName, failure: string | undefined): Promise<Outcome> {
    const unmet = describeUnmet(engine)
    const { recording, unrecorded } = await this.#record(engine, test, failure)
    if (failure !== undefined) internalsOf(engine).shown?.fail(failure)
    await engine.close()
    if (unmet !== undefined && failure === undefined && this.options.unmet === 'fail') throw new Error(unmet)
    return { recording, unrecorded, unmet: this.options.unmet === 'ignore' ? undefined : unmet }
  }

  async #record(
    engine: RestEngine,
    { name, file }: TestName,
    failure: string | undefined,
  ): Promise<Pick<Outcome, 'recording' | 'unrecorded'>> {
    const { recordings } = this.options
    if (failure === undefined || recordings === false) return { recording: undefined, unrecorded: undefined }
    const path = join(recordings, `${fileNameOf(file === undefined ? name : `${basename(file)} ${name}`)}.mikro`)
    try {
      return { recording: await engine.record(path, { test: name, failure }), unrecorded: undefined }
    } catch (error) {
      // That a recording could not be made must not hide why the test has failed.
      return { recording: undefined, unrecorded: error instanceof Error ? error.message : String(error) }
    }
  }

  /** Closes the engine that has been forked, unless it was given. */
  async close(): Promise<void> {
    const made = this.#base
    // Where the runner keeps the module for another file, that has an engine of its own.
    this.#base = undefined
    const base = await made?.catch(() => undefined)
    if (base !== undefined && base !== this.#source) await base.close()
  }
}

/** Says what the outcome of a test means, in lines for the runner to print. */
export function describeOutcome({ recording, unrecorded, unmet }: Outcome): string[] {
  return [
    ...(unmet === undefined ? [] : [unmet]),
    ...(recording === undefined ? [] : [`The test is recorded: npx mikro-rest ${quote(recording.path)}`]),
    ...(unrecorded === undefined ? [] : [`The test could not be recorded: ${unrecorded}`]),
  ]
}

function describeUnmet(engine: RestEngine): string | undefined {
  const pending = engine.pending()
  if (pending.length === 0) return undefined
  return `No request has met ${pending.map(({ kind, match }) => `${kind}("${match}")`).join(', ')}.`
}

/** A path as a shell takes it. */
function quote(path: string): string {
  return /^[\w./:@-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}

function fileNameOf(name: string): string {
  const plain = name
    .replaceAll(/[^\p{L}\p{N}._]+/gu, '-')
    .replaceAll(/^[-.]+|-+$/g, '')
    .slice(0, 120)
  return plain === '' ? 'test' : plain
}
