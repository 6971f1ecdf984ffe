/**
 * Opens a file, or a copy in memory, without a change to the file or its folder. Even a read-only handle creates the index of a write-ahead
 * log.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkFile, isWritable } from './check-file.ts'
import { SqliteDatabase } from './sqlite-database.ts'

/** In bytes. */
const MAX_COPY = 256 * 1024 * 1024

/** @throws Error in one line when the file does not exist or cannot be read. */
export function openReadOnly(path: string): SqliteDatabase {
  const { usesLog, size } = checkFile(path)
  const has = (suffix: string): boolean => existsSync(path + suffix)
  // Without a log, or with log and index, SQLite creates no file.
  if (!usesLog || (has('-wal') && has('-shm'))) return new SqliteDatabase(path, { readonly: true, fileMustExist: true })
  // When closed, a handle that may write removes log and index.
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

function readIntoMemory(path: string): Uint8Array {
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
