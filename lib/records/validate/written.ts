/** The types of a written record, and of the address of a record to write. */
import type { KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { JsonRecord } from '../read/run-read.ts'

export interface Written {
  readonly resource: Resource
  readonly key: KeyValues
  readonly record: JsonRecord
  /** The write removed the record; `record` is the former state. */
  readonly removed?: boolean
}

export interface RecordAddress {
  readonly resource: Resource
  readonly key: KeyValues
  readonly id: string
}
