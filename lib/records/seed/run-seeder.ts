/** Runs a `Seeder` of MikroORM in one transaction, with hooks and subscribers. No body is validated. */
import type { MikroORM } from '@mikro-orm/core'
import type { EntityConnection } from '../database/connection.ts'
import type { SeederClass } from '../../model/seeds.ts'

/** @throws Error in one line that names the seeder, when it fails; nothing is written then. */
export async function runSeeder(seeder: SeederClass | true, connection: EntityConnection): Promise<void> {
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
export function nameSeeder(seeder: SeederClass | true, { config }: MikroORM): string {
  return seeder === true ? (config.get('seeder').defaultSeeder ?? 'DatabaseSeeder') : seeder.name
}
