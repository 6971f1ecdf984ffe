/**
 * Evolve file: makes a file fit the entities, in one transaction, after a rehearsal that is taken back and a copy of the file. Where a row
 * or a view stands against it, nothing is changed. Throws EvolveError in one line that names what does.
 */
import type { MikroORM } from '@mikro-orm/core'
import type Database from 'better-sqlite3'
import type { Awaitable } from '../../../foundation/work/awaitable.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { EvolveError, Rehearsed, type Evolving } from '../../../records/database/evolving.ts'
import { listMentions } from '../../evolve/mentioned-tables.ts'
import type { Plan } from '../../evolve/plan.ts'
import { readRequest } from '../../evolve/request.ts'
import { addSchema, takeAnyType } from '../schema/add-schema.ts'
import { beginAnew } from './begin-anew.ts'
import { copyFile, nameCopy } from './copy-file.ts'
import { evolveTables, type FileEvolution } from './evolve-tables.ts'

/** The file that is evolved, and how. */
interface EvolvedFile {
  readonly orm: MikroORM
  readonly db: Database.Database
  readonly path: string
  readonly notes: Notes
  readonly evolving: Evolving
}

/** How often the file is rehearsed again, when another process changes it meanwhile. */
const ATTEMPTS = 4

/**
 * @param build runs on the new schema, in its transaction; when it throws, nothing is changed
 * @throws EvolveError; errors of SQLite where the file cannot be written or copied.
 */
export async function evolveFile<T>(file: EvolvedFile, build: () => Awaitable<T>): Promise<T> {
  const { orm, db, path, notes, evolving } = file
  if (evolving.begins === true) {
    beginAnew(file)
    return build()
  }
  const evolution: FileEvolution = {
    orm,
    db,
    request: readRequest(orm, evolving),
    drop: evolving.drop,
    isMentioned: listMentions(orm, evolving),
  }
  // Without tables there is nothing to keep.
  const isEmpty = db.prepare('select 1 from sqlite_schema limit 1').get() === undefined
  for (let attempt = 1; ; attempt++) {
    if (isEmpty) break
    const rehearsal = await rehearse(evolution, path)
    await evolving.onPlan?.(rehearsal)
    if (evolving.rehearses === true || rehearsal.steps.length === 0) break
    const done = await apply(file, evolution, rehearsal, build)
    if (done !== undefined) return done.built
    if (attempt === ATTEMPTS)
      throw new EvolveError(`${path} is changed by others all the time, so it is left as it is: end them first`, rehearsal)
  }
  if (evolving.rehearses === true) throw new Rehearsed()
  // What is equal in all that evolves may still lack what an update adds.
  return addSchema({ orm, db, path, notes }, build)
}

/** Runs the evolution in a transaction that is taken back. */
async function rehearse(evolution: FileEvolution, path: string): Promise<Plan> {
  const { db } = evolution
  return withoutLinks(db, () => {
    db.exec('begin immediate')
    try {
      const { plan } = evolveTables(evolution)
      plan.check(path)
      return plan
    } finally {
      // SQLite itself takes all back where the disk is full.
      if (db.inTransaction) db.exec('rollback')
    }
  })
}

/** @returns undefined where the file is another one than that of the rehearsal */
async function apply<T>(
  { orm, db, path, notes }: EvolvedFile,
  evolution: FileEvolution,
  rehearsal: Plan,
  build: () => Awaitable<T>,
): Promise<{ built: Awaitable<T> } | undefined> {
  const copy = db.memory ? undefined : nameCopy(path, new Date())
  return withoutLinks(db, async () => {
    db.exec('begin immediate')
    try {
      // Nobody else writes from here on, and nothing is written yet: another handle reads the file as it was.
      if (copy !== undefined) await copyFile(path, copy)
      const { plan, findings } = evolveTables(evolution)
      plan.check(path)
      if (JSON.stringify(plan.steps) !== JSON.stringify(rehearsal.steps)) return undefined
      for (const { table, column } of findings!.otherTypes) takeAnyType(orm, table, column)
      const built = build()
      db.exec('commit')
      for (const note of findings!.notes) notes.add(note)
      noteSteps(plan, notes, copy)
      return { built }
    } finally {
      if (db.inTransaction) db.exec('rollback')
    }
  })
}

function noteSteps({ steps, stays }: Plan, notes: Notes, copy: string | undefined): void {
  for (const { sentence } of steps) notes.add(`Evolved: ${sentence}`)
  for (const sentence of stays) notes.add(sentence)
  if (copy !== undefined) notes.add(`The file as it was before it evolved: ${copy}`)
}

/**
 * Runs work without foreign keys, which a table that is written anew would set off. SQLite takes the setting outside of transactions alone.
 */
async function withoutLinks<T>(db: Database.Database, run: () => Awaitable<T>): Promise<T> {
  db.pragma('foreign_keys = off')
  try {
    return await run()
  } finally {
    db.pragma('foreign_keys = on')
  }
}
