/**
 * Kept folders: what runs of specs make once of the sources and keep in node_modules/.cache, under a name that says what is in it. Runs
 * beside each other, and copies of the repository that share node_modules, may differ.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

/** Milliseconds after which a folder that no run has used is removed. */
const KEPT = 24 * 3_600_000

/** Returns a short hash of files, by their names and their texts. */
export function hashFiles(folder: string, files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(folder, file)))
  return hash.digest('hex').slice(0, 16)
}

/** Moves what has been made to its place, unless another process was faster. */
export function keep(made: string, folder: string): void {
  if (!existsSync(folder)) renameSync(made, folder)
}

/** Says that a folder is used, and removes those of its kind that nobody uses any more. */
export function use(folder: string, cache: string, prefix: string): void {
  utimesSync(folder, new Date(), new Date())
  for (const name of readdirSync(cache)) {
    const other = join(cache, name)
    if (name.startsWith(prefix) && Date.now() - statSync(other).mtimeMs > KEPT) rmSync(other, { recursive: true, force: true })
  }
}
