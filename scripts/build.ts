/**
 * Build: dist/, as it is published. JavaScript of the library, the command line and the sample model that it serves; types of the library
 * only, as nobody imports the others. Run by `npm run build`, and by npm before it packs.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

function compile(project: string): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const { status, error } = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Imports in a declaration file: `from './a.ts'` and `import('./a.ts')`. */
const TYPE_IMPORT = /(\bfrom |\bimport\()(['"])(\.[^'"]+)\.ts\2/g

/** The declaration file and all that it needs. The compiler leaves `.ts` in their imports, which older compilers do not take. */
function finishTypes(file: string, finished: Set<string>): void {
  if (finished.has(file)) return
  finished.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, , , path] of text.matchAll(TYPE_IMPORT)) finishTypes(join(dirname(file), `${path}.d.ts`), finished)
  writeFileSync(file, text.replaceAll(TYPE_IMPORT, '$1$2$3.js$2'))
}

rmSync(dist, { recursive: true, force: true })
compile('tsconfig.build.json')
compile('tsconfig.build-types.json')
const needed = new Set<string>()
finishTypes(join(dist, 'lib', 'index.d.ts'), needed)
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const file = join(dist, name)
  if (name.endsWith('.d.ts') && !needed.has(file)) rmSync(file)
}
console.log(`dist/: ${readdirSync(dist, { recursive: true }).length} files, types of ${needed.size}.`)
