/**
 * Bundles the library for pages: the entries `mikro-rest/browser` and `mikro-rest/port`, and the parts that are loaded on demand.
 * MikroORM and Kysely stay imports: an application's bundler shares them with the entities. Other packages are in the files.
 * `npm run build` writes them.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { readLicenses, readSqliteLicense } from './licenses.ts'
import { mergeChunks, type Group } from './merge-chunks.ts'
import { pageModules } from './page-modules.ts'
import { shakeSqlite } from './shake-sqlite.ts'

/** Packages for the application's bundler. */
const EXTERNAL = ['@mikro-orm/*', 'kysely']

const TARGET = 'es2024'

/** A browser asks for each file on its own: what an engine always loads is in few. */
const BUNDLES: readonly { readonly entry: Readonly<Record<string, string>>; readonly groups: readonly Group[] }[] = [
  {
    entry: { index: 'lib/browser.ts' },
    groups: [
      { name: 'engine', entries: ['lib/browser.ts'] },
      { name: 'opening', entries: ['lib/engine/assembly/open-engine.ts'] },
      { name: 'sqlite', entries: ['lib/databases/sqlite/open.ts'] },
      { name: 'writing', entries: ['lib/records/seed/sow.ts', 'lib/records/write/preparing-writer.ts'] },
      { name: 'seeding', entries: ['lib/records/seed/sow.ts'] },
      { name: 'writer', entries: ['lib/records/write/preparing-writer.ts', 'lib/records/unit-of-work/entity-writer.ts'] },
    ],
  },
  { entry: { port: 'lib/doors/page/ask-port.ts' }, groups: [] },
]

/** What the files hold of others. */
const PACKAGES = ['@noble/hashes', 'base64-js', 'buffer', 'ieee754', 'leven', 'pluralize', 'tweetnacl']

/**
 * @param root the repository
 * @param folder gets `index.js`, `port.js` and `sqlite3.wasm`
 */
export async function bundlePage(root: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  // A page with a worker loads no engine: what both have is in both, since a common file would hold what only an engine uses.
  for (const { entry, groups } of BUNDLES) {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: entry,
      outdir: folder,
      bundle: true,
      splitting: true,
      legalComments: 'none',
      format: 'esm',
      platform: 'browser',
      target: TARGET,
      external: EXTERNAL,
      plugins: [pageModules(root)],
      metafile: true,
      logLevel: 'warning',
    })
    await mergeChunks(root, metafile, groups)
  }
  // Behind the merge, which reads imports as esbuild writes them.
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const { code } = await transform(readFileSync(file, 'utf8'), { minify: true, format: 'esm', target: TARGET })
    writeFileSync(file, code)
  }
  writeFileSync(join(folder, 'sqlite3.wasm'), shakeSqlite(root))
  writeFileSync(join(folder, 'licenses.txt'), `${readLicenses(root, PACKAGES)}\n\n${readSqliteLicense(root)}`)
}
