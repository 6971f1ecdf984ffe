/**
 * Bundles the workbench for browsers: one file that the page loads first, one for each screen, and the style. The name of each file says
 * what is in it. `npm run build` writes them into dist/workbench/; a server in a clone makes them when it is first asked for one.
 */
import { createHash } from 'node:crypto'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { DIAGRAM_STYLE } from '../lib/description/diagram/svg.ts'
import { readLicenses } from './licenses.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** What the bundles hold of others. */
const PACKAGES = ['preact', '@preact/signals', '@preact/signals-core']

/** Returns the texts by file name. */
export async function bundleWorkbench(): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'lib/workbench/main.tsx', style: 'lib/workbench/style.css' },
    // Nothing is written: it only gives the files their names.
    outdir: join(root, 'dist/workbench'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const files = new Map(
    outputFiles.map(({ path, text }) => (path.endsWith('.css') ? withDiagram(text) : ([basename(path), text] as const))),
  )
  files.set('licenses.txt', readLicenses(root, PACKAGES))
  return files
}

/** The style, with the rules of the diagram that the server draws. */
function withDiagram(style: string): readonly [name: string, text: string] {
  const text = style.trimEnd() + DIAGRAM_STYLE
  return [`style-${createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase()}.css`, text]
}
