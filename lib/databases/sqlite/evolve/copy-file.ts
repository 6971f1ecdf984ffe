/**
 * Copies a file before evolving, into a folder beside (`app.sqlite.copies`), where old copies are removed; and for a trial, into a
 * temporary folder.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { openRaw } from '../driver/open-raw.ts'
import { fileError } from '../database/check-file.ts'
import { openReadOnly } from '../database/open-read-only.ts'

const PAGES_AT_ONCE = 4096

/** Time, number within a second, extension. */
const ENDING = /^(\d{8}-\d{6})(?:-(\d+))?(?:\.[^.]*)?$/
const BEGUN = /\.part(?:-journal)?$/

/** Such as `app.sqlite.copies/app.before-20260131-120000.sqlite`. */
export function nameCopy(path: string, now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const last = listCopies(path).findLast(copy => copy.time === time)
  return join(folderOf(path), `${stemOf(path)}${time}${last === undefined ? '' : `-${last.number + 1}`}${extname(path)}`)
}

function folderOf(path: string): string {
  return `${path}.copies`
}

function stemOf(path: string): string {
  return `${basename(path, extname(path))}.before-`
}

interface Copy {
  readonly path: string
  readonly time: string
  readonly number: number
}

/** The oldest first. */
function listCopies(path: string): Copy[] {
  const copies = listNames(path).flatMap(name => {
    const [, time, number = '1'] = ENDING.exec(name.slice(stemOf(path).length)) ?? []
    return time === undefined ? [] : [{ path: join(folderOf(path), name), time, number: Number(number) }]
  })
  return copies.toSorted((a, b) => (a.time === b.time ? a.number - b.number : a.time < b.time ? -1 : 1))
}

function listNames(path: string): string[] {
  const folder = folderOf(path)
  return existsSync(folder) ? readdirSync(folder).filter(name => name.startsWith(stemOf(path))) : []
}

/** Removes unfinished copies of killed processes. The caller holds the write lock, so nobody else is copying. */
function removeBegun(path: string): void {
  for (const name of listNames(path)) {
    const ending = name.slice(stemOf(path).length)
    if (BEGUN.test(ending) && ENDING.test(ending.replace(BEGUN, ''))) rmSync(join(folderOf(path), name))
  }
}

export function removeOldCopies(path: string, copy: string, kept: number): void {
  const others = listCopies(path).filter(each => each.path !== copy)
  for (const old of others.slice(0, Math.max(0, others.length + 1 - kept))) rmSync(old.path)
}

export function removeCopy(path: string, copy: string): void {
  rmSync(copy, { force: true })
  if (existsSync(folderOf(path)) && readdirSync(folderOf(path)).length === 0) rmdirSync(folderOf(path))
}

/** @throws Error in one line where the copy cannot be made whole, as on a full disk. */
export async function copyFile(path: string, copy: string): Promise<void> {
  const partial = `${copy}.part`
  mkdirSync(folderOf(path), { recursive: true })
  removeBegun(path)
  // Not by `fs`: closing the file would drop all locks of the process (POSIX).
  const source = openRaw(path, { readonly: true, fileMustExist: true })
  try {
    await source.backup(partial, { progress: () => PAGES_AT_ONCE })
    const made = openRaw(partial, { readonly: true })
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
 * Copies into a temporary folder, removed at the end of the process.
 *
 * @throws Error in one line for a file that cannot be read.
 */
export async function copyForTrial(path: string): Promise<{ readonly path: string; readonly remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-trial-'))
  const remove = (): void => {
    process.off('exit', remove)
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', remove)
  try {
    const source = openReadOnly(path)
    try {
      const copy = join(folder, basename(path))
      await source.db.backup(copy, { progress: () => PAGES_AT_ONCE })
      return { path: copy, remove }
    } finally {
      source.close()
    }
  } catch (error) {
    remove()
    throw fileError(error, path)
  }
}
