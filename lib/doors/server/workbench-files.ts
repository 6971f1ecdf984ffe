/**
 * Workbench files: the scripts and the style of the workbench. The published package brings them, in `dist/workbench/`; in a clone they are
 * bundled from the source when one is first asked for, and kept.
 */
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

interface WorkbenchFiles {
  /** The names of the files that the page loads first. */
  readonly script: string
  readonly style: string
  /** Texts by file name. A name says what is in the file, so that browsers may keep it. */
  readonly texts: ReadonlyMap<string, string>
}

/** What `scripts/bundle-workbench.ts` exports, which no published package has. */
interface Bundler {
  bundleWorkbench(): Promise<ReadonlyMap<string, string>>
}

let known: Promise<WorkbenchFiles> | undefined

/** Returns the files. One that could not be read or bundled is tried again. */
export function findWorkbenchFiles(): Promise<WorkbenchFiles> {
  known ??= readFiles().catch((error: unknown) => {
    known = undefined
    throw error
  })
  return known
}

async function readFiles(): Promise<WorkbenchFiles> {
  const texts = await (import.meta.url.endsWith('.ts') ? bundleSource() : readBuilt())
  const names = [...texts.keys()]
  const find = (form: RegExp): string => {
    const name = names.find(each => form.test(each))
    if (name === undefined) throw new Error(`The workbench has no file ${form.source}: build the package again (npm run build).`)
    return name
  }
  return { script: find(/^main-\w+\.js$/), style: find(/^style-\w+\.css$/), texts }
}

async function bundleSource(): Promise<ReadonlyMap<string, string>> {
  // Computed, so that no bundle of the library takes in the bundler.
  const { href } = new URL('../../../scripts/bundle-workbench.ts', import.meta.url)
  return ((await import(href)) as Bundler).bundleWorkbench()
}

/** This code is in a file of `dist/lib/` or below. */
async function readBuilt(): Promise<ReadonlyMap<string, string>> {
  const above = import.meta.url.slice(0, import.meta.url.lastIndexOf('/lib/') + 1)
  const folder = fileURLToPath(new URL('workbench/', above))
  const names = await readdir(folder)
  return new Map(await Promise.all(names.map(async name => [name, await readFile(`${folder}/${name}`, 'utf8')] as const)))
}
