/** Describe a database: its name for messages, which must not show a password. */
import type { ServerDatabase } from './world-store.ts'

/** Returns the name of a database for messages: a path, or a URL without its password. */
export function describeDatabase(database: string | ServerDatabase): string {
  const url = typeof database === 'string' ? database : database.url
  return url.replace(/(\/\/[^/@:]*):[^/@]*@/, '$1@').replace(/^(postgres(?:ql)?:[^?]*)\?.*$/s, '$1')
}
