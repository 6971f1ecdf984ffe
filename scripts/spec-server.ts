/**
 * The PostgreSQL server of a run of the specs: that of PGHOST and friends, or else one of the run's own, in a temporary folder, that ends with it. Gives what the
 * specs find in their environment. A run whose files need none starts and asks none.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { startServer } from '../lib/doors/cli/private-server.ts'
import { findPort } from '../spec/postgres/own-server.ts'
import { dropLeft, findNoServer } from '../spec/postgres/server-database.ts'

/** What specs import that use a server. */
const SERVER_DATABASE = 'spec/postgres/server-database.ts'

export interface SpecServer {
  readonly environment: Readonly<Record<string, string | undefined>>
  stop(): Promise<void>
}

const NONE: SpecServer = { environment: { SPEC_POSTGRES: '0' }, stop: async () => {} }

/** @param patterns the files of the run, relative to `root`. */
export async function findSpecServer(root: string, patterns: readonly string[]): Promise<SpecServer> {
  if (process.env['SPEC_POSTGRES'] === '0' || !needsServer(root, patterns)) return NONE
  const noServer = await findNoServer()
  if (noServer === false) {
    await dropLeft()
    return { ...NONE, environment: { SPEC_POSTGRES: '1' } }
  }
  return startOwn(noServer)
}

async function startOwn(noServer: string): Promise<SpecServer> {
  const [reason] = noServer.split(': start one')
  const port = await findPort()
  try {
    const { stop } = await startServer(undefined, port)
    console.log(`The specs start a PostgreSQL server of their own at 127.0.0.1:${port}: ${reason}.`)
    const place = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres', PGDATABASE: 'postgres', PGPASSWORD: undefined }
    return { environment: { ...place, SPEC_POSTGRES: '1' }, stop }
  } catch (error) {
    const why = (error as Error).message.replace(/^--postgres:? /, '').replace(/\.$/, '')
    console.log(`The specs run on SQLite alone: ${noServer}. Starting one: ${why}.`)
    return NONE
  }
}

/** Whether one of the files, or what they import, uses a server. */
function needsServer(root: string, patterns: readonly string[]): boolean {
  const open = globSync([...patterns], { cwd: root }).map(file => resolve(root, file))
  const seen = new Set(open)
  for (const file of seen) {
    if (relative(root, file) === SERVER_DATABASE) return true
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^']*'(\.[^']+\.ts)'/gm)) {
      const imported = join(dirname(file), path)
      // Of the specs alone: nothing in lib/ imports them. Texts of programs in specs have imports, too.
      if (imported.startsWith(join(root, 'spec')) && existsSync(imported)) seen.add(imported)
    }
  }
  return false
}
