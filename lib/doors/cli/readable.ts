/** Refuses an unreadable file of the command line, with a hint at the meant file. */
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { findScheme, SERVERS } from '../../engine/options/database-option.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { CommandError, misuse, oneLine } from './command-error.ts'

/** Best first. */
export const INDEXES = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map(extension => `index.${extension}`)

/** In the order of MikroORM's own command. */
export const CONFIGS = [
  'src/mikro-orm.config.ts',
  'mikro-orm.config.ts',
  'dist/mikro-orm.config.js',
  'build/mikro-orm.config.js',
  'mikro-orm.config.js',
]

export async function checkReadable(file: string): Promise<string> {
  const path = resolve(file)
  try {
    const found = await stat(path)
    if (found.isDirectory())
      throw new CommandError(
        `${file} is a folder without a module of its own: none of ${INDEXES.join(', ')} is in it, and no mikro-orm.config.`,
      )
    if (!found.isFile()) throw new CommandError(`${file} is not a file.`)
    await (await open(path)).close()
    return path
  } catch (error) {
    if (error instanceof CommandError) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new CommandError(`${file} does not exist.${await hintAt(path)}`)
    if (code === 'EACCES' || code === 'EPERM') throw new CommandError(`${file} may not be read.`)
    throw new CommandError(`${file} cannot be read: ${oneLine(error)}.`)
  }
}

async function hintAt(path: string): Promise<string> {
  const names = await readdir(dirname(path)).catch(() => [])
  const nearest = findNearest(basename(path), names)
  if (nearest !== undefined) return formatHint(relative(process.cwd(), join(dirname(path), nearest)))
  return /^[a-z-]+$/.test(basename(path)) ? ' The first word is the FILE that is served: mikro-rest --help lists what it may be.' : ''
}

export function refuseUrl(file: string): void {
  const scheme = findScheme(file)
  if (scheme === undefined) return
  // The rest may hold a password.
  const url = `${scheme}://...`
  if (scheme.startsWith('postgres')) throw misuse('A URL of PostgreSQL has slashes: postgres://user@host/database.')
  if (scheme.startsWith('sqlite')) throw misuse(`${url} is a URL: give the path of the SQLite file alone.`)
  if (/^https?$/.test(scheme))
    throw misuse(`${url} is an address, and FILE is a file of this machine. --check URL compares a FILE with the API at an address.`)
  throw misuse(
    `${url} is the address of ${SERVERS[scheme] ?? 'a database'}, which cannot be served: a FILE is a SQLite file, a JSON file, ` +
      'a module or postgres://user@host/database. ' +
      'Entities of an application run in SQLite in memory: mikro-rest :memory: --config mikro-orm.config.ts.',
  )
}
