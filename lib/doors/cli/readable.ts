/** Readable: checks that a file of the command line can be read. Throws CommandError that names it in one line. */
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CommandError, oneLine } from './command-error.ts'

/** The names of a folder's module, best first. */
export const INDEXES = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map(extension => `index.${extension}`)

/** The configs of a project, in the order in which MikroORM's own command looks for them. */
export const CONFIGS = [
  'src/mikro-orm.config.ts',
  'mikro-orm.config.ts',
  'dist/mikro-orm.config.js',
  'build/mikro-orm.config.js',
  'mikro-orm.config.js',
]

/** Returns the absolute path of a readable file. */
export async function checkReadable(file: string): Promise<string> {
  const path = resolve(file)
  try {
    const found = await stat(path)
    if (found.isDirectory())
      throw new CommandError(
        `${file} is a folder without a module of its own: none of ${INDEXES.join(', ')} is in it, and no mikro-orm.config.`,
      )
    if (!found.isFile()) throw new CommandError(`${file} is not a file.`)
    await (await open(path)).close()
    return path
  } catch (error) {
    if (error instanceof CommandError) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new CommandError(`${file} does not exist.`)
    if (code === 'EACCES' || code === 'EPERM') throw new CommandError(`${file} may not be read.`)
    throw new CommandError(`${file} cannot be read: ${oneLine(error)}.`)
  }
}
