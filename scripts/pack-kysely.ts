/** Packs Kysely into one file, which `bin/quick-start.js` gives to whoever imports Kysely in the same version. The build runs it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/**
 * Writes `kysely-VERSION.js` with the exports of Kysely and its licence.
 *
 * @param root where `kysely` is resolved from
 * @param target the oldest Node that must read it, as esbuild names it: `node22.17.0`
 */
export async function packKysely(root: string, folder: string, target: string): Promise<void> {
  const kysely = dirname(dirname(createRequire(join(root, 'package.json')).resolve('kysely')))
  const { version } = JSON.parse(readFileSync(join(kysely, 'package.json'), 'utf8')) as { readonly version: string }
  await build({
    absWorkingDir: root,
    entryPoints: { [`kysely-${version}`]: 'kysely' },
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target,
    // Classes keep their names, for stacks and messages.
    keepNames: true,
    minify: true,
    banner: { js: `/*! kysely ${version}\n${readFileSync(join(kysely, 'LICENSE'), 'utf8').trim()}\n*/` },
    logLevel: 'warning',
  })
}
