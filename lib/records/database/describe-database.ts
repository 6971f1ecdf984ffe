/** Describe database: its name for messages, which must not show a password; whether it is one of PGlite. */
import type { ServerDatabase } from './world-store.ts'

/** Returns the name of a database for messages: a path, or a URL without its password. */
export function describeDatabase(database: string | ServerDatabase): string {
  const url = typeof database === 'string' ? database : database.url
  return url.replace(/(\/\/[^/@:]*):[^/@]*@/, '$1@').replace(/^(postgres(?:ql)?:[^?]*)\?.*$/s, '$1')
}

/** The package of PGlite. */
export const PGLITE: string = '@electric-sql/pglite'

/** Whether a URL is that of a PGlite, PostgreSQL in the process of the engine: `pglite:` or `pglite:DIR`. */
export function isPglite(url: string): boolean {
  return /^pglite:/i.test(url)
}

/** Returns the folder of a PGlite; undefined for one in memory. */
export function pgliteFolder(url: string): string | undefined {
  const folder = url.slice('pglite:'.length)
  return folder === '' ? undefined : folder
}

/** Whether a database lives in the memory of the process, and is empty at first. */
export function isInMemory(database: string | ServerDatabase): boolean {
  const url = typeof database === 'string' ? database : database.url
  return url === ':memory:' || (isPglite(url) && pgliteFolder(url) === undefined)
}
