/**
 * Builds the command for a run of specs, as it is published: a start of the bundled one costs a third of a start from the sources. It is made of the sources as they are
 * now, in a folder of node_modules/.cache whose name says what is in it: runs beside each other, and copies of the repository that share node_modules, may differ.
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'

/** What specs import that start the command. */
export const COMMAND_HELPER = 'spec/helpers/command.ts'

const PREFIX = 'command-'

/** Milliseconds after which a command that no run has used is removed. */
const KEPT = 24 * 3_600_000

/** Returns the path of the command. */
export async function buildCommand(root: string): Promise<string> {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const made = mkdtempSync(join(cache, 'making-'))
  try {
    for (const part of ['bin', 'package.json']) cpSync(join(root, part), join(made, part), { recursive: true })
    await bundle(root, join(made, 'dist'))
    const folder = join(cache, PREFIX + hashOf(made))
    // Specs run it as other users, too.
    chmodSync(made, 0o755)
    if (!existsSync(folder)) renameSync(made, folder)
    utimesSync(folder, new Date(), new Date())
    removeOld(cache)
    return join(folder, 'bin/serve.js')
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

function hashOf(folder: string): string {
  const hash = createHash('sha256')
  for (const file of globSync('**/*', { cwd: folder }).toSorted()) {
    const path = join(folder, file)
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 16)
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name)
    if (name.startsWith(PREFIX) && Date.now() - statSync(folder).mtimeMs > KEPT) rmSync(folder, { recursive: true, force: true })
  }
}
