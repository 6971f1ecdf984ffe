/**
 * Rehearses an evolution of tables, on a temporary copy of a SQLite file, or in a transaction that a server takes back. Also makes tables
 * anew, for `--fresh`.
 */
import { Notes } from '../../foundation/errors/notes.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import { EvolveError, Rehearsed, type EvolvePlan } from '../../records/database/evolving.ts'
import { makeUp } from '../testing/fake-values.ts'
import { copyForTrial, openDatabase } from './open-database.ts'
import { checkOptions } from '../options/check-options.ts'
import type { EngineOptions } from '../options/options.ts'

interface Rehearsal {
  readonly plan: EvolvePlan
  readonly error: Error | undefined
}

/** @throws TypeError, RangeError for wrong options; Error for a database that cannot be opened */
export async function rehearse(options: EngineOptions): Promise<Rehearsal> {
  const checked = checkOptions({ ...options, schema: 'evolve' })
  const { database } = checked
  const copy = typeof database === 'string' ? await copyForTrial(database) : undefined
  let plan: EvolvePlan = { steps: [], stays: [], renames: [] }
  const evolving = {
    ...checked,
    makeUp,
    rehearses: true,
    onPlan: (found: EvolvePlan): void => {
      plan = found
    },
  }
  try {
    const opened = await openDatabase({ ...checked, database: copy?.path ?? database, evolving, notes: new Notes(), users: undefined })
    try {
      await opened.complete(() => undefined)
    } finally {
      await opened.abandon()
    }
    return { plan, error: undefined }
  } catch (error) {
    if (error instanceof Rehearsed) return { plan, error: undefined }
    if (copy === undefined) {
      if (error instanceof EvolveError) return { plan: error.plan, error }
      throw error
    }
    const named = new Error((error as Error).message.replaceAll(copy.path, database as string), { cause: error })
    if (error instanceof EvolveError) return { plan: error.plan, error: named }
    throw named
  } finally {
    copy?.remove()
  }
}

/**
 * Tries the model in a transaction, and rolls back. Seeds nothing.
 *
 * @throws TypeError, RangeError, Error for a model that cannot be served
 */
export async function tryOnServer(options: EngineOptions): Promise<void> {
  const [{ openEngine }, { assemble }] = await Promise.all([import('./open-engine.ts'), import('./assemble.ts')])
  try {
    await openEngine(options, composition => {
      assemble({} as EngineHandle, composition)
      throw new Rehearsed()
    })
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error
  }
}

/**
 * @returns a sentence for each dropped table
 * @throws Error in one line where nothing was done
 */
export async function beginAnew(options: EngineOptions): Promise<readonly string[]> {
  const { fill: _, renamed: __, drop: ___, ...others } = options
  const checked = checkOptions({ ...others, schema: 'evolve' })
  const notes = new Notes()
  const evolving = { ...checked, begins: true }
  const opened = await openDatabase({ ...checked, evolving, notes, users: undefined })
  try {
    await opened.complete(() => undefined)
    return notes.list.filter(note => note.includes('is made anew'))
  } finally {
    await opened.abandon()
  }
}
