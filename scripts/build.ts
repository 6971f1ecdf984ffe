/**
 * Builds dist/ for publication: the scripts (bundle.ts), and the types of the library, which are files as in lib/. `npm run build` runs it,
 * and npm before it packs. Specs have most of it already: with `--types FOLDER` the types are those that the compiler has written there,
 * with `--scripts FOLDER` the scripts are those of another dist/, and with `--page FOLDER` those for pages are there.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import { bundlePage } from './bundle-page.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

const given = parseArgs({ options: { types: { type: 'string' }, scripts: { type: 'string' }, page: { type: 'string' } } }).values

function declareTypes(): void {
  const { types } = given
  if (types !== undefined) return cpSync(join(types, 'lib'), join(dist, 'lib'), { recursive: true })
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const { status, error } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build-types.json'], { cwd: root, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Imports in a declaration file: `from './a.ts'` and `import('./a.ts')`. */
const TYPE_IMPORT = /(\bfrom |\bimport\()(['"])(\.[^'"]+)\.ts\2/g

/** Finishes a declaration file and its imports. The compiler leaves `.ts` in imports, which older compilers do not accept. */
function finishTypes(file: string, finished: Set<string>): void {
  if (finished.has(file)) return
  finished.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, , , path] of text.matchAll(TYPE_IMPORT)) finishTypes(join(dirname(file), `${path}.d.ts`), finished)
  writeFileSync(file, text.replaceAll(TYPE_IMPORT, '$1$2$3.js$2'))
}

/** The declaration files whose comments users see in their editor: those that an entry exports from, and what these say of the model. */
function isShown(file: string, entries: readonly string[]): boolean {
  if (file.startsWith(join(dist, 'lib/model'))) return true
  return entries.some(
    entry =>
      entry === file ||
      [...readFileSync(entry, 'utf8').matchAll(/ from '(.+?)\.js'/g)].some(([, path]) => join(dirname(entry), `${path}.d.ts`) === file),
  )
}

/** An entry, and the files all of whose exports are the entry's: `export * from './everywhere.js'`. */
function withShared(entry: string): string[] {
  return [
    entry,
    ...[...readFileSync(entry, 'utf8').matchAll(/^export \* from '(.+?)\.js'/gm)].map(([, path]) => join(dirname(entry), `${path}.d.ts`)),
  ]
}

/** Removes the comments of a declaration file. */
function removeComments(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^[ \t]*\/\*\*[^]*?\*\/\n/gm, ''))
}

rmSync(dist, { recursive: true, force: true })
declareTypes()
const needed = new Set<string>()
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}
const entries = Object.values(exports).flatMap(target => (typeof target === 'string' ? [] : [join(root, target.types)]))
for (const entry of entries) finishTypes(entry, needed)
const lists = entries.flatMap(withShared)
for (const file of needed) if (!isShown(file, lists)) removeComments(file)
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const file = join(dist, name)
  if (name.endsWith('.d.ts') && !needed.has(file)) rmSync(file)
}
if (given.scripts === undefined) await bundle(root, dist)
else cpSync(given.scripts, dist, { recursive: true })
if (given.page === undefined) await bundlePage(root, join(dist, 'browser'))
else cpSync(given.page, join(dist, 'browser'), { recursive: true })
const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.js'))
console.log(`dist/: ${scripts.length} scripts, types of ${needed.size}.`)
