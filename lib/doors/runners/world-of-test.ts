/** Forks an engine for each test, reports unmet faults, and records failed tests: for all three runners. */
import { basename, join } from 'node:path'
import { RestEngine } from '../../engine.ts'
import { anything, must, readOptions, type OptionTable } from '../../foundation/base/option-table.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { internalsOf, findInternals } from '../../engine/assembly/internals.ts'
import type { Recorded } from '../../engine/recording/recorded.ts'

/** An engine for the caller to close, options, or a function with either result. */
export type EngineSource = EngineOptions | RestEngine | (() => EngineOptions | RestEngine | Promise<EngineOptions | RestEngine>)

export interface FixtureOptions {
  /** Origins for `engine.intercept`. Default: none. */
  readonly intercept?: string | URL | readonly (string | URL)[]
  /** Folder for recordings of failed tests; `false`: no recordings. Default: `test-results`. */
  readonly recordings?: string | false
  /** Whether unmet faults are reported, fail the test, or are ignored. Default: `report`. */
  readonly unmet?: 'report' | 'fail' | 'ignore'
}

interface Outcome {
  readonly recording: Recorded | undefined
  readonly unrecorded: string | undefined
  readonly unmet: string | undefined
}

interface TestName {
  readonly name: string
  readonly file: string | undefined
}

interface WorldOfTest {
  readonly engine: RestEngine
  /**
   * @param failure the error text of a failed test
   * @throws Error for unmet faults of a passed test, with `unmet: 'fail'`
   */
  end(failure: string | undefined): Promise<Outcome>
}

const OPTIONS = {
  intercept: [anything],
  recordings: [
    must('the path of a folder, or false', value => value === false || (typeof value === 'string' && value !== '')),
    'test-results',
  ],
  unmet: [must('"report", "fail" or "ignore"', value => ['report', 'fail', 'ignore'].includes(value as string)), 'report'],
} as const satisfies OptionTable<FixtureOptions>

export class TestWorlds {
  readonly options: Required<Pick<FixtureOptions, 'recordings' | 'unmet'>> & Pick<FixtureOptions, 'intercept'>
  readonly #source: EngineSource
  #base: Promise<RestEngine> | undefined

  constructor(source: EngineSource, options: FixtureOptions) {
    if ((typeof source !== 'object' && typeof source !== 'function') || source === null)
      throw new TypeError('withEngine: give options of RestEngine.create, an engine, or a function that gives one of these.')
    this.options = readOptions(options, OPTIONS, 'withEngine')
    this.#source = source
  }

  async #engine(): Promise<RestEngine> {
    const given = typeof this.#source === 'function' ? await this.#source() : this.#source
    if (findInternals(given) !== undefined) return given as RestEngine
    const engine = await RestEngine.create(given as EngineOptions)
    // Only the forks get requests.
    internalsOf(engine).shown?.hide()
    return engine
  }

  async prepare(): Promise<RestEngine> {
    return (this.#base ??= this.#engine())
  }

  async begin(test: TestName): Promise<WorldOfTest> {
    const engine = await (await this.prepare()).fork()
    internalsOf(engine).keepStatements()
    internalsOf(engine).isOfTest = true
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
      // The test's own failure matters more.
      return { recording: undefined, unrecorded: error instanceof Error ? error.message : String(error) }
    }
  }

  /** Leaves the caller's engine open. */
  async close(): Promise<void> {
    const made = this.#base
    this.#base = undefined
    const base = await made?.catch(() => undefined)
    if (base !== undefined && base !== this.#source) await base.close()
  }
}

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
