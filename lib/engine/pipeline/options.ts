/** Options: what `RestEngine.create` takes, checked and completed with defaults. Unknown names are refused with the nearest known one. */
import type { Options as OrmOptions } from '@mikro-orm/core'
import { printFailure } from '../../foundation/base/report-failure.ts'
import type { FailedRequest } from '../../foundation/base/report-failure.ts'
import { DEFAULT_LIMITS } from '../../foundation/base/limits.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { AuthModule } from '../auth/auth-options.ts'
import type { CustomParameter } from '../../records/access/access-rules.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import { readBase } from '../../records/request/address.ts'
import type { UnmetFaults } from '../testing/fault-handle.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import { checkSeeds } from '../../model/seeds.ts'
import type { Seeds } from '../../model/seeds.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { isInMemory } from '../../records/database/describe-database.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import type { ServerDatabase, SqlFunctions } from '../../records/database/world-store.ts'
import { isPglite } from '../../records/database/describe-database.ts'
import { checkEvolve } from './evolve-option.ts'
import { checkFunctions } from './functions-option.ts'
import { readDatabase } from './database-option.ts'
import { checkEntities } from './entities-option.ts'
import { checkScenarios } from './scenarios.ts'
import { compileEnvelope } from './shape-answer.ts'
import type { CompiledEnvelope, EnvelopeOption } from './shape-answer.ts'

/** Options of `RestEngine.create`. */
export interface EngineOptions {
  /**
   * The config of an application's MikroORM, as `defineConfig` gives it, and the default export of `mikro-orm.config`: an object, a list of them, of which the option
   * `orm: { contextName }` chooses one, a function or a promise. Its entities and options hold, but for the connection: that is `database`, else the config's own SQLite
   * file or PostgreSQL server, else SQLite in memory. Default: none.
   */
  readonly config?: object
  /**
   * Entities, in any form that MikroORM takes: `defineEntity`, `EntitySchema`, decorated classes, glob patterns. Without them `database` must be the path of a
   * SQLite file: what is in it is the model.
   */
  readonly entities?: NonNullable<OrmOptions['entities']>
  /**
   * `:memory:` (the default), or the path of a SQLite file, created when missing; or a PostgreSQL database, as a URL (`postgres://user@host/database`) or as
   * `{ url, schema, poolSize, statementTimeout, prepare }`; or one in this process (`pglite:`, `pglite:DIR`).
   */
  readonly database?: string | URL | ServerDatabase
  /**
   * `update` (the default) creates missing tables and columns and never drops any; `evolve` makes the tables that are there fit the entities, with their rows, after
   * a copy of a file; `keep` touches nothing, and is the default and the only choice without entities; `migrate` runs the
   * application's migrations, which its MikroORM has in the option `migrations`, by `@mikro-orm/migrations`.
   */
  readonly schema?: 'update' | 'keep' | 'evolve' | 'migrate'
  /**
   * For `schema: 'evolve'`: values for rows that have none in a new or now required property, by resource and property, in their JSON form. Default: the property's
   * own default, else a made-up value.
   */
  readonly fill?: Evolving['fill']
  /** For `schema: 'evolve'`: properties that have new names, by resource, the old name to the new one. Default: none, so an old column stays beside the new one. */
  readonly renamed?: Evolving['renamed']
  /** For `schema: 'evolve'`: drops the columns and tables that the model lacks, with their values. Default: false. */
  readonly drop?: boolean
  /**
   * Clients may read only, and log in and out: POST, PUT, PATCH and DELETE are 405. A file is opened for reading only: nothing is written to it or left
   * beside it, and it must be there, with all that the entities need. Default: false.
   */
  readonly readOnly?: boolean
  /** Further MikroORM options, such as `namingStrategy`, `filters` or `subscribers`. The database, driver and entities are the engine's own. */
  readonly orm?: Partial<OrmOptions>
  /**
   * Functions that triggers of a SQLite file call, and that only the program of the file has, by name: `{ title_sort: title => ... }`. They take and give values of
   * SQLite, and wait for nothing. Default: none; `notes` names those that are missing.
   */
  readonly functions?: SqlFunctions
  /** Finds the entity of a resource name in the URL; replaces the default look-up. Nothing means 404. */
  readonly lookup?: (name: string, version: string) => object | null | undefined
  /** Per-model customisation. */
  readonly resources?: readonly ResourceDefinition[]
  /** The path before the version, such as `'/api'`, which links carry; a way in may have another one. Default: none. */
  readonly base?: string
  /** The accepted path segments after the base. Default `['v1']`; `[]`: paths have no version. */
  readonly versions?: readonly string[]
  /**
   * Each resource is served under one spelling of its path, that of links: not in the singular, and without percent signs that need not be there. So a guard in front
   * of the engine that looks at paths is not passed by another spelling. Default: false.
   */
  readonly canonicalPaths?: boolean
  /** Guards against requests that ask for too much. */
  readonly limits?: Partial<Limits>
  /** Custom routes, which come before the default ones. */
  readonly routes?: readonly Route[]
  /** Renames a reserved parameter (`{ limit: 'per_page' }`), or adds one: a function of its value that gives a MikroORM FilterQuery. */
  readonly parameters?: Readonly<Record<string, string | CustomParameter>>
  /**
   * Takes forms as bodies of POST, PUT and PATCH, over HTTP, `fetch` and interception: `application/x-www-form-urlencoded`, and the text fields of
   * `multipart/form-data`. Default: false; a form is 415 then. A page of any site can send one, so a cookie alone must not let it write.
   */
  readonly forms?: boolean
  /** Log-in by token. Default: off. */
  readonly auth?: AuthModule
  /**
   * Records for empty tables, by resource name, loaded before `create` resolves. A table that has rows is left alone, with a note. Also a Seeder class of
   * `@mikro-orm/seeder`, which fills an empty database; `true`, the one that MikroORM's config names; or a list of these, in their order. Default: none.
   */
  readonly seed?: Seeds
  /** Named seeds, each in the place of `seed`: see `engine.scenario`. Default: none. */
  readonly scenarios?: Readonly<Record<string, Seeds>>
  /** The source of all timestamps. Default: the system's clock. */
  readonly clock?: () => Date
  /** Status of a created record: 200 (the default) or 201. */
  readonly createdStatus?: 200 | 201
  /** Status of a deletion: 200 (the default), with the record as it was, or 204 without a body. */
  readonly deletedStatus?: 200 | 204
  /**
   * Another form of answers: templates whose values name parts and whose keys may hold `{plural}` and `{singular}`, or `'bare'`. What is asked inside of requests keeps
   * the engine's own form. Default: that form.
   *
   * @example { list: { '{plural}': 'records', '{plural}Count': 'count' }, record: { '{singular}': 'record' } }
   */
  readonly envelope?: EnvelopeOption
  /** Status of a body that the model refuses: 422 (the default) or 400. */
  readonly validationStatus?: 400 | 422
  /**
   * Which entity tags GET and HEAD answer with, for `If-None-Match`: `version` (the default), those of records that show their version; `answer`, every
   * answer a tag of its content as well, which costs a hash of each.
   */
  readonly etag?: 'version' | 'answer'
  /** Requests that `engine.requests` keeps, the newest ones; 0 keeps none. Default 1000. */
  readonly journal?: number
  /**
   * What becomes of faults and gates that no request has met: `ignore` (the default), or `throw`: `reset`, `scenario` and `close` do their work and then reject with a
   * `RestError` (409 `faults_unmet`) that names them, so that a test does not pass because its failure has never come. Those that were disposed unmet count, too.
   */
  readonly unmetFaults?: UnmetFaults
  /**
   * Adds the header `Server-Timing` to every answer: how long the request was at each of its stages, which browsers show beside it. Default: false. It
   * shows every client how the server spends its time, so it is for development.
   */
  readonly serverTiming?: boolean
  /** Notes of whatever made the model, such as `fromJson`; `engine.notes` begins with them. Default: none. */
  readonly notes?: readonly string[]
  /**
   * Called with every error that is answered with a status of 500 or above. Default: the request and the error, with its stack, are written to standard
   * error, apart from a `RestError` that was thrown without a cause.
   */
  readonly onError?: (error: unknown, request: FailedRequest) => void
}

/** The options with their defaults. */
export type CheckedOptions = Required<
  Omit<EngineOptions, 'config' | 'database' | 'entities' | 'envelope' | 'functions' | 'limits' | 'lookup' | 'seed' | 'clock' | 'auth'>
> &
  Pick<EngineOptions, 'entities' | 'functions' | 'lookup' | 'seed' | 'clock' | 'auth'> & {
    readonly limits: Limits
    /** Undefined: answers have the engine's own form. */
    readonly envelope: CompiledEnvelope | undefined
    readonly database: string | ServerDatabase
  }

const OPTIONS = [
  'entities',
  'database',
  'schema',
  'fill',
  'renamed',
  'drop',
  'readOnly',
  'config',
  'orm',
  'functions',
  'resources',
  'lookup',
  'base',
  'versions',
  'canonicalPaths',
  'limits',
  'routes',
  'parameters',
  'forms',
  'auth',
  'seed',
  'scenarios',
  'clock',
  'createdStatus',
  'deletedStatus',
  'envelope',
  'validationStatus',
  'etag',
  'journal',
  'unmetFaults',
  'serverTiming',
  'notes',
  'onError',
] as const satisfies readonly (keyof EngineOptions)[]

/** Whether a name is that of an option of `RestEngine.create`. */
export function isEngineOption(name: string): boolean {
  return (OPTIONS as readonly string[]).includes(name)
}

/** The names that other libraries give the options. */
const HABITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['entity', 'models', 'model', 'schemas', 'entityClasses'].map(name => [name, 'entities'])),
  ...Object.fromEntries(['db', 'dbName', 'file', 'filename', 'storage', 'url', 'connection', 'dataSource'].map(name => [name, 'database'])),
  ...Object.fromEntries(['data', 'fixtures', 'records', 'seeds'].map(name => [name, 'seed'])),
  ...Object.fromEntries(['prefix', 'basePath', 'baseUrl', 'path'].map(name => [name, 'base'])),
  ...Object.fromEntries(['ormOptions'].map(name => [name, 'orm'])),
  ...Object.fromEntries(['mikroOrm', 'mikroorm', 'ormConfig', 'mikroOrmConfig'].map(name => [name, 'config'])),
}

/** Where a server that serves the engine is given its address. */
const ADDRESS: ReadonlySet<string> = new Set(['port', 'host', 'hostname'])

/** Options of MikroORM that the engine sets itself. */
const OWN_ORM_OPTIONS = ['entities', 'dbName', 'driver', 'driverOptions']

/**
 * Checks the options, and completes them with defaults.
 *
 * @throws TypeError or RangeError when an option is unknown or not of its form.
 */
export function checkOptions(options: EngineOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError('RestEngine.create: options must be an object: { entities: [User, Site] }.')
  const address = Object.keys(options).find(name => ADDRESS.has(name))
  if (address !== undefined)
    throw new TypeError(`RestEngine.create: unknown option "${address}". A server has an address: createServer(engine).listen(3000).`)
  refuseConfig(options)
  checkNames(options, OPTIONS, 'RestEngine.create', HABITS)
  if (options.entities !== undefined) checkEntities(options.entities)
  const checked = completeOptions(options)
  checkModelSource(checked)
  checkForms(checked)
  checkSecret(checked)
  checkFunctions(checked)
  checkEvolve(options)
  return { ...checked, base: readBase(checked.base, 'RestEngine.create', checked.versions), versions: Object.freeze([...checked.versions]) }
}

/** Options that configs of MikroORM have, and engines do not. */
const OF_CONFIGS = ['driver', 'clientUrl', 'entitiesTs', 'driverOptions', 'metadataProvider', 'contextName']

/** @throws TypeError for a config of MikroORM in the place of the options. */
function refuseConfig(options: EngineOptions): void {
  const name = OF_CONFIGS.find(each => Object.hasOwn(options, each))
  if (name !== undefined)
    throw new TypeError(
      `RestEngine.create: unknown option "${name}", which is one of MikroORM. The config of an application is given as a whole: RestEngine.create({ config }).`,
    )
}

const DEFAULTS = {
  database: ':memory:',
  fill: {},
  renamed: {},
  drop: false,
  readOnly: false,
  orm: {},
  resources: [],
  routes: [],
  parameters: {},
  forms: false,
  base: '',
  scenarios: {},
  versions: ['v1'],
  canonicalPaths: false,
  createdStatus: 200,
  deletedStatus: 200,
  validationStatus: 422,
  etag: 'version',
  journal: 1000,
  unmetFaults: 'ignore',
  serverTiming: false,
  notes: [],
  onError: printFailure,
} as const satisfies Partial<EngineOptions>

/** Adds the defaults of the options that are not given. */
function completeOptions(options: EngineOptions): CheckedOptions {
  const given = Object.fromEntries(OPTIONS.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]]))) as EngineOptions
  const schema = given.entities === undefined ? 'keep' : 'update'
  const complete = { ...DEFAULTS, schema, ...given }
  return {
    ...complete,
    database: readDatabase(complete.database),
    limits: checkLimits(given.limits ?? {}),
    envelope: compileEnvelope(given.envelope, complete.deletedStatus),
  } as CheckedOptions
}

/** Rejects a database, schema or seed that do not go with where the model comes from. */
function checkModelSource({ entities, database, schema, readOnly, seed }: CheckedOptions): void {
  const isEmpty = isInMemory(database)
  if (entities === undefined && isEmpty) {
    throw new TypeError('RestEngine.create: "entities" must be given, or "database" be the path of a SQLite file to read the model from.')
  }
  requireBoolean('readOnly', readOnly)
  if (seed !== undefined) checkSeeds(seed, 'RestEngine.create: "seed"')
  if (readOnly && !isEmpty && seed !== undefined)
    throw new TypeError(
      `RestEngine.create: "seed" would write to the ${typeof database === 'string' ? 'file' : 'database'}, which "readOnly" opens for reading only.`,
    )
  checkChoice('schema', schema, ['update', 'keep', 'evolve', 'migrate'])
  if (readOnly && schema === 'migrate')
    throw new TypeError('RestEngine.create: "schema" is "migrate", which would write to a database that "readOnly" opens for reading only.')
  if (entities === undefined && schema !== 'keep')
    throw new RangeError('RestEngine.create: "schema" must be "keep" where the model is read from the database, which is never changed.')
}

/** Several processes may serve a database on a server: what one of them signs the others must know. */
function checkSecret({ auth, database }: CheckedOptions): void {
  if (auth?.options !== undefined && auth.options.secret === undefined && typeof database !== 'string' && !isPglite(database.url))
    throw new TypeError(
      'RestEngine.create: "auth" needs a "secret" with PostgreSQL, the same one for all processes that serve the database: auth({ entity: User, secret: process.env.SECRET }).',
    )
}

/** Rejects options that are not of their form. */
function checkForms(options: CheckedOptions): void {
  const { createdStatus, validationStatus, etag, journal, serverTiming, notes, orm, versions } = options
  checkChoice('createdStatus', createdStatus, [200, 201])
  checkChoice('deletedStatus', options.deletedStatus, [200, 204])
  checkChoice('validationStatus', validationStatus, [400, 422])
  checkChoice('etag', etag, ['version', 'answer'])
  checkChoice('unmetFaults', options.unmetFaults, ['ignore', 'throw'])
  checkScenarios(options.scenarios)
  if (!Number.isSafeInteger(journal) || journal < 0)
    throw new RangeError(`RestEngine.create: "journal" must be an integer of 0 or more, got ${String(journal)}.`)
  requireBoolean('serverTiming', serverTiming)
  requireBoolean('forms', options.forms)
  requireBoolean('canonicalPaths', options.canonicalPaths)
  if (!Array.isArray(notes) || !notes.every(note => typeof note === 'string'))
    throw new TypeError('RestEngine.create: "notes" must be an array of strings.')
  for (const name of ['lookup', 'clock', 'onError'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw new TypeError(`RestEngine.create: "${name}" must be a function.`)
  }
  for (const name of ['resources', 'routes'] as const) {
    if (!Array.isArray(options[name])) throw new TypeError(`RestEngine.create: "${name}" must be an array.`)
  }
  checkOrm(orm)
  if (!Array.isArray(versions) || !versions.every(version => /^[A-Za-z0-9._-]+$/.test(version))) {
    throw new TypeError(
      'RestEngine.create: "versions" must be an array of path segments such as "v1", or empty for paths without a version.',
    )
  }
}

/** @throws TypeError for options of MikroORM that are the engine's own, and for those with which a request would not read or write what is stored. */
function checkOrm(orm: Partial<OrmOptions>): void {
  for (const name of OWN_ORM_OPTIONS) {
    if (name in orm)
      throw new TypeError(
        `RestEngine.create: "orm.${name}" is set by the engine; use its own options, or give the config of an application as a whole: RestEngine.create({ config }).`,
      )
  }
  const broken =
    orm.disableIdentityMap === true
      ? 'disableIdentityMap'
      : orm.disableTransactions === true
        ? 'disableTransactions'
        : (orm.resultCache?.global ?? false) === false
          ? undefined
          : 'resultCache.global'
  if (broken !== undefined)
    throw new TypeError(`RestEngine.create: "orm.${broken}" is not possible: requests would not read or write what is stored.`)
}

function requireBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new TypeError(`RestEngine.create: "${name}" must be true or false.`)
}

function checkChoice(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (!allowed.includes(value)) {
    throw new RangeError(
      `RestEngine.create: "${name}" must be one of ${allowed.map(item => JSON.stringify(item)).join(', ')}, got ${JSON.stringify(value)}.`,
    )
  }
}

function checkLimits(given: Partial<Limits>): Limits {
  checkNames(given, Object.keys(DEFAULT_LIMITS), 'RestEngine.create: limits')
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`RestEngine.create: "limits.${name}" must be an integer of 0 or more.`)
  }
  return Object.freeze({ ...DEFAULT_LIMITS, ...given })
}
