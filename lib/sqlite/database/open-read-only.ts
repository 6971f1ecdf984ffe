/**
 * Open read-only: a handle on a file that leaves the file and its folder as they are. A write-ahead log is the difficulty: SQLite reads one by an index
 * beside it, which even a handle for reading only makes, and never takes away.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkFile, isWritable } from './check-file.ts'
import { SqliteDatabase } from './sqlite-database.ts'

/** Largest file, in bytes, that is taken into memory where it cannot be read in its place. */
const MAX_COPY = 256 * 1024 * 1024

/** @throws Error in one line when there is no such file, or it cannot be read. */
export function openReadOnly(path: string): SqliteDatabase {
  const { usesLog, size } = checkFile(path)
  const has = (suffix: string): boolean => existsSync(path + suffix)
  // Somebody writes to it, or has ended without taking them away.
  if (!usesLog || (has('-wal') && has('-shm'))) return new SqliteDatabase(path, { readonly: true, fileMustExist: true })
  // Log and index are made, and a handle that may write takes both away when it is closed.
  if (!has('-wal') && isWritable(path) && isWritable(dirname(path)))
    return new SqliteDatabase(path, { queryOnly: true, fileMustExist: true })
  if (size > MAX_COPY) {
    throw new Error(
      `${path} has a write-ahead log, for which SQLite must write beside it, and is too large to be copied into memory (256 MiB): ` +
        '"pragma journal_mode = delete" makes it a file that can be read in its place.',
    )
  }
  return new SqliteDatabase(readIntoMemory(path), { queryOnly: true })
}

/** The content at this moment, what is in the log included. */
function readIntoMemory(path: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-'))
  try {
    const copy = join(folder, 'copy.sqlite')
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
    const handle = new SqliteDatabase(copy)
    try {
      return handle.image()
    } finally {
      handle.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
