/** Checks the options of `RestEngine.create`, and adds defaults. */
import type { Options as OrmOptions } from '@mikro-orm/core'
import { printFailure } from '../../foundation/errors/report-failure.ts'
import { DEFAULT_LIMITS } from '../../foundation/base/limits.ts'
import { readBase } from '../../records/request/address.ts'
import { checkSeeds } from '../../model/seeds.ts'
import { isObject } from '../../foundation/json/json.ts'
import { anything, callable, flag, wire, integer, list, must, oneOf, readOptions, texts } from '../../foundation/base/option-table.ts'
import type { OptionRule, OptionTable } from '../../foundation/base/option-table.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { isInMemory, isPglite } from '../../records/database/describe-database.ts'
import { readDatabase } from './database-option.ts'
import { checkScenarios } from '../worlds/scenarios.ts'
import { WORLD_NAME, isWorldName } from '../persistence/claim-name.ts'
import { compileEnvelope } from './shape-answer.ts'
import type { CheckedOptions, EngineOptions } from './options.ts'

const OPTIONS = {
  entities: [checkEntities],
  database: [readDatabase, ':memory:'],
  persist: [checkPersist],
  schema: [oneOf('update', 'keep', 'evolve', 'migrate')],
  fill: [must("an object by resource: { notes: { stars: 0 }, trips: 'made-up' }", isObject), {}],
  renamed: [checkRenamed, {}],
  drop: [must("true, false, 'all' or an array of names: ['note.body', 'trip']", isDrop), false],
  copies: [integer(0), 10],
  readOnly: [flag, false],
  config: [anything],
  orm: [checkOrm, {}],
  functions: [checkFunctions],
  resources: [list, []],
  defaults: [checkDefaults, {}],
  lookup: [callable],
  base: [anything, ''],
  versions: [must('an array of path segments such as "v1", or empty for paths without a version', areSegments), ['v1']],
  limits: [checkLimits, {}],
  routes: [list, []],
  parameters: [anything, {}],
  forms: [flag, false],
  wire: [wire],
  auth: [anything],
  seed: [checkSeeds],
  scenarios: [checkScenarios, {}],
  clock: [callable],
  createdStatus: [oneOf(200, 201), 200],
  deletedStatus: [oneOf(200, 204), 200],
  envelope: [anything],
  validationStatus: [oneOf(400, 422), 422],
  etag: [oneOf('version', 'answer'), 'version'],
  journal: [integer(0), 1000],
  unmetFaults: [oneOf('ignore', 'throw'), 'ignore'],
  serverTiming: [flag, false],
  notes: [texts, []],
  onError: [callable, printFailure],
} as const satisfies OptionTable<EngineOptions>

export function isEngineOption(name: string): boolean {
  return Object.hasOwn(OPTIONS, name)
}

/** Other libraries' names. */
const HABITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['entity', 'models', 'model', 'schemas', 'entityClasses'].map(name => [name, 'entities'])),
  ...Object.fromEntries(['db', 'dbName', 'file', 'filename', 'storage', 'url', 'connection', 'dataSource'].map(name => [name, 'database'])),
  ...Object.fromEntries(['data', 'fixtures', 'records', 'seeds'].map(name => [name, 'seed'])),
  ...Object.fromEntries(['prefix', 'basePath', 'baseUrl', 'path'].map(name => [name, 'base'])),
  ...Object.fromEntries(['ormOptions'].map(name => [name, 'orm'])),
  ...Object.fromEntries(['mikroOrm', 'mikroorm', 'ormConfig', 'mikroOrmConfig'].map(name => [name, 'config'])),
}

const LISTEN = 'A server has an address: createServer(engine).listen(3000).'
/** Servers and log-in. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  port: LISTEN,
  host: LISTEN,
  hostname: LISTEN,
  cors: "It is one of a server: createServer(engine, { cors: 'http://localhost:5173' }).",
  static: "It is one of a server: createServer(engine, { static: 'dist' }).",
  delay: "It is one of a server, createServer(engine, { delay: 300 }), or is said of requests: engine.delay('GET *', 300).",
  public: "It is one of the log-in: auth({ entity: User, public: ['GET *'] }).",
}

const OWN_ORM_OPTIONS = ['entities', 'dbName', 'driver', 'driverOptions']

/** @throws TypeError or RangeError for wrong options */
export function checkOptions(options: EngineOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options) || isSchema(options))
    throw new TypeError('RestEngine.create: options must be an object: { entities: [User, Site] }.')
  const [elsewhere] = Object.keys(options).filter(name => Object.hasOwn(ELSEWHERE, name))
  if (elsewhere !== undefined) throw new TypeError(`RestEngine.create: unknown option "${elsewhere}". ${ELSEWHERE[elsewhere]}`)
  refuseConfig(options)
  const { limits, envelope, ...given } = readOptions(options, OPTIONS, 'RestEngine.create', HABITS)
  const checked = {
    schema: given.entities === undefined ? 'keep' : 'update',
    ...given,
    database: readDatabase(given.database),
    limits: Object.freeze({ ...DEFAULT_LIMITS, ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) }),
    envelope: compileEnvelope(envelope, given.deletedStatus),
    base: readBase(given.base, 'RestEngine.create', given.versions),
    versions: Object.freeze([...given.versions]),
  } satisfies CheckedOptions
  checkModelSource(checked)
  const evolving = (['fill', 'renamed', 'drop', 'copies'] as const).find(name => options[name] !== undefined)
  if (evolving !== undefined && checked.schema !== 'evolve')
    throw new TypeError(`RestEngine.create: "${evolving}" goes with schema: 'evolve'.`)
  checkSecret(checked)
  if (checked.functions !== undefined && typeof checked.database !== 'string')
    throw new TypeError('RestEngine.create: "functions" is for SQLite: those of PostgreSQL are in the database (create function).')
  return checked
}

const CONFIG_OPTIONS = ['driver', 'clientUrl', 'entitiesTs', 'driverOptions', 'metadataProvider', 'contextName']

/** @throws TypeError for a config of MikroORM */
function refuseConfig(options: EngineOptions): void {
  const name = CONFIG_OPTIONS.find(each => Object.hasOwn(options, each))
  if (name !== undefined)
    throw new TypeError(
      `RestEngine.create: unknown option "${name}", which is one of MikroORM. ` +
        'The config of an application is given as a whole: RestEngine.create({ config }).',
    )
}

/** Refuses an engine without model source; seed or migrations with `readOnly`; without entities, schema changes. */
function checkModelSource({ entities, database, schema, readOnly, seed }: CheckedOptions): void {
  const isEmpty = isInMemory(database)
  if (entities === undefined && isEmpty) {
    throw new TypeError('RestEngine.create: "entities" must be given, or "database" be the path of a SQLite file to read the model from.')
  }
  if (readOnly && !isEmpty && seed !== undefined)
    throw new TypeError(
      `RestEngine.create: "seed" would write to the ${typeof database === 'string' ? 'file' : 'database'}, ` +
        'which "readOnly" opens for reading only.',
    )
  if (readOnly && schema === 'migrate')
    throw new TypeError('RestEngine.create: "schema" is "migrate", which would write to a database that "readOnly" opens for reading only.')
  if (entities === undefined && schema !== 'keep')
    throw new RangeError('RestEngine.create: "schema" must be "keep" where the model is read from the database, which is never changed.')
}

function checkSecret({ auth, database }: CheckedOptions): void {
  if (auth?.options !== undefined && auth.options.secret === undefined && typeof database !== 'string' && !isPglite(database.url))
    throw new TypeError(
      'RestEngine.create: "auth" needs a "secret" with PostgreSQL, the same one for all processes that serve the database: ' +
        'auth({ entity: User, secret: process.env.SECRET }).',
    )
}

function checkPersist(...[name, place, where]: Parameters<OptionRule>): void {
  if (runtime.hasFiles) throw new TypeError(`${where}: "persist" is for pages. On Node a file keeps the world: database: 'file.sqlite'.`)
  must(WORLD_NAME, isWorldName)(name, place, where)
}

function isByResource(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isObject)
}

function isDrop(value: unknown): boolean {
  return typeof value === 'boolean' || value === 'all' || (Array.isArray(value) && value.every(each => typeof each === 'string'))
}

function checkRenamed(...[renamed, place, where]: Parameters<OptionRule>): void {
  must("an object of objects, by resource: { notes: { title: 'headline' }, entities: { Trip: 'Journey' } }", isByResource)(
    renamed,
    place,
    where,
  )
  for (const [resource, names] of Object.entries(renamed as Readonly<Record<string, object>>))
    for (const [old, next] of Object.entries(names))
      if (typeof next !== 'string')
        throw new TypeError(`RestEngine.create: "renamed.${resource}.${old}" must be the new name of the property, a text.`)
}

function areSegments(versions: unknown): boolean {
  return Array.isArray(versions) && versions.every(version => /^[A-Za-z0-9._-]+$/.test(version as string))
}

/** @throws TypeError for options that the engine sets itself, and those with which requests would not read or write what is stored */
function checkOrm(given: unknown): void {
  const orm = given as Partial<OrmOptions>
  for (const name of OWN_ORM_OPTIONS) {
    if (name in orm)
      throw new TypeError(
        `RestEngine.create: "orm.${name}" is set by the engine; ` +
          'use its own options, or give the config of an application as a whole: RestEngine.create({ config }).',
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

function checkLimits(given: unknown): void {
  if (typeof given !== 'object' || given === null) throw new TypeError('RestEngine.create: "limits" must be an object: { maxLimit: 500 }.')
  checkNames(given, Object.keys(DEFAULT_LIMITS), 'RestEngine.create: limits')
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && (!Number.isSafeInteger(value) || (value as number) < 0))
      throw new RangeError(`RestEngine.create: "limits.${name}" must be an integer of 0 or more.`)
  }
}

/** @throws TypeError for a value that SQL cannot call */
function checkFunctions(functions: unknown): void {
  if (!isObject(functions))
    throw new TypeError('RestEngine.create: "functions" must be an object of functions: { title_sort: title => ... }.')
  for (const [name, each] of Object.entries(functions)) {
    if (typeof each !== 'function') throw new TypeError(`RestEngine.create: "functions.${name}" must be a function.`)
    if (each.constructor.name === 'AsyncFunction')
      throw new TypeError(`RestEngine.create: "functions.${name}" is asynchronous, and SQL waits for nothing.`)
    if (name === '' || name.length > 255 || /^mikro_/i.test(name))
      throw new TypeError(
        `RestEngine.create: "functions" has the name ${JSON.stringify(name)}: ` +
          'a name has 1 to 255 characters and does not begin with "mikro_".',
      )
  }
}

function checkEntities(entities: unknown): void {
  if (!Array.isArray(entities) || entities.length === 0) {
    const meant = typeof entities === 'function' ? ' Write [User] for one entity.' : ''
    throw new TypeError(
      'RestEngine.create: "entities" must be an array of at least one entity; ' +
        `without it the model is read from the file of "database".${meant}`,
    )
  }
  // MikroORM ignores a pattern without files, such as `'User'`.
  const named = entities.findIndex(entity => typeof entity === 'string' && !/[/\\*.]/.test(entity))
  if (named >= 0) {
    const name = JSON.stringify(entities[named])
    throw new TypeError(
      `RestEngine.create: "entities[${named}]" is the text ${name}: ` +
        'give the entity itself (import it, without quotes), or a pattern of files such as "./entities/*.js".',
    )
  }
  const wrong = entities.findIndex(entity => !['function', 'string'].includes(typeof entity) && !isSchema(entity))
  if (wrong < 0) return
  const given: unknown = entities[wrong]
  const before = wrong === 0 ? '' : `, after ${nameOfEntity(entities[wrong - 1])},`
  if (given === undefined) {
    throw new TypeError(
      `RestEngine.create: "entities[${wrong}]"${before} is undefined: its file does not export this name, or imports ` +
        'are circular (the file is still running when the list is made). List the entities in a file that none of them imports.',
    )
  }
  throw new TypeError(
    `RestEngine.create: "entities[${wrong}]"${before} must be an entity (a class, ` +
      `defineEntity or EntitySchema) or a glob pattern, got ${describe(given)}.`,
  )
}

/** Of any MikroORM, so not by `instanceof`. MikroORM takes others for abstract entities. */
function isSchema(entity: unknown): boolean {
  return typeof entity === 'object' && entity !== null && 'meta' in entity && typeof entity.meta === 'object'
}

function nameOfEntity(entity: unknown): string {
  const { name, meta } = entity as { readonly name?: unknown; readonly meta?: { readonly className?: unknown } }
  return String(meta?.className ?? name ?? entity)
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) {
    if ('then' in value) return 'a promise (await it)'
    const names = Object.keys(value)
    return names.length === 0
      ? 'an empty object'
      : `an object with ${names
          .slice(0, 3)
          .map(name => JSON.stringify(name))
          .join(', ')}`
  }
  return JSON.stringify(value)
}

function checkDefaults(defaults: unknown, where: string): void {
  if (!isObject(defaults)) throw new TypeError(`${where} must be an object: { scope: { tenant: ctx => ctx.user?.tenant } }.`)
  checkNames(defaults, ['scope'], 'RestEngine.create: defaults')
  const { scope = {} } = defaults as { readonly scope?: unknown }
  if (!isObject(scope) || !Object.values(scope).every(find => typeof find === 'function'))
    throw new TypeError(`${where}.scope must be an object of functions: { tenant: ctx => ctx.user?.tenant }.`)
}
