/**
 * Opens a changed model of `--watch` on a copy of the data; on a server, in a transaction with a rollback. A refusal leaves the serving
 * process alone.
 */
import { existsSync } from 'node:fs'
import { copyForTrial, copyPglite } from '../../engine/assembly/open-database.ts'
import { tryOnServer } from '../../engine/assembly/rehearse.ts'
import { readDatabase } from '../../engine/options/database-option.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import type { RestEngine } from '../../engine.ts'
import { isInMemory } from '../../records/database/describe-database.ts'
import { EvolveError } from '../../records/database/evolving.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'
import { isThere, withoutCopies } from './evolve-options.ts'

type Create = (options: EngineOptions) => Promise<RestEngine>

/**
 * @param kept the file with the data of a module in memory
 * @returns the engine, where its data are in memory
 * @throws Error for a model that cannot be served
 */
export async function tryModel(create: Create, options: EngineOptions, kept: string | undefined): Promise<RestEngine | undefined> {
  const database = readDatabase(options.database ?? ':memory:')
  const quiet = { ...options, onError: () => {} }
  if (kept !== undefined) await tryKept(create, quiet, kept)
  else if (isInMemory(database)) return create(options)
  else if (typeof database !== 'string') {
    // Not every migration can be rolled back.
    await tryOnServer(options.schema === 'migrate' ? { ...quiet, schema: 'keep' } : quiet)
  } else if (await isThere(options)) await tryCopy(create, quiet, database)
  else await tryAlone(create, { ...quiet, database: ':memory:' })
  return undefined
}

async function tryKept(create: Create, options: EngineOptions, kept: string): Promise<void> {
  try {
    if (existsSync(kept)) return await tryCopy(create, { ...options, schema: 'evolve' }, kept)
  } catch (error) {
    if (!(error instanceof EvolveError)) throw error
  }
  await tryAlone(create, options)
}

/** On a copy: PGlite opens a folder once. */
export async function tryPglite(create: Create, options: EngineOptions, database: ServerDatabase): Promise<void> {
  const copy = await copyPglite(database.url)
  process.once('exit', copy.remove)
  try {
    await tryAlone(create, { ...withoutCopies(options), onError: () => {}, database: { ...database, url: copy.url } })
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(copy.url, database.url)
    throw error
  } finally {
    process.off('exit', copy.remove)
    copy.remove()
  }
}

async function tryCopy(create: Create, options: EngineOptions, path: string): Promise<void> {
  const copy = await copyForTrial(path)
  try {
    await tryAlone(create, { ...withoutCopies(options), database: copy.path })
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(copy.path, path)
    throw error
  } finally {
    copy.remove()
  }
}

async function tryAlone(create: Create, options: EngineOptions): Promise<void> {
  await (await create(options)).close()
}
