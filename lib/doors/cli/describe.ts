/**
 * Writes the OpenAPI document (`--openapi OUT`) or the diagram of the model. Replaces only files of the same kind: FILE and OUT are easily
 * mistaken for each other.
 */
import { internalsOf } from '../../engine/assembly/internals.ts'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { RestEngine } from '../../engine.ts'
import { CommandError, oneLine } from './command-error.ts'

interface ResourceDescription {
  readonly option: string
  readonly kind: string
  readonly text: string
  readonly start: RegExp
}

/** @param file empty for standard output */
export async function describeTo(file: string, engine: RestEngine, isReadOnly: boolean): Promise<string> {
  const text = `${JSON.stringify(await internalsOf(engine).describe({}, isReadOnly), undefined, 2)}\n`
  return write(file, { option: '--openapi', kind: 'OpenAPI document', text, start: /^\s*\{\s*"openapi"/ })
}

export async function drawTo(file: string, engine: RestEngine): Promise<string> {
  const isPicture = file.endsWith('.svg')
  const text = await engine.diagram({ format: isPicture ? 'svg' : 'mermaid' })
  const start = isPicture ? /^<svg [^>]*class="diagram"/ : /^\s*erDiagram\b/
  return write(file, { option: '--diagram', kind: 'diagram', text, start })
}

async function write(file: string, { option, kind, text, start }: ResourceDescription): Promise<string> {
  if (file === '') return text
  const existing = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && existsSync(dirname(resolve(file)))) return undefined
    throw new CommandError(`${option} cannot write ${file}: ${describeObstacle(error, file)}.`)
  })
  if (existing !== undefined && !start.test(existing)) {
    const article = kind.startsWith('O') ? 'an' : 'a'
    throw new CommandError(`${option} does not replace ${file}, which is not ${article} ${kind}. FILE comes before ${option}.`, 2)
  }
  await writeFile(file, text).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${option} cannot write ${file}: ${describeObstacle(error, file)}.`)
  })
  return `mikro-rest has written the ${kind} to ${file}.\n`
}

function describeObstacle(error: NodeJS.ErrnoException, file: string): string {
  if (!existsSync(dirname(resolve(file)))) return `there is no folder ${dirname(file)}`
  if (error.code === 'EISDIR') return 'it is a folder, and a file is needed'
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS') return 'this user may not'
  return oneLine(error)
}
