/**
 * Builds dist/ for publication. The library and the command are bundled into few files, because each file costs Node a part of a
 * millisecond. Dynamic imports are files of their own, loaded on demand. Source maps lead back to the lines of lib/. The types of the library are
 * files as in lib/. Kysely is packed beside them, for quick starts. `npm run build` runs it, and npm before it packs.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { mergeChunks } from './merge-chunks.ts'
import { packKysely } from './pack-kysely.ts'
import { thinSourceMap } from './thin-source-maps.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly engines: { readonly node: string } }
const target = engines.node.replace('>=', 'node')

/** Bundles into dist/lib/, so that paths relative to lib/doors/cli/ stay valid in every file. */
async function bundle(): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      'lib/index': 'lib/index.ts',
      'lib/model/client/index': 'lib/model/client/index.ts',
      'lib/doors/cli/main': 'lib/doors/cli/main.ts',
    },
    outdir: dist,
    chunkNames: 'lib/chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target,
    packages: 'external',
    sourcemap: true,
    // The published package has no lib/, but stacks still name its files and lines.
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  })
  await mergeChunks(root, metafile, [
    // The client is for browsers: it loads nothing of the engine.
    { name: 'client', entries: ['lib/model/client/index.ts'] },
    // A wrong command line is refused without the engine.
    { name: 'common', entries: ['lib/index.ts', 'lib/doors/cli/main.ts'] },
    { name: 'engine', entries: ['lib/engine.ts'] },
    { name: 'library', entries: ['lib/index.ts'] },
    { name: 'sqlite', entries: ['lib/databases/sqlite/open.ts'] },
    { name: 'command', entries: ['lib/doors/cli/main.ts'] },
  ])
}

/** Thins the source maps, which would be a third of the package. */
function thinSourceMaps(): void {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const file = join(dist, name)
    if (name.endsWith('.js.map')) writeFileSync(file, thinSourceMap(readFileSync(file, 'utf8')))
  }
}

function declareTypes(): void {
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

/** The declaration files whose comments users see in their editor: those that an entry exports from, and the model, which `engine.model` gives. */
function isShown(file: string, entries: readonly string[]): boolean {
  if (file.startsWith(join(dist, 'lib/model'))) return true
  return entries.some(
    entry =>
      entry === file ||
      [...readFileSync(entry, 'utf8').matchAll(/ from '(.+?)\.js'/g)].some(([, path]) => join(dirname(entry), `${path}.d.ts`) === file),
  )
}

/** Removes the comments of a declaration file. */
function removeComments(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^[ \t]*\/\*\*[^]*?\*\/\n/gm, ''))
}

rmSync(dist, { recursive: true, force: true })
declareTypes()
const needed = new Set<string>()
const entries = ['index.d.ts', 'model/client/index.d.ts'].map(entry => join(dist, 'lib', entry))
for (const entry of entries) finishTypes(entry, needed)
for (const file of needed) if (!isShown(file, entries)) removeComments(file)
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const file = join(dist, name)
  if (name.endsWith('.d.ts') && !needed.has(file)) rmSync(file)
}
await bundle()
thinSourceMaps()
await packKysely(root, join(dist, 'packed'), target)
const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.js'))
console.log(`dist/: ${scripts.length} scripts, types of ${needed.size}.`)
