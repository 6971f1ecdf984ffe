/** Replaces a file by a temporary file, so that a reader finds the old or the new content whole, after a crash, too. */
import { createHash } from 'node:crypto'
import { open, readFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CommandError } from './command-error.ts'

// Milliseconds without a write, after which a temporary file is abandoned.
const STALE = 60_000

export function hashContent(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

export function temporaryOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
}

/** Removes temporary files of killed processes. */
export async function removeLeftOver(target: string): Promise<void> {
  const prefix = `.${basename(target)}.`
  for (const name of await readdir(dirname(target))) {
    const pid = name.startsWith(prefix) ? /^(\d+)\.tmp$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (pid !== undefined && (await isLeftOver(join(dirname(target), name), Number(pid))))
      await rm(join(dirname(target), name), { force: true })
  }
}

/** Another process may have the ID by now. */
async function isLeftOver(temporary: string, pid: number): Promise<boolean> {
  if (pid === process.pid || !isRunning(pid)) return true
  const { mtimeMs } = await stat(temporary).catch(() => ({ mtimeMs: Date.now() }))
  return Date.now() - mtimeMs > STALE
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

interface ReplacedFile {
  /** The name on the command line. */
  readonly name: string
  /** Absolute. */
  readonly path: string
}

/**
 * Overwrites no file changed by another program.
 *
 * @param before the expected content of the file
 * @param announce called before anybody can see the new content
 */
export async function replaceFile(
  { name, path }: ReplacedFile,
  before: Buffer,
  after: Buffer,
  announce: () => Promise<void>,
): Promise<void> {
  const target = await realpath(path).catch(() => {
    throw new CommandError(`${name} is gone: what clients have changed since is not saved.`)
  })
  const temporary = temporaryOf(target)
  try {
    const handle = await open(temporary, 'w')
    try {
      await handle.chmod((await stat(target)).mode)
      await handle.writeFile(after)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (!before.equals(await readFile(target))) {
      throw new CommandError(
        `${name} was changed by another program: what clients have changed since is not saved, so that nothing is overwritten.`,
      )
    }
    await announce()
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(target))
}

/** Windows cannot sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
