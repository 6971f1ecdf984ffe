/**
 * Functions option: checks the option `functions`, which SQL of a SQLite file calls. Throws TypeError for what is no function, and for
 * databases that have their own.
 */
import type { ServerDatabase, SqlFunctions } from '../../records/database/world-store.ts'

export function checkFunctions({
  functions,
  database,
}: {
  readonly functions?: SqlFunctions | undefined
  readonly database: string | ServerDatabase
}): void {
  if (functions === undefined) return
  if (typeof functions !== 'object' || functions === null || Array.isArray(functions))
    throw new TypeError('RestEngine.create: "functions" must be an object of functions: { title_sort: title => ... }.')
  if (typeof database !== 'string')
    throw new TypeError('RestEngine.create: "functions" is for SQLite: those of PostgreSQL are in the database (create function).')
  for (const [name, each] of Object.entries(functions)) {
    if (typeof each !== 'function') throw new TypeError(`RestEngine.create: "functions.${name}" must be a function.`)
    if (each.constructor.name === 'AsyncFunction')
      throw new TypeError(`RestEngine.create: "functions.${name}" is asynchronous, and SQL waits for nothing.`)
    if (name === '' || name.length > 255 || /^mikro_/i.test(name))
      throw new TypeError(
        `RestEngine.create: "functions" has the name ${JSON.stringify(name)}: a name has 1 to 255 characters and does not begin with "mikro_".`,
      )
  }
}
