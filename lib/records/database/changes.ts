/** The types of watched tables and lists, and of a reported change, with the row before and after. */
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import type { Field } from '../plan/read-plan.ts'

export interface WatchedTable {
  readonly resource: Resource
  /** The plural name, or another if taken. */
  readonly name: string
  /** Visible fields in the row itself. */
  readonly fields: readonly Field[]
}

export interface WatchedList {
  readonly table: WatchedTable
  readonly attribute: ToManyAttribute & { readonly via: { readonly kind: 'pivot' } }
}

export interface Watched {
  readonly tables: readonly WatchedTable[]
  readonly lists: readonly WatchedList[]
}

export interface RowImage {
  readonly id: string | number
  readonly record: Record<string, unknown>
}

/** Images are made on demand. */
export interface RowChange {
  readonly kind: 'row'
  readonly table: WatchedTable
  /** An estimate. */
  readonly bytes: number
  before(): RowImage | undefined
  after(): RowImage | undefined
}

export interface ChangedList {
  readonly kind: 'list'
  readonly list: WatchedList
  readonly bytes: number
  readonly id: string | number
  /** The key for clients, if another. */
  readonly shown?: string | number
  readonly before: readonly unknown[]
  readonly after: readonly unknown[]
}

export type RawChange = RowChange | ChangedList

/** Receives committed changes. */
export interface ChangeSink {
  /** Undefined: all tables. */
  readonly table?: string
  add(change: RawChange): void
}

/** The request now changing rows. */
export interface ChangeOwner {
  readonly current: ChangeSink | undefined
}

export interface ChangeRecorder {
  /** Receive all changes, also outside of requests. */
  readonly watchers: Set<ChangeSink>
  readonly isRecording: boolean
}
