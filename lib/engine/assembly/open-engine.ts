/** Open engine: opens the database of a new engine, and begins the engine's life. Loaded where an engine is made. */
import type { MikroORM } from '@mikro-orm/core'
import { chain, runCoroutine } from '../../foundation/work/awaitable.ts'
import { requireNode } from '../../foundation/base/node-version.ts'
import { Notes } from '../../foundation/errors/notes.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { NOTHING_LEARNED } from '../../model/open-attributes.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import { isInMemory } from '../../records/database/describe-database.ts'
import { revokeTokensOfRemovedUsers } from './auth-services.ts'
import { sowFirst } from './first-seed.ts'
import { mergeDefinitions } from '../options/merge-definitions.ts'
import { noteSecrets } from './note-secrets.ts'
import { noteUnscoped } from '../pipeline/read-versions.ts'
import { openDatabase } from './open-database.ts'
import { checkOptions } from '../options/check-options.ts'
import type { CheckedOptions, EngineOptions } from '../options/options.ts'
import { createSharedState } from './create-shared-state.ts'
import { checkExpressions } from '../pipeline/read-versions.ts'
import type { Composition, EngineParts } from './assemble.ts'

/**
 * @param build makes the engine, and returns its parts
 * @throws TypeError, RangeError for options that are unknown or not of their form; Error for a model that cannot be served
 */
export async function openEngine<E extends EngineHandle>(
  options: EngineOptions,
  build: (composition: Composition) => EngineParts<E>,
): Promise<E> {
  requireNode()
  const checked = checkOptions(await resolveConfig(options))
  const notes = new Notes(checked.notes)
  const auth = checked.auth === undefined ? undefined : await (await import('../auth/auth.ts')).loadAuthentication(checked.auth)
  const evolving = checked.schema === 'evolve' ? checked : undefined
  const opened = await openDatabase({ ...checked, evolving, notes, users: checked.auth?.options?.entity })
  const { connection, worlds, definitions } = opened
  try {
    checkUserEntity(checked, connection.orm)
    const isNew = (checked.schema === 'migrate' && (await opened.migrate())) || isInMemory(checked.database)
    const complete = { ...checked, resources: mergeDefinitions(definitions, checked.resources, connection.orm) }
    const parts = await opened.complete(() => {
      const { named } = connection.filters
      const shared = createSharedState(complete, connection.orm, named, { notes, auth })
      return chain(runCoroutine(checkExpressions(shared.compile(NOTHING_LEARNED, named), complete, connection)), () =>
        build({ options: complete, database: opened, shared }),
      )
    })
    // Nobody has looked through a model made of a database or of data.
    if (checked.entities === undefined || options.notes !== undefined)
      noteSecrets(parts.versions.byName.values(), complete.resources, notes)
    noteUnscoped(complete, parts.versions.byName.values(), connection.orm, notes)
    await parts.shared.scenarios.start(() => parts.world.snapshot())
    if (checked.seed !== undefined) {
      const { first } = parts.versions
      await sowFirst(checked.seed, isNew, { version: first, connection, notes })
    }
    // A new database in memory has what the engine itself has checked, unless a JSON file has filled it.
    if (!isNew || options.notes !== undefined) {
      const { noteUnreachable } = await import('./note-unreachable.ts')
      await noteUnreachable(parts.versions.byName.values(), connection, notes)
    }
    await worlds.start()
    revokeTokensOfRemovedUsers({ ...parts, database: opened })
    return parts.engine
  } catch (error) {
    await opened.abandon()
    throw error
  }
}

/** @throws TypeError where the users of the log-in are no entity of the engine */
function checkUserEntity({ auth }: CheckedOptions, orm: MikroORM): void {
  const entity = auth?.options?.entity
  if (entity === undefined || orm.getMetadata().find(entity) !== undefined) return
  const names = [...orm.getMetadata()].map(({ className }) => className)
  const given = typeof entity === 'string' ? entity : String((entity as { readonly name?: unknown }).name)
  throw new TypeError(
    `auth: "entity" must be the entity of the users, or its name, and there is no entity "${given}".` +
      `${formatHint(findNearest(given, names))} The entities are ${names.slice(0, 10).join(', ')}.`,
  )
}

async function resolveConfig(options: EngineOptions): Promise<EngineOptions> {
  if ((options as EngineOptions | null | undefined)?.config === undefined) return options
  return (await import('../config/read-config.ts')).readConfig(options)
}
