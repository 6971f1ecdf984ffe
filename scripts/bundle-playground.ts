/**
 * Bundles the playground into a folder for any static host: the page, its scripts, the workbench, and SQLite. `npm run build:playground`
 * writes playground/dist/, and prints its size.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { DIAGRAM_STYLE } from '../lib/description/diagram/svg.ts'
import { readLicenses, readSqliteLicense } from './licenses.ts'
import { pageModules } from './page-modules.ts'
import { shakeSqlite } from './shake-sqlite.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** What the first screen needs: without preloading, a browser would find each import behind another. */
const NEEDED = [
  'playground/main.ts',
  'playground/bar.tsx',
  'lib/engine/assembly/open-engine.ts',
  'lib/databases/sqlite/open.ts',
  'lib/workbench/main.tsx',
  'lib/workbench/data/data-screen.tsx',
]

const shaken: Plugin = {
  name: 'shaken SQLite',
  setup: ({ onLoad }) => onLoad({ filter: /sqlite3\.wasm$/ }, () => ({ contents: shakeSqlite(root), loader: 'file' })),
}

/** Its package has no text of a licence. */
const SQLITE = '@sqlite.org/sqlite-wasm'

/**
 * @param folder is emptied first
 * @returns bytes of the files, compressed by gzip
 */
export async function bundlePlayground(folder: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'playground/main.ts', style: 'playground/style.css' },
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    legalComments: 'none',
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.wasm': 'file' },
    // The workbench shows diagrams that the engine draws.
    footer: { css: DIAGRAM_STYLE },
    plugins: [pageModules(root), shaken],
    metafile: true,
    logLevel: 'warning',
  })
  const page = writePage(metafile)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { path, contents } of outputFiles) writeFileSync(path, contents)
  writeFileSync(join(folder, 'index.html'), page)
  writeFileSync(join(folder, 'licenses.txt'), `${readLicenses(root, listPackages(metafile))}\n\n${readSqliteLicense(root)}`)
  return readdirSync(folder).reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
}

function writePage({ outputs }: Metafile): string {
  const files = Object.entries(outputs).map(([path, output]) => ({ path, name: basename(path), ...output }))
  const find = (source: string): string => files.find(({ entryPoint }) => entryPoint === source)!.path
  const needed = new Set<string>()
  const need = (path: string): void => {
    if (needed.has(path)) return
    needed.add(path)
    for (const { kind, path: imported } of outputs[path]!.imports) if (kind === 'import-statement') need(imported)
  }
  const main = find('playground/main.ts')
  for (const source of NEEDED) need(find(source))
  needed.delete(main)
  const links = [...needed].map(path => `<link rel="modulepreload" href="${basename(path)}" />`)
  const { name: wasm } = files.find(({ name }) => name.endsWith('.wasm'))!
  return readFileSync(join(root, 'playground/index.html'), 'utf8')
    .replace('main.ts', basename(main))
    .replace('style.css', basename(find('playground/style.css')))
    .replace('<!-- preloaded -->', [`<link rel="preload" as="fetch" crossorigin href="${wasm}" />`, ...links].join('\n    '))
}

function listPackages({ inputs }: Metafile): string[] {
  const names = Object.keys(inputs).flatMap(path => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
  return [...new Set(names)].filter(name => name !== SQLITE).toSorted()
}

if (import.meta.main) {
  const folder = join(root, 'playground/dist')
  const bytes = await bundlePlayground(folder)
  console.log(`playground/dist/: ${Math.round(bytes / 1000).toLocaleString('en')} KB (gzip), for any static host.`)
}
