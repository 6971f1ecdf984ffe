/** Finds the resources, keys and records of the user entity, and the columns behind tokens. */
import { withArticle } from '../../foundation/base/article.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { formatScalar } from '../../foundation/values/scalar-type.ts'
import { keyOfEntity, type Entity } from '../../model/entity-key.ts'
import { keyFromText, keyToSegment, textOfPart, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import type { AuthModule } from './auth-module.ts'
import type { AuthServices } from './services.ts'
import { findStateColumns, type StateColumns } from './user-state.ts'

export class Users {
  readonly #byVersion: ReadonlyMap<string, Resource>
  readonly #first: Resource
  readonly #passwordNames: ReadonlyMap<Resource, string>
  readonly #state: ReadonlyMap<Resource, StateColumns>

  constructor({ entity, identifier, password, authenticate }: AuthModule['options'], services: AuthServices) {
    const meta = services.orm().getMetadata().get(entity)
    const byVersion = [...services.versions].map(([version, { model }]) => [version, model.byEntity.get(meta.class)] as const)
    this.#byVersion = new Map(byVersion.flatMap(([version, resource]) => (resource === undefined ? [] : [[version, resource]])))
    const resources = [...this.#byVersion.values()]
    this.#first = resources[0]!
    if (resources.length === 0) throw new TypeError(`auth: ${meta.className} is not served in any version.`)
    for (const name of authenticate === undefined ? [identifier, password] : []) {
      if (name in meta.properties) continue
      const near = formatHint(findNearest(name, Object.keys(meta.properties)))
      throw new TypeError(
        `auth: ${meta.className} has no property "${name}".${near} The options "identifier" (default "email") ` +
          'and "password" (default "password") name the properties of the log-in.',
      )
    }
    this.#passwordNames = new Map(
      resources.flatMap((resource): [Resource, string][] => {
        const attribute = resource.attributes.find(({ property }) => property === password)
        return attribute === undefined ? [] : [[resource, attribute.name]]
      }),
    )
    this.#state = new Map(resources.map(each => [each, findStateColumns(each, password, identifier)]))
  }

  /** Falls back on the first version with users. */
  resource(version: string): Resource {
    return this.#byVersion.get(version) ?? this.#first
  }

  resourceOf(version: string): Resource | undefined {
    return this.#byVersion.get(version)
  }

  columns(resource: Resource): StateColumns {
    return this.#state.get(resource)!
  }

  /** The model need not hide the hash. */
  withoutPassword(resource: Resource, record: JsonRecord): JsonRecord {
    const name = this.#passwordNames.get(resource)
    if (name === undefined || !(name in record)) return record
    const { [name]: _, ...others } = record
    return others
  }

  /** @throws TypeError for an entity of another kind */
  readKey(user: unknown, resource: Resource): KeyValues | undefined {
    if (typeof user === 'object' && user !== null) {
      const record = user as Entity & { readonly __meta?: { readonly class?: unknown; readonly className?: string } }
      const { __meta: meta } = record
      if (meta !== undefined && meta.class !== resource.entity)
        throw new TypeError(`auth: a user must be ${withArticle(resource.className)}, not ${withArticle(String(meta.className))}.`)
      const complete = resource.keyNames.every(name => (record[resource.byName.get(name)!.property] ?? undefined) !== undefined)
      return complete ? keyOfEntity(resource, record) : undefined
    }
    const isId = typeof user === 'string' || typeof user === 'number' || typeof user === 'bigint'
    return isId ? keyFromText(String(user), resource) : undefined
  }
}

export function keyToSub(key: KeyValues, resource: Resource): string {
  return key.length === 1 ? keyToTexts(key, resource)[0]! : keyToSegment(key, resource.key)
}

export function keyToTexts(key: KeyValues, { key: parts }: Resource): string[] {
  return key.map((part, index) => textOfPart(formatScalar(part, parts[index]!.type)))
}
