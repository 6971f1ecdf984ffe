/**
 * Bundles the library for pages: the entry `mikro-rest/browser`, and the parts that are loaded on demand. MikroORM and Kysely stay
 * imports: an application's bundler shares them with the entities. Other packages are in the files. `npm run build` writes them.
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
 * @param folder gets `index.js`
 */
export async function bundlePage(root: string, folder: string): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { index: 'lib/browser.ts' },
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
  mkdirSync(folder, { recursive: true })
  for (const { path, text } of outputFiles) writeFileSync(path, text)
  writeFileSync(join(folder, 'licenses.txt'), readLicenses(root, PACKAGES))
}
