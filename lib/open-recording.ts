/** Opens a file of `engine.record` as an engine in memory, with the data before the test and its journal. */
import { readFile, stat } from 'node:fs/promises'
import type { RestEngine } from './engine.ts'
import type { EngineOptions } from './engine/options/options.ts'
import { internalsOf } from './engine/assembly/internals.ts'
import { readRecording, type RecordedFacts, type RecordedRequest } from './engine/recording/recording-file.ts'
import { serveRecorded } from './engine/recording/serve-recorded.ts'

const MAX_FILE = 256 << 20

export interface OpenedRecording {
  /** The caller closes the engine. */
  readonly engine: RestEngine
  readonly facts: RecordedFacts
}

/** @throws Error in one line, with the file's name, for a file that is unreadable, incomplete, or no recording */
export async function openRecording(path: string, create: (options: EngineOptions) => Promise<RestEngine>): Promise<OpenedRecording> {
  try {
    const found = await stat(path)
    // A device may have no end.
    if (!found.isFile()) throw new TypeError('it is no file')
    const { size } = found
    if (size > MAX_FILE) throw new TypeError(`it has more than ${MAX_FILE >> 20} MiB`)
    const recording = readRecording(await readFile(path))
    const engine = await serveRecorded(recording, create)
    const { requests, marks, clock, entities: _, resources: __, options: ___, ...facts } = recording.facts
    internalsOf(engine).adopt({ facts, requests: requests.map(separate), marks, clock, begun: facts.begun })
    return { engine, facts: recording.facts }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Error(`${path} does not exist.`, { cause: error })
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${path} is not a recording that can be opened: ${reason.replace(/\.$/, '')}.`, { cause: error })
  }
}

/** A journal entry, and what the request ran. */
function separate({ statements, ran, writes, cached, hints, ...entry }: RecordedRequest): {
  readonly entry: Omit<RecordedRequest, 'statements'> & { readonly response: unknown; readonly body: unknown }
  readonly ran: object
} {
  return { entry: Object.freeze(entry), ran: statements === undefined ? {} : { statements, ran, writes, cached, hints } }
}
