/**
 * First seed: sows the option `seed` when an engine is created. Records go into empty tables, a seeder into an empty database: a file is
 * started more than once, and records would come again.
 */
import type { Notes } from '../../foundation/errors/notes.ts'
import type { Connection } from '../../records/database/connection.ts'
import { isSeeder, listSeeds, type Seed, type Seeds } from '../../model/seeds.ts'
import { hashedSeed } from '../../records/validate/hash-passwords.ts'
import { nameSeeder, runSeeder } from '../../records/seed/run-seeder.ts'
import { keepForEmpty } from '../../records/seed/seed-empty.ts'
import { seed } from '../../records/seed/seed.ts'

interface SeedBed {
  readonly version: Parameters<typeof hashedSeed>[1]
  readonly connection: Connection
  readonly notes: Notes
}

/** @param isNew whether at most migrations have filled the database */
export async function sowFirst(seeds: Seeds, isNew: boolean, bed: SeedBed): Promise<void> {
  const kept = isNew ? listSeeds(seeds) : await keepFitting(listSeeds(seeds), bed)
  for (const each of kept) await sow(each, bed)
}

/** Whatever the database holds. */
async function sow(each: Seed, { version, connection, notes }: SeedBed): Promise<void> {
  if (isSeeder(each)) {
    await runSeeder(each, connection)
    await version.hashes?.notePlain(connection, nameSeeder(each, connection.orm), notes)
  } else await seed(await hashedSeed(each, version), version.model, connection)
}

/** Before any seed is sown: seeds must leave room for each other. */
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
