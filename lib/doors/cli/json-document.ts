/**
 * JSON document: the text of a JSON file, and the IDs of its records. Applies changes of records; every unchanged part keeps its
 * characters.
 */
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import { readAttribute, readValue } from '../../model/json-model/infer-values.ts'
import { EditedText, type CollectionEdit, type RecordEdit } from './json-edit.ts'

/** A record of the database, with the file's keys. */
export type JsonRow = Readonly<Record<string, unknown>>

export interface CollectionChange {
  /** Changed and new records by ID; new records in the order of creation. */
  readonly rows: ReadonlyMap<unknown, JsonRow>
  /** IDs of deleted records; `others`: all IDs that `rows` lacks. */
  readonly gone: readonly unknown[] | 'others'
}

export type Changes = ReadonlyMap<string, CollectionChange>

export interface DocumentCollection extends Pick<InferredCollection, 'name' | 'isTop' | 'attributes' | 'hasIds'> {
  /** IDs of the items, in order; null: the item is not a record. */
  readonly ids: readonly unknown[]
}

export function listCollections(collections: readonly InferredCollection[]): DocumentCollection[] {
  return collections
    .filter(({ isOfValues }) => !isOfValues)
    .map(({ name, isTop, attributes, hasIds, ids, places }) => ({ name, isTop, attributes, hasIds, ids: listItemIds(ids, places) }))
}

/** Null: the item is not a record. */
function listItemIds(ids: readonly unknown[], places: readonly number[] | undefined): readonly unknown[] {
  if (places === undefined) return ids
  const all: unknown[] = []
  for (const [index, place] of places.entries()) {
    while (all.length < place) all.push(null)
    all.push(ids[index])
  }
  return all
}

export class JsonDocument {
  readonly #text: EditedText
  readonly #collections: ReadonlyMap<string, DocumentCollection>
  /** Present IDs of collections that have gained or lost records. */
  readonly #ids = new Map<string, readonly unknown[]>()

  constructor(text: string, collections: readonly DocumentCollection[]) {
    this.#text = new EditedText(text)
    this.#collections = new Map(collections.map(collection => [collection.name, collection]))
  }

  get text(): string {
    return this.#text.text
  }

  apply(changes: Changes): void {
    const edits = new Map<string, CollectionEdit>()
    const ids = new Map<string, readonly unknown[]>()
    for (const [name, change] of changes) {
      const collection = this.#collections.get(name)!
      const before = this.#ids.get(name) ?? collection.ids
      const { edit, added } = planEdit(collection, before, change)
      edits.set(collection.isTop ? '' : name, edit)
      const hasGone = [...edit.records.values()].includes('delete')
      if (!hasGone && added.length === 0) continue
      const kept = hasGone ? before.filter((_, index) => edit.records.get(index) !== 'delete') : before
      ids.set(name, [...kept, ...added])
    }
    this.#text.edit(edits)
    for (const [name, each] of ids) this.#ids.set(name, each)
  }
}

function planEdit(
  collection: DocumentCollection,
  ids: readonly unknown[],
  { rows, gone }: CollectionChange,
): { edit: CollectionEdit; added: readonly unknown[] } {
  const isGone = gone === 'others' ? (id: unknown) => !rows.has(id) : (id: unknown) => goneIds.has(id)
  const goneIds = new Set(gone === 'others' ? [] : gone)
  const records = new Map<number, RecordEdit>()
  const presentIds = new Set<unknown>()
  for (const [index, id] of ids.entries()) {
    // An item that is not a record stays.
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

/** Returns the members that differ, with the database's values. */
function findChanged({ attributes }: DocumentCollection, record: JsonRow, row: JsonRow): JsonRow {
  const changed = attributes.filter(attribute => attribute.kind !== 'id' && differs(attribute, record, row)).map(({ key }) => key)
  const added = listAdded(attributes, row).filter(key => JSON.stringify(readValue(record, key)) !== JSON.stringify(row[key]))
  return Object.fromEntries([...changed, ...added].map(key => [key, row[key]]))
}

function formRecord({ attributes, hasIds }: DocumentCollection, row: JsonRow): object {
  const modelKeys = attributes.filter(({ kind }) => kind !== 'id' || hasIds).map(({ key }) => key)
  return Object.fromEntries([...modelKeys, ...listAdded(attributes, row)].map(key => [key, row[key]]))
}

/** Lists attributes that requests have added. */
function listAdded(attributes: readonly InferredAttribute[], row: JsonRow): string[] {
  const modelKeys = new Set(attributes.map(({ key }) => key))
  return Object.keys(row).filter(key => !modelKeys.has(key))
}

/** A record may leave out null and an empty list. */
function differs(attribute: InferredAttribute, record: JsonRow, row: JsonRow): boolean {
  const { kind, key } = attribute
  const before = readAttribute(record, attribute)
  return JSON.stringify(before === null && kind === 'toMany' ? [] : before) !== JSON.stringify(row[key])
}
