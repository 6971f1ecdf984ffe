/**
 * Bundles the library for pages: the entries `mikro-rest/browser` and `mikro-rest/port`, and the parts that are loaded on demand.
 * MikroORM and Kysely stay imports: an application's bundler shares them with the entities. Other packages are in the files.
 * `npm run build` writes them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { readLicenses } from './licenses.ts'
import { pageModules } from './page-modules.ts'

/** Packages for the application's bundler. */
const EXTERNAL = ['@mikro-orm/*', 'kysely']

/** What the files hold of others. */
const PACKAGES = ['@noble/hashes', 'base64-js', 'buffer', 'ieee754', 'leven', 'pluralize', 'tweetnacl']

/**
 * @param root the repository
 * @param folder gets `index.js`, and `port.js`
 */
export async function bundlePage(root: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  // A page with a worker loads no engine: what both have is in both, since a common file would hold what only an engine uses.
  for (const entry of [{ index: 'lib/browser.ts' }, { port: 'lib/doors/page/ask-port.ts' }]) {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: entry,
      outdir: folder,
      write: false,
      bundle: true,
      splitting: true,
      minify: true,
      legalComments: 'none',
      format: 'esm',
      platform: 'browser',
      target: 'es2024',
      external: EXTERNAL,
      plugins: [pageModules(root)],
      logLevel: 'warning',
    })
    for (const { path, text } of outputFiles) writeFileSync(path, text)
  }
  writeFileSync(join(folder, 'licenses.txt'), readLicenses(root, PACKAGES))
}
