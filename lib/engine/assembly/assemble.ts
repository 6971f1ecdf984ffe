/** Composes an engine of its parts on an open database, copies the world for a fork, and closes the engine. */
import type { EntityManager } from '@mikro-orm/core'
import type { Authentication, KnownPaths } from '../auth/authentication.ts'
import { Clock } from '../../foundation/async/clock.ts'
import { Surroundings } from '../../foundation/async/surroundings.ts'
import { Traces } from '../../foundation/async/trace.ts'
import type { ChangeRecorder } from '../../records/database/changes.ts'
import type { OpenDatabase } from '../../records/database/world-store.ts'
import { Journal } from '../journal/journal.ts'
import type { Resource } from '../../model/model.ts'
import { Routes, type Route } from '../../records/request/custom-routes.ts'
import { listVersions, formatRoot, type Address, NO_VERSION } from '../../records/request/address.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import { QueryCache } from '../../records/request/parsed-query.ts'
import { RequestContext } from '../../records/request/request-context.ts'
import { summarize } from '../journal/create-entry.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import { Events } from '../testing/events.ts'
import { Faults } from '../testing/fault-injection.ts'
import { Given } from '../testing/given.ts'
import { createAuthServices, revokeTokensOfRemovedUsers } from './auth-services.ts'
import { Descriptions } from './descriptions.ts'
import { KeptStates } from '../worlds/kept-states.ts'
import { Lifecycle } from '../pipeline/lifecycle.ts'
import type { CheckedOptions } from '../options/options.ts'
import { RequestRecorder, type RecorderParts } from '../pipeline/record-request.ts'
import { runsHooks, type SharedState } from '../pipeline/shared-state.ts'
import type { Snapshot, WorldState } from '../worlds/snapshot.ts'
import { checkFaultPath, checkPublicPath } from './check-pattern-path.ts'
import { ServedVersions } from '../pipeline/served-versions.ts'
import { World } from './world.ts'
import { parse, readPath } from '../../records/request/parse-request.ts'
import { NO_CONTEXT, type StageParts } from '../pipeline/arrival.ts'
import { findPathMeaning, meaningOfText, renameInPattern, type PathMeaning } from '../../records/access/path-meaning.ts'

export interface Composition {
  readonly options: CheckedOptions
  readonly database: OpenDatabase
  readonly shared: SharedState
  readonly parent?: { readonly state: WorldState; readonly authentication: Authentication | undefined }
}

export interface EngineParts<E extends EngineHandle = EngineHandle> extends RecorderParts {
  readonly engine: E
  readonly shared: SharedState
  readonly world: World
  readonly versions: ServedVersions
  readonly given: Given
  readonly recorder: ChangeRecorder
  readonly events: Events
  readonly requests: RequestRecorder
  readonly descriptions: Descriptions
  readonly isFork: boolean
  readonly interceptions: Set<{ dispose(): void }>
}

export async function copyWorld(
  { options, shared, world, authentication }: EngineParts,
  snapshot: Snapshot | undefined,
): Promise<Composition> {
  const { database, state } = await world.copy(snapshot)
  return { options, shared, database, parent: { state, authentication } }
}

/** The parts call `engine` only while requests are answered. */
export function assemble<E extends EngineHandle>(engine: E, composition: Composition): EngineParts<E> {
  const { options, database, shared, parent } = composition
  const { connection } = database
  const services = createServices(engine, composition)
  const { clock, given, authentication } = services
  const allRoutes = [...(authentication?.routes() ?? []), ...options.routes]
  const routes = allRoutes.length === 0 ? undefined : new Routes(allRoutes, options.versions)
  authentication?.knowPaths(findKnownPaths(allRoutes, { ...services, options, routes }))
  const life = new Lifecycle()
  const templates = allRoutes.map(({ path }) => path)
  const { journal, running, recorder, events, faults } = createKit(services, composition, templates)
  const world = new World(
    { shared, store: database.worlds, clock, versions: services.versions, given, authentication, life, faults, journal, events },
    parent?.state,
  )
  clock.whenMoved(() => events.clockMoved())
  const states = new KeptStates({
    snapshot: () => world.snapshot(),
    bytesOfState: () => world.stateBytes(),
    generation: () => life.generation,
    recorder,
  })
  events.beforeListening = () => states.keep()
  if (parent !== undefined) revokeTokensOfRemovedUsers({ authentication, recorder, database })
  const traces: Traces = new Traces(() => connection.observe(traces))
  const parts = {
    ...services,
    engine,
    options,
    life,
    routes,
    queries: new QueryCache(),
    classifyFailure: (error: unknown) => connection.dialect.failure(error),
    journal,
    running,
    states,
    faults,
    traces,
    connection,
    secrets: shared.secrets,
    mayRunApplicationCode: shared.mayRunApplicationCode,
  }
  const isFork = parent !== undefined
  return { ...parts, shared, world, recorder, events, isFork, requests: new RequestRecorder(parts), interceptions: new Set() }
}

type TestKit = Pick<EngineParts, 'journal' | 'running' | 'recorder' | 'events' | 'faults'>

function createKit(services: EngineServices, { options, database, shared }: Composition, templates: readonly string[]): TestKit {
  const { clock, model, served, authentication } = services
  let journal: Journal | undefined
  const running = new Surroundings<JournalRecord>()
  const recorder = database.connection.record(shared.watched, running)
  const answered = (record: JournalRecord): void => events.answered(record.id, () => summarize(journal!.show(record)))
  const { refusalListeners } = shared.notes
  const heard = (isHeard: boolean): void => {
    journal?.tell(isHeard ? answered : undefined)
    if (isHeard) refusalListeners.add(events.tellRefused)
    else refusalListeners.delete(events.tellRefused)
  }
  const events: Events = new Events({
    clock,
    last: () => journal?.position ?? 0,
    faults: () => faults.states,
    listeningChanged: heard,
    mask: text => shared.secrets.maskNote(text),
  })
  if (options.journal > 0) {
    const { isRecording } = recorder
    journal = new Journal({ capacity: options.journal, secrets: shared.secrets, first: model, isRecording, clock, running })
  }
  const faults = new Faults(
    options.routes.map(({ method }) => method),
    clock,
    (match, where) => {
      if (!shared.hasWire) checkFaultPath(match, where, { options, served, authentication, templates })
    },
    options.unmetFaults,
  )
  faults.changed = () => events.faultsChanged()
  return { journal, running, recorder, events, faults }
}

type EngineServices = Pick<
  EngineParts,
  'clock' | 'versions' | 'served' | 'model' | 'grow' | 'fork' | 'given' | 'authentication' | 'descriptions'
>

function createServices(engine: EngineHandle, { options, database, shared, parent }: Composition): EngineServices {
  const { connection } = database
  const clock = new Clock(options.clock)
  connection.follow(clock)
  const fork = (): EntityManager => connection.orm.em.fork()
  const origin: ContextOrigin = { engine, fork, address: options, logsIn: options.auth !== undefined }
  const describe = (version: string, base: string, readOnly: boolean): Promise<object> => descriptions.describe({ version }, readOnly, base)
  const versions = new ServedVersions({ options, connection, shared, clock, describe })
  const served = versions.byName
  const [first] = listVersions(options.versions) as [string]
  const context = ({ plural }: Resource): RequestContext => createContext(origin, first, plural)
  const given = new Given({ served: () => versions.first, connection, clock, context })
  const authentication = shared.auth?.create(createAuthServices(database, served, clock, options.envelope), parent?.authentication)
  const descriptions = new Descriptions({
    options,
    served,
    runsHooks: () => runsHooks(options, connection.orm),
    login: version => authentication?.describe(version),
    context: version => createContext(origin, version),
    hasWire: () => shared.hasWire,
  })
  const { model } = versions.first
  return { clock, versions, served, model, grow: more => versions.grow(more), fork, given, authentication, descriptions }
}

export async function closeEngine({ life, faults, interceptions, connection, authentication, events, world }: EngineParts): Promise<void> {
  life.end()
  faults.close()
  for (const interception of interceptions) interception.dispose()
  await life.idle()
  await authentication?.settled()
  try {
    await world.persisted?.end()
  } finally {
    await connection.close()
    events.close()
  }
  const unmet = faults.takeUnmet('close')
  if (unmet !== undefined) throw unmet
}

/** For work of the engine itself, without a caller: reads examples, makes records. */
interface ContextOrigin {
  readonly engine: EngineHandle
  readonly address: Address
  readonly fork: () => EntityManager
  readonly logsIn: boolean
}

/** @param resource in the plural; `undefined`: the index */
function createContext({ address, ...origin }: ContextOrigin, version: string, resource?: string): RequestContext {
  const root = formatRoot(address.base, version)
  const [method, path] = resource === undefined ? ['GET', root || '/'] : ['POST', `${root}/${resource}`]
  const request = parse({ method, path, query: undefined, body: undefined, context: NO_CONTEXT }, address, false, new QueryCache())
  const action = resource === undefined ? undefined : 'create'
  return new RequestContext({
    ...origin,
    request,
    version,
    principal: undefined,
    about: () => ({ action, resource, id: undefined, attribute: undefined }),
  })
}

function findKnownPaths(
  all: readonly Route[],
  { routes, options, served, authentication }: Pick<StageParts, 'routes' | 'options' | 'served' | 'authentication'>,
): KnownPaths {
  const hasVersions = options.versions.length > 0
  const isRoute = (method: string, segments: readonly string[]): boolean => routes?.match(method, segments) !== undefined
  const meaning = (method: string, segments: readonly string[]): PathMeaning | undefined => {
    const [version = NO_VERSION] = segments
    const services = served.get(version)
    if (services === undefined || isRoute(method, segments)) return meaningOfText(segments)
    try {
      return findPathMeaning(method, segments, { version, lookUp: services.lookUp })
    } catch {
      return undefined
    }
  }
  const rename = (path: string): string[] => {
    const [, first = ''] = path.split('/')
    const versions = hasVersions && !first.includes('*') ? [first] : [...served.keys()]
    return versions.flatMap(version => {
      const services = served.get(version)
      return (services && renameInPattern(path, { version, lookUp: services.lookUp })) ?? []
    })
  }
  const templates = all.map(({ path }) => path)
  return {
    routes: all.flatMap(({ method, path }) => {
      const paths = path.startsWith('/{version}/') ? options.versions.map(version => path.replace('{version}', version)) : [path]
      return paths.map(each => ({ method, path: each }))
    }),
    isRoute,
    meaning,
    rename,
    split: path => {
      const segments = readPath(path) === '/' ? [] : readPath(path).slice(1).split('/')
      return hasVersions || segments.length === 0 ? segments : [NO_VERSION, ...segments]
    },
    check: (pattern, where) => checkPublicPath(pattern, where, { options, served, authentication, templates }),
  }
}
