/** Reads a record, with the names of linked records. */
import { readUnrecorded } from '../state/ask.ts'
import { findResource, parameterOf, type OutlinedResource } from '../state/outline.ts'
import type { AnyRecord } from '../state/records.ts'
import { readListQuery } from './list-query.ts'
import { parameterNames } from './parameter-names.ts'

export async function readRecord(resource: OutlinedResource, path: string, given: string, signal: AbortSignal): Promise<AnyRecord> {
  const { asked } = readListQuery(given, resource, parameterNames(), findResource)
  const query = asked
    .split('&')
    .filter(pair => !pair.startsWith(`${parameterOf('limit')}=`))
    .join('&')
  const { body } = await readUnrecorded(`${path}?${query}`, signal)
  return (body as Readonly<Record<string, AnyRecord>>)[(body as { readonly resource: string }).resource]!
}
