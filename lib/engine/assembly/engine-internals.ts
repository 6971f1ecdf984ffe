/** The calls of doors, checks and the command to an engine, beside its public members. */
import type { HandleContext, StageParts } from '../pipeline/arrival.ts'
import { copyWorld, type Composition, type EngineParts } from './assemble.ts'
import type { CompiledEnvelope } from '../options/shape-answer.ts'
import { answerFailure } from '../pipeline/answer-failure.ts'
import type { OpenApiOptions } from './descriptions.ts'
import type { JournalEntry } from '../journal/journal-entry.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { RanStatements, RequestRecorder } from '../pipeline/record-request.ts'
import type { ScenarioWorld } from '../worlds/scenarios.ts'
import type { Snapshot } from '../worlds/snapshot.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { Diagram } from '../../description/diagram/diagram-parts.ts'
import type { OpenApiDocument } from '../../description/openapi/openapi-document.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import type { ClockSetting } from '../../foundation/async/clock.ts'
import type { Mark } from '../testing/events.ts'
import type { GivenOptions, Overrides } from '../testing/given-options.ts'
import type { OutlineOfEngine } from '../../description/outline/outline-parts.ts'
import type { Model } from '../../model/model.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import { readPath } from '../../records/request/parse-request.ts'
import type { UnindexedLink } from '../../records/database/explained-statements.ts'
import type { Routes } from '../../records/request/custom-routes.ts'
import { describeReserved } from '../../records/request/reserved-paths.ts'

/** The calls of engines and test fixtures to the list of engines: see doors/engines/. */
export interface Showing {
  /** @param place a file; `undefined`: where the engine was made */
  rename(name: string, place: string | undefined): void
  hide(): void
  fail(reason: string): void
  /** Resolves when the engine may close; `undefined`: at once. */
  leave(): Promise<void> | undefined
}

export interface OwnedEngine extends EngineHandle, ScenarioWorld {
  token(user: unknown): string
  fork(snapshot?: Snapshot): Promise<OwnedEngine>
}

interface RecordedTest {
  readonly facts: object
  readonly requests: readonly { readonly entry: JournalEntry; readonly ran: object }[]
  readonly marks: readonly Mark[]
  readonly clock: ClockSetting
  /** The ID of the last request before the recorded data. */
  readonly begun: number
}

const MOST_GIVEN = 10_000

interface FailingRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Partial<Record<string, string>>>
  /** Undefined: the answer has the engine's own form. */
  readonly wire?: Wire | undefined
}

const UNREAD: FailingRequest = Object.freeze({ method: '', path: '', headers: {} })

export class EngineInternals {
  recorded: RecordedTest | undefined
  /** Whether changes of data in memory are saved to a file. */
  isSaved = false
  shown: Showing | undefined
  readonly parts: EngineParts<OwnedEngine>
  readonly build: (composition: Composition) => OwnedEngine

  constructor(parts: EngineParts<OwnedEngine>, build: (composition: Composition) => OwnedEngine) {
    this.parts = parts
    this.build = build
  }

  /** @throws Error for a closed engine */
  get open(): EngineParts<OwnedEngine> {
    this.parts.life.assertOpen()
    return this.parts
  }

  get limits(): Limits {
    return this.parts.options.limits
  }

  get envelope(): CompiledEnvelope | undefined {
    return this.parts.options.envelope
  }

  get wire(): Wire | undefined {
    return this.parts.options.wire
  }

  expectWire(): void {
    this.parts.shared.hasWire = true
  }

  get takesForms(): boolean {
    return this.parts.options.forms
  }

  get versions(): readonly string[] {
    return this.parts.options.versions
  }

  /** Of the first version. Requests may add attributes to an open resource. */
  get model(): Model {
    return this.parts.versions.first.model
  }

  modelOf(version: string = this.versions[0] ?? NO_VERSION): Model | undefined {
    return this.parts.served.get(version)?.model
  }

  /** As `handle`, but immediate answers come without a promise; may throw. */
  ask(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Awaitable<RestResponse> {
    return this.parts.requests.handle(method, path, query, body, context)
  }

  /** Answers a docs page, without journal and faults. */
  look(path: string, context: HandleContext): Promise<RestResponse> {
    return this.parts.requests.look(path, context)
  }

  explained(method: string, path: string, body: unknown, context: HandleContext): ReturnType<RequestRecorder['explained']> {
    return this.parts.requests.explained(method, path, undefined, body, context)
  }

  describe(options: OpenApiOptions, isReadOnly: boolean, base?: string): Promise<OpenApiDocument> {
    return this.open.descriptions.describe(options, isReadOnly, base)
  }

  describeDiagram(version: string): Promise<Diagram> {
    return this.open.descriptions.diagram(version)
  }

  scenarioSnapshot(name: string): Promise<Snapshot> {
    return this.parts.shared.scenarios.find(name, state => this.fork(state))
  }

  /** Like `engine.fork`, but no list shows the fork. */
  async fork(snapshot?: Snapshot): Promise<OwnedEngine> {
    return this.build(await copyWorld(this.parts, snapshot))
  }

  async give(name: string, overrides: Overrides, options: GivenOptions, count: number | undefined): Promise<unknown> {
    const { given } = this.open
    return count === undefined ? given.one(name, overrides, options, MOST_GIVEN) : given.many(name, count, overrides, options, MOST_GIVEN)
  }

  keepStatements(): void {
    if (this.parts.journal !== undefined) this.parts.journal.keepsStatements = true
  }

  async showRequest(record: JournalRecord): Promise<JournalEntry & Partial<RanStatements>> {
    return { ...this.open.journal!.show(record), ...(await this.parts.requests.explainRecorded(record)) }
  }

  adopt(recorded: RecordedTest): void {
    const { journal, events, clock } = this.parts
    this.recorded = recorded
    clock.restore(recorded.clock)
    events.adopt(recorded.marks)
    journal?.adopt(recorded.requests)
    this.keepStatements()
  }

  refuseModel(reason: string | undefined): void {
    this.parts.shared.notes.refusal = reason
  }

  async size(): Promise<number> {
    return this.parts.world.size()
  }

  async outline(options: { readonly version: string; readonly base: string; readonly readOnly: boolean }): Promise<OutlineOfEngine> {
    const { options: engineOptions, served, authentication, isFork, shared } = this.open
    const { outlineVersion } = await import('./outline-version.ts')
    const { hasWire, notes } = shared
    const { isSaved } = this
    const services = served.get(options.version)!
    return outlineVersion(options, { options: engineOptions, authentication, isFork, isSaved, hasWire, services, refusal: notes.refusal })
  }

  /** `undefined` without log-in, and where the application reads the body. */
  get logInNames(): readonly [string, string] | undefined {
    return this.parts.authentication?.describe(this.versions[0] ?? NO_VERSION).credentials
  }

  get logInPath(): string | undefined {
    return this.parts.authentication?.paths.login
  }

  isOfTest = false

  get isClosed(): boolean {
    return this.parts.life.isClosed
  }

  get hasLogIn(): boolean {
    return this.parts.authentication !== undefined
  }

  owns(target: string, hasBase: boolean): boolean {
    return ownsPath(target, hasBase, this.parts)
  }

  isSession(method: string, target: string): boolean {
    const path = readPath(target)
    const segments = (this.versions.length === 0 ? path : path.slice(1)).split('/')
    return this.parts.authentication?.isSession(method, segments) === true
  }

  /** Links without an index, of tables with more than `rows` rows. */
  async unindexedLinks(rows: number): Promise<UnindexedLink[]> {
    return this.parts.connection.unindexedLinks(this.model.entities, rows)
  }

  /** SQL to sort the rows of any table. */
  get insertionOrder(): string {
    return this.parts.connection.dialect.insertionOrder
  }

  /**
   * Answers an error of a way in.
   *
   * @param request default: no request could be read
   */
  refuse(error: unknown, request: FailingRequest = UNREAD): RestResponse {
    const { method, path, headers, wire } = request
    return answerFailure(error, { method, path, accept: headers['accept'], wire, headers }, this.parts)
  }
}

/**
 * Whether the engine owns a path: a version and all below; without versions: resources, reserved paths and custom routes. Below a base, the
 * root, too.
 *
 * @param target path below the base; may carry a query
 * @param hasBase without a base, the root is the app's
 */
function ownsPath(target: string, hasBase: boolean, { options, routes, served, authentication }: StageParts): boolean {
  const path = readPath(target)
  if (!isDecodable(path)) return false
  const { versions } = options
  const segments = path === '/' ? [] : path.slice(1).split('/')
  const [first] = segments
  if (first === undefined) return hasBase || hasRoute([], routes)
  if (versions.length > 0) return versions.includes(first)
  const name = decodeURIComponent(first)
  return (
    describeReserved(name, authentication?.paths) !== undefined ||
    served.get(NO_VERSION)!.lookUp(name, NO_VERSION) !== undefined ||
    hasRoute([NO_VERSION, ...segments], routes)
  )
}

function hasRoute(segments: readonly string[], routes: Routes | undefined): boolean {
  return routes !== undefined && routes.listMethods(segments).length > 0
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
