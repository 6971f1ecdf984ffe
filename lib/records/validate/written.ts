/** Written: the record that a write is about, and its result. */
import type { KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { JsonRecord } from '../read/run-read.ts'

/** A written record: its key, and the record as the request asks for it. */
export interface Written {
  readonly resource: Resource
  readonly key: KeyValues
  readonly record: JsonRecord
  /** Whether the write has removed the record, which is shown as it was. */
  readonly removed?: boolean
}

/** The address of a record: the resource and the key in the path; `id` is the key as the client sent it. */
export interface RecordAddress {
  readonly resource: Resource
  readonly key: KeyValues
  readonly id: string
}
