/** Changes: which rows a database watches, and what it reports of each row that has changed. */
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import type { Field } from '../plan/read-plan.ts'

/** A resource whose rows are watched. */
export interface WatchedTable {
  readonly resource: Resource
  /** The name of its changes: the plural name of the resource, or another one where that is taken. */
  readonly name: string
  /** The fields that the row itself holds and that may be shown. */
  readonly fields: readonly Field[]
}

/** A many-to-many list whose pivot table is watched. */
export interface WatchedList {
  readonly table: WatchedTable
  readonly attribute: ToManyAttribute & { readonly via: { readonly kind: 'pivot' } }
}

export interface Watched {
  readonly tables: readonly WatchedTable[]
  readonly lists: readonly WatchedList[]
}

/** A record as one row of its table. */
export interface RowImage {
  readonly id: string | number
  readonly record: Record<string, unknown>
}

/** A row that has changed. Its images are made when they are first asked for. */
export interface RowChange {
  readonly kind: 'row'
  readonly table: WatchedTable
  /** About how many bytes it holds. */
  readonly bytes: number
  before(): RowImage | undefined
  after(): RowImage | undefined
}

/** A many-to-many list that has changed: the IDs in it. */
export interface ChangedList {
  readonly kind: 'list'
  readonly list: WatchedList
  readonly bytes: number
  readonly id: string | number
  /** The ID by which clients know the record, where that is another one. */
  readonly shown?: string | number
  readonly before: readonly unknown[]
  readonly after: readonly unknown[]
}

export type RawChange = RowChange | ChangedList

/** Receives changes that have been committed. */
export interface ChangeSink {
  /** The one table that it is about; undefined: all of them. */
  readonly table?: string
  add(change: RawChange): void
}

/** Says who hears of a row that changes now: whose work it is. */
export interface ChangeOwner {
  readonly current: ChangeSink | undefined
}

/** Reports the rows that change. */
export interface ChangeRecorder {
  /** Receive every change of a row, also those outside of requests. */
  readonly watchers: Set<ChangeSink>
  /** Whether rows are reported at all. */
  readonly isRecording: boolean
}
