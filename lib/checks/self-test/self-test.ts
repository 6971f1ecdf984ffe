/** Runs `engine.selfTest`, generated requests on a fork of the engine. The same seed, data and clock give the same requests. */
import type { CompiledTemplate } from '../../foundation/http/envelope-template.ts'
import { listVersions } from '../../records/request/address.ts'
import type { Vocabulary } from '../../records/request/query-string.ts'
import type { Conformity } from '../../description/conformity/conformity.ts'
import type { Attribute, Model, Resource } from '../../model/model.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { Overrides } from '../../engine/testing/given-options.ts'
import { checkFilters } from './check-filters.ts'
import { checkLists } from './check-lists.ts'
import { checkRecords } from './check-records.ts'
import { checkRefusals } from './check-refusals.ts'
import { checkWrites } from './check-writes.ts'
import { checkSelfTestOptions, type SelfTestOptions } from './options.ts'
import { OutOfTime, Probe, type AnsweredReading, type Answering, type Case } from './probe.ts'
import { formatReport, type SelfTestReport } from './report.ts'
import { Subject, chance, type TestedVersion } from './subject.ts'
import { findId } from './values.ts'

export interface TestedWorld extends Answering {
  readonly base: string
  readonly versions: readonly string[]
  readonly maxLimit: number
  readonly isReadOnly: boolean
  readonly hasWire: boolean
  /** Of the option `envelope`. */
  readonly template: CompiledTemplate | undefined
  /** Milliseconds since 1970. */
  readonly now: number
  readonly describe: (version: string) => Promise<{ readonly document: Conformity; readonly model: Model; readonly vocabulary: Vocabulary }>
  readonly restore: () => Promise<void>
  readonly complete: (resource: Resource, overrides: Overrides, seed: number) => Promise<Record<string, unknown>>
  /** The model sets the attribute at each change (`onUpdate`). */
  readonly isSetOnUpdate: (resource: Resource, attribute: Attribute) => boolean
  readonly logIn: () => Promise<Readonly<Record<string, string>> | undefined>
}

export interface SelfTest {
  readonly report: SelfTestReport
  /** Answers to GET, for drift, by path with query. */
  readonly readings: ReadonlyMap<string, AnsweredReading>
}

export async function runSelfTest(world: TestedWorld, given: SelfTestOptions): Promise<SelfTest> {
  const started = performance.now()
  const options = checkSelfTestOptions(given)
  const { seed, runs, timeout } = options
  const headers = options.headers ?? (await world.logIn()) ?? {}
  const probe = new Probe(world, headers, started + timeout)
  const skipped = new Set<string>()
  if (world.hasWire) skipped.add('The grammar of the option "wire": all requests are of the engine\'s own.')
  const run = new Run(world, probe, { seed, runs, ignored: new Set(options.ignore), skip: sentence => skipped.add(sentence) })
  try {
    await run.all()
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    skipped.add(`The ${timeout} ms of "timeout" were over: ${run.place} and what follows it.`)
  }
  if (probe.lostFailures > 0) skipped.add(`${probe.lostFailures} more failures are not listed.`)
  const failures = [...probe.failures.values()]
  const facts = { seed, runs, requests: probe.requests, duration: performance.now() - started, checks: { ...probe.checks } }
  const plain = { passed: failures.length === 0, ...facts, failures, skipped: [...skipped] }
  const report = Object.defineProperty({ ...plain }, 'toString', { value: () => formatReport(plain), enumerable: false }) as SelfTestReport
  return { report, readings: probe.readings }
}

interface RunOptions {
  readonly seed: number
  readonly runs: number
  readonly ignored: ReadonlySet<string>
  readonly skip: (sentence: string) => void
}

class Run {
  place = 'the beginning'
  readonly #world: TestedWorld
  readonly #probe: Probe
  readonly #options: RunOptions
  #isChanged = false

  constructor(world: TestedWorld, probe: Probe, options: RunOptions) {
    this.#world = world
    this.#probe = probe
    this.#options = options
  }

  async all(): Promise<void> {
    const { base, maxLimit, versions, template } = this.#world
    const names = listVersions(versions)
    const tested: { version: TestedVersion; subjects: Subject[] }[] = []
    for (const name of names) {
      const version = { name, base, maxLimit, template, ...(await this.#world.describe(name)) }
      tested.push({ version, subjects: version.model.resources.map(resource => new Subject(version, resource)) })
    }
    this.#checkIgnored(tested.flatMap(({ version }) => version.model))
    // Reads come first: data are restored once for a resource.
    for (const { subjects } of tested) for (const subject of subjects) await this.#read(subject)
    for (const { version, subjects } of tested) {
      await checkRoutes(this.#probe, version, () => this.#begin())
      if (this.#world.isReadOnly) continue
      for (const subject of subjects) await this.#write(subject, subjects)
    }
  }

  async #read(subject: Subject): Promise<void> {
    const { seed, runs, skip } = this.#options
    this.place = subject.path
    await subject.load(this.#probe.begin())
    if (subject.hasList && subject.count === undefined) skip(`${subject.path}: the list cannot be read by this caller.`)
    else if (subject.count === 0) skip(`${subject.path}: there are no records to read, filter and change.`)
    const about = (topic: string): ReturnType<typeof chance> => chance(seed, subject.path, topic)
    await checkLists(this.#probe, subject, about('lists'), runs)
    await checkFilters(this.#probe, subject, about('filters'), runs)
    await checkRecords(this.#probe, subject, about('records'), runs)
    this.#isChanged = true
    await this.#begin()
    await checkRefusals(this.#probe, subject, about('refusals'), runs)
  }

  async #write(subject: Subject, subjects: readonly Subject[]): Promise<void> {
    const { seed, runs, ignored, skip } = this.#options
    this.place = `writing to ${subject.path}`
    const ids = new Map(subjects.map(({ resource, records }) => [resource, records.flatMap(record => findId(record, resource) ?? [])]))
    const { complete, now, isSetOnUpdate } = this.#world
    const maker = { complete, now, isSetOnUpdate, listIds: (resource: Resource) => listIds(resource, ids.get(resource) ?? []) }
    const writing = {
      probe: this.#probe,
      maker,
      runs,
      ignored,
      skip,
      random: chance(seed, subject.path, 'writes'),
      begin: () => this.#begin(),
    }
    await checkWrites(writing, subject)
  }

  async #begin(): Promise<Case> {
    if (this.#isChanged) await this.#world.restore()
    this.#isChanged = true
    return this.#probe.begin()
  }

  #checkIgnored(models: readonly Model[]): void {
    const known = models.flatMap(({ resources }) =>
      resources.flatMap(({ plural, attributes }) => attributes.map(({ name }) => `${plural}.${name}`)),
    )
    for (const name of this.#options.ignored)
      if (!known.includes(name))
        throw new RangeError(`engine.selfTest: "ignore": there is no attribute "${name}".${formatHint(findNearest(name, known))}`)
  }
}

/** Integer keys as numbers, for bodies. */
function listIds({ key }: Resource, ids: readonly string[]): (string | number)[] {
  const isNumber = key.length === 1 && key[0]!.type.kind === 'integer'
  return ids.map(id => (isNumber && Number.isSafeInteger(Number(id)) ? Number(id) : id))
}

/** Calls a custom route with the ID 1 and an empty body. The route may refuse: only the handler knows valid requests. */
async function checkRoutes(probe: Probe, version: TestedVersion, begin: () => Promise<Case>): Promise<void> {
  for (const { method, template, node } of version.document.operations) {
    const tags = (node['tags'] ?? []) as readonly string[]
    if (!tags.includes('routes') && !tags.includes('general')) continue
    const test = method === 'GET' ? probe.begin() : await begin()
    const path = version.base + template.replaceAll(/\{\w+\}/g, '1')
    await test.ask(method, path, ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined)
  }
}
