/**
 * Save worker: the thread that holds the text of a JSON file, changes it and writes it, while the thread of the command answers requests.
 * It is asked for one save at a time, and says when that is done. A save that fails is made with the next one: the text that it would have
 * written is kept.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { CommandError, oneLine } from './command-error.ts'
import { JsonDocument, type Changes, type DocumentCollection } from './json-document.ts'
import { hashContent, replaceFile } from './replace-file.ts'

/** What the worker is made with. */
export interface SaveWork {
  /** The name on the command line. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly text: string
  readonly collections: readonly DocumentCollection[]
  /** Whether it says what it is about to write, and waits until it may. */
  readonly isWatched: boolean
}

/** What the worker is told: changes to save, or that it may go on. */
export type SaveOrder = { readonly changes: Changes } | { readonly announced: true }

/** What the worker says: the hash of what it is about to write, or that it is done, with what went wrong. */
export type SaveReport = { readonly about: string } | { readonly done: true; readonly trouble?: string }

const { name, path, text, collections, isWatched } = workerData as SaveWork
const port = parentPort!
const document = new JsonDocument(text, collections)
/** The content of the file, as last read or written here. */
let written = Buffer.from(text)
let goOn = (): void => {}

port.on('message', (order: SaveOrder) => {
  if ('announced' in order) goOn()
  else void save(order.changes)
})

async function save(changes: Changes): Promise<void> {
  const report = (said: SaveReport): void => port.postMessage(said)
  try {
    document.apply(changes)
    const after = Buffer.from(document.text)
    if (!after.equals(written)) await replaceFile({ name, path }, written, after, announce)
    written = after
    report({ done: true })
  } catch (error) {
    report({ done: true, trouble: error instanceof CommandError ? error.message : `${name} cannot be saved: ${oneLine(error)}.` })
  }
}

/** Lets the watching process know the new content, before it can see the file change. */
async function announce(): Promise<void> {
  if (!isWatched) return
  const announced = new Promise<void>(resolve => (goOn = resolve))
  port.postMessage({ about: hashContent(document.text) } satisfies SaveReport)
  await announced
}
