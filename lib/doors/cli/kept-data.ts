/**
 * Keeps the data of a module in memory across the restarts of `--watch`, in a file of the watching process. Where the data do not fit the
 * model, or the seed is another, data begin anew, and a line says why.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readDatabase } from '../../engine/options/database-option.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { EvolveError } from '../../records/database/evolving.ts'
import { escapeControls } from './explanation-text.ts'
import { KEPT } from './watched.ts'

/** `undefined` without `--watch`, for read-only data, for data outside of memory, and for a `schema` of `keep` or `migrate`. */
export function findKeptFile({ entities, database, schema, readOnly }: EngineOptions): string | undefined {
  const isPlain = entities !== undefined && readOnly !== true && (schema === undefined || schema === 'update' || schema === 'evolve')
  return isPlain && readDatabase(database ?? ':memory:') === ':memory:' ? process.env[KEPT] : undefined
}

export async function createKept<E>(create: (options: EngineOptions) => Promise<E>, options: EngineOptions, path: string): Promise<E> {
  const kept = { ...options, database: path }
  const mark = `${path}.seed`
  const seed = hashSeed(options)
  if (existsSync(path)) {
    const reason =
      readMark(mark) === seed ? await tryKept(create, { ...kept, schema: 'evolve', copies: 0 }) : { why: 'the seed has changed' }
    if ('engine' in reason) return reason.engine
    process.stdout.write(`mikro-rest: the data begins anew: ${escapeControls(reason.why)}.\n`)
    removeFile(path)
  }
  const engine = await create(kept)
  writeFileSync(mark, seed)
  return engine
}

async function tryKept<E>(
  create: (options: EngineOptions) => Promise<E>,
  options: EngineOptions,
): Promise<{ engine: E } | { why: string }> {
  try {
    return { engine: await create(options) }
  } catch (error) {
    // The model will be mended after any other error: the data are kept.
    if (!(error instanceof EvolveError)) throw error
    return { why: error.message.replace(/^.*? cannot be evolved, and nothing in it was changed: /s, '').replace(/\.$/, '') }
  }
}

function hashSeed({ seed }: EngineOptions): string {
  const text = JSON.stringify(seed, (_, value: unknown) =>
    typeof value === 'function' ? String(value) : typeof value === 'bigint' ? `${value}n` : value,
  )
  return createHash('sha256')
    .update(typeof seed === 'function' ? String(seed) : (text ?? ''))
    .digest('hex')
}

function readMark(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function removeFile(path: string): void {
  for (const name of readdirSync(dirname(path))) if (name.startsWith(basename(path, '.sqlite'))) rmSync(join(dirname(path), name))
}
