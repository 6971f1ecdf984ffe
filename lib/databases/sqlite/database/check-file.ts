/**
 * Checks that SQLite can open a file, and tells apart a text, an encrypted database and a newer format, for which SQLite has the same
 * words. The header: https://www.sqlite.org/fileformat.html, section 1.3.
 */
import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const MAGIC = 'SQLite format 3\0'
/** In bytes. */
const HEADER = 100

/** Highest known versions. */
const FORMAT = 2
const SCHEMA_FORMAT = 4

interface FileHeader {
  readonly usesLog: boolean
  /** In bytes. */
  readonly size: number
}

/** @throws Error in one line. */
export function checkFile(path: string): FileHeader {
  const { bytes, size } = readHeader(path)
  if (size === 0) throw new Error(`${path} is empty: there is nothing in it to serve.`)
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new Error(`${path} is not a SQLite database, or an encrypted one: it does not begin as one does.`)
  }
  if (bytes.length < HEADER) throw new Error(`${path} is cut short: it ends inside its header.`)
  if (bytes[18]! > FORMAT || bytes[19]! > FORMAT || bytes.readUInt32BE(44) > SCHEMA_FORMAT) {
    throw new Error(`${path} is of a newer format than this version of SQLite can read.`)
  }
  const page = bytes.readUInt16BE(16)
  const expected = (page === 1 ? 65_536 : page) * bytes.readUInt32BE(28)
  // The number of pages is valid only where both counters agree. A log or journal may complete the file.
  const isComplete = !existsSync(`${path}-wal`) && !existsSync(`${path}-journal`)
  if (bytes.readUInt32BE(24) === bytes.readUInt32BE(92) && expected > size && isComplete) {
    throw new Error(`${path} is cut short: ${expected - size} of its ${expected} bytes are missing.`)
  }
  return { usesLog: bytes[18] === 2 || bytes[19] === 2, size }
}

/** @throws Error in one line when the folder of a new file is missing. */
export function checkFolder(path: string): void {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw new Error(`${path} cannot be made: there is no folder ${folder}.`)
}

/** @throws Error in one line when the file, or a journal beside it, cannot be written. */
export function checkWritable(path: string): void {
  if (!isWritable(path)) throw readOnlyError(path)
  const hasJournal = ['-journal', '-wal'].some(suffix => existsSync(path + suffix))
  if (!hasJournal && !isWritable(dirname(path))) {
    throw new Error(`${path} is in a folder that is read-only, and SQLite needs a journal beside it for writing. ${INSTEAD}`)
  }
}

const INSTEAD = 'The option "readOnly" (--read-only) serves it for reading.'

function readOnlyError(path: string, cause?: unknown): Error {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    return new Error(`${path} is a folder: give the path of a file in it.`)
  return new Error(`${path} is read-only: it cannot be served for writing. ${INSTEAD}`, { cause })
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function readHeader(path: string): { bytes: Buffer; size: number } {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Error(`${path} does not exist: there must be a file to read.`, { cause: error })
    if (code === 'EACCES' || code === 'EPERM') throw new Error(`${path} may not be read.`, { cause: error })
    throw new Error(`${path} cannot be read: ${message}.`, { cause: error })
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error(`${path} is not a file.`)
    const bytes = Buffer.alloc(HEADER)
    return { bytes: bytes.subarray(0, readSync(file, bytes, 0, HEADER, 0)), size: stat.size }
  } finally {
    closeSync(file)
  }
}

export function fileError(error: unknown, path: string): unknown {
  const code = (error as { code?: string }).code ?? ''
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return new Error(`${path} is locked by another process.`, { cause: error })
  if (
    /^SQLITE_(?:READONLY_ROLLBACK|READONLY_RECOVERY)/.test(code) ||
    (code.startsWith('SQLITE_CANTOPEN') && existsSync(`${path}-journal`))
  ) {
    return new Error(`${path} holds half of a change that was cut off: it must be opened for writing once, so that SQLite can undo it.`, {
      cause: error,
    })
  }
  if (/^SQLITE_(?:READONLY|CANTOPEN|PERM)/.test(code)) return readOnlyError(path, error)
  if (code === 'SQLITE_FULL') return new Error(`${path} cannot be written, since the disk is full: it is left as it was.`, { cause: error })
  if (code.startsWith('SQLITE_IOERR'))
    return new Error(`${path} cannot be read or written (${(error as Error).message}): it is left as it was. Is the disk full?`, {
      cause: error,
    })
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) return new Error(`${path} is damaged: SQLite cannot read it.`, { cause: error })
  return error
}
