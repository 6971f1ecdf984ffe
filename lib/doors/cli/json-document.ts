/** Applies changes of records to the text of a JSON file. All other characters stay. */
import { isLongInteger, keepDigits } from '../../foundation/json/json-numbers.ts'
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import { readAttribute, readLink, readValue } from '../../model/json-model/infer-values.ts'
import { EditedText, type RecordEdit } from './json-edit.ts'

/** A record of the database, with the file's keys. */
export type JsonRow = Readonly<Record<string, unknown>>

export interface CollectionChange {
  /** By ID: changed records, and new records in the order of creation. */
  readonly rows: ReadonlyMap<unknown, JsonRow>
  /** IDs of deleted records; `others`: all records not in `rows`. */
  readonly gone: readonly unknown[] | 'others'
}

export type Changes = ReadonlyMap<string, CollectionChange>

export interface DocumentCollection extends Pick<InferredCollection, 'name' | 'isTop' | 'attributes' | 'hasIds' | 'exact'> {
  /** The ID of each item; null for an item other than an object. */
  readonly ids: readonly unknown[]
}

export function listCollections(collections: readonly InferredCollection[]): DocumentCollection[] {
  return collections
    .filter(({ isOfValues }) => !isOfValues)
    .map(({ name, isTop, attributes, hasIds, exact, ids, places }) => {
      return { name, isTop, attributes, hasIds, exact, ids: listItemIds(ids, places) }
    })
}

function listItemIds(ids: readonly unknown[], places: readonly number[] | undefined): readonly unknown[] {
  if (places === undefined) return ids
  const all: unknown[] = []
  for (const [index, place] of places.entries()) {
    while (all.length < place) all.push(null)
    all.push(ids[index])
  }
  return all
}

interface DocumentEdit {
  readonly records: Map<number, RecordEdit>
  readonly added: readonly object[]
}

export class JsonDocument {
  readonly #text: EditedText
  readonly #collections: ReadonlyMap<string, DocumentCollection>
  /** IDs in the edited text, of collections with lost or added records. */
  readonly #ids = new Map<string, readonly unknown[]>()

  constructor(text: string, collections: readonly DocumentCollection[]) {
    this.#text = new EditedText(text)
    this.#collections = new Map(collections.map(collection => [collection.name, collection]))
  }

  get text(): string {
    return this.#text.text
  }

  apply(changes: Changes): void {
    const edits = new Map<string, DocumentEdit>()
    const ids = new Map<string, readonly unknown[]>()
    const born = new Map<string, readonly unknown[]>()
    for (const [name, change] of changes) {
      const collection = this.#collections.get(name)!
      const before = this.#ids.get(name) ?? collection.ids
      const { edit, added } = planEdit(collection, before, change)
      edits.set(name, edit)
      if (added.length > 0) born.set(name, added)
      const hasGone = [...edit.records.values()].includes('delete')
      if (!hasGone && added.length === 0) continue
      const kept = hasGone ? before.filter((_, index) => edit.records.get(index) !== 'delete') : before
      ids.set(name, [...kept, ...added])
    }
    const found = this.#findRevived(born)
    for (const { collection, attribute, id } of found) this.#unlink(collection, attribute, id, edits)
    this.#text.edit(new Map([...edits].map(([name, edit]) => [this.#collections.get(name)!.isTop ? '' : name, edit])))
    for (const { attribute, id } of found) attribute.gone.delete(id)
    for (const [name, each] of ids) this.#ids.set(name, each)
  }

  /** Finds links whose missing record's ID a new record has taken. */
  #findRevived(born: ReadonlyMap<string, readonly unknown[]>): Revived[] {
    return [...this.#collections.values()].flatMap(collection =>
      collection.attributes.flatMap(attribute => {
        if (attribute.kind !== 'toOne' && attribute.kind !== 'toMany') return []
        const ids = (born.get(attribute.target) ?? []).filter(id => attribute.gone.has(id))
        return ids.map(id => ({ collection, attribute: attribute as Revived['attribute'], id }))
      }),
    )
  }

  /** Empties links to `id`: the API shows null, and the links must not lead to the new record. */
  #unlink(
    collection: DocumentCollection,
    { key, form, idType }: Revived['attribute'],
    id: unknown,
    edits: Map<string, DocumentEdit>,
  ): void {
    const { name } = collection
    const edit = edits.get(name) ?? { records: new Map<number, RecordEdit>(), added: [] }
    edits.set(name, edit)
    const unlinked = (record: JsonRow): JsonRow => {
      const value = readValue(record, key)
      const isIt = (link: unknown): boolean => readLink(link, idType) === id
      // A number of many digits has been read as a text.
      const spell = (link: unknown): unknown => (form === 'text' ? link : writeLong(link))
      if (Array.isArray(value)) return value.some(isIt) ? { [key]: value.filter(link => !isIt(link)).map(spell) } : {}
      return isIt(value) ? { [key]: null } : {}
    }
    for (const [index, itemId] of (this.#ids.get(name) ?? collection.ids).entries()) {
      const other = edit.records.get(index)
      if (itemId !== null && other !== 'delete') edit.records.set(index, record => ({ ...unlinked(record), ...other?.(record) }))
    }
  }
}

interface Revived {
  readonly collection: DocumentCollection
  readonly attribute: Extract<InferredAttribute, { readonly gone: unknown }> & { readonly gone: Set<unknown> }
  readonly id: unknown
}

function planEdit(
  collection: DocumentCollection,
  ids: readonly unknown[],
  { rows, gone }: CollectionChange,
): { edit: DocumentEdit; added: readonly unknown[] } {
  const isGone = gone === 'others' ? (id: unknown) => !rows.has(id) : (id: unknown) => goneIds.has(id)
  const goneIds = new Set(gone === 'others' ? [] : gone)
  const records = new Map<number, RecordEdit>()
  const presentIds = new Set<unknown>()
  for (const [index, id] of ids.entries()) {
    if (id === null) continue
    const row = rows.get(id)
    if (row !== undefined) {
      presentIds.add(id)
      records.set(index, record => findChanged(collection, record, row))
    } else if (isGone(id)) records.set(index, 'delete')
  }
  const added = [...rows].filter(([id]) => !presentIds.has(id))
  return { edit: { records, added: added.map(([, row]) => formRecord(collection, row)) }, added: added.map(([id]) => id) }
}

/** The changed members, with the database's values; undefined removes a member. */
function findChanged({ attributes, exact }: DocumentCollection, record: JsonRow, row: JsonRow): JsonRow {
  const changed = attributes.filter(attribute => attribute.kind !== 'id' && differs(attribute, record, row, exact))
  const added = listAdded(attributes, row).filter(key => JSON.stringify(readValue(record, key)) !== JSON.stringify(row[key]))
  const lost = exact ? listAdded(attributes, record).filter(key => !Object.hasOwn(row, key)) : []
  return { ...Object.fromEntries(changed.map(each => [each.key, writeForm(each, row[each.key])])), ...pick(row, [...added, ...lost]) }
}

function pick(row: JsonRow, keys: readonly string[]): JsonRow {
  return Object.fromEntries(keys.map(key => [key, row[key]]))
}

function formRecord({ attributes, hasIds }: DocumentCollection, row: JsonRow): object {
  const shown = attributes.filter(({ kind, key }) => (kind !== 'id' || hasIds) && Object.hasOwn(row, key))
  return { ...Object.fromEntries(shown.map(each => [each.key, writeForm(each, row[each.key])])), ...pick(row, listAdded(attributes, row)) }
}

function listAdded(attributes: readonly InferredAttribute[], row: JsonRow): string[] {
  const modelKeys = new Set(attributes.map(({ key }) => key))
  return Object.keys(row).filter(key => !modelKeys.has(key))
}

/** Says whether a value has changed: a record of a file may lack an empty list and, unless the collection is exact, null. */
function differs(attribute: InferredAttribute, record: JsonRow, row: JsonRow, exact: boolean): boolean {
  const { kind, key } = attribute
  if (exact && kind !== 'toMany' && !(Object.hasOwn(record, key) && Object.hasOwn(row, key)))
    return Object.hasOwn(record, key) || Object.hasOwn(row, key)
  const before = readAttribute(record, attribute)
  return JSON.stringify(before === null && kind === 'toMany' ? [] : before) !== JSON.stringify(row[key])
}

/** Spells IDs, links and long integers as the file does. */
function writeForm(attribute: InferredAttribute, value: unknown): unknown {
  if (attribute.kind === 'plain') return attribute.isBare ? writeLong(value) : value
  const write = attribute.form === 'text' ? writeText : writeNumber
  return Array.isArray(value) ? value.map(write) : write(value)
}

function writeText(id: unknown): unknown {
  return typeof id === 'number' ? String(id) : id
}

function writeNumber(id: unknown): unknown {
  if (typeof id !== 'string') return id
  return String(Number(id)) === id && Number.isSafeInteger(Number(id)) ? Number(id) : writeLong(id)
}

function writeLong(value: unknown): unknown {
  if (typeof value === 'string') return isLongInteger(value) && /^-?[1-9]/.test(value) ? keepDigits(value) : value
  if (Array.isArray(value)) return value.map(writeLong)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writeLong(item)]))
}
