/** Reads the stored JSON of an embedded object given in part, so that `{ "address": { "city": "a" } }` keeps the street. */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { parseKept } from '../../foundation/json/json-numbers.ts'
import type { Dialect, Statement } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { Entity } from '../../model/entity-key.ts'
import type { KeyValues } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource } from '../../model/model.ts'
import { readRows } from '../read/run-read.ts'
import type { Documents } from './bind-write.ts'

const statements = new WeakMap<Resource, Map<string, Statement>>()

function findStatement(resource: Resource, column: string, dialect: Dialect): Statement {
  let known = statements.get(resource)
  if (known === undefined) statements.set(resource, (known = new Map()))
  let statement = known.get(column)
  if (statement === undefined) known.set(column, (statement = dialect.columns(resource, [column])))
  return statement
}

interface StoredObjects {
  readonly documents: Documents
  /** By property, for validation. */
  readonly entity: Entity
}

export function* readDocuments(
  resource: Resource,
  body: JsonObject,
  key: KeyValues,
  connection: ReadingConnection,
): Coroutine<StoredObjects | undefined> {
  let documents: Map<EmbeddedAttribute, unknown> | undefined
  const entity: Entity = {}
  for (const name in body) {
    const attribute = resource.byName.get(name)
    if (attribute?.kind !== 'embedded' || attribute.document === undefined || attribute.array || !isObject(body[name])) continue
    const { dialect } = connection
    const statement = findStatement(resource, attribute.document.column, dialect)
    const [row] = yield* wait(connection.read(() => readRows(statement, { filters: [], limit: 1, offset: 0, key }, dialect)))
    const stored = row?.[0] ?? null
    const current = (typeof stored === 'string' ? parseKept(stored) : stored) as JsonObject | null
    ;(documents ??= new Map()).set(attribute, current)
    entity[attribute.property] = nameProperties(attribute, current)
  }
  return documents && { documents, entity }
}

function nameProperties({ attributes }: EmbeddedAttribute, stored: JsonObject | null): Entity | null {
  if (stored === null) return null
  const entity: Entity = {}
  for (const attribute of attributes) {
    if (attribute.kind !== 'embedded' || attribute.array || attribute.document === undefined) continue
    const inner = stored[attribute.document.keys.at(-1)!] ?? null
    entity[attribute.property] = isObject(inner) ? nameProperties(attribute, inner) : null
  }
  return entity
}
