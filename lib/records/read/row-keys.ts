/**
 * Finds primary keys by the clients' key (`Resource.shownKey`), such as the 7 of `/v1/articles/hello`, for a path and all links of a body;
 * and a clients' key by the primary key.
 */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { idFromJson, idValues, isShownKey, keyFromJson, shownText, type KeyValues, type RecordKey, type ShownKey } from '../../model/key.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import type { Arguments } from '../database/bind.ts'
import type { CompiledRead, Dialect, Reading } from '../database/dialect.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { Anchor, Field } from '../plan/read-plan.ts'
import { readBefore, readFirst, readRecords, type JsonRecord } from './run-read.ts'

/** Readings by one shown key, by several, by the primary key. `key` reads only the primary key, from an index. */
interface Finding {
  readonly key: CompiledRead
  readonly one: CompiledRead
  readonly several: CompiledRead
  readonly byKey: CompiledRead
}

const findings = new WeakMap<Dialect, WeakMap<Resource, Finding>>()

const NO_FILTERS: Arguments['filters'] = Object.freeze([])

const WHOLE = Object.freeze({ filters: NO_FILTERS, limit: Number.MAX_SAFE_INTEGER, offset: 0 })

/** Kinds with one form in the database. */
const LISTED: ReadonlySet<string> = new Set(['integer', 'bigint', 'text'])

/** Finds rows hidden from the caller, too. */
export function findRowKey(resource: Resource, key: RecordKey, connection: ReadingConnection): Awaitable<KeyValues | undefined> {
  if (!isShownKey(key)) return key
  const { dialect } = connection
  const { key: byShown } = findFinding(resource, dialect)
  const given = { filters: NO_FILTERS, limit: Number.MAX_SAFE_INTEGER, offset: 0, key: idValues(key) }
  return chain(
    connection.read((): Reading<unknown> => readFirst(byShown, given, dialect)),
    id => (id === undefined ? undefined : keyFromJson(id, resource)),
  )
}

/** Finds the clients' ID, of hidden rows, too. */
export function findId(resource: Resource, key: KeyValues, connection: ReadingConnection): Awaitable<RecordKey | undefined> {
  if (resource.shownKey === undefined) return key
  const { dialect } = connection
  const { byKey } = findFinding(resource, dialect)
  return chain(
    connection.read(() => readFirst(byKey, { ...WHOLE, key }, dialect)),
    row => row && idFromJson(row['shown'], resource),
  )
}

/** Primary keys by resource and `shownText`. */
export type RowKeys = ReadonlyMap<Resource, ReadonlyMap<string, KeyValues>>

export function findRowKeys(
  wanted: ReadonlyMap<Resource, ReadonlyMap<string, ShownKey>>,
  connection: ReadingConnection,
): Awaitable<RowKeys> {
  return connection.read(() => readKeys(wanted, connection.dialect))
}

function* readKeys(wanted: ReadonlyMap<Resource, ReadonlyMap<string, ShownKey>>, dialect: Dialect): Reading<RowKeys> {
  const found = new Map<Resource, ReadonlyMap<string, KeyValues>>()
  for (const [resource, keys] of wanted) {
    const rows = yield* readBefore(readRowsOf(resource, [...keys.values()], dialect))
    found.set(
      resource,
      new Map(
        rows.map(({ shown, key }) => [shownText(idFromJson(shown, resource) as ShownKey, resource), keyFromJson(key, resource)!] as const),
      ),
    )
  }
  return found
}

function* readRowsOf(resource: Resource, keys: readonly ShownKey[], dialect: Dialect): Reading<readonly JsonRecord[]> {
  const { one, several } = findFinding(resource, dialect)
  const { part } = resource.shownKey!
  if (keys.length > 1 && LISTED.has(part.type.kind) && part.type.loose !== true) {
    const { parameter } = dialect.encodeLinks(keys.map(idValues), { from: [0], parts: [part] })
    return yield* readRecords(several, { ...WHOLE, key: [], links: parameter }, dialect)
  }
  const rows: JsonRecord[] = []
  for (const key of keys) {
    const row = yield* readBefore(readFirst(one, { ...WHOLE, key: idValues(key) }, dialect))
    if (row !== undefined) rows.push(row)
  }
  return rows
}

function findFinding(resource: Resource, dialect: Dialect): Finding {
  let known = findings.get(dialect)
  if (known === undefined) findings.set(dialect, (known = new WeakMap()))
  let finding = known.get(resource)
  if (finding === undefined) {
    finding = {
      key: compileKey(resource, dialect),
      one: compile(resource, { kind: 'record', shown: true }, dialect),
      several: compile(resource, { kind: 'keys', shown: true }, dialect),
      byKey: compile(resource, { kind: 'record' }, dialect),
    }
    known.set(resource, finding)
  }
  return finding
}

function compileKey(resource: Resource, dialect: Dialect): CompiledRead {
  const anchor = { kind: 'record', shown: true } as const
  return dialect.compile({ resource, anchor, node: undefined, where: [], scopeOf: () => undefined, order: [], paged: false, sort: '' })
}

function compile(resource: Resource, anchor: Anchor, dialect: Dialect): CompiledRead {
  const { keyNames, shownKey, byName } = resource
  const take = (name: string, as: string): Field => {
    const attribute = byName.get(name) as ScalarAttribute
    return { kind: 'scalar', attribute: { ...attribute, name: as, render: undefined } }
  }
  const node = { resource, fields: [take(keyNames[0]!, 'key'), take(shownKey!.name, 'shown')] }
  return dialect.compile({ resource, anchor, node, where: [], scopeOf: () => undefined, order: [], paged: false, sort: '' })
}
