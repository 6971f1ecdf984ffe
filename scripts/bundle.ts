/**
 * Bundles the library and the command into few files, because each file costs Node a part of a millisecond. Dynamic imports are files of
 * their own, loaded on demand. There are no source maps: they would lead a stack to lines of lib/, which is not published, while the lines
 * of dist/ can be read. Kysely is packed beside them, for quick starts. The build makes dist/ with it, and a run of the specs its command.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundleWorkbench } from './bundle-workbench.ts'
import { dropComments } from './drop-comments.ts'
import { mergeChunks } from './merge-chunks.ts'
import { packKysely } from './pack-kysely.ts'

/**
 * @param root the repository
 * @param dist an empty folder; the scripts are in its lib/, so that paths relative to lib/doors/cli/ stay valid in every file.
 */
export async function bundle(root: string, dist: string): Promise<void> {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly engines: { readonly node: string } }
  const target = engines.node.replace('>=', 'node')
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      'lib/index': 'lib/index.ts',
      'lib/model/client/index': 'lib/model/client/index.ts',
      'lib/doors/cli/main': 'lib/doors/cli/main.ts',
      'lib/doors/runners/node-test': 'lib/doors/runners/node-test.ts',
      'lib/doors/runners/vitest': 'lib/doors/runners/vitest.ts',
      'lib/doors/runners/playwright': 'lib/doors/runners/playwright.ts',
      'lib/wires/json-server/index': 'lib/wires/json-server/index.ts',
      'lib/wires/postgrest/index': 'lib/wires/postgrest/index.ts',
      'lib/doors/cli/save-worker': 'lib/doors/cli/save-worker.ts',
    },
    outdir: dist,
    chunkNames: 'lib/chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target,
    packages: 'external',
    metafile: true,
    logLevel: 'warning',
  })
  await mergeChunks(root, metafile, [
    // The client is for browsers: it loads nothing of the engine.
    { name: 'client', entries: ['lib/model/client/index.ts'] },
    // A wrong command line is refused without the engine.
    { name: 'common', entries: ['lib/index.ts', 'lib/doors/cli/main.ts'] },
    { name: 'engine', entries: ['lib/engine.ts'] },
    { name: 'opening', entries: ['lib/engine/assembly/open-engine.ts'] },
    { name: 'library', entries: ['lib/index.ts'] },
    { name: 'sqlite', entries: ['lib/databases/sqlite/open.ts'] },
    { name: 'command', entries: ['lib/doors/cli/main.ts'] },
  ])
  dropAllComments(dist)
  await writeWorkbench(join(dist, 'workbench'))
  await packKysely(root, join(dist, 'packed'), target)
}

/** Drops the comments, which would be a twentieth of the scripts. */
function dropAllComments(dist: string): void {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue
    const file = join(dist, name)
    writeFileSync(file, dropComments(readFileSync(file, 'utf8')))
  }
}

async function writeWorkbench(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of await bundleWorkbench()) writeFileSync(join(folder, name), text)
}
