/** Driver kind: tells by the driver of a config which database it is for. */
import type { OrmConfig } from './choose-config.ts'

/** Whose databases the engine opens itself, or `other`. `unknown` is a config that says nothing. */
type DriverKind = 'sqlite' | 'postgres' | 'pglite' | 'other' | 'unknown'

/** The drivers by the names of their classes, which are the same in each copy of their package. */
const KINDS: Readonly<Record<string, DriverKind>> = {
  SqliteDriver: 'sqlite',
  BetterSqliteDriver: 'sqlite',
  LibSqlDriver: 'sqlite',
  PostgreSqlDriver: 'postgres',
  PgliteDriver: 'pglite',
}

/** The databases by the schemes of `clientUrl`. */
const SCHEMES: Readonly<Record<string, DriverKind>> = { file: 'sqlite', sqlite: 'sqlite', postgres: 'postgres', postgresql: 'postgres' }

export function findDriverKind(config: OrmConfig): DriverKind {
  const names = listClasses(config.driver)
  const known = names.map(name => KINDS[name]).find(kind => kind !== undefined)
  if (known !== undefined) return known
  if (names.length > 0) return 'other'
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(config.clientUrl ?? '')?.[1]?.toLowerCase()
  return scheme === undefined ? 'unknown' : (SCHEMES[scheme] ?? 'other')
}

/** The name of the driver, for notes. */
export function nameDriver({ driver, clientUrl }: OrmConfig): string {
  return listClasses(driver)[0] ?? /^[a-z0-9+.-]+/i.exec(clientUrl ?? '')?.[0] ?? 'no driver'
}

/** The names of a class and of those that it extends: an application may have a driver of its own. */
function listClasses(driver: unknown): string[] {
  const names: string[] = []
  for (let each = driver; typeof each === 'function' && each !== Function.prototype; each = Object.getPrototypeOf(each))
    names.push(each.name)
  return names
}
