/**
 * Planned documents: reads the JSON of objects that a change gives in part: `{ "address": { "city": "a" } }` keeps the street. Gives
 * undefined for a new object that lacks a part: the unit of work names the part.
 */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { parseKept } from '../../foundation/json/json-numbers.ts'
import type { Dialect, Statement } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { KeyValues } from '../../model/key.ts'
import type { EmbeddedAttribute, Resource } from '../../model/model.ts'
import { readRows } from '../read/run-read.ts'
import type { Documents } from './bind-write.ts'
import type { RecordInput, ValueInput } from '../validate/record-input.ts'

const NONE: Documents = new Map()

const statements = new WeakMap<Resource, Map<string, Statement>>()

function findStatement(resource: Resource, column: string, dialect: Dialect): Statement {
  let known = statements.get(resource)
  if (known === undefined) statements.set(resource, (known = new Map()))
  let statement = known.get(column)
  if (statement === undefined) known.set(column, (statement = dialect.columns(resource, [column])))
  return statement
}

export function* readDocuments(change: RecordInput, key: KeyValues, connection: ReadingConnection): Coroutine<Documents | undefined> {
  let documents: Map<EmbeddedAttribute, unknown> | undefined
  for (const { attribute, value } of change.values) {
    if (attribute.kind !== 'embedded' || attribute.document === undefined || attribute.array || value === null) continue
    const { dialect } = connection
    const statement = findStatement(change.resource, attribute.document.column, dialect)
    const [row] = yield* wait(connection.read(() => readRows(statement, { filters: [], limit: 1, offset: 0, key }, dialect)))
    const stored = row?.[0] ?? null
    const current = (typeof stored === 'string' ? parseKept(stored) : stored) as JsonObject | null
    if (lacksAttributes(attribute, value as readonly ValueInput[], current)) return undefined
    ;(documents ??= new Map()).set(attribute, current)
  }
  return documents ?? NONE
}

function lacksAttributes({ attributes }: EmbeddedAttribute, values: readonly ValueInput[], current: JsonObject | null): boolean {
  if (current === null && !attributes.every(({ required, name }) => !required || values.some(({ attribute }) => attribute.name === name)))
    return true
  return values.some(
    ({ attribute, value }) =>
      attribute.kind === 'embedded' &&
      !attribute.array &&
      value !== null &&
      lacksAttributes(
        attribute,
        value as readonly ValueInput[],
        (current?.[attribute.document!.keys.at(-1)!] ?? null) as JsonObject | null,
      ),
  )
}
