/** Bundles a file of specs for a page with the library as pages have it, the bundle of `npm run build`, and serves the page. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { bundledPage } from '../helpers/bundled-page.ts'
import { serveFiles, type ServedPage } from './serve-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Puts the bundle in the place of the entries in `lib/`, which the types of specs come from. */
export const asBuilt = (folder: string): Plugin => ({
  name: 'as built',
  setup({ onResolve }) {
    onResolve({ filter: /\/lib\/browser\.ts$/ }, () => ({ path: join(folder, 'index.js') }))
    onResolve({ filter: /\/lib\/doors\/page\/ask-port\.ts$/ }, () => ({ path: join(folder, 'port.js') }))
  },
})

export interface PageOptions {
  /** The page's Content-Security-Policy. */
  readonly policy?: string
  /** A file for `/worker.js`. */
  readonly worker?: string
  /** Texts of further scripts, by path. */
  readonly scripts?: Readonly<Record<string, string>>
  /** Is told of each body that the page posts, and gives the answer. */
  readonly posted?: (body: string) => string
}

export interface ServedEntry extends ServedPage {
  /** What a page has loaded, by path. */
  readonly loaded: ReadonlyMap<string, Buffer>
}

export async function serveEntry(entry: string, { policy, worker, scripts = {}, posted }: PageOptions = {}): Promise<ServedEntry> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: entry, ...(worker === undefined ? {} : { worker }) },
    outdir: '/',
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    plugins: [asBuilt(await bundledPage())],
    nodePaths: [join(root, 'node_modules')],
    logLevel: 'warning',
  })
  const files = new Map<string, Buffer>(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, Buffer.from(contents)]))
  files.set('/sqlite3.wasm', await readFile(join(await bundledPage(), 'sqlite3.wasm')))
  for (const [path, text] of Object.entries(scripts)) files.set(path, Buffer.from(text))
  const meta = policy === undefined ? '' : `<meta http-equiv="Content-Security-Policy" content="${policy}">`
  files.set('/index.html', Buffer.from(`<!doctype html><title>shop</title>${meta}<script type="module" src="/page.js"></script>`))
  const loaded = new Map<string, Buffer>()
  const served = await serveFiles(files, (path, content) => loaded.set(path, content), posted)
  return { ...served, loaded }
}
