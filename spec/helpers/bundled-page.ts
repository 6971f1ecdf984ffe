/**
 * The bundle for pages, as the package has it in dist/browser: esbuild writes it once for all specs, which takes seconds of a processor. It
 * follows from lib/, from the scripts that bundle, and from packages, which name its folder.
 */
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePage } from '../../scripts/bundle-page.ts'
import { hashFiles, keep, use } from '../../scripts/specs/kept-folders.ts'
import { ROOT } from './command.ts'

const PREFIX = 'bundled-page-'

/** Returns the folder that stands for dist/browser of the package. It is for all who ask: nobody changes it. */
export async function bundledPage(): Promise<string> {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const sources = globSync(['lib/**/*.{ts,tsx,css}', 'scripts/*.ts', 'package.json', 'package-lock.json'], { cwd: ROOT })
  const folder = join(cache, PREFIX + hashFiles(ROOT, sources.toSorted()))
  if (!existsSync(folder)) await write(folder, cache)
  use(folder, cache, PREFIX)
  return folder
}

async function write(folder: string, cache: string): Promise<void> {
  const made = mkdtempSync(join(cache, 'bundling-'))
  try {
    await bundlePage(ROOT, made)
    keep(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
