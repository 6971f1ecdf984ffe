/**
 * Workbench files: scripts and style of the workbench, from `dist/workbench/` of the published package; in a clone, bundled from source at
 * the first request.
 */
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

interface WorkbenchFiles {
  readonly script: string
  readonly style: string
  /** Texts by file name. A name changes with the content, so browsers may keep a file. */
  readonly texts: ReadonlyMap<string, string>
}

interface Bundler {
  bundleWorkbench(): Promise<ReadonlyMap<string, string>>
}

let loadingFiles: Promise<WorkbenchFiles> | undefined

export function findWorkbenchFiles(): Promise<WorkbenchFiles> {
  loadingFiles ??= readFiles().catch((error: unknown) => {
    loadingFiles = undefined
    throw error
  })
  return loadingFiles
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
