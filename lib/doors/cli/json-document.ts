/**
 * JSON document: the text of a JSON file and the IDs of the records in it. Takes what has become of records, and gives the text in which
 * they are so. Every part that has not changed keeps its characters.
 */
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import { readAttribute, readValue } from '../../model/json-model/infer-values.ts'
import { EditedText, type CollectionEdit, type RecordEdit } from './json-edit.ts'

/** A record as it is in the database, with the keys of the file. */
export type JsonRow = Readonly<Record<string, unknown>>

/** What has become of records of a collection. */
export interface CollectionChange {
  /** The present records that have changed, by ID; new records in the order of their creation. */
  readonly rows: ReadonlyMap<unknown, JsonRow>
  /** The IDs of those that are not there; `others`: all that are not in `rows`. */
  readonly gone: readonly unknown[] | 'others'
}

/** The changes of a save, by the names of collections in the file. */
export type Changes = ReadonlyMap<string, CollectionChange>

/** A collection of the file. */
export interface DocumentCollection extends Pick<InferredCollection, 'name' | 'isTop' | 'attributes' | 'hasIds'> {
  /** The IDs of its items, in their order; null for an item that is not a record. */
  readonly ids: readonly unknown[]
}

/** Describes the collections of a file whose records can change. */
export function listCollections(collections: readonly InferredCollection[]): DocumentCollection[] {
  return collections
    .filter(({ isOfValues }) => !isOfValues)
    .map(({ name, isTop, attributes, hasIds, ids, places }) => ({ name, isTop, attributes, hasIds, ids: listItemIds(ids, places) }))
}

/** Lists the IDs of all items of a list, null for items that are not records. */
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
  /** The IDs as they are now, of collections in which some have come or gone. */
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

/** Plans the edit of a collection: what becomes of the items in the text, and which records come behind them. */
function planEdit(
  collection: DocumentCollection,
  ids: readonly unknown[],
  { rows, gone }: CollectionChange,
): { edit: CollectionEdit; added: readonly unknown[] } {
  const isGone = gone === 'others' ? (id: unknown) => !rows.has(id) : (id: unknown) => left.has(id)
  const left = new Set(gone === 'others' ? [] : gone)
  const records = new Map<number, RecordEdit>()
  const known = new Set<unknown>()
  for (const [index, id] of ids.entries()) {
    // An item that is not a record stays where it is.
    if (id === null) continue
    const row = rows.get(id)
    if (row !== undefined) {
      known.add(id)
      records.set(index, record => findChanged(collection, record, row))
    } else if (isGone(id)) records.set(index, 'delete')
  }
  const added = [...rows].filter(([id]) => !known.has(id))
  return { edit: { records, added: added.map(([, row]) => formRecord(collection, row)) }, added: added.map(([id]) => id) }
}

/** Finds the members of a record that differ in the database, with their values there. */
function findChanged({ attributes }: DocumentCollection, record: JsonRow, row: JsonRow): JsonRow {
  const changed = attributes.filter(attribute => attribute.kind !== 'id' && differs(attribute, record, row)).map(({ key }) => key)
  const added = listAdded(attributes, row).filter(key => JSON.stringify(readValue(record, key)) !== JSON.stringify(row[key]))
  return Object.fromEntries([...changed, ...added].map(key => [key, row[key]]))
}

/** Makes the record that a new row has in the file. */
function formRecord({ attributes, hasIds }: DocumentCollection, row: JsonRow): object {
  const own = attributes.filter(({ kind }) => kind !== 'id' || hasIds).map(({ key }) => key)
  return Object.fromEntries([...own, ...listAdded(attributes, row)].map(key => [key, row[key]]))
}

/** Lists the attributes that requests have added. */
function listAdded(attributes: readonly InferredAttribute[], row: JsonRow): string[] {
  const own = new Set(attributes.map(({ key }) => key))
  return Object.keys(row).filter(key => !own.has(key))
}

/** Whether a value of the file differs from the database. A record may leave out null and an empty list. */
function differs(attribute: InferredAttribute, record: JsonRow, row: JsonRow): boolean {
  const { kind, key } = attribute
  const before = readAttribute(record, attribute)
  return JSON.stringify(before === null && kind === 'toMany' ? [] : before) !== JSON.stringify(row[key])
}
