/**
 * The PostgreSQL server of a run of the specs: that of PGHOST and friends, or else one of the run's own, in a temporary folder, that ends
 * with it. Gives what the specs find in their environment. A run whose files need none starts and asks none.
 */
import { startServer } from '../lib/doors/cli/private-server.ts'
import { findPort } from '../spec/postgres/own-server.ts'
import { dropLeft, findNoServer } from '../spec/postgres/server-database.ts'
import { reaches } from './specs/reaches.ts'

/** What specs import that use a server. */
const SERVER_DATABASE = 'spec/postgres/server-database.ts'

export interface SpecServer {
  readonly environment: Readonly<Record<string, string | undefined>>
  stop(): Promise<void>
}

const NONE: SpecServer = { environment: { SPEC_POSTGRES: '0' }, stop: async () => {} }

/** @param patterns the files of the run, relative to `root`. */
export async function findSpecServer(root: string, patterns: readonly string[]): Promise<SpecServer> {
  if (process.env['SPEC_POSTGRES'] === '0' || !reaches(root, patterns, SERVER_DATABASE)) return NONE
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
