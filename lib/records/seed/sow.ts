/** Runs the seeds of the option `seed` at the start, and of `engine.seed`: records (seed.ts) or a `Seeder` of MikroORM. */
import type { MikroORM } from '@mikro-orm/core'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { Model } from '../../model/model.ts'
import { isSeeder, listSeeds, type Seed, type Seeds, type SeederClass, type SeedData } from '../../model/seeds.ts'
import type { Connection, EntityConnection } from '../database/connection.ts'
import type { PasswordHashes } from '../validate/password-hashes.ts'
import { seed } from './seed.ts'

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

/**
 * In one transaction, with hooks and subscribers. No body is validated.
 *
 * @throws Error in one line with the name of the seeder, when the seeder fails; nothing is written then.
 */
async function runSeeder(seeder: SeederClass | true, connection: EntityConnection): Promise<void> {
  try {
    await connection.write(() => runPersisting(seeder, connection.orm))
  } catch (error) {
    const [message] = (error as Error).message.split('\n')
    throw new Error(`seed: ${nameSeeder(seeder, connection.orm)} has failed, and nothing of it was written: ${message}`, { cause: error })
  }
}

/** Seeders need `em.create` to persist, whatever the application says. MikroORM's manager of seeders leaves the option on for good. */
async function runPersisting(seeder: SeederClass | true, orm: MikroORM): Promise<void> {
  const before = orm.config.get('persistOnCreate')
  try {
    const manager = orm.seeder
    orm.config.set('persistOnCreate', true)
    if (seeder === true) await manager.seedString(nameSeeder(seeder, orm))
    else await manager.seed(seeder)
  } finally {
    orm.config.set('persistOnCreate', before)
  }
}

/** `true` stands for the seeder in the config. */
function nameSeeder(seeder: SeederClass | true, { config }: MikroORM): string {
  return seeder === true ? (config.get('seeder').defaultSeeder ?? 'DatabaseSeeder') : seeder.name
}

/** Leaves out records for filled tables: each start with the same file would add the records again. */
function keepForEmpty(data: SeedData, model: Model, connection: Connection, notes: Notes): Awaitable<SeedData> {
  const names = Object.keys(data).filter(name => {
    const resource = model.byName.get(name)
    // The seed refuses unknown and read-only resources.
    return resource !== undefined && !resource.readOnly && (data[name] as readonly object[]).length > 0
  })
  if (names.length === 0) return data
  return chain(connection.countRows(names.map(name => model.byName.get(name)!.table)), counts => {
    const taken = new Map(names.flatMap((name, index) => (counts[index]! > 0 ? [[name, counts[index]!] as const] : [])))
    for (const [name, count] of taken) {
      notes.add(
        `${name}: the seed is left out, because the table has ${count === 1 ? 'a row' : `${count} rows`} already. ` +
          'A seed fills empty tables; engine.seed adds records to any.',
      )
    }
    return taken.size === 0 ? data : Object.fromEntries(Object.entries(data).filter(([name]) => !taken.has(name)))
  })
}
