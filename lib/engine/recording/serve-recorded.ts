/** Makes an engine of a recording. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { EngineOptions } from '../options/options.ts'
import type { RecordedResource, Recording } from './recording-file.ts'
import { rebuildEntities } from './recorded-model.ts'

const OPTIONS = ['base', 'versions', 'createdStatus', 'deletedStatus', 'validationStatus', 'etag', 'forms', 'parameters']

export interface Forking<E> extends AsyncDisposable {
  fork(): Promise<E>
}

/**
 * The engine is in memory; empty where the recording has no data.
 *
 * @throws TypeError with a clause for an invalid recording
 */
export async function serveRecorded<E extends Forking<E>>(
  { facts, data }: Recording,
  create: (options: EngineOptions) => Promise<E>,
): Promise<E> {
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
