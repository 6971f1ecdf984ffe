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

interface Manifest {
  readonly engines: { readonly node: string }
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/**
 * @param root the repository
 * @param dist an empty folder; the scripts are in its lib/, so that paths relative to lib/doors/cli/ stay valid in every file.
 */
export async function bundle(root: string, dist: string): Promise<void> {
  const { engines, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const target = engines.node.replace('>=', 'node')
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...listExported(exports), 'lib/doors/cli/main.ts', 'lib/doors/cli/save-worker.ts'],
    outbase: '.',
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
    { name: 'writing', entries: ['lib/records/seed/sow.ts', 'lib/records/write/preparing-writer.ts'] },
    { name: 'seeding', entries: ['lib/records/seed/sow.ts'] },
    { name: 'writer', entries: ['lib/records/write/preparing-writer.ts', 'lib/records/unit-of-work/entity-writer.ts'] },
    { name: 'command', entries: ['lib/doors/cli/main.ts'] },
  ])
  dropAllComments(dist)
  await writeWorkbench(join(dist, 'workbench'))
  await packKysely(root, join(dist, 'packed'), target)
}

/** Source files of the exports that are not for pages: `lib/index.ts` of `./dist/lib/index.js`. */
function listExported(exports: Manifest['exports']): string[] {
  return Object.values(exports).flatMap(target => {
    const [, source] = typeof target === 'string' ? [] : (/^\.\/dist\/(lib\/.*)\.js$/.exec(target.default) ?? [])
    return source === undefined ? [] : [`${source}.ts`]
  })
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
