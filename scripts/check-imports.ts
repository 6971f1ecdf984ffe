/**
 * Check the imports of lib/: they go one way. A file may import files that stand before it in the list below and no others, types included,
 * so that no cycle can exist and the list is an order to read the code in. Prints every offending line; exit code 1 when there is one.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** All files of lib/, lowest first. A new file goes to the place where its readers should meet it. */
const ORDER = [
  // what everybody may use
  'awaitable recent trace headers errors end failure notes suggest habits article limits fault-list iso-time clock json response stored-time scalars',
  // the request, as it is read
  'parse-query parse request-pattern read-only',
  // what the deployer's functions are told, and own routes
  'context request-context routes',
  // the model, with what the deployer says of it
  'model names resource customise file-type custom-type property-type entity-code read-attribute read-hierarchy read-model key',
  // what the request is about, and what exists for the caller
  'read-plan visibility resolve check-parameters actions entity-key write-plan orm-values eager-circle filter-query list-condition caller',
  // reading
  'plan-paths plan-filters plan-order plan-selection plan room dialect bind render read',
  // writing
  'validate unchanged check contradictions precondition apply write',
  // who asks
  'password user-state tokens auth',
  // what tests do to requests on their way
  'faults',
  'seed-rows insert-order seed options',
  // options from plain data
  'infer-values infer-ids infer-model infer-relations infer from-json',
  // what is made up
  'random readable fake-values given',
  // the answer
  'respond operate serve-versions',
  // what has happened
  'changes secrets journal expect explanation',
  // a request, from its arrival to its answer
  'server-timing family life handle',
  // doors
  'json-fault json-body door cors origin-guard fetch snapshot worlds test-controls http',
  'dispatcher dispatch global-dispatcher local-socket http-agents intercept',
  // The one implementation of dialect.ts. Here and not behind it, so that no stage can reach past the seam.
  'sqlite/sql sqlite/estimate sqlite/look-out sqlite/match sqlite/scope sqlite/expressions sqlite/select sqlite/encode sqlite/decode sqlite/compile sqlite/compile-checks',
  'sqlite/lock sqlite/busy sqlite/time-functions sqlite/prepared sqlite/foreign-functions sqlite/place sqlite/reach sqlite/handle sqlite/sql-text sqlite/query-plan sqlite/advise sqlite/explain sqlite/foreign-keys sqlite/ddl sqlite/highest-keys sqlite/kysely-dialect sqlite/foreign-types sqlite/foreign-sql sqlite/foreign-index sqlite/foreign-list sqlite/foreign-model sqlite/foreign-schema sqlite/foreign-formula sqlite/recorder sqlite/on-update sqlite/foreign-code sqlite/model-time sqlite/known-statements sqlite/orm-members sqlite/target-keys sqlite/lazy-links sqlite/text-keys sqlite/polymorphic-links sqlite/misfits sqlite/orm-driver sqlite/load-record sqlite/flush sqlite/sibling-orm sqlite/connection',
  // SQLite files without entities
  'sqlite/counting-driver sqlite/check-file sqlite/open-read-only sqlite/missing-tables sqlite/introspect sqlite/existing-table sqlite/compare-table sqlite/add-schema sqlite/column-type sqlite/relations sqlite/entities-of sqlite/open',
  // all of it together
  'engine index',
  // The command line uses the library, which knows nothing of it.
  'command/command-error command/arguments command/modules command/json-file command/json-edit command/save command/layout command/source command/eject-entity command/load command/eject command/examples command/explanation-text command/serve command/watch command/main',
].flatMap(names => names.split(' ').map(name => `${name}.ts`))

/** Packages that only a part of lib/ may use. */
const KEPT_IN: Readonly<Record<string, string>> = {
  'better-sqlite3': 'sqlite/',
  kysely: 'sqlite/',
  '@mikro-orm/sqlite': 'sqlite/',
  '@faker-js/faker': 'readable.ts',
}

/** What the command line may use outside lib/: it serves the sample model when it is given nothing else. */
const OUTSIDE: Readonly<Record<string, string>> = { '../fixtures/': 'command/' }

/** Names that say where code was put and not what it does. */
const VAGUE = ['utils', 'util', 'helpers', 'helper', 'types', 'misc', 'common', 'shared']

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const lib = join(root, 'lib')

/** Static imports and exports, over several lines too, and dynamic imports of a plain text. Examples in comments begin with a star. */
const IMPORT = /^[ \t]*(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*(['"])(?<name>.+?)\1|\bimport\(\s*(['"])(?<dynamic>.+?)\3/gm

function faultOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) {
    const place = KEPT_IN[specifier.startsWith('@') ? specifier : (specifier.split('/')[0] ?? '')]
    return place === undefined || file.startsWith(place) ? undefined : `only lib/${place} may use the package "${specifier}"`
  }
  const target = relative(lib, resolve(lib, dirname(file), specifier)).replaceAll(sep, '/')
  if (target.startsWith('..')) {
    const allowed = Object.entries(OUTSIDE).some(([place, user]) => target.startsWith(place) && file.startsWith(user))
    return allowed ? undefined : `lib/ stands alone and may not import "${specifier}"`
  }
  const at = ORDER.indexOf(target)
  if (at < 0) return `"${specifier}" is no file of the list`
  return at < ORDER.indexOf(file) ? undefined : `${target} does not stand before ${file} in the list`
}

const faults: string[] = []
const files = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .map(file => file.replaceAll(sep, '/'))
  .filter(file => file.endsWith('.ts'))
for (const file of ORDER) if (!files.includes(file)) faults.push(`lib/${file}: is in the list and does not exist`)
for (const file of files) {
  const stem = file.slice(file.lastIndexOf('/') + 1).split('.')[0] ?? ''
  if (VAGUE.includes(stem)) faults.push(`lib/${file}: name a file by what it does, not "${stem}"`)
  if (!ORDER.includes(file)) {
    faults.push(`lib/${file}: is not in the list of scripts/check-imports.ts`)
    continue
  }
  const text = readFileSync(join(lib, file), 'utf8')
  for (const { index, groups } of text.matchAll(IMPORT)) {
    const fault = faultOf(file, groups?.['name'] ?? groups?.['dynamic'] ?? '')
    const [line = ''] = text.slice(index).trimStart().split('\n')
    const number = text.slice(0, index + text.slice(index).search(/\S/)).split('\n').length
    if (fault !== undefined) faults.push(`lib/${file}:${number}: ${fault}\n    ${line}`)
  }
}
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`${files.length} files of lib/ import one way.`)
