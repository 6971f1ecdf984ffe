/**
 * Makes engine options of a module, a folder, a JSON file, a SQLite file, a URL of PostgreSQL, or none (the sample model). Errors name the
 * file in one line.
 */
import { existsSync } from 'node:fs'
import { open, readFile, readdir, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import type { EntityMetadata } from '@mikro-orm/core'
import type { JournalEntry } from '../../engine/journal/journal-entry.ts'
import { readDatabase } from '../../engine/options/database-option.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { buildModel } from '../../model/json-model/from-json.ts'
import type { InferOptions } from '../../model/json-model/infer.ts'
import { camelCase, camelPlural } from '../../model/resource-names.ts'
import { describeDatabase, isInMemory, isPglite, pgliteFolder } from '../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'
import type { CommandArguments } from './arguments.ts'
import { CommandError } from './command-error.ts'
import { evolveBy, tryOnCopy, type Trial } from './evolve-options.ts'
import { readJsonFile, type JsonFile } from './json-file.ts'
import { parseJson } from './json-text.ts'
import type { ConfigArguments } from './load-config.ts'
import { loadSeed, withSeed, type AddedSeed } from './load-seed.ts'
import type { LogIn } from './log-in.ts'
import { findEntities, importModule, isModule } from './modules.ts'
import { loadWire } from './other-grammar.ts'
import { CONFIGS, INDEXES, checkReadable, refuseUrl } from './readable.ts'
import { isWatched } from './watched.ts'

export interface LoadedSource {
  readonly options: EngineOptions
  /** For this run: `--get`, for example, changes no file. */
  readonly running: EngineOptions
  readonly json?: JsonFile
  /** A copy of the file, to evolve or migrate. */
  readonly trial?: Trial
  readonly module?: string | undefined
  readonly title: string
  readonly logIn?: LogIn
  /** Below the version, where known beforehand. */
  readonly examples: readonly string[] | undefined
}

const SAMPLE_EXAMPLES = [
  '/publishers?sort=sites.desc&limit=5',
  '/users?name=A*&attributes=id,name,email',
  '/sites?expand=publisher&limit=3',
]

export async function load(args: CommandArguments): Promise<LoadedSource> {
  const [file, config] = await Promise.all([args.file, args.config].map(findFolderModule))
  const { readOnly } = args
  const exact = args.as === 'json-server'
  const infer = { strict: args.strict, open: args.open, exact, required: args.required, ...(args.id === undefined ? {} : { id: args.id }) }
  if (args.context !== undefined && config === undefined && (file === undefined || !isModule(file)))
    throw new CommandError('--context chooses a config of MikroORM: name the mikro-orm.config.ts that has it.', 2)
  const choice = { logIn: args.login, hashes: args.hash, context: args.context, migrates: args.migrate, ejects: args.eject !== undefined }
  const model = await loadModel(file, config, { readOnly, infer, ...choice })
  if (model.json === undefined) refuseOptionsOfJson(args)
  if (args.migrate && model.options.schema !== 'migrate')
    throw new CommandError('--migrate runs the migrations of an application: name its mikro-orm.config.ts, or a module with a config.', 2)
  const seed = args.seed === undefined ? undefined : await loadSeed(args.seed)
  const base = args.base === undefined ? {} : { base: args.base }
  const versions = args.versions === undefined ? {} : { versions: args.versions }
  const database = readDatabase(model.options.database ?? ':memory:')
  if (readOnly && !isInMemory(database) && seed !== undefined)
    throw new CommandError(`--seed would write to ${describeDatabase(database)}, which --read-only opens for reading only.`, 2)
  const wire = args.as === undefined ? {} : { wire: await loadWire(args.as) }
  const evolved = evolveBy({ ...model.options, ...plainFile(model.options), ...wire }, args)
  const options = withSeed({ ...evolved, ...base, ...versions, ...(readOnly ? { readOnly: true } : {}) }, seed)
  const onlyReads =
    args.get !== undefined ||
    args.eject !== undefined ||
    args.openapi !== undefined ||
    args.diagram !== undefined ||
    args.selfTest ||
    args.check !== undefined
  const askingOption = args.evolve ? '--evolve' : args.migrate ? '--migrate' : undefined
  const trial = onlyReads && !readOnly && args.eject === undefined ? await tryOnCopy(options, askingOption) : undefined
  return {
    ...model,
    module: [config, file].find(each => each !== undefined && isModule(each)),
    ...(trial === undefined ? {} : { trial }),
    title: [
      `${model.title}${args.as === undefined ? '' : ` as ${args.as}`}`,
      ...(model.json === undefined ? [] : [nameHolding(args)]),
      ...(readOnly ? ['read-only'] : []),
    ].join(', '),
    options,
    running: hideAttributes(trial?.options ?? (onlyReads && !readOnly ? await dropFileOptions(options, seed) : options), [
      ...args.hide,
      ...(model.logIn === undefined ? [] : [model.logIn.hides]),
    ]),
  }
}

function refuseOptionsOfJson(args: CommandArguments): void {
  const { strict, open, required, id, login } = args
  const given = Object.entries({ strict, open, required, id }).find(([, value]) => value !== undefined && value !== false)
  if (login !== undefined)
    throw new CommandError('--login is about the users of a JSON FILE: a module has the option auth: auth({ entity: User }).', 2)
  if (given !== undefined) throw new CommandError(`--${given[0]} is about how a JSON FILE is taken.`, 2)
  if (args.save !== false) throw new CommandError('--save goes with a JSON FILE; a SQLite file always keeps what is changed.', 2)
}

function nameHolding({ save }: CommandArguments): string {
  const how = save === false ? 'in memory' : 'saved'
  return isWatched() ? `${how} and watched` : how
}

function plainFile({ database }: EngineOptions): { readonly database?: string | ServerDatabase } {
  return database instanceof URL || (typeof database === 'string' && /^file:/i.test(database)) ? { database: readDatabase(database) } : {}
}

/** Commands that end, such as `--get`, must work on read-only files. */
async function dropFileOptions({ seed: modelSeed, ...options }: EngineOptions, seed: AddedSeed | undefined): Promise<EngineOptions> {
  const { entities } = options
  const database = readDatabase(options.database ?? ':memory:')
  const records = modelSeed === undefined ? {} : { seed: modelSeed }
  if (isInMemory(database)) return { ...options, ...records }
  const server = database
  const isServer = typeof server === 'object'
  if (isServer && entities !== undefined && (await isNewFolder(server.url))) return { ...options, ...records, database: 'pglite:' }
  const size = isServer
    ? 0
    : await stat(database as string).then(
        found => found.size,
        () => 0,
      )
  // A new file would be empty: memory will do.
  if (!isServer && size === 0 && entities !== undefined) return { ...options, ...records, database: ':memory:' }
  if (seed !== undefined)
    throw new CommandError(
      `--seed would write to ${describeDatabase(database)}, which --get, ` +
        '--openapi, --diagram, --self-test, --check and --eject leave as it is.',
      2,
    )
  return { ...options, readOnly: true, ...(options.schema === 'migrate' ? { schema: 'keep' } : {}) }
}

/** MikroORM's config comes first: an index may be a program. */
async function findFolderModule(file: string | undefined): Promise<string | undefined> {
  if (file === undefined || isModule(file)) return file
  const content: readonly string[] = await readdir(file).catch(() => [])
  if (content.length === 0) return file
  const found = CONFIGS.find(name => existsSync(join(file, name))) ?? INDEXES.find(name => content.includes(name))
  return found === undefined ? file : join(file, found)
}

interface Loading extends ConfigArguments {
  readonly logIn: string | undefined
  readonly hashes: boolean
  readonly readOnly: boolean
  readonly infer: InferOptions
}

async function loadModel(
  file: string | undefined,
  config: string | undefined,
  { readOnly, infer, logIn, hashes, ...choice }: Loading,
): Promise<Omit<LoadedSource, 'running'>> {
  if (file === undefined && config === undefined) return { ...(await loadSample()), title: 'the sample model, in memory' }
  if (file === undefined || isModule(file)) {
    if (file !== undefined && config !== undefined)
      throw new CommandError(`${file} is a module itself: --config goes with a SQLite file.`, 2)
    const name = file ?? config ?? ''
    return { options: await loadOptions(name, choice), title: name, examples: undefined }
  }
  if (SERVER.test(file)) return loadServer(file, config, choice)
  const kind = await detectKind(file, config !== undefined)
  if (kind === 'json') {
    if (config !== undefined && choice.ejects)
      throw new CommandError(`--eject writes the model of ${file} as code, and the options of ${config} are code: leave --config out.`, 2)
    const json = await readJsonFile(file, resolve(file), infer)
    const model = buildModel(json.collections)
    const { addOptions } = await import('./json-options.ts')
    const options = config === undefined ? model : await addOptions(model, json, config)
    const title = config === undefined ? file : `${file} with ${config}`
    if (logIn === undefined) return { options, title, examples: undefined, json }
    const { addLogIn } = await import('./log-in.ts')
    return { ...addLogIn(options, json, logIn, hashes), title, examples: undefined, json }
  }
  if (config === undefined) return { options: { database: file }, title: `${file} as it is`, examples: undefined }
  if (kind === 'new' && readOnly) throw new CommandError(`${file} does not exist: --read-only makes no new file.`)
  const { seed, ...options } = await loadOptions(config, { ...choice, database: file })
  const seeded = readOnly || seed === undefined ? {} : { seed }
  return {
    options: { ...options, ...seeded, database: file },
    title: kind === 'new' ? `${file} (new) with ${config}` : `${file} with ${config}`,
    examples: undefined,
  }
}

export const SERVER = /^(?:postgres(?:ql)?:\/\/|pglite:)/i

/** Only a new PGlite gets the module's seed: a server has records. */
async function loadServer(url: string, config: string | undefined, choice: ConfigArguments): Promise<Omit<LoadedSource, 'running'>> {
  const name = describeDatabase(url)
  const isNew = isInMemory(url) || (await isNewFolder(url))
  if (config === undefined && isInMemory(url)) return { ...(await loadSample(url)), title: 'the sample model, in PGlite' }
  if (config === undefined) return { options: { database: url }, title: `${name} as it is`, examples: undefined }
  const { seed, schema, ...options } = await loadOptions(config, { ...choice, database: url })
  const seeded = isNew && seed !== undefined ? { seed } : {}
  // `keep` means the module's own database: here no tables exist.
  const made = schema === undefined || (isNew && schema === 'keep') ? {} : { schema }
  return { options: { ...options, ...made, ...seeded, database: url }, title: `${name} with ${config}`, examples: undefined }
}

async function isNewFolder(url: string): Promise<boolean> {
  const folder = isPglite(url) ? pgliteFolder(url) : undefined
  return folder !== undefined && (await readdir(folder).catch(() => [])).length === 0
}

async function loadSample(database?: string): Promise<Pick<LoadedSource, 'options' | 'examples'>> {
  const sample: EngineOptions = (await import('../../../fixtures/sample/index.ts')).default
  return { options: database === undefined ? sample : { ...sample, database }, examples: SAMPLE_EXAMPLES }
}

/** The default export, such as options or a MikroORM config; else the exported entities. */
async function loadOptions(file: string, args: ConfigArguments): Promise<EngineOptions> {
  const options = await loadExported(file, args)
  return args.migrates ? { ...options, schema: 'migrate' } : options
}

async function loadExported(file: string, args: ConfigArguments): Promise<EngineOptions> {
  if (!isModule(file)) throw new CommandError(`${file} is not a module: a model is a .js, .mjs, .cjs, .ts or .mts file.`)
  const path = await checkReadable(file)
  const { checkOrmVersion, isNamedConfig, loadConfig } = await import('./load-config.ts')
  // Checked before the import, impossible with an older MikroORM.
  if (isNamedConfig(path)) checkOrmVersion(path)
  const exported = await importModule(path)
  const main = await exported['default']
  const configured = await loadConfig(main, path, args)
  if (configured !== undefined) return configured
  if (args.context !== undefined) throw new CommandError(`--context chooses a config of MikroORM: ${file} exports none.`, 2)
  if (Array.isArray(main)) return { entities: main as object[] as NonNullable<EngineOptions['entities']> }
  if (typeof main === 'object' && main !== null && 'entities' in main) return main as EngineOptions
  const entities = findEntities(Object.values(exported))
  if (entities.length > 0) return { entities: entities as NonNullable<EngineOptions['entities']> }
  throw new CommandError(
    `${file} exports no model: its default export must be engine options ({ entities: ` +
      '[...] }), the config of MikroORM or a list of entities, or its exports entities.',
  )
}

/** Reads a file of `engine.requests`, or of `GET /_test/requests`. */
export async function readJournal(file: string): Promise<JournalEntry[]> {
  const data = parseJson(await readFile(await checkReadable(file), 'utf8'), file) as { readonly requests?: unknown } | null
  const entries: unknown = Array.isArray(data) ? data : data?.requests
  const isEntry = (entry: unknown): boolean => {
    const { method, path, query } = (entry ?? {}) as Partial<JournalEntry>
    return typeof method === 'string' && typeof path === 'string' && Array.isArray(query)
  }
  if (Array.isArray(entries) && entries.every(isEntry)) return entries as JournalEntry[]
  throw new CommandError(`${file} is not a journal: it must contain the list engine.requests, or the answer of GET /_test/requests.`)
}

/** A missing or empty file is a new database, if allowed. */
async function detectKind(file: string, mayBeNew: boolean): Promise<'sqlite' | 'json' | 'new'> {
  refuseUrl(file)
  const isMissing = await stat(file).then(
    found => found.isFile() && found.size === 0,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
  if (mayBeNew && isMissing && extname(file).toLowerCase() !== '.json') return 'new'
  const head = await readFirstBytes(await checkReadable(file), 16)
  if (head.toString('latin1') === 'SQLite format 3\0') return 'sqlite'
  if (extname(file).toLowerCase() === '.json' || /^\s*[[{]/.test(head.toString('utf8'))) return 'json'
  throw new CommandError(`${file} is neither a module, nor a SQLite file, nor a JSON file.`)
}

async function readFirstBytes(path: string, length: number): Promise<Buffer> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

type HiddenProperty = EntityMetadata['props'][number]

/** For `--hide`, as `hidden: true` of an entity does. Refuses unknown names before anything is written. */
function hideAttributes(options: EngineOptions, names: readonly string[]): EngineOptions {
  if (names.length === 0) return options
  const { discovery } = options.orm ?? {}
  return {
    ...options,
    orm: {
      ...options.orm,
      discovery: {
        ...discovery,
        afterDiscovered: (storage, platform) => {
          const metas = [...storage.getAll().values()].filter(meta => meta.pivotTable !== true)
          for (const name of names) hide(name, metas)
          return discovery?.afterDiscovered?.(storage, platform)
        },
      },
    },
  }
}

function hide(name: string, metas: readonly EntityMetadata[]): void {
  // A dot may be part of either name.
  const dots = [...name.matchAll(/\./g)].map(({ index }) => [name.slice(0, index), name.slice(index + 1)] as const)
  const found = [
    ...metas.flatMap(meta => findProperties(meta, name)),
    ...dots.flatMap(([table, attribute]) => metas.filter(meta => isNamed(meta, table)).flatMap(meta => findProperties(meta, attribute))),
  ]
  if (found.length === 0) throw new CommandError(`--hide: ${explainUnknown(name, dots, metas)}`, 2)
  for (const property of found) property.hidden = true
}

function explainUnknown(name: string, dots: readonly (readonly [string, string])[], metas: readonly EntityMetadata[]): string {
  for (const [table, attribute] of dots) {
    const meta = metas.find(each => isNamed(each, table))
    if (meta !== undefined)
      return `${table} has no attribute ${JSON.stringify(attribute)}.${formatHint(findNearest(attribute, meta.props.flatMap(namesOf)))}`
  }
  const all = metas.flatMap(meta => meta.props.flatMap(namesOf))
  const [table, attribute] = dots[0] ?? []
  if (table === undefined) return `no table has an attribute ${JSON.stringify(name)}.${formatHint(findNearest(name, all))}`
  const tables = metas.filter(meta => findProperties(meta, attribute!).length > 0).map(({ tableName }) => tableName)
  const nearest = findNearest(table, tables.length > 0 ? tables : metas.map(({ tableName }) => tableName))
  return `there is no table ${JSON.stringify(table)}.${formatHint(nearest)}`
}

function isNamed({ tableName, className, schema }: EntityMetadata, table: string): boolean {
  const names = [tableName, className, ...(schema === undefined ? [] : [`${schema}.${tableName}`])]
  return names.includes(table) || names.some(each => each !== undefined && camelPlural(each) === camelPlural(table))
}

/** Exact names (in the API, entity or table) come before other spellings. */
function findProperties(meta: EntityMetadata, name: string): HiddenProperty[] {
  const exact = meta.props.filter(prop => namesOf(prop).includes(name))
  return exact.length > 0 ? exact : meta.props.filter(prop => namesOf(prop).some(each => camelCase(each) === camelCase(name)))
}

function namesOf(prop: HiddenProperty): string[] {
  const columns = prop.fieldNames ?? []
  return [prop.name, prop.serializedName, prop.embedded?.[1], ...(columns.length === 1 ? columns : [])].filter(each => each !== undefined)
}
