/** Driver kind: the database of a config's driver. */
import type { OrmConfig } from './choose-config.ts'

/** `other`: the engine cannot open the database. `unknown`: no driver. */
type DriverKind = 'sqlite' | 'postgres' | 'pglite' | 'other' | 'unknown'

/** Class names are equal in all copies of a package, unlike classes. */
const KINDS: Readonly<Record<string, DriverKind>> = {
  SqliteDriver: 'sqlite',
  BetterSqliteDriver: 'sqlite',
  LibSqlDriver: 'sqlite',
  PostgreSqlDriver: 'postgres',
  PgliteDriver: 'pglite',
}

/** By the scheme of `clientUrl`. */
const SCHEMES: Readonly<Record<string, DriverKind>> = { file: 'sqlite', sqlite: 'sqlite', postgres: 'postgres', postgresql: 'postgres' }

export function findDriverKind(config: OrmConfig): DriverKind {
  const names = listClasses(config.driver)
  const known = names.map(name => KINDS[name]).find(kind => kind !== undefined)
  if (known !== undefined) return known
  if (names.length > 0) return 'other'
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(config.clientUrl ?? '')?.[1]?.toLowerCase()
  return scheme === undefined ? 'unknown' : (SCHEMES[scheme] ?? 'other')
}

/** Used in notes. */
export function nameDriver({ driver, clientUrl }: OrmConfig): string {
  return listClasses(driver)[0] ?? /^[a-z0-9+.-]+/i.exec(clientUrl ?? '')?.[0] ?? 'no driver'
}

/** An application may extend a driver. */
function listClasses(driver: unknown): string[] {
  const names: string[] = []
  for (let each = driver; typeof each === 'function' && each !== Function.prototype; each = Object.getPrototypeOf(each))
    names.push(each.name)
  return names
}
