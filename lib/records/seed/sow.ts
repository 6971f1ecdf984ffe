/** Runs the seeds of the option `seed` at the start, and of `engine.seed`: records (seed.ts) or a seeder (run-seeder.ts). */
import type { Notes } from '../../foundation/errors/notes.ts'
import type { Model } from '../../model/model.ts'
import { isSeeder, listSeeds, type Seed, type Seeds } from '../../model/seeds.ts'
import type { Connection } from '../database/connection.ts'
import { nameSeeder, runSeeder } from './run-seeder.ts'
import { keepForEmpty } from './seed-empty.ts'
import { seed } from './seed.ts'
import type { PasswordHashes } from '../validate/password-hashes.ts'

interface SeedBed {
  readonly version: { readonly model: Model; readonly hashes: PasswordHashes | undefined }
  readonly connection: Connection
  readonly notes: Notes
}

/**
 * The option `seed` fills empty tables, a seeder an empty database: a file is started more than once.
 *
 * @param isNew only migrations may have filled the database
 */
export async function sowFirst(seeds: Seeds, isNew: boolean, bed: SeedBed): Promise<void> {
  const kept = isNew ? listSeeds(seeds) : await keepFitting(listSeeds(seeds), bed)
  for (const each of kept) await sow(each, bed)
}

export async function sow(each: Seed, { version, connection, notes }: SeedBed): Promise<void> {
  if (isSeeder(each)) {
    await runSeeder(each, connection)
    await version.hashes?.notePlain(connection, nameSeeder(each, connection.orm), notes)
  } else await seed((await version.hashes?.inSeed(each, version.model)) ?? each, version.model, connection)
}

/** Looks at all tables before the first seed fills any. */
async function keepFitting(seeds: readonly Seed[], { version: { model }, connection, notes }: SeedBed): Promise<readonly Seed[]> {
  const tables = [...new Map(model.entities.flatMap(each => (each.source.kind === 'table' ? [[each.table, each.plural] as const] : [])))]
  const counts = seeds.some(isSeeder) ? await connection.countRows(tables.map(([table]) => table)) : []
  const taken = counts.findIndex(count => count > 0)
  const kept: Seed[] = []
  for (const each of seeds) {
    if (!isSeeder(each)) kept.push(await keepForEmpty(each, model, connection, notes))
    else if (taken < 0) kept.push(each)
    else
      notes.add(
        `${nameSeeder(each, connection.orm)} is not run, ` +
          `because there ${counts[taken] === 1 ? 'is a row' : `are ${counts[taken]} rows`} of ${tables[taken]![1]} already. ` +
          'A seeder fills an empty database; engine.seed runs it on any.',
      )
  }
  return kept
}
