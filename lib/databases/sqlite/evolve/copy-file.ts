/** Copies a file page by page, before the file is evolved. Until whole, the copy has another name. */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import Database from 'better-sqlite3'
import { fileError } from '../database/check-file.ts'
import { openReadOnly } from '../database/open-read-only.ts'

/** Pages to copy at once. */
const PAGES = 4096

/** `app.before-20260131-120000.sqlite` for `app.sqlite`. */
export function nameCopy(path: string, now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const extension = extname(path)
  const stem = join(dirname(path), basename(path, extension))
  for (let count = 1; ; count++) {
    const copy = `${stem}.before-${time}${count === 1 ? '' : `-${count}`}${extension}`
    if (!existsSync(copy)) return copy
  }
}

/** Removes unfinished copies of killed processes. Whoever evolves the file holds its lock, so nobody else is copying. */
function removeBegun(path: string): void {
  const stem = `${basename(path, extname(path))}.before-`
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(stem) && /^\d{8}-\d{6}(?:-\d+)?(?:\.[^.]*)?\.part(?:-journal)?$/.test(name.slice(stem.length)))
      rmSync(join(dirname(path), name))
}

/** @throws Error in one line where the copy cannot be made whole, as on a full disk. */
export async function copyFile(path: string, copy: string): Promise<void> {
  const partial = `${copy}.part`
  removeBegun(path)
  // Closing the file without SQLite would drop the locks of the process.
  const source = new Database(path, { readonly: true, fileMustExist: true })
  try {
    await source.backup(partial, { progress: () => PAGES })
    const made = new Database(partial, { readonly: true })
    const isWhole = made.pragma('page_count', { simple: true }) === source.pragma('page_count', { simple: true })
    made.close()
    if (!isWhole) throw new Error('it is not whole')
    renameSync(partial, copy)
  } catch (error) {
    throw new Error(`${path} cannot be copied to ${copy}, so it is left as it is: ${(error as Error).message}.`, { cause: error })
  } finally {
    source.close()
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(partial + suffix, { force: true })
  }
}

/**
 * Copies into a folder of its own.
 *
 * @throws Error in one line for a file that cannot be read.
 */
export async function copyForTrial(path: string): Promise<{ readonly path: string; readonly remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-trial-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const source = openReadOnly(path)
    try {
      const copy = join(folder, basename(path))
      await source.db.backup(copy, { progress: () => PAGES })
      return { path: copy, remove }
    } finally {
      source.close()
    }
  } catch (error) {
    remove()
    throw fileError(error, path)
  }
}
