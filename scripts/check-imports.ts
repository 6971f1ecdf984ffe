/**
 * Check imports of lib/: between folders they go one way, types included. A file may import files of its own folder and of the folders that
 * stand below that in the lists of ARCHITECTURE.md and lib/*\/README.md. Inside a folder no circle of imports is allowed. What the engine
 * reaches by static imports stays below a bound. A head comment that begins with a name has the name of its file. One type name stands in
 * one file. What a file takes of a module stands in one line, where that has room for it. Only rooms for Node use what Node alone has
 * (node-rooms.ts). No line is too long (long-lines.ts), and no room larger than its budget (room-budgets.ts); `--lower` writes the budgets
 * as low as the rooms are. Prints every offending line; exit code 1 when there is one.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COLUMNS, listLongLines } from './long-lines.ts'
import { NODE_ROOMS, findNodeRoom, findNodeUse, listStaticModules } from './node-rooms.ts'
import { listOverBudget, lowerBudgets, measureRoom, type Budgets } from './room-budgets.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const lib = join(root, 'lib')

/** The folders that a page lists: each item of a list begins with one. */
function listFolders(page: string): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/^- `([a-z/-]+)\/`/gm)].map(([, folder = '']) => folder)
}

/** The folders of lib/ by rank: the lowest has the highest number. ARCHITECTURE.md lists those at the top, the page of each its own. */
const RANKS = new Map(
  listFolders('ARCHITECTURE.md')
    .flatMap(top => listFolders(`lib/${top}/README.md`))
    .map((folder, rank) => [folder === 'lib' ? '' : folder, rank]),
)

/** Packages that only a part of lib/ may use. */
const KEPT_IN: Readonly<Record<string, string>> = {
  'better-sqlite3': 'databases/sqlite/driver/open-raw.ts',
  '@mikro-orm/sqlite': 'databases/sqlite/',
  pg: 'databases/postgres/',
  '@mikro-orm/postgresql': 'databases/postgres/',
  '@faker-js/faker': 'engine/testing/faker-text.ts',
  preact: 'workbench/',
  '@preact/signals': 'workbench/',
}

/** Packages that the parts of lib/ may use which drive a database. */
const OF_DATABASES = ['kysely']
const DATABASES = ['databases/sqlite/', 'databases/postgres/']

/** Folders outside that parts of lib/ may import: the command serves the sample model by default. */
const OUTSIDE: Readonly<Record<string, string>> = { '../fixtures/': 'doors/cli/' }

/**
 * The files that may import lib/databases/sqlite. All others use the interfaces of lib/records/database. The command ejects models of
 * SQLite files, which use `fileType`.
 */
const USERS_OF_SQLITE = [
  'databases/sqlite/',
  'engine/assembly/open-database.ts',
  'doors/cli/eject',
  'browser.ts',
  'everywhere.ts',
  'index.ts',
]

/** The files that may import lib/databases/postgres. */
const USERS_OF_POSTGRES = ['databases/postgres/', 'engine/assembly/open-database.ts']

/** Where the numbers stand that rooms are held to. They fall; a feature that raises one says in its commit what for. */
const BUDGETS = join(root, 'scripts/budgets.json')
const budgets = JSON.parse(readFileSync(BUDGETS, 'utf8')) as Budgets

/**
 * What the command and the checks use of lib/ beside the public engine (`engine.ts`, `index.ts`, `doors/`), `foundation/` and each other:
 * each with its reason. The lists may get shorter: what is not used any more is a fault, too.
 */
const PAST_ENGINE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'doors/cli/': {
    'check-against.ts': 'public: --check compares with a backend',
    'wires/json-server/index.ts': 'public: --as json-server',
    'wires/postgrest/index.ts': 'the command answers as postgrest and supabase do',
    'open-recording.ts': 'public: a recording is opened as an engine',
    'try-promises.ts': '--self-test of what is served read-only',
    'databases/orm/on-update.ts': 'eject writes functions as the entity had them',
    'databases/sqlite/introspect/file-type.ts': 'eject tells the types of a file from those of entities',
    'databases/sqlite/sql/stored-time.ts': 'eject names the form in which a file has times',
    'engine/auth/auth-options.ts': '--login switches log-in on',
    'engine/auth/password.ts': '--login tells plain passwords from hashes',
    'engine/config/choose-config.ts': 'a config of MikroORM is told from options',
    'engine/config/read-config.ts': 'the same config is read as the engine reads it',
    'engine/config/taken-options.ts': 'options of MikroORM are told from those of the engine',
    'engine/journal/explanation.ts': 'types of --explain',
    'engine/journal/journal-entry.ts': 'the type of a journal in a file',
    'engine/options/check-options.ts': 'names of options are told from those of entities',
    'engine/options/database-option.ts': 'an address of a database is read as the engine reads it',
    'engine/assembly/internals.ts': 'what a server asks of an engine',
    'engine/assembly/open-database.ts': 'a database is opened to say what evolving it takes',
    'engine/options/options.ts': 'types of options',
    'engine/assembly/rehearse.ts': 'diff says what evolving would change',
    'engine/testing/fault-options.ts': 'the bound of --delay',
    'model/json-model/from-json.ts': 'a JSON file becomes a model',
    'model/json-model/infer-model.ts': 'types of that model, by which it is saved',
    'model/json-model/infer-values.ts': 'values of a JSON file',
    'model/json-model/infer.ts': 'a JSON file becomes a model',
    'model/metadata/read-common.ts': 'eject leaves out what the model leaves out',
    'model/metadata/read-model.ts': 'eject leaves out pivot tables that are made',
    'model/model.ts': 'eject, examples and saving read the model',
    'model/resource-names.ts': 'eject and --hide name as the model does',
    'model/seeds.ts': '--seed is checked as the option is',
    'records/database/changes.ts': 'saving listens to changes of rows',
    'records/database/describe-database.ts': 'kinds of databases',
    'records/database/evolving.ts': 'types of what evolving changes',
    'records/database/fill-text.ts': 'values of --fill',
    'records/database/explained-statements.ts': 'types of --explain',
    'records/database/install-line.ts': 'eject names the version of MikroORM',
    'records/database/world-store.ts': 'the type of a database on a server',
    'records/plan/visibility.ts': 'examples show what everybody may see',
    'records/request/address.ts': 'paths of examples, and --base',
    'records/request/reserved-parameters.ts': 'examples avoid attributes of these names',
    'records/request/reserved-paths.ts': 'addresses that are printed',
  },
  'checks/': {
    'description/conformity/conformity.ts': 'answers are held against the document',
    'description/openapi/schema.ts': 'bodies are made by schemas',
    'engine/pipeline/respond.ts': 'answers are held in the form of the application, too',
    'engine/assembly/assemble.ts': 'a type: the parts of a fork',
    'engine/pipeline/arrival.ts': 'a type: the context of a request',
    'engine/assembly/hold-answer.ts': 'answers are held against the document',
    'engine/testing/fake-values.ts': 'bodies have made-up values',
    'engine/testing/given-options.ts': 'a type: overrides',
    'engine/testing/random.ts': 'the same seed gives the same requests',
    'model/hook-context.ts': 'a type: the engine',
    'model/ids-name.ts': 'IDs beside relations',
    'model/key.ts': 'IDs of records',
    'model/model.ts': 'requests are made by the model',
    'records/request/address.ts': 'paths of versions',
    'records/request/operators.ts': 'filters are told apart by the table of the engine',
    'records/request/query-string.ts': 'names of parameters',
    'records/request/reserved-parameters.ts': 'a type: reserved names',
  },
}

/** What is used of `PAST_ENGINE`. */
const usedPastEngine = new Set<string>()

/** Returns what is wrong with an import of the command or of the checks, which stand on the public engine. */
function faultPastEngine(file: string, target: string): string | undefined {
  const wing = Object.keys(PAST_ENGINE).find(each => file.startsWith(each))
  const isOwn = wing !== undefined && target.startsWith(wing)
  if (wing === undefined || isOwn || /^(?:\.\.|doors\/|foundation\/|engine\.ts$|index\.ts$)/.test(target)) return undefined
  usedPastEngine.add(`${wing} ${target}`)
  return target in PAST_ENGINE[wing]!
    ? undefined
    : `lib/${wing} stands on the public engine: lib/${target} is not in PAST_ENGINE of scripts/check-imports.ts`
}

/** Names that do not describe a purpose. */
const VAGUE = ['utils', 'util', 'helpers', 'helper', 'types', 'misc', 'common', 'shared']

/** Static imports and exports, over several lines too, and dynamic imports of a plain text. Examples in comments begin with a star. */
const IMPORT = /^[ \t]*(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*(['"])(?<name>.+?)\1|\bimport\(\s*(['"])(?<dynamic>.+?)\3/gm

function folderOf(file: string): string {
  const end = file.lastIndexOf('/')
  return end < 0 ? '' : file.slice(0, end)
}

const NAMES = /^import (type )?(?:\w+, )?\{ ([^}\n]*) \} from '([^']+)'$/gm

/** The modules whose values and types a file imports by two lines, though one has room for them. */
function listSplitImports(text: string): string[] {
  const found = [...text.matchAll(NAMES)].map(([line, type, names = '', module = '']) => ({ line, type, names, module }))
  return found.flatMap(({ type, names, module }) => {
    const values = type === undefined ? undefined : found.find(other => other.type === undefined && other.module === module)
    const added = names.split(', ').map(name => `, type ${name}`)
    return values === undefined || values.line.length + added.join('').length > COLUMNS.code ? [] : [module]
  })
}

/** Returns the target of a relative import, as a path below lib/. */
function targetOf(file: string, specifier: string): string {
  return relative(lib, resolve(lib, dirname(file), specifier)).replaceAll(sep, '/')
}

/** The workbench runs in browsers: it may import types alone from the rest of lib/; and nothing imports the workbench. */
function faultOfWorkbench(file: string, target: string, line: string): string | undefined {
  const isOwn = file.startsWith('workbench/')
  if (!target.startsWith('workbench/') && isOwn && !/^\s*(?:import|export) type\b/.test(line))
    return 'lib/workbench runs in browsers, and may import types alone from the rest of lib/'
  return target.startsWith('workbench/') && !isOwn ? 'lib/workbench is a page, which the rest of lib/ does not import' : undefined
}

function faultOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) {
    if (OF_DATABASES.includes(specifier))
      return DATABASES.some(place => file.startsWith(place))
        ? undefined
        : `only ${DATABASES.map(place => `lib/${place}`).join(' and ')} may use the package "${specifier}"`
    const place = KEPT_IN[specifier.startsWith('@') ? specifier : (specifier.split('/')[0] ?? '')]
    return place === undefined || file.startsWith(place) ? undefined : `only lib/${place} may use the package "${specifier}"`
  }
  const target = targetOf(file, specifier)
  if (target.startsWith('..')) {
    const allowed = Object.entries(OUTSIDE).some(([place, user]) => target.startsWith(place) && file.startsWith(user))
    return allowed ? undefined : `lib/ stands alone and may not import "${specifier}"`
  }
  if (target.startsWith('databases/sqlite/') && !USERS_OF_SQLITE.some(user => file.startsWith(user)))
    return (
      `only ${USERS_OF_SQLITE.map(user => `lib/${user}`).join(', ')} may import lib/databases/sqlite: ` +
      'use the interfaces of lib/records/database'
    )
  if (target.startsWith('databases/postgres/') && !USERS_OF_POSTGRES.some(user => file.startsWith(user)))
    return (
      `only ${USERS_OF_POSTGRES.map(user => `lib/${user}`).join(', ')} may import lib/databases/postgres: ` +
      'use the interfaces of lib/records/database'
    )
  const own = RANKS.get(folderOf(file)) ?? 0
  const other = RANKS.get(folderOf(target)) ?? 0
  return other >= own
    ? undefined
    : `lib/${folderOf(target)} stands above lib/${folderOf(file)} in the lists of ARCHITECTURE.md and lib/*/README.md`
}

/** The files that a file reaches by static imports. */
function reachOf(file: string, imports: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set([file])
  for (const each of reached) for (const next of imports.get(each) ?? []) reached.add(next)
  return reached
}

/** Finds a circle of imports. Undefined when there is none. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...path, file])
      if (circle !== undefined) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const circle = visit(file, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

/** The name at the beginning of a head comment: `Plan cache: keeps ...`. */
const HEAD = /^\/\*\*\s*(?:\*\s*)?([^:.\n]{1,40}):\s/

/** Whether a head comment bears another name than its file. */
function bearsOtherName(stem: string, text: string): boolean {
  const [, head] = HEAD.exec(text) ?? []
  return head !== undefined && stem !== 'index' && head.toLowerCase().replaceAll(/[ -]/g, '') !== stem.toLowerCase().replaceAll('-', '')
}

const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm

/** The two databases say the same of different things: a name stands once in each, or once in all. */
function isTwin(homes: readonly string[]): boolean {
  return homes.length === 2 && DATABASES.every(database => homes.some(home => home.startsWith(database)))
}

/** Where each type is declared, by its name. */
const homes = new Map<string, string[]>()
const faults: string[] = []
const files = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .map(file => file.replaceAll(sep, '/'))
  .filter(file => /\.tsx?$/.test(file))
for (const folder of RANKS.keys()) {
  if (!files.some(file => folderOf(file) === folder)) faults.push(`lib/${folder}: is in the list of a README.md and has no file`)
}
const graph = new Map<string, Set<string>>()
/** The same without dynamic imports. */
const staticGraph = new Map<string, Set<string>>()
const lines = new Map<string, number>()
const textsOfRooms = new Map<string, string[]>()
const usedNodeRooms = new Set<string>()
/** Files that load modules of Node when they are loaded. */
const loadsOfNode = new Map<string, readonly string[]>()
for (const file of files) {
  const stem = file.slice(file.lastIndexOf('/') + 1).split('.')[0] ?? ''
  if (VAGUE.includes(stem)) faults.push(`lib/${file}: name a file by what it does, not "${stem}"`)
  if (!RANKS.has(folderOf(file))) {
    faults.push(`lib/${file}: its folder is not in the list of lib/${file.split('/')[0]}/README.md`)
    continue
  }
  const text = readFileSync(join(lib, file), 'utf8')
  if (bearsOtherName(stem, text)) faults.push(`lib/${file}:1: its head comment begins with another name than that of the file`)
  lines.set(file, text.split('\n').length - 1)
  textsOfRooms.set(folderOf(file), [...(textsOfRooms.get(folderOf(file)) ?? []), text])
  const nodeRoom = findNodeRoom(file)
  const nodeUse = file.startsWith('workbench/') ? undefined : findNodeUse(text)
  if (nodeUse !== undefined && nodeRoom === undefined)
    faults.push(`lib/${file}:${nodeUse.line}: only Node has "${nodeUse.use}": ask lib/foundation/runtime, or see scripts/node-rooms.ts`)
  if (nodeUse !== undefined && nodeRoom !== undefined) usedNodeRooms.add(nodeRoom)
  loadsOfNode.set(file, listStaticModules(text))
  for (const [, name = ''] of text.matchAll(TYPE)) {
    const known = homes.get(name) ?? []
    if (!known.includes(file)) homes.set(name, [...known, file])
  }
  for (const module of listSplitImports(text))
    faults.push(`lib/${file}: one line has room for all of ${module}: write "type" before the names of types`)
  const targets = new Set<string>()
  const staticTargets = new Set<string>()
  for (const { index, groups } of text.matchAll(IMPORT)) {
    const specifier = groups?.['name'] ?? groups?.['dynamic'] ?? ''
    const [line = ''] = text.slice(index).trimStart().split('\n')
    const isRelative = specifier.startsWith('.')
    const own = isRelative ? targetOf(file, specifier) : ''
    const fault = faultOf(file, specifier) ?? (isRelative ? (faultOfWorkbench(file, own, line) ?? faultPastEngine(file, own)) : undefined)
    if (isRelative) targets.add(targetOf(file, specifier))
    if (isRelative && groups?.['name'] !== undefined) staticTargets.add(targetOf(file, specifier))
    const number = text.slice(0, index + text.slice(index).search(/\S/)).split('\n').length
    if (fault !== undefined) faults.push(`lib/${file}:${number}: ${fault}\n    ${line}`)
  }
  graph.set(file, targets)
  staticGraph.set(file, staticTargets)
}
faults.push(...listLongLines(root))
for (const room of Object.keys(NODE_ROOMS))
  if (!usedNodeRooms.has(room)) faults.push(`lib/${room} uses nothing of Node any more: take it out of scripts/node-rooms.ts`)
for (const [wing, allowed] of Object.entries(PAST_ENGINE))
  for (const target of Object.keys(allowed))
    if (!usedPastEngine.has(`${wing} ${target}`)) faults.push(`lib/${wing} does not use lib/${target} any more: take it out of PAST_ENGINE`)
for (const [name, found] of homes)
  if (found.length > 1 && !isTwin(found))
    faults.push(`the type ${name} has several homes: ${found.map(file => `lib/${file}`).join(', ')}. Share one, or say what each is.`)
const circle = circleIn(graph)
if (circle !== undefined) faults.push(`a circle of imports: ${circle.map(file => `lib/${file}`).join(' -> ')}`)
const reachedFiles = [...reachOf('engine.ts', staticGraph)]
for (const file of reachedFiles)
  for (const module of loadsOfNode.get(file) ?? [])
    faults.push(`lib/${file}: lib/engine.ts reaches the file by static imports, so load ${module} when it is used: "builtin"`)
const reached = reachedFiles.reduce((sum, file) => sum + (lines.get(file) ?? 0), 0)
const rooms = new Map(
  [...textsOfRooms].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([room, texts]) => [room === '' ? 'lib' : room, measureRoom(texts)]),
)
if (process.argv.includes('--lower')) writeFileSync(BUDGETS, `${JSON.stringify(lowerBudgets(rooms, reached, budgets), null, 2)}\n`)
else {
  faults.push(...listOverBudget(rooms, budgets))
  // What is used seldom is imported when it is; an interface that is needed apart from its code has a file of its own.
  if (reached > budgets.reached)
    faults.push(
      `lib/engine.ts reaches ${reached} lines by static imports, and at most ${budgets.reached} are allowed: ` +
        'import what is seldom used dynamically',
    )
}
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`${files.length} files in ${RANKS.size} folders of lib/ import one way; lib/engine.ts reaches ${reached} lines.`)
