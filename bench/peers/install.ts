/**
 * Install: the packages of a peer, by npm, into a folder of its own outside the repository: in MIKRO_REST_CACHE, or in the folder for
 * temporary files. Once there, they stay there.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Peer } from './peers.ts'

const run = promisify(execFile)
const cache = process.env['MIKRO_REST_CACHE'] ?? join(tmpdir(), 'mikro-rest-cache')
const servers = fileURLToPath(new URL('servers/', import.meta.url))

/** sqlite3 may have to be compiled. */
const PATIENCE = 10 * 60_000

/**
 * The file that starts a peer.
 *
 * @throws Error with the reason when npm cannot install it.
 */
export async function install(peer: Peer): Promise<string> {
  const { packages, overrides, start } = peer
  if (packages === undefined) {
    if ('installed' in start) throw new Error(`${peer.name} names no packages.`)
    return join(servers, start.server)
  }
  const folder = join(cache, 'peers', nameOf(packages))
  const done = join(folder, 'installed')
  if (!existsSync(done)) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    // npm runs the install scripts of no other package.
    const allowScripts = Object.fromEntries((peer.scripts ?? []).map(name => [name, true]))
    const description = { private: true, type: 'module', dependencies: packages, overrides, allowScripts }
    await writeFile(join(folder, 'package.json'), JSON.stringify(description, undefined, 2))
    try {
      const words = ['install', '--no-audit', '--no-fund', '--prefer-offline']
      await run('npm', words, { cwd: folder, timeout: PATIENCE, shell: process.platform === 'win32' })
    } catch (error) {
      throw new Error(`npm cannot install it: ${reasonOf(error as { stderr?: string; message: string })}`, { cause: error })
    }
    await writeFile(done, '')
  }
  if ('installed' in start) return join(folder, 'node_modules', start.installed)
  // Copied beside the packages, which it finds from there.
  const file = join(folder, basename(start.server))
  await copyFile(join(servers, start.server), file)
  return file
}

/** A name for a folder that differs when a version does. */
function nameOf(packages: Readonly<Record<string, string>>): string {
  return Object.entries(packages)
    .map(([name, version]) => `${name.replaceAll(/[@/]/g, '')}-${version}`)
    .join('+')
}

/** What npm says in one line: the first one that is an error and not its code. */
function reasonOf({ stderr = '', message }: { stderr?: string; message: string }): string {
  const line = stderr.split('\n').find(text => /^npm (?:error|ERR!) (?!code)/.test(text))
  return (line ?? message.split('\n')[0] ?? '').replace(/^npm (?:error|ERR!) /, '')
}
