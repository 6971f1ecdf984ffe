/** Adds notes about records with keys that no path can name, such as the empty text. Other programs make such keys. */
import type { Notes } from '../../foundation/errors/notes.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { idNames, idParts } from '../../model/key.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Connection } from '../../records/database/connection.ts'
import { bindParameters } from '../../records/database/bind.ts'
import type { Dialect, Reading, ReadingStep, Row } from '../../records/database/dialect.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'

/** Looked up by the key's index. */
const WHOLE_KEYS = ['', '.', '..']

/** In characters. */
const MAX_KEY = 100

const ONE = { filters: [], limit: 1, offset: 0 } as const

interface FoundKey {
  readonly resource: Resource
  readonly key: string
}

/** `key` is undefined where the row gives the key. */
interface KeyLookup {
  readonly resource: Resource
  readonly key: string | undefined
  readonly step: ReadingStep
}

export async function noteUnreachable(versions: Iterable<{ readonly model: Model }>, connection: Connection, notes: Notes): Promise<void> {
  const resources = new Map<string, Resource>()
  for (const { model } of versions)
    for (const each of model.resources) if (hasRows(each)) resources.set(`${each.table} ${idNames(each).join()}`, each)
  const lookups = [...resources.values()].map(each => listLookups(each, connection.dialect))
  for (const { resource, key } of await findRows(lookups, connection))
    notes.add(
      `${resource.plural}: no path leads to the record whose ${quote(idNames(resource))} is ${quote([key])}: ` +
        'an ID in a path is not empty, "." or "..", and has no NUL. Give the record another key in the database.',
    )
}

/** Reads all at once; if a table cannot be read, resource by resource. Requests will show the error. */
async function findRows(lookups: readonly (readonly KeyLookup[])[], connection: Connection): Promise<readonly FoundKey[]> {
  const all = lookups.flat()
  if (all.length === 0) return []
  try {
    const rows = await connection.read(function* (): Reading<readonly (readonly Row[])[]> {
      return yield all.map(({ step }) => step)
    })
    return all.flatMap(({ resource, key }, index) => {
      const row = rows[index]?.[0]
      return row === undefined ? [] : [{ resource, key: key ?? String(row[0]).slice(0, MAX_KEY) }]
    })
  } catch {
    const found: FoundKey[] = []
    if (lookups.length > 1) for (const each of lookups) found.push(...(await findRows([each], connection)))
    return found
  }
}

function hasRows(resource: Resource): boolean {
  const { source, readOnly, rules } = resource
  const isShown = rules.access.get !== false || rules.access.list !== false
  return source.kind === 'table' && !readOnly && isShown && idParts(resource).some(({ type }) => mayBeText(type))
}

function mayBeText({ kind, items, column, strays }: ScalarType): boolean {
  // PostgreSQL compares some types (`inet`) only with values of the type, and `char(20)` with blanks.
  return items === undefined && column === undefined && (kind === 'text' || kind === 'any' || strays === true)
}

function listLookups(resource: Resource, dialect: Dialect): KeyLookup[] {
  const parts = idParts(resource)
  const { nulKey } = dialect
  const lookups: KeyLookup[] = []
  if (parts.length === 1) {
    const statement = dialect.exists(resource, EVERYTHING.scopeOf, undefined, true)
    for (const key of WHOLE_KEYS)
      lookups.push({ resource, key, step: { statement, parameters: bindParameters(statement, { ...ONE, key: [key] }, dialect) } })
  }
  for (const { type, column } of nulKey === undefined ? [] : parts)
    if (mayBeText(type)) lookups.push({ resource, key: undefined, step: { statement: nulKey!(resource.table, column), parameters: [] } })
  return lookups
}

function quote(names: readonly string[]): string {
  return names.map(name => JSON.stringify(name)).join(', ')
}
