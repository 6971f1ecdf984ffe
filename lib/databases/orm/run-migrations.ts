/**
 * Runs the application's migrations by `@mikro-orm/migrations`. Throws Error in one line without migrations, and if one
 * fails.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Utils, type MikroORM, type Options } from '@mikro-orm/core'

type Migrations = NonNullable<Options['migrations']>

const FOLDERS = ['migrations', 'src/migrations', 'dist/migrations', 'build/migrations']

/** MikroORM must not write snapshots, and is silent by default. */
export function forEngine(migrations: Migrations = {}): Migrations {
  return { silent: true, ...migrations, snapshotOnMigrate: false }
}

export async function runMigrations(orm: MikroORM): Promise<void> {
  const { migrator } = orm
  const where = findPlace(orm)
  let running = ''
  const note = ({ name }: { readonly name: string }): void => {
    running = ` "${name}"`
  }
  migrator.on('migrating', note)
  const done = await migrator.up().catch((error: unknown) => {
    const [message] = (error as Error).message.split('\n')
    throw new Error(`The migration${running} has failed: ${message}`, { cause: error })
  })
  migrator.off('migrating', note)
  if (done.length > 0 || (await migrator.getExecuted()).length > 0) return
  throw new Error(`"schema" is "migrate", and there is no migration in ${where}.`)
}

/** MikroORM would create a missing folder. */
function findPlace({ config }: MikroORM): string {
  const { migrationsList, path, pathTs } = config.get('migrations')
  if (migrationsList !== undefined) return '"migrations.migrationsList"'
  const isTypeScript = config.get('preferTs', Utils.detectTypeScriptSupport())
  const given = isTypeScript && pathTs !== undefined ? pathTs : path
  const places = (given === undefined ? FOLDERS : [given]).map(each => placeOf(each, config.get('baseDir')))
  const found = places.find(existsSync)
  if (found !== undefined) return found
  const [first] = places
  const text =
    given === undefined
      ? 'no migrations are configured: give the option "migrations" of MikroORM, { path: \'./migrations\' } or { migrationsList: [...] }'
      : `the folder of the migrations is not there: ${first}`
  throw new Error(`"schema" is "migrate", and ${text}.`)
}

function placeOf(path: string, baseDir: string): string {
  return path.startsWith('file:') ? fileURLToPath(path) : resolve(baseDir, path)
}
