/**
 * Engine internals: what the rest of the library asks of an engine, and its users do not: the doors, the checks and the command. See
 * internals.ts.
 */
import type { HandleContext } from './handle.ts'
import { copyWorld, type Composition, type EngineParts } from './assemble.ts'
import type { CompiledEnvelope } from './shape-answer.ts'
import { answerFailure } from './answer-failure.ts'
import type { OpenApiOptions } from './descriptions.ts'
import { ownsPath } from './owns-path.ts'
import type { JournalEntry } from '../journal/journal-entry.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { RanStatements, RequestRecorder } from './record-request.ts'
import type { ScenarioWorld } from './scenarios.ts'
import type { Showing } from './showing.ts'
import type { Snapshot } from './snapshot.ts'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { Diagram } from '../../description/diagram/diagram-parts.ts'
import type { OpenApiDocument } from '../../description/openapi/openapi-document.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import type { ClockSetting } from '../../foundation/base/clock.ts'
import type { Mark } from '../testing/events.ts'
import type { GivenOptions, Overrides } from '../testing/given-options.ts'
import type { OutlineOfEngine } from '../../description/outline/outline-parts.ts'
import type { Model } from '../../model/model.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import { readPath } from '../../records/request/parse-request.ts'
import type { UnindexedLink } from '../../records/database/explained-statements.ts'

/** An engine, as far as who has made it uses it. */
export interface OwnedEngine extends EngineHandle, ScenarioWorld {
  token(user: unknown): string
  fork(snapshot?: Snapshot): Promise<OwnedEngine>
}

/** What an engine takes over from a recording. */
interface RecordedTest {
  /** What is shown of it beside the journal. */
  readonly facts: object
  readonly requests: readonly { readonly entry: JournalEntry; readonly ran: object }[]
  readonly marks: readonly Mark[]
  readonly clock: ClockSetting
  /** The ID of the last request before its data. */
  readonly begun: number
}

/** Records that a client may ask `given` for at a time. */
const MOST_GIVEN = 10_000

/** The request that a way in has received, with headers of lower-case names. */
interface FailingRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Partial<Record<string, string>>>
}

const UNREAD: FailingRequest = Object.freeze({ method: '', path: '', headers: {} })

export class EngineInternals {
  /** What it has taken over from a recording; undefined for an engine of its own. */
  recorded: RecordedTest | undefined
  /** Set while it is in the list of engines that can be looked at. */
  shown: Showing | undefined
  /** The parts of an engine, whether it is open or not. */
  readonly parts: EngineParts<OwnedEngine>
  /** Makes another engine of what a fork is assembled from. */
  readonly build: (composition: Composition) => OwnedEngine

  constructor(parts: EngineParts<OwnedEngine>, build: (composition: Composition) => OwnedEngine) {
    this.parts = parts
    this.build = build
  }

  /** The parts of an engine that is open. */
  get open(): EngineParts<OwnedEngine> {
    this.parts.life.assertOpen()
    return this.parts
  }

  get limits(): Limits {
    return this.parts.options.limits
  }

  /** The form of answers; undefined: the engine's own. */
  get envelope(): CompiledEnvelope | undefined {
    return this.parts.options.envelope
  }

  /** Whether a form may stand for JSON. */
  get takesForms(): boolean {
    return this.parts.options.forms
  }

  get versions(): readonly string[] {
    return this.parts.options.versions
  }

  /** The model of the first version. An open resource has more attributes once a request has added them. */
  get model(): Model {
    return this.parts.versions.first.model
  }

  /** Returns the model of a version, or of the first one; undefined when there is no such version. */
  modelOf(version: string = this.versions[0] ?? NO_VERSION): Model | undefined {
    return this.parts.served.get(version)?.model
  }

  /** Answers as `handle` does, for transports: returns an answer that waits for nothing at once, and throws what `handle` rejects with. */
  ask(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Awaitable<RestResponse> {
    return this.parts.requests.handle(method, path, query, body, context)
  }

  /** Answers a GET of a docs page, which is not in the journal and meets no injected fault. */
  look(path: string, context: HandleContext): Promise<RestResponse> {
    return this.parts.requests.look(path, context)
  }

  /** Answers a request as `handle` does, with all that it writes, and returns with the answer what ran. */
  explained(method: string, path: string, body: unknown, context: HandleContext): ReturnType<RequestRecorder['explained']> {
    return this.parts.requests.explained(method, path, undefined, body, context)
  }

  /** Describes a version as it is served: read-only, or not, below a base. See `engine.openapi`. */
  describe(options: OpenApiOptions, isReadOnly: boolean, base?: string): Promise<OpenApiDocument> {
    return this.open.descriptions.describe(options, isReadOnly, base)
  }

  /** Returns the diagram of a version as plain data. */
  describeDiagram(version: string): Promise<Diagram> {
    return this.open.descriptions.diagram(version)
  }

  /** Returns the state of a scenario, for worlds that begin with it. */
  scenarioSnapshot(name: string): Promise<Snapshot> {
    return this.parts.shared.scenarios.find(name, state => this.fork(state))
  }

  /** Forks the engine for a purpose of the library: in no list of engines. */
  async fork(snapshot?: Snapshot): Promise<OwnedEngine> {
    return this.build(await copyWorld(this.parts, snapshot))
  }

  /** As `engine.given`, or `given.many`, for a client, who may ask for 10,000 records at a time. */
  async give(name: string, overrides: Overrides, options: GivenOptions, count: number | undefined): Promise<unknown> {
    const { given } = this.open
    return count === undefined ? given.one(name, overrides, options, MOST_GIVEN) : given.many(name, count, overrides, options, MOST_GIVEN)
  }

  /** From now on requests keep what they run, for `showRequest`. */
  keepStatements(): void {
    if (this.parts.journal !== undefined) this.parts.journal.keepsStatements = true
  }

  /** Returns a request of the journal with what it has run, where that is kept. */
  async showRequest(record: JournalRecord): Promise<JournalEntry & Partial<RanStatements>> {
    return { ...this.open.journal!.show(record), ...(await this.parts.requests.explainRecorded(record)) }
  }

  /** Takes over what a recording says of a test. */
  adopt(recorded: RecordedTest): void {
    const { journal, events, clock } = this.parts
    this.recorded = recorded
    clock.restore(recorded.clock)
    events.adopt(recorded.marks)
    journal?.adopt(recorded.requests)
    this.keepStatements()
  }

  /** How many bytes the data takes. */
  async size(): Promise<number> {
    return this.parts.world.size()
  }

  /** Outlines a version for the workbench, as it is served: read-only, or not, below a base. */
  async outline(options: { readonly version: string; readonly base: string; readonly readOnly: boolean }): Promise<OutlineOfEngine> {
    const { options: own, served, authentication, isFork } = this.open
    const { outlineVersion } = await import('./outline-version.ts')
    return outlineVersion(options, { options: own, authentication, isFork, services: served.get(options.version)! })
  }

  /** The names of the two members of a log-in; undefined where there is none, or where the application takes a body of its own. */
  get logInNames(): readonly [string, string] | undefined {
    return this.parts.authentication?.describe(this.versions[0] ?? NO_VERSION).credentials
  }

  /** Where a log-in is sent, below the version; undefined where there is none. */
  get logInPath(): string | undefined {
    return this.parts.authentication?.paths.login
  }

  /** Whether the engine is the world of a single test, by `withEngine`. */
  isOfTest = false

  get isClosed(): boolean {
    return this.parts.life.isClosed
  }

  /** Whether the log-in module is on. */
  get hasLogIn(): boolean {
    return this.parts.authentication !== undefined
  }

  /** Whether a path below the base is the engine's: see ownsPath. */
  owns(target: string, hasBase: boolean): boolean {
    return ownsPath(target, hasBase, this.parts)
  }

  /** Whether a request logs in or out, for transports that are read-only. */
  isSession(method: string, target: string): boolean {
    const path = readPath(target)
    const segments = (this.versions.length === 0 ? path : path.slice(1)).split('/')
    return this.parts.authentication?.isSession(method, segments) === true
  }

  /** Returns the links of relations, and foreign keys, that no index serves, in tables of more than so many rows. */
  async unindexedLinks(rows: number): Promise<UnindexedLink[]> {
    return this.parts.connection.unindexedLinks(this.model.entities, rows)
  }

  /** The column of any table whose order is that in which rows were inserted. */
  get insertionOrder(): string {
    return this.parts.connection.dialect.insertionOrder
  }

  /**
   * Answers an error that a way in has met.
   *
   * @param request undefined where none could be read
   */
  refuse(error: unknown, request: FailingRequest = UNREAD): RestResponse {
    const { method, path, headers } = request
    return answerFailure(error, { method, path, accept: headers['accept'] }, this.parts)
  }
}
