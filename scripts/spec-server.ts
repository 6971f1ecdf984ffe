/**
 * The PostgreSQL server of a run of the specs: that of PGHOST and friends, where one of these is set and it answers; or else one of the
 * run's own, which ends with it; or else that at 127.0.0.1:5432. One of the run's own never waits for a disk: where there is room, its data
 * are in memory. Gives what the specs find in their environment. A run whose files need none starts and asks none.
 */
import { constants } from 'node:fs'
import { access, mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPort } from '../spec/postgres/own-server.ts'
import { dropLeft, findNoServer, hasEnded } from '../spec/postgres/server-database.ts'
import { reaches } from './specs/reaches.ts'
import { startServer } from './specs/start-server.ts'

/** What specs import that use a server. */
const SERVER_DATABASE = 'spec/postgres/server-database.ts'

/** What names a server. */
const NAMES = ['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE']

/** A folder in memory, on Linux. */
const MEMORY = '/dev/shm'
/** Bytes that must be free there: all specs take a fifth of them. */
const ROOM = 2 ** 31
/** The folders of runs there; the number of the process follows. */
const FOLDER = 'mikro-rest-specs-'

/** Specs ask for little, from tables that the server has never counted: to compile such a statement takes longer than to run it. */
const SETTINGS = {
  jit: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '128MB',
}

export interface SpecServer {
  readonly environment: Readonly<Record<string, string | undefined>>
  stop(): Promise<void>
}

const NONE: SpecServer = { environment: { SPEC_POSTGRES: '0' }, stop: async () => {} }

/** @param patterns the files of the run, relative to `root`. */
export async function findSpecServer(root: string, patterns: readonly string[]): Promise<SpecServer> {
  if (process.env['SPEC_POSTGRES'] === '0' || !reaches(root, patterns, SERVER_DATABASE)) return NONE
  const isNamed = NAMES.some(name => (process.env[name] ?? '') !== '')
  const own = isNamed ? undefined : await startOwn('no other is named')
  if (typeof own === 'object') return own
  const noServer = await findNoServer()
  if (noServer === false) {
    await dropLeft()
    return { ...NONE, environment: { SPEC_POSTGRES: '1' } }
  }
  const last = own ?? (await startOwn(noServer.split(': start one')[0]!))
  if (typeof last === 'object') return last
  console.log(`The specs run on SQLite alone: ${noServer}. Starting one: ${last}.`)
  return NONE
}

/** Returns a text where no server can be started: the reason. */
async function startOwn(reason: string): Promise<SpecServer | string> {
  const port = await findPort()
  const folder = await makeFolder()
  const remove = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
  try {
    const stop = await startServer(port, folder ?? tmpdir(), SETTINGS)
    console.log(`The specs start a PostgreSQL server of their own at 127.0.0.1:${port}: ${reason}.`)
    const place = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres', PGDATABASE: 'postgres', PGPASSWORD: undefined }
    return {
      environment: { ...place, SPEC_POSTGRES: '1' },
      async stop() {
        await stop()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    return (error as Error).message
  }
}

/** Makes a folder in memory, and removes those of runs that were killed; undefined where there is no room. */
async function makeFolder(): Promise<string | undefined> {
  const isThere = await access(MEMORY, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!isThere) return undefined
  const left = (await readdir(MEMORY)).filter(name => name.startsWith(FOLDER) && hasEnded(Number(name.slice(FOLDER.length))))
  // Those of another user stay.
  for (const name of left) await rm(join(MEMORY, name), { recursive: true, force: true }).catch(() => {})
  const { bavail, bsize } = await statfs(MEMORY)
  if (bavail * bsize < ROOM) return undefined
  const folder = join(MEMORY, `${FOLDER}${process.pid}`)
  await mkdir(folder, { recursive: true })
  return folder
}
