/** Names a database without its password, for messages, and recognises PGlite. */
import type { ServerDatabase } from './world-store.ts'

export function describeDatabase(database: string | ServerDatabase): string {
  const url = typeof database === 'string' ? database : database.url
  return url.replace(/(\/\/[^/@:]*):[^/@]*@/, '$1@').replace(/^(postgres(?:ql)?:[^?]*)\?.*$/s, '$1')
}

export const PGLITE: string = '@electric-sql/pglite'

/** Whether PostgreSQL runs in this process (`pglite:`). */
export function isPglite(url: string): boolean {
  return /^pglite:/i.test(url)
}

/** Undefined in memory. */
export function pgliteFolder(url: string): string | undefined {
  const folder = url.slice('pglite:'.length)
  return folder === '' ? undefined : folder
}

/** Hence empty at the start. */
export function isInMemory(database: string | ServerDatabase): boolean {
  const url = typeof database === 'string' ? database : database.url
  return url === ':memory:' || (isPglite(url) && pgliteFolder(url) === undefined)
}
