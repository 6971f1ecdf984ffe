/** A PostgreSQL server of a spec's own, made with the programs of Debian or of PATH, which may be restarted. */
import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Nobody: servers refuse to run as root. */
const NOBODY = 65_534

/** The user that servers are started as. */
export const RUN_AS: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Finds a program in the folders of Debian's PostgreSQL, the newest first, and in PATH. */
export function findProgram(name: string): string | undefined {
  const folders = [
    ...globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => (a < b ? 1 : -1)),
    '/usr/sbin',
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  return folders.map(folder => join(folder, name)).find(path => existsSync(path))
}

/** Why no server can be made; false when one can. */
export function findNoPrograms(): string | false {
  const missing = ['initdb', 'pg_ctl'].find(name => findProgram(name) === undefined)
  return missing === undefined ? false : `no ${missing}: install PostgreSQL (Debian: apt install postgresql)`
}

/** Makes a folder that the user may write to whom servers are started as. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-server-'))
  if (RUN_AS.uid !== undefined) await chown(folder, NOBODY, NOBODY)
  return folder
}

/** Finds a port that nobody listens on. */
export async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>(resolve => server.close(() => resolve()))
  return port
}

export interface OwnServer extends AsyncDisposable {
  readonly url: string
  /** `immediate` is a crash: the server recovers when it starts. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
}

export async function ownServer(): Promise<OwnServer> {
  const folder = await makeFolder()
  const port = await findPort()
  const data = join(folder, 'data')
  const run = promisify(execFile)
  const options = { ...RUN_AS, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } }
  const control = async (...args: string[]): Promise<void> => {
    await run(findProgram('pg_ctl')!, ['-D', data, '-s', '-w', ...args], options)
  }
  const start = (): Promise<void> =>
    control('-l', join(folder, 'log'), '-o', `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`, 'start')
  await run(findProgram('initdb')!, ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync'], options)
  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop: mode => control('-m', mode, 'stop'),
    async [Symbol.asyncDispose]() {
      await control('-m', 'immediate', 'stop').catch(() => {})
      await rm(folder, { recursive: true, force: true })
    },
  }
}
