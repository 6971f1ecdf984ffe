/** Save: writes records as an app would. All functions throw a Refusal. */
import { control, sendAsUser, succeed } from '../state/ask.ts'
import { dataChanged } from '../state/live.ts'
import { parameterOf, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { idOf, textOf, type AnyRecord } from '../state/records.ts'
import { requestOf } from './links.ts'

/** @param id undefined for a record without a list */
export async function changeRecord(resource: OutlinedResource, id: string | undefined, record: AnyRecord, body: object): Promise<void> {
  const version: unknown = resource.version === undefined ? undefined : record[resource.version]
  const headers: Record<string, string> = version === undefined || version === null ? {} : { 'if-match': `"${textOf(version)}"` }
  await write('PATCH', [resource.name, ...(id === undefined ? [] : [id])], { body, headers })
}

/** Returns the ID, if known. */
export async function createRecord(resource: OutlinedResource, body: object): Promise<string | undefined> {
  const { headers } = await write('POST', [resource.name], { body })
  const last = headers.get('location')?.split('?', 1)[0]?.split('/').at(-1)
  return last === undefined ? undefined : decodeURIComponent(last)
}

/** Uses a single transaction. Returns the IDs. */
export async function createRecords(resource: OutlinedResource, records: readonly object[]): Promise<string[]> {
  const { body } = await write('POST', [resource.name], { body: records })
  const made = (body as Readonly<Record<string, unknown>>)[resource.name]
  return Array.isArray(made) ? made.flatMap(record => idOf(record as AnyRecord, resource) ?? []) : []
}

/** Creates records in a separate world, and closes the world afterwards. */
export async function tryRecords(resource: OutlinedResource, records: readonly object[]): Promise<void> {
  const name = `import-${crypto.randomUUID().slice(0, 8)}`
  await control('POST', '/worlds', { name })
  try {
    succeed(
      await sendAsUser('POST', requestOf([resource.name], `${parameterOf('depth')}=0`), { body: records, headers: { 'x-world': name } }),
    )
  } finally {
    await control('DELETE', `/worlds/${name}`)
  }
}

export async function deleteRecord(resource: OutlinedResource, id: string): Promise<void> {
  await write('DELETE', [resource.name, id])
}

export async function addLink(resource: OutlinedResource, id: string, list: OutlinedAttribute, linked: string | number): Promise<void> {
  await write('POST', [resource.name, id, list.name], { body: linked })
}

/** Removes a record from a list without deleting the record. */
export async function removeLink(resource: OutlinedResource, id: string, list: OutlinedAttribute, linked: string | number): Promise<void> {
  await write('PATCH', [resource.name, id], { body: { [list.name]: { disconnect: [linked] } } })
}

/** Generates valid records. */
export async function makeUp(resource: OutlinedResource, count: number, overrides: object): Promise<readonly AnyRecord[]> {
  const { body } = await control('POST', '/given', { resource: resource.name, count, overrides })
  dataChanged()
  return (body as Readonly<Record<string, readonly AnyRecord[]>>)[resource.name] ?? []
}

async function write(
  method: string,
  path: readonly string[],
  options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
) {
  const answer = succeed(await sendAsUser(method, requestOf(path, `${parameterOf('depth')}=0`), options))
  dataChanged()
  return answer
}
