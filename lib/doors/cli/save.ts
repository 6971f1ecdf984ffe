/**
 * Writes the changes of clients back to the JSON file. The new text goes into a temporary file that then replaces the old one, so the
 * file is complete at every moment. Unchanged parts keep their characters. A file that another program has changed is not overwritten.
 */
import { internalsOf } from '../../engine/pipeline/internals.ts'
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { open, readFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { RestEngine } from '../../engine.ts'
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import { readValue } from '../../model/json-model/infer-values.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import { CommandError, oneLine } from './command-error.ts'
import { editCollections } from './json-edit.ts'
import type { CollectionEdit } from './json-edit.ts'
import { dropByteOrderMark } from './json-file.ts'
import type { JsonFile } from './json-file.ts'

// Milliseconds without a write after which a temporary file is abandoned.
const STALE = 60_000

// Milliseconds for which writes are gathered into one save.
const GATHER = 50

/** The message to the watching process before a file is replaced: its new content. */
export interface SavedMessage {
  readonly saved: string
}

/** Hashes the content of a file. */
export function hashContent(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Keeps a JSON file up to date with the records of the engine. */
export class Saver {
  readonly #engine: RestEngine
  readonly #file: JsonFile
  /** The content of the file, as last read or written here. */
  #text: string
  /** The IDs of the records in the file, in their order, by collection; null for an item that is not a record. */
  #ids: ReadonlyMap<string, readonly unknown[]>
  #isDue = false
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  /** The last error that was printed. */
  #trouble: string | undefined

  constructor(engine: RestEngine, file: JsonFile) {
    this.#engine = engine
    this.#file = file
    this.#text = file.text
    this.#ids = new Map(file.collections.map(collection => [collection.name, listItemIds(collection)]))
  }

  /** Removes temporary files of earlier processes that were killed while they saved. */
  async begin(): Promise<void> {
    const path = await realpath(this.#file.path)
    const prefix = `.${basename(path)}.`
    for (const name of await readdir(dirname(path))) {
      const pid = name.startsWith(prefix) ? /^(\d+)\.tmp$/.exec(name.slice(prefix.length))?.[1] : undefined
      if (pid !== undefined && (await isLeftOver(join(dirname(path), name), Number(pid))))
        await rm(join(dirname(path), name), { force: true })
    }
  }

  /** Schedules a save. */
  changed(): void {
    this.#isDue = true
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#saving = this.#saving.then(() => this.#saveDue())
    }, GATHER)
  }

  /** Saves the remaining changes. Returns whether the file now contains everything. */
  async finish(): Promise<boolean> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#saving
    await this.#saveDue()
    return this.#trouble === undefined
  }

  async #saveDue(): Promise<void> {
    if (!this.#isDue) return
    this.#isDue = false
    try {
      await this.#save()
      this.#trouble = undefined
    } catch (error) {
      // The next change, or the end, tries again.
      this.#isDue = true
      const trouble = error instanceof CommandError ? error.message : `${this.#file.name} cannot be saved: ${oneLine(error)}.`
      if (trouble !== this.#trouble) console.error(`mikro-rest: ${trouble}`)
      this.#trouble = trouble
    }
  }

  async #save(): Promise<void> {
    const rows = await readRows(this.#engine, this.#file.collections)
    const data: unknown = JSON.parse(dropByteOrderMark(this.#text))
    const edits = new Map<string, CollectionEdit>()
    const ids = new Map<string, readonly unknown[]>()
    for (const collection of this.#file.collections) {
      const { name, isTop, isOfValues } = collection
      if (isOfValues) continue
      const value = isTop ? data : (data as Record<string, unknown>)[name]
      const edited = computeEdit(collection, value, this.#ids.get(name)!, rows.get(name)!)
      edits.set(name, edited.edit)
      ids.set(name, edited.ids)
    }
    const text = editCollections(this.#text, edits)
    if (text !== this.#text) await replace(this.#file, this.#text, text)
    this.#text = text
    this.#ids = ids
  }
}

/** Lists the IDs of all items of a list, null for items that are not records. */
function listItemIds({ ids, places }: InferredCollection): readonly unknown[] {
  if (places === undefined) return ids
  const all: unknown[] = []
  for (const [index, place] of places.entries()) {
    while (all.length < place) all.push(null)
    all.push(ids[index])
  }
  return all
}

/** Whether a temporary file is abandoned. The ID of its process may meanwhile belong to another process, even to this one. */
async function isLeftOver(temporary: string, pid: number): Promise<boolean> {
  if (pid === process.pid || !isRunning(pid)) return true
  const { mtimeMs } = await stat(temporary).catch(() => ({ mtimeMs: Date.now() }))
  return Date.now() - mtimeMs > STALE
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The records of a collection in the database, by ID, with the keys of the file. */
type Rows = ReadonlyMap<unknown, Readonly<Record<string, unknown>>>

/** Computes the edits of the file, and the IDs of its records after them. */
function computeEdit(
  { attributes, single, hasIds }: InferredCollection,
  value: unknown,
  ids: readonly unknown[],
  rows: Rows,
): { edit: CollectionEdit; ids: readonly unknown[] } {
  // The attributes that requests have added.
  const own = new Set(attributes.map(({ key }) => key))
  const listAdded = (row: Readonly<Record<string, unknown>>): string[] => Object.keys(row).filter(key => !own.has(key))
  const before = (single ? [value] : value) as readonly Record<string, unknown>[]
  const records = before.map((record, index) => {
    const id = ids[index] ?? null
    // An item that is not a record stays where it is.
    if (id === null) return undefined
    const row = rows.get(id)
    if (row === undefined) return 'delete'
    const changed = attributes.filter(attribute => attribute.kind !== 'id' && differs(attribute, record, row)).map(({ key }) => key)
    const added = listAdded(row).filter(key => JSON.stringify(readValue(record, key)) !== JSON.stringify(row[key]))
    return Object.fromEntries([...changed, ...added].map(key => [key, row[key]]))
  })
  const known = new Set(ids)
  const added = [...rows].filter(([id]) => !known.has(id))
  const shown = (row: Readonly<Record<string, unknown>>): object =>
    Object.fromEntries(
      [...attributes.filter(({ kind }) => kind !== 'id' || hasIds).map(({ key }) => key), ...listAdded(row)].map(key => [key, row[key]]),
    )
  return {
    edit: { records, added: added.map(([, row]) => shown(row)) },
    ids: [...before.map((_, index) => ids[index] ?? null).filter(id => id === null || rows.has(id)), ...added.map(([id]) => id)],
  }
}

/** Whether a value of the file differs from the database. A record may leave out null and an empty list. */
function differs(
  { kind, key }: InferredAttribute,
  record: Readonly<Record<string, unknown>>,
  row: Readonly<Record<string, unknown>>,
): boolean {
  const before = readValue(record, key)
  return JSON.stringify(before === null && kind === 'toMany' ? [] : before) !== JSON.stringify(row[key])
}

/** Reads all records in one state of the data. New ones follow in the order of their creation. */
async function readRows(engine: RestEngine, collections: readonly InferredCollection[]): Promise<ReadonlyMap<string, Rows>> {
  return await engine.orm.em.fork().transactional(async em => {
    const kysely = (em as unknown as { getKysely(): Queries }).getKysely()
    const all = new Map<string, Rows>()
    for (const { name, resource: called, attributes } of collections) {
      const resource = internalsOf(engine).model.byName.get(called)!
      const lists = new Map<string, ReadonlyMap<unknown, unknown[]>>()
      for (const attribute of attributes)
        if (attribute.kind === 'toMany') lists.set(attribute.key, await readList(kysely, resource, attribute.name))
      const { column: idColumn } = resource.key[0]!
      const stored = await kysely.selectFrom(resource.table).selectAll().orderBy(internalsOf(engine).insertionOrder).execute()
      const rows = stored.map(row => {
        const id = row[idColumn]
        const value = ({ kind, key, name: attribute }: InferredAttribute): unknown =>
          kind === 'toMany' ? (lists.get(key)!.get(id) ?? []) : decode(row, resource, attribute)
        const members = resource.open === undefined ? undefined : decodeColumn(row, resource.open.holder)
        return [
          id,
          {
            ...Object.fromEntries(attributes.map(attribute => [attribute.key, value(attribute)])),
            ...(members as object | null | undefined),
          },
        ] as const
      })
      all.set(name, new Map(rows))
    }
    return all
  })
}

/** The part of Kysely's interface that is used here. */
interface Queries {
  selectFrom(table: string): Selection
}

interface Selection {
  selectAll(): Selection
  orderBy(column: string): Selection
  execute(): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** Reads the IDs in a list of a resource, by the ID of the record. */
async function readList(kysely: Queries, resource: Resource, name: string): Promise<ReadonlyMap<unknown, unknown[]>> {
  const attribute = resource.byName.get(name)
  if (attribute?.kind !== 'toMany' || attribute.via.kind !== 'pivot')
    throw new Error(`${resource.className}.${name} is not a list with its own table.`)
  const { table, ownerColumns, targetColumns, orderColumn } = attribute.via
  const rows = await kysely
    .selectFrom(table)
    .selectAll()
    .orderBy(orderColumn ?? targetColumns[0]!)
    .execute()
  const lists = new Map<unknown, unknown[]>()
  for (const row of rows) {
    const owner = row[ownerColumns[0]!]
    const list = lists.get(owner)
    if (list === undefined) lists.set(owner, [row[targetColumns[0]!]])
    else list.push(row[targetColumns[0]!])
  }
  return lists
}

function decode(row: Readonly<Record<string, unknown>>, resource: Resource, name: string): unknown {
  const attribute = resource.byName.get(name)!
  if (attribute.kind === 'toOne') return row[attribute.columns[0]!]
  if (attribute.kind !== 'scalar') throw new Error(`${resource.className}.${name} does not have a column.`)
  return decodeColumn(row, attribute)
}

function decodeColumn(row: Readonly<Record<string, unknown>>, attribute: ScalarAttribute): unknown {
  if (attribute.source.kind !== 'column') throw new Error(`"${attribute.name}" does not have a column.`)
  const value = row[attribute.source.column]
  if (value === null || value === undefined) return null
  if (attribute.type.kind === 'boolean') return value === 1
  // A JSON number is kept as a number.
  return attribute.type.kind === 'json' && typeof value === 'string' ? (JSON.parse(value) as unknown) : value
}

/** Replaces the text of a file. Any reader, also after a crash, finds either the old text or the new one. */
async function replace({ name, path }: JsonFile, before: string, after: string): Promise<void> {
  const target = await realpath(path).catch(() => {
    throw new CommandError(`${name} is gone: what clients have changed since is not saved.`)
  })
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
  // A second signal ends the process at once.
  const remove = (): void => rmSync(temporary, { force: true })
  process.on('exit', remove)
  try {
    const handle = await open(temporary, 'w')
    try {
      await handle.chmod((await stat(target)).mode)
      await handle.writeFile(after)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if ((await readFile(target, 'utf8')) !== before) {
      throw new CommandError(
        `${name} was changed by another program: what clients have changed since is not saved, so that nothing is overwritten.`,
      )
    }
    await announce(after)
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    process.off('exit', remove)
  }
  await syncFolder(dirname(target))
}

/** Under `--watch`, sends the new content to the watching process before it can see the file change. */
async function announce(text: string): Promise<void> {
  const message: SavedMessage = { saved: hashContent(text) }
  await new Promise<void>(resolve => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}

/** Writes the new directory entry to the disk, where the system can do that. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
