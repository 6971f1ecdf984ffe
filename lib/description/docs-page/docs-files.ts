/**
 * Docs files: the files that docs pages load: their own, and those of Swagger UI where the optional package `swagger-ui-dist` is installed. Each is read when it is
 * first asked for.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

export interface DocsFile {
  readonly type: string
  readonly text: string
}

const CSS = 'text/css; charset=UTF-8'
const JS = 'text/javascript; charset=UTF-8'
const SWAGGER: Readonly<Record<string, string>> = { 'swagger-ui.css': CSS, 'swagger-ui-bundle.js': JS }
const PACKAGE = 'swagger-ui-dist'

const known = new Map<string, Promise<DocsFile | undefined>>()

/** Returns a file by its name; undefined: there is none of the name. */
export async function findDocsFile(name: string): Promise<DocsFile | undefined> {
  if (name === 'frame.css') return { type: CSS, text: (await import('./style.ts')).FRAME_STYLE }
  if (name === 'page.css') return { type: CSS, text: (await import('./style.ts')).PAGE_STYLE }
  if (name === 'page.js') return { type: JS, text: (await import('./script.ts')).SCRIPT }
  const type = Object.hasOwn(SWAGGER, name) ? SWAGGER[name] : undefined
  if (type === undefined) return undefined
  const file = known.get(name) ?? readSwagger(name, type)
  known.set(name, file)
  return file
}

/** Whether Swagger UI is installed. */
export function hasSwagger(): boolean {
  return findSwagger('package.json') !== undefined
}

async function readSwagger(name: string, type: string): Promise<DocsFile | undefined> {
  const file = findSwagger(name)
  return file === undefined ? undefined : { type, text: await readFile(file, 'utf8') }
}

function findSwagger(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/${name}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
