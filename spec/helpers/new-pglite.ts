/**
 * Folders of PGlite without tables: one is made for all specs and runs, since initdb as WebAssembly takes seconds of a processor, and is
 * copied. spec/postgres/pglite.spec.ts holds what makes a folder.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hashFiles, keep, use } from '../../scripts/specs/kept-folders.ts'
import { ROOT } from './command.ts'

const PGLITE: string = '@electric-sql/pglite'
const PREFIX = 'new-pglite-'

interface PglitePackage {
  readonly PGlite: { create(folder: string): Promise<{ close(): Promise<void> }> }
}

/** @param folder must not exist */
export async function copyNewPglite(folder: string): Promise<void> {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const kept = join(cache, PREFIX + hashFiles(ROOT, [`node_modules/${PGLITE}/package.json`]))
  if (!existsSync(kept)) await write(kept, cache)
  use(kept, cache, PREFIX)
  cpSync(kept, folder, { recursive: true })
}

async function write(kept: string, cache: string): Promise<void> {
  const made = mkdtempSync(join(cache, 'initialising-'))
  try {
    const { PGlite } = (await import(PGLITE)) as PglitePackage
    await (await PGlite.create(join(made, 'data'))).close()
    keep(join(made, 'data'), kept)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
