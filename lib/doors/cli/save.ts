/**
 * Saves changes to the JSON file (`--save`). Hands changed rows to the thread with the text (save-worker.ts): the cost here does not depend
 * on the size of the file.
 */
import { rmSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { RestEngine } from '../../engine.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import type { ChangeSink, RawChange } from '../../records/database/changes.ts'
import type { InferredCollection } from '../../model/json-model/infer-model.ts'
import { oneLine } from './command-error.ts'
import { listCollections, type CollectionChange } from './json-document.ts'
import type { JsonFile } from './json-file.ts'
import { readRows } from './read-rows.ts'
import { removeLeftOver, temporaryOf } from './replace-file.ts'
import { isWatched, report } from './watched.ts'
import type { SaveOrder, SaveReport, SaveWork } from './save-worker.ts'

// Milliseconds: writes in this time are one save.
const GATHER = 50

interface WatchedFile {
  readonly collection: InferredCollection
  /** Any deletion may change a hidden list, without a report. */
  readonly hasHiddenList: boolean
}

export class Saver {
  readonly #engine: RestEngine
  readonly #file: JsonFile
  readonly #byTable: ReadonlyMap<string, WatchedFile>
  readonly #watcher: ChangeSink = { add: change => this.#add(change) }
  #changed = new Map<InferredCollection, Set<unknown> | 'all'>()
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<boolean> = Promise.resolve(true)
  #isSaving = false
  #worker: SaveThread | undefined
  /** The printed error: not printed twice. */
  #trouble: string | undefined

  constructor(engine: RestEngine, file: JsonFile) {
    this.#engine = engine
    this.#file = file
    const { model, parts } = internalsOf(engine)
    this.#byTable = new Map(
      file.collections
        .filter(({ isOfValues }) => !isOfValues)
        .map(collection => {
          const { table, byName } = model.byName.get(collection.resource)!
          const hasHiddenList = collection.attributes.some(({ kind, name }) => kind === 'toMany' && byName.get(name)?.hidden === true)
          return [table, { collection, hasHiddenList }]
        }),
    )
    parts.recorder.watchers.add(this.#watcher)
  }

  async begin(): Promise<void> {
    const target = await realpath(this.#file.path)
    await removeLeftOver(target)
    // A second signal may end the process during a save.
    process.on('exit', () => rmSync(temporaryOf(target), { force: true }))
    this.#start()
  }

  /** To call when all data may have changed, without a report of rows. */
  replaced(): void {
    for (const { collection } of this.#byTable.values()) this.#changed.set(collection, 'all')
    this.#schedule()
  }

  async flush(): Promise<boolean> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isDue) {
      const saving = this.#saving.then(() => this.#saveDue())
      this.#saving = saving
      this.#isSaving = true
      void saving.then(() => (this.#isSaving = this.#saving !== saving))
    }
    return this.#saving
  }

  /** Rejects where the file cannot be saved. `undefined`: the file has all changes. */
  settled(): Promise<void> | undefined {
    if (this.#changed.size === 0 && this.#trouble === undefined && !this.#isSaving) return undefined
    return this.#assertSaved()
  }

  async #assertSaved(): Promise<void> {
    if (!(await this.flush())) throw new Error(`${this.#file.name} is not saved.`)
  }

  async finish(): Promise<boolean> {
    internalsOf(this.#engine).parts.recorder.watchers.delete(this.#watcher)
    await this.flush()
    const isSaved = await this.flush()
    await this.#worker?.end()
    return isSaved
  }

  get #isDue(): boolean {
    return this.#changed.size > 0 || this.#trouble !== undefined
  }

  #add(change: RawChange): void {
    const { resource } = change.kind === 'row' ? change.table : change.list.table
    const watchedFile = this.#byTable.get(resource.table)
    if (watchedFile === undefined) return
    if (change.kind === 'list') this.#noteChange(watchedFile.collection, change.id)
    else {
      const [before, after] = [change.before(), change.after()]
      if (before !== undefined) this.#noteChange(watchedFile.collection, before.id)
      if (after !== undefined && after.id !== before?.id) this.#noteChange(watchedFile.collection, after.id)
      if (after === undefined)
        for (const { collection, hasHiddenList } of this.#byTable.values()) if (hasHiddenList) this.#changed.set(collection, 'all')
    }
    this.#schedule()
  }

  #noteChange(collection: InferredCollection, id: unknown): void {
    const ids = this.#changed.get(collection)
    if (ids === undefined) this.#changed.set(collection, new Set([id]))
    else if (ids !== 'all') ids.add(id)
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), GATHER)
  }

  async #saveDue(): Promise<boolean> {
    if (!this.#isDue) return true
    const changed = this.#changed
    this.#changed = new Map()
    let trouble: string | undefined
    try {
      trouble = await this.#save(changed)
    } catch (error) {
      // The next change, or the end, tries again.
      for (const [collection, ids] of changed)
        if (ids === 'all') this.#changed.set(collection, ids)
        else for (const id of ids) this.#noteChange(collection, id)
      trouble = `${this.#file.name} cannot be saved: ${oneLine(error)}.`
    }
    if (trouble !== undefined && trouble !== this.#trouble) console.error(`mikro-rest: ${trouble}`)
    this.#trouble = trouble
    return trouble === undefined
  }

  async #save(changed: ReadonlyMap<InferredCollection, Set<unknown> | 'all'>): Promise<string | undefined> {
    const found = await readRows(
      this.#engine,
      [...changed].map(([collection, ids]) => ({ collection, ids })),
    )
    const changes = new Map<string, CollectionChange>()
    for (const [collection, ids] of changed) {
      const rows = found.get(collection.name)!
      changes.set(collection.name, { rows, gone: ids === 'all' ? 'others' : [...ids].filter(id => !rows.has(id)) })
    }
    return await this.#start().save(changes)
  }

  #start(): SaveThread {
    const { name, path, text, collections } = this.#file
    return (this.#worker ??= new SaveThread({ name, path, text, collections: listCollections(collections), isWatched: isWatched() }))
  }
}

/** In the built package: the place of the source, wherever a bundler has put this code. */
function findWorker(): URL {
  const moduleUrl = import.meta.url
  if (moduleUrl.endsWith('.ts')) return new URL('./save-worker.ts', moduleUrl)
  const lib = moduleUrl.slice(0, moduleUrl.lastIndexOf('/lib/') + '/lib/'.length)
  return new URL('doors/cli/save-worker.js', lib)
}

class SaveThread {
  readonly #thread: Worker
  #answer: { readonly resolve: (trouble: string | undefined) => void; readonly reject: (error: unknown) => void } | undefined
  #failure: Error | undefined

  constructor(work: SaveWork) {
    this.#thread = new Worker(findWorker(), { workerData: work })
    this.#thread.on('message', (report: SaveReport) => {
      if ('about' in report) void this.#announce(report.about)
      else {
        this.#thread.unref()
        this.#answer?.resolve(report.trouble)
      }
    })
    this.#thread.on('error', error => {
      this.#failure = error
      this.#answer?.reject(error)
    })
  }

  save(changes: ReadonlyMap<string, CollectionChange>): Promise<string | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      // Only a save keeps the process running.
      this.#thread.ref()
      this.#answer = { resolve, reject }
      this.#tell({ changes })
    })
  }

  async end(): Promise<void> {
    await this.#thread.terminate()
  }

  #tell(order: SaveOrder): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#thread.postMessage(order)
  }

  async #announce(hash: string): Promise<void> {
    await report({ saved: hash })
    this.#tell({ announced: true })
  }
}
