/** Writes records by the API, as an app would. Throws a Refusal, or for several records lists refusals. */
import { control, sendAsUser, requireSuccess } from '../state/ask.ts'
import { dataChanged } from '../state/live.ts'
import { parameterOf, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { idOf, textOf, type AnyRecord } from '../state/records.ts'
import { requestOf } from './links.ts'
import { forgetChange, noteChange } from './undo.tsx'

/** @param id undefined: a record without a list */
export async function changeRecord(resource: OutlinedResource, id: string | undefined, record: AnyRecord, body: object): Promise<void> {
  const version: unknown = resource.version === undefined ? undefined : record[resource.version]
  const headers: Record<string, string> = version === undefined || version === null ? {} : { 'if-match': `"${textOf(version)}"` }
  await write('PATCH', [resource.name, ...(id === undefined ? [] : [id])], { body, headers })
}

export async function createRecord(resource: OutlinedResource, body: object): Promise<string | undefined> {
  const { headers } = await write('POST', [resource.name], { body })
  const last = headers.get('location')?.split('?', 1)[0]?.split('/').at(-1)
  return last === undefined ? undefined : decodeURIComponent(last)
}

/** In one transaction. Returns the IDs. */
export async function createRecords(resource: OutlinedResource, records: readonly object[]): Promise<string[]> {
  const { body } = await write('POST', [resource.name], { body: records })
  const made = (body as Readonly<Record<string, unknown>>)[resource.name]
  return Array.isArray(made) ? made.flatMap(record => idOf(record as AnyRecord, resource) ?? []) : []
}

/** Tries an import in a separate world, closed afterwards. */
export async function tryRecords(resource: OutlinedResource, records: readonly object[]): Promise<void> {
  const name = `import-${crypto.randomUUID().slice(0, 8)}`
  await control('POST', '/worlds', { name })
  try {
    requireSuccess(
      await sendAsUser('POST', requestOf([resource.name], `${parameterOf('depth')}=0`), { body: records, headers: { 'x-world': name } }),
    )
  } finally {
    await control('DELETE', `/worlds/${name}`)
  }
}

export type SeveralFaults = readonly string[]

export function deleteRecords(resource: OutlinedResource, ids: readonly string[]): Promise<SeveralFaults> {
  return writeEach('DELETE', resource, ids)
}

export function changeRecords(resource: OutlinedResource, ids: readonly string[], body: object): Promise<SeveralFaults> {
  return writeEach('PATCH', resource, ids, body)
}

/** A request for each record, as from an app; goes on after a refusal. */
async function writeEach(method: string, resource: OutlinedResource, ids: readonly string[], body?: object): Promise<SeveralFaults> {
  const faults: string[] = []
  const named = ids.length === 1 ? `${resource.singular} ${ids[0]}` : `${ids.length} ${resource.name}`
  const paths: string[] = []
  for (const id of ids)
    try {
      const path = requestOf([resource.name, id], '')
      requireSuccess(await sendAsUser(method, `${path}?${parameterOf('depth')}=0`, { body }))
      paths.push(path)
    } catch (error) {
      faults.push(`${resource.singular} ${id}: ${(error as Error).message}`)
    }
  if (paths.length > 0) {
    dataChanged()
    void noteChange(`${named} ${method === 'DELETE' ? 'deleted' : 'changed'}`, method, paths)
  }
  return faults
}

export async function addLink(resource: OutlinedResource, id: string, list: OutlinedAttribute, linked: string | number): Promise<void> {
  await write('POST', [resource.name, id, list.name], { body: linked })
}

export async function removeLink(resource: OutlinedResource, id: string, list: OutlinedAttribute, linked: string | number): Promise<void> {
  await write('PATCH', [resource.name, id], { body: { [list.name]: { disconnect: [linked] } } })
}

export async function makeUp(resource: OutlinedResource, count: number, overrides: object): Promise<readonly AnyRecord[]> {
  const { body } = await control('POST', '/given', { resource: resource.name, count, overrides })
  dataChanged()
  // Not in the journal: an undo cannot go back past the new records.
  forgetChange()
  return (body as Readonly<Record<string, readonly AnyRecord[]>>)[resource.name] ?? []
}

async function write(
  method: string,
  path: readonly string[],
  options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
) {
  const answer = requireSuccess(await sendAsUser(method, requestOf(path, `${parameterOf('depth')}=0`), options))
  dataChanged()
  const verb = method === 'POST' && path.length === 1 ? 'made' : 'changed'
  void noteChange(`${path.slice(0, 2).join(' ')} ${verb}`, method, [requestOf(path, '')])
  return answer
}
