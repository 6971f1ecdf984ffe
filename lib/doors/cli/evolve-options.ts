/**
 * Adds `--evolve`, `diff` and `--fresh` to a model's options. For `--get` and `--self-test`, copies a database file whose tables would
 * change.
 */
import { stat } from 'node:fs/promises'
import { readDatabase } from '../../engine/options/database-option.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { describeDatabase } from '../../records/database/describe-database.ts'
import { CommandError } from './command-error.ts'
import type { EvolveArguments } from './evolve-arguments.ts'

export function evolveBy(options: EngineOptions, { evolve, diff, renamed, fill, drop, copies, fresh }: EvolveArguments): EngineOptions {
  if (fresh) return makeUpdate(options)
  if (!evolve && !diff) return options
  checkEvolvable(options, diff ? 'diff' : '--evolve')
  const all: Record<string, Readonly<Record<string, string>>> = { ...options.renamed }
  for (const [resource, names] of Object.entries(renamed)) all[resource] = { ...all[resource], ...names }
  const filled: Record<string, NonNullable<EngineOptions['fill']>[string]> = { ...options.fill }
  for (const [resource, values] of Object.entries(fill))
    filled[resource] = typeof values === 'string' ? values : { ...(filled[resource] as object | undefined), ...values }
  return {
    ...options,
    schema: 'evolve',
    renamed: all,
    fill: filled,
    ...(drop === false ? {} : { drop }),
    ...(copies === undefined ? {} : { copies }),
  }
}

function makeUpdate(options: EngineOptions): EngineOptions {
  checkEvolvable(options, '--fresh')
  const { schema: _, fill: __, renamed: ___, drop: ____, copies: _____, ...others } = options
  return others
}

export async function isThere(options: EngineOptions): Promise<boolean> {
  const database = readDatabase(options.database ?? ':memory:')
  if (typeof database !== 'string') return true
  return stat(database).then(
    found => found.size > 0,
    () => false,
  )
}

export interface Trial {
  readonly options: EngineOptions
  readonly remove: () => void
}

/**
 * @returns options for a copy of the file; `undefined`: nothing would change, or the database is a server
 * @param option of the command line; undefined: the model asks for the change
 * @throws CommandError for an option on a server
 */
export async function tryOnCopy(options: EngineOptions, option: '--evolve' | '--migrate' | undefined): Promise<Trial | undefined> {
  const database = readDatabase(options.database ?? ':memory:')
  const changes = options.schema === 'evolve' || options.schema === 'migrate'
  if (!changes || database === ':memory:' || !(await isThere(options))) return undefined
  if (typeof database !== 'string') {
    if (option === undefined) return undefined
    throw new CommandError(
      `${option} would change ${describeDatabase(database)}, which --get, --openapi, --diagram, --self-test and --check leave as it is: ` +
        (option === '--evolve' ? 'mikro-rest diff shows the plan.' : 'start the server with --migrate once, then ask without --migrate.'),
      2,
    )
  }
  const { copyForTrial } = await import('../../engine/assembly/open-database.ts')
  const { path, remove } = await copyForTrial(database)
  return { options: { ...withoutCopies(options), database: path }, remove }
}

/** A copy of a copy would be of no use. */
export function withoutCopies(options: EngineOptions): EngineOptions {
  return options.schema === 'evolve' ? { ...options, copies: 0 } : options
}

function checkEvolvable({ entities, database }: EngineOptions, what: string): void {
  if (entities === undefined) throw new CommandError(`${what} needs the model beside the database: name its module with --config.`, 2)
  if (database === undefined || database === ':memory:' || database === 'pglite:')
    throw new CommandError(
      `${what} is about a database that stays, and the model is served from memory: ` +
        'name the file, as in mikro-rest app.sqlite --config model.ts.',
      2,
    )
}
