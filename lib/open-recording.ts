/** Open recording: makes an engine of the file that `engine.record` has written, in memory, with the data before the test and its journal. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RestEngine } from './engine.ts'
import type { EngineOptions } from './engine/pipeline/options.ts'
import { internalsOf } from './engine/pipeline/internals.ts'
import { readRecording } from './engine/recording/recording-file.ts'
import type { RecordedFacts, RecordedRequest, RecordedResource, Recording } from './engine/recording/recording-file.ts'
import { rebuildEntities } from './engine/recording/recorded-model.ts'
import type { ResourceDefinition } from './model/resource-config.ts'

/** Bytes of a file at most. */
const MAX_FILE = 256 << 20
/** Options of the engine that a recording may have. */
const OPTIONS = ['base', 'versions', 'createdStatus', 'deletedStatus', 'validationStatus', 'etag', 'forms', 'canonicalPaths', 'parameters']

/** An opened recording. */
export interface OpenedRecording {
  /** Yours to close. */
  readonly engine: RestEngine
  readonly facts: RecordedFacts
}

/** @throws Error in one line, which names the file, for one that cannot be read, is not a recording, or does not hold what it must. */
export async function openRecording(path: string, create: (options: EngineOptions) => Promise<RestEngine>): Promise<OpenedRecording> {
  try {
    const { size } = await stat(path)
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

/** Separates an entry from what the request has run. */
function separate({ statements, ran, writes, cached, hints, ...entry }: RecordedRequest): {
  readonly entry: Omit<RecordedRequest, 'statements'> & { readonly response: unknown; readonly body: unknown }
  readonly ran: object
} {
  return { entry: Object.freeze(entry), ran: statements === undefined ? {} : { statements, ran, writes, cached, hints } }
}

async function serveRecorded({ facts, data }: Recording, create: (options: EngineOptions) => Promise<RestEngine>): Promise<RestEngine> {
  const { entities, resources, options, notes, requests } = facts
  const schemas = entities === undefined ? undefined : await rebuildEntities(entities)
  if (schemas === undefined && data === undefined) throw new TypeError('it has neither entities nor data')
  const plain = Object.fromEntries(OPTIONS.flatMap(name => (name in options ? [[name, options[name]]] : [])))
  const common: EngineOptions = {
    ...plain,
    ...(schemas === undefined ? {} : { entities: [...schemas.values()] as never }),
    resources: resources.flatMap(each => defineResource(each, schemas)),
    notes,
    journal: Math.max(1000, requests.length),
  }
  if (data === undefined) return create(common)
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-recording-'))
  try {
    const file = join(folder, 'data.sqlite')
    await writeFile(file, data)
    await using engine = await create({ ...common, database: file, schema: schemas === undefined ? 'keep' : 'update' })
    return await engine.fork()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function defineResource(
  { entity, plural, singular, hidden, readOnly, ids, key }: RecordedResource,
  schemas: ReadonlyMap<string, object> | undefined,
): ResourceDefinition[] {
  const found = schemas === undefined ? entity : schemas.get(entity)
  if (found === undefined) return []
  const attributes: Record<string, { private?: boolean; readOnly?: boolean; ids?: string }> = Object.create(null) as Record<string, never>
  for (const name of hidden) attributes[name] = { private: true }
  for (const name of readOnly) attributes[name] = { ...attributes[name], readOnly: true }
  for (const [name, own] of ids) attributes[name] = { ...attributes[name], ids: own }
  const config = { name: plural, singular, attributes, ...(key === undefined ? {} : { key }) }
  return [{ entity: found as ResourceDefinition['entity'], config }]
}
