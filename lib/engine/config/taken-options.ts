/** Passes options of a MikroORM config on to the engine's MikroORM; others get a note. */
import type { Options } from '@mikro-orm/core'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { OrmConfig } from './choose-config.ts'

/** Passed on, about the connection, or left out for a reason. */
type Treatment = 'taken' | 'connection' | { readonly out: string }

/** The engine must not write files of the application. */
const CACHE = { out: 'not used, an engine reads the entities anew and writes no cache' }
const OWN_CONNECTION = { out: 'not used, the connections are those of the engine' }
const OF_NEST = { out: 'not used, it is an option of @mikro-orm/nestjs' }

const OPTIONS: Readonly<Record<keyof Options, Treatment>> = {
  allowGlobalContext: 'taken',
  assign: 'taken',
  attachDatabases: 'taken',
  autoJoinOneToOneOwner: 'taken',
  autoJoinRefsForFilters: 'taken',
  baseDir: 'taken',
  batchSize: 'taken',
  charset: OWN_CONNECTION,
  clientUrl: 'connection',
  collate: OWN_CONNECTION,
  colors: 'taken',
  compiledFunctions: { out: 'not used, they were compiled for another database' },
  context: 'taken',
  contextName: 'taken',
  dataloader: 'taken',
  dbName: 'connection',
  debug: 'taken',
  disableIdentityMap: { out: 'not used, the engine finds what a request changes by the identity map' },
  disableTransactions: { out: 'not used, each request that writes is a transaction' },
  discovery: 'taken',
  driver: 'connection',
  driverOptions: 'connection',
  dynamicImportProvider: 'taken',
  embeddables: 'taken',
  ensureDatabase: { out: 'not used, the option "schema" of the engine says what is created' },
  ensureIndexes: { out: 'not used, the option "schema" of the engine says what is created' },
  entities: 'connection',
  entitiesTs: 'taken',
  entityGenerator: 'taken',
  entityManager: 'taken',
  entityRepository: 'taken',
  extensions: 'taken',
  filters: 'taken',
  filtersOnRelations: 'taken',
  findExactlyOneOrFailHandler: 'taken',
  findOneOrFailHandler: 'taken',
  flushMode: 'taken',
  forceEntityConstructor: 'taken',
  forceUndefined: 'taken',
  forceUtcTimezone: { out: 'not used, times are stored in UTC' },
  highlighter: 'taken',
  host: 'connection',
  hydrator: 'taken',
  ignoreDeprecations: 'taken',
  ignoreUndefinedInQuery: 'taken',
  implicitTransactions: { out: 'not used, each request that writes is a transaction' },
  initNullableProperties: 'taken',
  loadStrategy: 'taken',
  logger: 'taken',
  loggerFactory: 'taken',
  metadataCache: CACHE,
  metadataProvider: 'taken',
  migrations: 'taken',
  multipleStatements: OWN_CONNECTION,
  name: OWN_CONNECTION,
  namingStrategy: 'taken',
  onCreateConnection: OWN_CONNECTION,
  onQuery: { out: 'asked for the statements of MikroORM alone, not for those that the engine writes itself' },
  onReserveConnection: OWN_CONNECTION,
  password: 'connection',
  persistOnCreate: 'taken',
  pool: 'connection',
  populateAfterFlush: 'taken',
  populateWhere: 'taken',
  port: 'connection',
  preferEnvVars: 'connection',
  preferReadReplicas: 'connection',
  preferTs: 'taken',
  processOnCreateHooksEarly: 'taken',
  propagationOnPrototype: 'taken',
  replicas: 'connection',
  resultCache: 'taken',
  routines: 'taken',
  schema: 'connection',
  schemaGenerator: 'taken',
  seeder: 'taken',
  serialization: 'taken',
  sessionContext: OWN_CONNECTION,
  slowQueryLoggerFactory: 'taken',
  slowQueryThreshold: 'taken',
  subscribers: 'taken',
  timezone: { out: 'not used, times are stored in UTC' },
  upsertManaged: 'taken',
  useBatchInserts: 'taken',
  useBatchUpdates: 'taken',
  user: 'connection',
  validateRequired: 'taken',
  verbose: 'taken',
}

const OF_OTHERS: Readonly<Record<string, Treatment>> = {
  autoLoadEntities: { out: 'not used: give the entities that modules of NestJS register by the option "entities" of the engine' },
  registerRequestContext: OF_NEST,
  forRoutesPath: OF_NEST,
  forkOptions: OF_NEST,
  scope: OF_NEST,
}

/** Values without effect on an engine: no note. */
const BY_DEFAULT: Readonly<Record<string, readonly unknown[]>> = {
  ensureDatabase: [true, false],
  ensureIndexes: [false],
  forceUtcTimezone: [true],
  disableIdentityMap: [false],
  disableTransactions: [false],
  implicitTransactions: [true],
  multipleStatements: [false],
  sessionContext: ['transaction'],
  timezone: ['Z', 'UTC', '+00:00'],
  autoLoadEntities: [false],
}

export function isOrmOption(name: string): boolean {
  return Object.hasOwn(OPTIONS, name) || Object.hasOwn(OF_OTHERS, name)
}

interface TakenOptions {
  readonly orm: Partial<Options>
  readonly notes: readonly string[]
}

interface OptionPlace {
  readonly isSqlite: boolean
  readonly isInMemory: boolean
}

export function takeOptions(config: OrmConfig, place: OptionPlace): TakenOptions {
  const notes: string[] = []
  const taken: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(config)) {
    if (value === undefined) continue
    const treatment = (OPTIONS as Readonly<Record<string, Treatment>>)[name] ?? OF_OTHERS[name]
    if (treatment === undefined)
      notes.push(`config.${name} is no option of MikroORM 7.${formatHint(findNearest(name, Object.keys(OPTIONS)))}`)
    else if (treatment === 'taken' || name === 'onQuery') taken[name] = value
    if (typeof treatment === 'object' && BY_DEFAULT[name]?.includes(value) !== true) notes.push(`config.${name}: ${treatment.out}.`)
  }
  if (place.isSqlite) leaveOfServers(config, taken, notes)
  leaveOfSchema(config, taken, place, notes)
  const { resultCache } = config
  if (resultCache?.global !== undefined && resultCache.global !== false) {
    taken['resultCache'] = { ...resultCache, global: false }
    notes.push('config.resultCache.global: not used, a request reads what is stored.')
  }
  return { orm: { ...taken, ...copyWritten(config) }, notes }
}

function leaveOfServers({ schema, routines, driverOptions }: OrmConfig, taken: Record<string, unknown>, notes: string[]): void {
  if (schema !== undefined && schema !== 'public')
    notes.push(`config.schema: not used, SQLite has no schemas; the tables of ${JSON.stringify(schema)} are in the one database.`)
  if (routines !== undefined && [...routines].length > 0) {
    delete taken['routines']
    notes.push('config.routines: not used, SQLite has no stored routines.')
  }
  if (driverOptions !== undefined) notes.push('config.driverOptions: not used, the connection is that of the engine.')
}

/** About tables of other programs: memory has none. */
const OF_OTHER_MAKERS = ['skipTables', 'skipViews', 'skipColumns', 'ignoreSchema'] as const

function leaveOfSchema(
  { schemaGenerator }: OrmConfig,
  taken: Record<string, unknown>,
  { isSqlite, isInMemory }: OptionPlace,
  notes: string[],
): void {
  if (schemaGenerator === undefined) return
  const names = isInMemory ? OF_OTHER_MAKERS.filter(name => schemaGenerator[name] !== undefined) : []
  for (const name of names)
    notes.push(`config.schemaGenerator.${name}: not used, nobody but the engine makes the tables of a database in memory.`)
  // For each omitted constraint, MikroORM would write a stray comma.
  const isWithout = isSqlite && schemaGenerator.createForeignKeyConstraints === false
  if (isWithout) notes.push('config.schemaGenerator.createForeignKeyConstraints: not used, tables of SQLite have their foreign keys.')
  const left: readonly string[] = [...names, ...(isWithout ? ['createForeignKeyConstraints'] : [])]
  taken['schemaGenerator'] = Object.fromEntries(Object.entries(schemaGenerator).filter(([name]) => !left.includes(name)))
}

/** Copies what MikroORM changes. A compiled metadata cache is only read. */
function copyWritten({ extensions, discovery, migrations, seeder, metadataCache }: OrmConfig): Partial<Options> {
  const isCompiled = (metadataCache?.adapter as { readonly name?: string } | undefined)?.name === 'GeneratedCacheAdapter'
  return {
    ...(extensions === undefined ? {} : { extensions: [...extensions] }),
    ...(discovery === undefined ? {} : { discovery: { ...discovery } }),
    ...(seeder === undefined ? {} : { seeder: { ...seeder } }),
    ...(migrations === undefined ? {} : { migrations: { ...migrations } }),
    metadataCache: isCompiled ? { ...metadataCache } : { enabled: false },
  } as Partial<Options>
}
