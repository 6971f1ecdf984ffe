/**
 * Writes the served model as a project (`--eject DIR`): a module for every entity, options, project files. Then loads the project, and
 * compares: a difference from the served model is an error; where a database gave the model, the column is left out with a note.
 */
import { internalsOf } from '../../engine/assembly/internals.ts'
import { readDatabase } from '../../engine/options/database-option.ts'
import { describeDatabase, isPglite } from '../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { EntityMetadata, EntityName } from '@mikro-orm/core'
import { RestEngine } from '../../engine.ts'
import { toJson } from '../../foundation/json/json.ts'
import type { Model, Resource } from '../../model/model.ts'
import { defaultNames } from '../../model/resource-names.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { isGeneratedPivot } from '../../model/metadata/read-model.ts'
import type { FileScalar } from '../../databases/sqlite/sql/stored-time.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { listVersions } from '../../records/request/address.ts'
import { CommandError, oneLine } from './command-error.ts'
import { installedOrmVersion } from '../../records/database/install-line.ts'
import { readOwnPackage } from './own-package.ts'
import { entityModule } from './eject-entity.ts'
import { LeftOut } from './eject-left-out.ts'
import type { LoadedSource } from './load.ts'
import { importModule } from './modules.ts'
import { Code, isLiteral, lines, literal, member } from './source.ts'

const DATA_OPTIONS = ['schema', 'base', 'versions', 'limits', 'parameters', 'createdStatus', 'validationStatus'] as const
const OTHER_OPTIONS = new Set<string>([...DATA_OPTIONS, 'entities', 'database', 'resources', 'seed', 'notes', 'readOnly', 'onError'])

interface Ejected {
  readonly files: readonly string[]
  readonly notes: readonly string[]
}

/**
 * @param folder must not exist, or be empty
 * @throws CommandError for an unusable folder, or a model that has no form as code. No written file remains then.
 */
export async function eject(engine: RestEngine, loaded: LoadedSource, folder: string): Promise<Ejected> {
  const root = resolve(folder)
  const isNew = await checkFolder(root, folder)
  const leftOut = new LeftOut(loaded.options.entities === undefined)
  try {
    let files = await writeProject(engine, loaded, root, leftOut)
    if (!(await proveSame(engine, loaded, root, leftOut))) {
      // Node imports a file once: a second text needs another place.
      const proof = join(root, '.proof')
      await writeProject(engine, loaded, proof, leftOut)
      if (!(await proveSame(engine, loaded, proof, leftOut))) throw new Error('The columns that were left out are still there.')
      await rm(proof, { recursive: true })
      files = await writeProject(engine, loaded, root, leftOut)
    }
    return { files, notes: leftOut.notes }
  } catch (error) {
    if (isNew) await rm(root, { recursive: true, force: true })
    else for (const name of await readdir(root)) await rm(join(root, name), { recursive: true, force: true })
    throw error
  }
}

async function writeProject(engine: RestEngine, loaded: LoadedSource, root: string, leftOut: LeftOut): Promise<readonly string[]> {
  const files = await buildProjectFiles(engine, loaded, root, leftOut)
  for (const [name, text] of files) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return [...files.keys()]
}

async function checkFolder(root: string, shown: string): Promise<boolean> {
  let content: readonly string[]
  try {
    content = await readdir(root)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return true
    throw new CommandError(code === 'ENOTDIR' ? `${shown} is not a folder.` : `${shown} cannot be used: ${oneLine(error)}.`)
  }
  if (content.length > 0) throw new CommandError(`${shown} is not empty: --eject writes into a new or empty folder.`)
  return false
}

async function buildProjectFiles(
  engine: RestEngine,
  loaded: LoadedSource,
  root: string,
  leftOut: LeftOut,
): Promise<ReadonlyMap<string, string>> {
  const { options } = loaded
  const metas = [...engine.orm.getMetadata()].filter(meta => !meta.abstract && !isGeneratedPivot(meta)).toSorted(byName)
  const names = assignModuleNames(metas)
  const files = new Map<string, string>()
  const seed = options.seed === undefined ? undefined : toJson(options.seed, 'The option "seed"')
  files.set('index.ts', '')
  for (const meta of metas)
    files.set(
      `entities/${names.get(meta.class)!}.ts`,
      entityModule(meta, other => `./${names.get(other.class)!}.ts`, options.entities === undefined, leftOut),
    )
  files.set('index.ts', config(engine, { ...options, notes: [...(options.notes ?? []), ...leftOut.notes] }, metas, names, root))
  if (seed !== undefined) files.set('seed.json', `${JSON.stringify(seed, undefined, 2)}\n`)
  for (const [name, text] of await buildProjectSurroundings(loaded)) files.set(name, text)
  return files
}

function byName(a: EntityMetadata, b: EntityMetadata): number {
  return a.className < b.className ? -1 : 1
}

/** Names modules after classes: `blog-post`. */
function assignModuleNames(metas: readonly EntityMetadata[]): ReadonlyMap<object, string> {
  const names = new Map<object, string>()
  for (const meta of metas) {
    const stem = meta.className.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase()
    let name = stem
    for (let number = 2; [...names.values()].includes(name); number++) name = `${stem}-${number}`
    names.set(meta.class, name)
  }
  return names
}

function refuseFunctions(options: EngineOptions): void {
  for (const [name, value] of Object.entries(options)) {
    // The entities have all names written out.
    if (name === 'orm' && Object.keys(value as object).every(each => each === 'namingStrategy')) continue
    if (value !== undefined && !OTHER_OPTIONS.has(name))
      throw new CommandError(`The option "${name}" cannot be written as code: it contains functions.`)
  }
}

function config(
  engine: RestEngine,
  options: EngineOptions,
  metas: readonly EntityMetadata[],
  names: ReadonlyMap<object, string>,
  root: string,
): string {
  refuseFunctions(options)
  const byEntity = new Map(metas.map(meta => [meta.class as object, meta]))
  const served = [...new Set(listVersions(engine.versions).flatMap(version => internalsOf(engine).modelOf(version)!.resources))].filter(
    ({ entity }) => byEntity.has(entity),
  )
  const entities = [...new Set(served.map(({ className }) => className))]
  const hidden = metas.filter(meta => !meta.embeddable && !entities.includes(meta.className)).map(({ className }) => className)
  const members = [member('entities', lines('[', [...entities, ...hidden], ']'))]
  const { database } = options
  const server = findServer(options)
  const isFile = server === undefined && database !== undefined && database !== ':memory:'
  if (server !== undefined) members.push(member('database', writeServer(server)))
  if (isFile)
    members.push(member('database', `fileURLToPath(new URL(${literal(formatImportPath(root, database as string))}, import.meta.url))`))
  // A file served without entities must not change.
  const data = options.entities === undefined ? { schema: 'keep' as const, ...options } : options
  for (const name of DATA_OPTIONS) {
    const value = data[name]
    if (value === undefined) continue
    if (!isLiteral(value)) throw new CommandError(`The option "${name}" cannot be written as code: it contains functions.`)
    members.push(member(name, literal(value)))
  }
  const definitions = findResourceDefinitions(engine, options, served)
  if (definitions.length > 0) members.push(member('resources', lines('[', definitions, ']')))
  if (options.seed !== undefined) members.push('seed')
  const modules = [...entities, ...hidden].map(name => [name, names.get(metas.find(meta => meta.className === name)!.class)!] as const)
  const imports = [
    ...(isFile ? [`import { fileURLToPath } from 'node:url'`] : []),
    ...(definitions.length > 0 ? [`import { resource } from 'mikro-rest'`] : []),
    `import type { EngineOptions } from 'mikro-rest'`,
    ...modules.toSorted(([, a], [, b]) => (a < b ? -1 : 1)).map(([name, file]) => `import { ${name} } from './entities/${file}.ts'`),
    ...(options.seed === undefined ? [] : [`import seed from './seed.json' with { type: 'json' }`]),
  ]
  // Shows the model's guesses, now code, as comments.
  const notes = (options.notes ?? []).map(note => `// ${oneLine(note)}\n`).join('')
  return `${imports.join('\n')}\n\n${notes}export default ${lines('{', members, '}')} satisfies EngineOptions\n`
}

function findServer({ database }: EngineOptions): ServerDatabase | undefined {
  const found = database === undefined ? undefined : readDatabase(database)
  return typeof found === 'object' ? found : undefined
}

function writeServer(server: ServerDatabase): string {
  const url = `process.env['DATABASE_URL'] ?? ${literal(describeDatabase(server))}`
  const { url: _, ...others } = withoutList(server)
  return Object.keys(others).length === 0 ? url : literal({ url: new Code(url), ...others })
}

/** Without a list of schemas: each entity names its schema. */
function withoutList({ schema, ...others }: ServerDatabase): ServerDatabase {
  return typeof schema === 'string' ? { schema, ...others } : others
}

function formatImportPath(root: string, file: string): string {
  return relative(root, resolve(file)).replaceAll(sep, '/')
}

function findResourceDefinitions(engine: RestEngine, options: EngineOptions, served: readonly Resource[]): string[] {
  const given = (options.resources ?? []).map(({ entity, config: ownConfig }) => {
    const { className } = engine.orm.getMetadata().get(entity as EntityName)
    const { expand, ...others } = ownConfig
    const value = { ...others, ...(expand === undefined ? {} : { expand: [...expand] }) }
    const odd = Object.entries(value).find(([, each]) => !isLiteral(each))
    if (odd !== undefined) throw new CommandError(`resource(${className}) cannot be written as code: its "${odd[0]}" contains functions.`)
    return { className, value }
  })
  const derived = served.flatMap(resource => {
    const { className, plural, singular } = resource
    const standard = defaultNames(className)
    if (given.some(each => each.className === className) || (plural === standard.plural && singular === standard.singular)) return []
    return [{ className, value: { name: plural, singular } }]
  })
  const unique = new Map(derived.map(each => [each.className, each]))
  return [...given, ...unique.values()].map(({ className, value }) => `resource(${className}, ${literal(value)})`)
}

async function buildProjectSurroundings({ title, options }: LoadedSource): Promise<[string, string][]> {
  const server = findServer(options)
  const ownPackage = await readOwnPackage()
  // With a range, npm would take other versions, and end in ERESOLVE.
  const orm = installedOrmVersion()
  const version = (name: string): string =>
    name.startsWith('@mikro-orm/') ? orm : (ownPackage.peerDependencies[name] ?? ownPackage.devDependencies[name] ?? '*')
  const manifest = {
    private: true,
    type: 'module',
    scripts: { start: 'mikro-rest .', types: 'tsc' },
    dependencies: {
      '@mikro-orm/core': version('@mikro-orm/core'),
      ...(server === undefined ? {} : { '@mikro-orm/postgresql': version('@mikro-orm/postgresql') }),
      '@mikro-orm/sqlite': version('@mikro-orm/sqlite'),
      'mikro-rest': `^${ownPackage.version}`,
      ...(server === undefined ? {} : { pg: version('pg') }),
    },
    devDependencies: { '@types/node': version('@types/node'), typescript: version('typescript') },
    prettier: { semi: false, singleQuote: true },
  }
  const types = {
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      erasableSyntaxOnly: true,
      resolveJsonModule: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
    },
  }
  return [
    ['package.json', `${JSON.stringify(manifest, undefined, 2)}\n`],
    ['tsconfig.json', `${JSON.stringify(types, undefined, 2)}\n`],
    ['README.md', writeReadme(title, server !== undefined)],
  ]
}

function writeReadme(title: string, isServer: boolean): string {
  return [
    '# A REST API with mikro-rest',
    '',
    `Ejected from ${title.replace(/^.*[\\/]/, '').replace(/, in memory$/, '')}. ` +
      `\`entities/\` has the model, one module for every entity; \`index.ts\` has the engine options.`,
    '',
    '```sh',
    'npm install',
    'npm start',
    '```',
    '',
    ...(isServer ? ['The database is that of the environment variable `DATABASE_URL`; the URL in `index.ts` has no password.', ''] : []),
    'In a test: `RestEngine.create(options)`, with `options` the default export of `index.ts`. `npm run types` checks the types.',
    '',
  ].join('\n')
}

/** Compares tables and model of the loaded project. False: different columns are left out now, and the project must be written again. */
async function proveSame(engine: RestEngine, { options }: LoadedSource, root: string, leftOut: LeftOut): Promise<boolean> {
  const written = (await importModule(join(root, 'index.ts')))['default'] as EngineOptions
  const { seed: _, ...others } = written
  // Only a server shows the columns made by a server.
  const server = findServer(options)
  // PGlite has one connection: another PGlite shows the same.
  const place =
    server === undefined
      ? { database: ':memory:' }
      : { database: { ...withoutList(server), ...(isPglite(server.url) ? { url: 'pglite:' } : {}) }, readOnly: true }
  await using copy = await RestEngine.create({ ...others, ...place, schema: 'keep' })
  const before = leftOut.notes.length
  for (const version of listVersions(engine.versions)) compareModels(engine, copy, version, leftOut)
  if (leftOut.notes.length > before) return false
  if (options.schema !== 'keep' && options.entities !== undefined) await compareTables(engine, copy)
  return true
}

function compareModels(engine: RestEngine, copy: RestEngine, version: string, leftOut: LeftOut): void {
  const [served, written] = [engine, copy].map(each => describeModel(internalsOf(each).modelOf(version)!)) as [Description, Description]
  for (const [place, value] of served) {
    if (leftOut.has(place) || written.get(place) === value) continue
    const [className = '', property = ''] = place.split('.', 2)
    const meta = [...engine.orm.getMetadata()].find(each => each.className === className)
    const prop = meta?.props.find(({ name }) => name === property)
    if (meta === undefined || prop === undefined || !leftOut.add(meta, prop, 'the code of it would not serve the same'))
      throw new CommandError(`${place} cannot be written as code: it would not be the same afterwards.`)
  }
  if ([...written.keys()].some(place => !served.has(place)))
    throw new CommandError('The model cannot be written as code: it would not be the same afterwards.')
}

async function compareTables(engine: RestEngine, copy: RestEngine): Promise<void> {
  const [before = '', after = ''] = await Promise.all([engine, copy].map(({ orm }) => orm.schema.getCreateSchemaSQL()))
  const lines = new Set(after.split('\n'))
  const lost = before.split('\n').find(statement => !lines.has(statement))
  if (lost !== undefined || before.length !== after.length) {
    throw new CommandError(`The model cannot be written as code: its tables would be others afterwards (${lost ?? 'there would be more'}).`)
  }
}

type Description = ReadonlyMap<string, string>

function describeModel(model: Model): Description {
  const described = new Map<string, string>()
  const text = (value: unknown): string =>
    JSON.stringify(value, (key, each: unknown) => {
      // A guess about a file: a row of a pivot table may link nothing.
      if (key === 'mayBeEmpty') return undefined
      if (key === 'target' || key === 'resource') return (each as Resource).className
      return typeof each === 'function' ? '' : each instanceof Map ? undefined : key === 'type' ? describeType(each as ScalarType) : each
    })
  for (const resource of model.resources) {
    const { attributes, referrers: _, entity: __, byName: ___, readStored: ____, ...plainFacts } = resource
    described.set(resource.className, text(plainFacts))
    for (const attribute of attributes) described.set(`${resource.className}.${attribute.property}`, text(attribute))
  }
  return described
}

/** The type without settings for unusual values of a file. */
function describeType(type: ScalarType): string {
  const { loose: _, toStored: __, ofFile: ___, strays: ____, time, ...others } = type as FileScalar
  // The form of texts does not matter where MikroORM stores milliseconds.
  const compared = time?.unit === 'milliseconds' && time.uniform ? others : { ...others, time }
  return JSON.stringify(
    Object.entries(compared)
      .filter(([, value]) => value !== undefined && value !== false)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}
