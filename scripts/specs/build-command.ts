/**
 * Builds the command for a run of specs, as it is published: a start of the bundled one costs a third of a start from the sources. It is
 * made of the sources as they are now, in a folder whose name says what is in it.
 */
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { hashFiles, keep, use } from './kept-folders.ts'

/** What specs import that start the command. */
export const COMMAND_HELPER = 'spec/helpers/command.ts'

const PREFIX = 'command-'

/** Returns the path of the command. */
export async function buildCommand(root: string): Promise<string> {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const made = mkdtempSync(join(cache, 'making-'))
  try {
    for (const part of ['bin', 'package.json']) cpSync(join(root, part), join(made, part), { recursive: true })
    await bundle(root, join(made, 'dist'))
    const files = globSync('**/*', { cwd: made }).filter(file => statSync(join(made, file)).isFile())
    const folder = join(cache, PREFIX + hashFiles(made, files.toSorted()))
    // Specs run it as other users, too.
    chmodSync(made, 0o755)
    keep(made, folder)
    use(folder, cache, PREFIX)
    return join(folder, 'bin/serve.js')
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
