/**
 * The thread that saves a JSON file, beside the thread that answers requests. Keeps the file's text, applies changes, writes, and reports
 * the end, one save at a time. The next save repeats a failed save.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { CommandError, oneLine } from './command-error.ts'
import { JsonDocument, type Changes, type DocumentCollection } from './json-document.ts'
import { hashContent, replaceFile } from './replace-file.ts'

export interface SaveWork {
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly text: string
  readonly collections: readonly DocumentCollection[]
  readonly isWatched: boolean
}

export type SaveOrder = { readonly changes: Changes } | { readonly announced: true }

/** `about`: the hash of the content to be written. */
export type SaveReport = { readonly about: string } | { readonly done: true; readonly trouble?: string }

const { name, path, text, collections, isWatched } = workerData as SaveWork
const port = parentPort!
const document = new JsonDocument(text, collections)
let written = Buffer.from(text)
let endAnnouncement = (): void => {}

port.on('message', (order: SaveOrder) => {
  if ('announced' in order) endAnnouncement()
  else void save(order.changes)
})

async function save(changes: Changes): Promise<void> {
  const report = (message: SaveReport): void => port.postMessage(message)
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

async function announce(): Promise<void> {
  if (!isWatched) return
  const announced = new Promise<void>(resolve => (endAnnouncement = resolve))
  port.postMessage({ about: hashContent(document.text) } satisfies SaveReport)
  await announced
}
