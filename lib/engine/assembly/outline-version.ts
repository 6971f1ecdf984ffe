/** Outlines a version for the workbench, and names its database. */
import type { Authentication } from '../auth/authentication.ts'
import { outlineResources } from '../../description/outline/outline.ts'
import type { OutlineOfEngine, Outline } from '../../description/outline/outline-parts.ts'
import { describeDatabase, isInMemory, isPglite } from '../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'
import { formatRoot } from '../../records/request/address.ts'
import type { Services } from '../pipeline/operate.ts'

export function outlineVersion(
  { version, base, readOnly }: { readonly version: string; readonly base: string; readonly readOnly: boolean },
  engine: {
    readonly options: { readonly versions: readonly string[]; readonly database: string | ServerDatabase; readonly readOnly?: boolean }
    readonly authentication: Authentication | undefined
    readonly isFork: boolean
    readonly isSaved: boolean
    readonly hasWire: boolean
    readonly services: Pick<Services, 'model' | 'vocabulary'>
    readonly refusal: string | undefined
  },
): OutlineOfEngine {
  const { options, authentication, services } = engine
  const isReadOnly = readOnly || options.readOnly === true
  const user = authentication?.describe(version).user
  const resources = outlineResources(services.model, isReadOnly)
  return {
    ...nameDatabase(options.database),
    ...(engine.isFork ? { inMemory: true } : engine.isSaved ? { inMemory: false } : {}),
    base,
    root: formatRoot(base, version),
    version,
    versions: options.versions,
    readOnly: isReadOnly,
    users: user !== undefined && resources.some(({ name }) => name === user.plural) ? user.plural : null,
    hasLogIn: authentication !== undefined,
    ...(engine.hasWire ? { hasWire: true } : {}),
    parameters: Object.fromEntries([...services.vocabulary.reserved].map(([given, name]) => [name, given])),
    resources,
    ...(engine.refusal === undefined ? {} : { refused: engine.refusal }),
  }
}

function nameDatabase(database: string | ServerDatabase): Pick<Outline, 'title' | 'database' | 'inMemory'> {
  const name = describeDatabase(database)
  const kind = isPglite(name) ? 'PGlite' : /^postgres/i.test(name) ? 'PostgreSQL' : 'SQLite'
  if (isInMemory(database)) return { title: `${kind} in memory`, database: kind, inMemory: true }
  const last =
    name
      .replace(/[/\\]+$/, '')
      .split(/[/\\]/)
      .at(-1) ?? name
  return { title: last.replace(/^pglite:/i, ''), database: kind, inMemory: false }
}
