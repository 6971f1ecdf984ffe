/**
 * Makes an engine for `RestEngine.create`: checks options, opens the database, reads the model, sows seeds, notes what the maker should
 * know.
 */
import type { MikroORM } from '@mikro-orm/core'
import { chain, runCoroutine } from '../../foundation/async/awaitable.ts'
import { whenReadable } from '../../foundation/expressions/load-expressions.ts'
import { requireNode } from '../../foundation/base/node-version.ts'
import { Notes } from '../../foundation/errors/notes.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { NOTHING_LEARNED } from '../../model/open-attributes.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import { isInMemory } from '../../records/database/describe-database.ts'
import { revokeTokensOfRemovedUsers } from './auth-services.ts'
import { mergeDefinitions } from '../options/merge-definitions.ts'
import { noteUnscoped, checkExpressions, readVersions } from '../pipeline/read-versions.ts'
import { openDatabase } from './open-database.ts'
import { checkOptions } from '../options/check-options.ts'
import type { CheckedOptions, EngineOptions } from '../options/options.ts'
import type { Composition, EngineParts } from './assemble.ts'
import { listWatched } from '../journal/changes.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import type { PersistedWorld } from '../persistence/persisted-world.ts'
import type { NamedFilters } from '../../model/added-filters.ts'
import { Scenarios } from '../worlds/scenarios.ts'
import { Secrets } from '../journal/redact.ts'
import type { CompiledVersion } from '../pipeline/versions.ts'
import type { PreparedParts, SharedState } from '../pipeline/shared-state.ts'
import type { ScalarKind } from '../../foundation/values/scalar-type.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import { words } from '../../model/resource-names.ts'

/**
 * @param build makes the engine, and returns its parts
 * @throws TypeError, RangeError for wrong options; Error for a model that cannot be served
 */
export async function openEngine<E extends EngineHandle>(
  options: EngineOptions,
  build: (composition: Composition) => EngineParts<E>,
): Promise<E> {
  requireNode()
  const checked = checkOptions(await resolveConfig(options))
  const notes = new Notes(checked.notes)
  const auth = checked.auth === undefined ? undefined : await (await import('../auth/auth.ts')).loadAuthentication(checked.auth)
  const evolving = checked.schema === 'evolve' ? { ...checked, makeUp: (await import('../testing/fake-values.ts')).makeUp } : undefined
  const seeding = checked.seed === undefined ? undefined : begin(loadSeeding)
  const opened = await openDatabase({ ...checked, evolving, notes, users: checked.auth?.options?.entity })
  let persisted: PersistedWorld | undefined
  const { connection, worlds, definitions } = opened
  try {
    persisted = await claimWorld(checked)
    checkUserEntity(checked, connection.orm)
    const isNew = (checked.schema === 'migrate' && (await opened.migrate())) || isInMemory(checked.database)
    const complete = { ...checked, resources: mergeDefinitions(definitions, checked.resources, connection.orm) }
    await whenReadable([...connection.orm.getMetadata()].flatMap(({ relations }) => relations.map(({ where }) => where)))
    const parts = await opened.complete(() => {
      const { named } = connection.filters
      const shared = createSharedState(complete, connection.orm, named, { notes, auth })
      return chain(runCoroutine(checkExpressions(shared.compile(NOTHING_LEARNED, named), complete, connection)), () =>
        build({ options: complete, database: opened, shared }),
      )
    })
    // Nobody has looked through a model that comes from a database or data.
    if (checked.entities === undefined || options.notes !== undefined)
      noteSecrets(parts.versions.byName.values(), complete.resources, notes)
    noteUnscoped(complete, parts.versions.byName.values(), connection.orm, notes)
    await parts.shared.scenarios.start(() => parts.world.snapshot())
    const isContinued = (await persisted?.continue(worlds.kept!, parts.world)) === true
    if (seeding !== undefined && !isContinued)
      await (await seeding).sowFirst(checked.seed!, isNew, { version: parts.versions.first, connection, notes })
    // The engine has checked the rows of a new database in memory, unless they come from a JSON file.
    if (!isNew || options.notes !== undefined) {
      const { noteUnreachable } = await import('./note-unreachable.ts')
      await noteUnreachable(parts.versions.byName.values(), connection, notes)
    }
    await worlds.start()
    revokeTokensOfRemovedUsers({ ...parts, database: opened })
    await persisted?.start(worlds.kept!, parts, !isContinued)
    return parts.engine
  } catch (error) {
    await opened.abandon()
    persisted?.leave()
    throw error
  }
}

async function claimWorld({ persist }: CheckedOptions): Promise<PersistedWorld | undefined> {
  return persist === undefined ? undefined : (await import('../persistence/persisted-world.ts')).PersistedWorld.claim(persist)
}

const loadSeeding = () => import('../../records/seed/sow.ts')

/** For a wait behind other work, which may fail first. */
function begin<T>(load: () => Promise<T>): Promise<T> {
  const loading = load()
  loading.catch(() => {})
  return loading
}

/** @throws TypeError where the log-in's users are no entity of the engine */
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

/** About as many as a test has worlds. */
const MOST_MODELS = 20

function createSharedState(options: CheckedOptions, orm: MikroORM, first: NamedFilters, prepared: PreparedParts): SharedState {
  const versions = readVersions(options, orm, first)
  const models = [...versions.values()].map(({ model }) => model)
  const compiled = new WeakMap<NamedFilters, LruCache<ReadonlyMap<string, CompiledVersion>>>()
  return {
    compile: (learned, filters) => {
      if (learned === NOTHING_LEARNED && filters === first) return versions
      const grown = compiled.get(filters) ?? new LruCache<ReadonlyMap<string, CompiledVersion>>(MOST_MODELS)
      compiled.set(filters, grown)
      const key = JSON.stringify(learned)
      const known = grown.get(key) ?? readVersions(options, orm, filters, learned)
      grown.set(key, known)
      return known
    },
    watched: listWatched(models),
    secrets: new Secrets(models, options.auth?.options),
    passwords: prepared.auth?.findPasswordKind(options, orm, prepared.notes),
    mayRunApplicationCode: runsApplicationCode(options, orm),
    hasWire: options.wire !== undefined,
    ...prepared,
    scenarios: new Scenarios(options.scenarios),
  }
}

function runsApplicationCode(options: CheckedOptions, orm: MikroORM): boolean {
  const { resources, routes, parameters, lookup, auth } = options
  return (
    resources.length > 0 ||
    routes.length > 0 ||
    lookup !== undefined ||
    auth !== undefined ||
    Object.values(parameters).some(meaning => typeof meaning === 'function') ||
    options.orm.filters !== undefined ||
    [...orm.getMetadata()].some(({ filters }) => Object.keys(filters ?? {}).length > 0)
  )
}

/** The end of a secret name, in words: `password`, `reset_token`, `api_key`, `session_data`, `password_hash`. */
const SECRET =
  /(?:^|_)(?:(?:pass(?:word|wd|phrase|code)|pwd|secret|token|session|credential|api_?key)s?|(?:private|secret|access|signing|encryption)_key)(?:_?(?:hash|digest|salt|id|key|data|value|encrypted))?$/

/** Leaves out numbers, such as `session_id`, and times. */
const KINDS: ReadonlySet<ScalarKind> = new Set<ScalarKind>(['text', 'blob', 'uuid', 'json', 'any'])

const MOST_NAMED = 10

/** Notes shown attributes with secret names. `private: false` in a definition shows an attribute on purpose. */
function noteSecrets(versions: Iterable<{ readonly model: Model }>, definitions: readonly ResourceDefinition[], notes: Notes): void {
  const meant = new Set(
    definitions.flatMap(({ entity, config }) =>
      Object.entries(config.attributes ?? {}).flatMap(([property, rules]) => (rules?.private === false ? [keyOf(entity, property)] : [])),
    ),
  )
  const found = new Map<string, SecretPair>()
  for (const { model } of versions)
    for (const pair of model.resources.flatMap(listSecrets))
      if (!meant.has(keyOf(pair.resource.className, pair.property))) found.set(`${pair.resource.plural}.${pair.name}`, pair)
  const [first] = found.values()
  if (first === undefined) return
  const names = [...found.keys()]
  const others = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : ''
  const [looks, hide] = names.length === 1 ? ['looks like a secret, and is', 'hide it'] : ['look like secrets, and are', 'hide each']
  const rule = `resource(${JSON.stringify(first.resource.plural)}, { attributes: { ${formatKey(first.property)}: { private: true } } })`
  notes.add(`${names.slice(0, MOST_NAMED).join(', ')}${others} ${looks} shown: ${hide} with --hide ${names[0]}, in code with ${rule}.`)
}

interface SecretPair {
  readonly resource: Resource
  readonly property: string
  readonly name: string
}

function listSecrets(resource: Resource): SecretPair[] {
  const { access } = resource.rules
  if (access.get === false && access.list === false) return []
  return resource.attributes.flatMap(attribute => {
    const { name, property, hidden } = attribute
    const isShown = attribute.kind === 'scalar' && !hidden && attribute.render === undefined && attribute.source.kind !== 'formula'
    return isShown && KINDS.has(attribute.type.kind) && SECRET.test(words(name).join('_')) ? [{ resource, property, name }] : []
  })
}

function keyOf(entity: ResourceDefinition['entity'], property: string): string {
  const { name, meta } = entity as { readonly name?: string; readonly meta?: { readonly className?: string } }
  return `${typeof entity === 'string' ? entity : (meta?.className ?? name)}.${property}`
}

function formatKey(property: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(property) ? property : JSON.stringify(property)
}
