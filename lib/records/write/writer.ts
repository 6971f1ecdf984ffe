/** The interface of the writes of an API version. Each call runs in one transaction. */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Attribute, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import type { View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import type { RecordAddress, Written } from '../validate/written.ts'

export interface Writer {
  /** POST of a collection. */
  create(resource: Resource, body: unknown, view: View): Awaitable<Written>
  /** POST of an array, by shared statements. Undefined: nothing is written, and the records are to be created singly. */
  createAll(resource: Resource, bodies: readonly unknown[], view: View): Awaitable<readonly Written[] | undefined>
  /** POST of a list attribute. */
  append(owner: RecordAddress, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written>
  /** PUT and PATCH of a record. */
  update(address: RecordAddress, body: unknown, view: View): Awaitable<Written>
  /** PUT and PATCH of an attribute. */
  updateAttribute(address: RecordAddress, attribute: Attribute, body: unknown, view: View): Awaitable<Written>
  /** The engine may change attributes closed to clients. */
  give(address: RecordAddress, body: Readonly<Record<string, unknown>>, view: View): Awaitable<Written>
  /** DELETE of a record; returns the former record. */
  delete(address: RecordAddress, view: View): Awaitable<Written>
  /** DELETE of a to-one: removes the record, and the link. */
  deleteLinked(address: RecordAddress, relation: ToOneAttribute | ToOneOfAttribute, view: View): Awaitable<Written>
  /** DELETE of a list, within the filters; returns the former records. */
  deleteRelated(address: RecordAddress, attribute: ToManyAttribute, view: View): Awaitable<readonly JsonRecord[]>
  /** Whether a transaction may run again: functions of the application are called once for a request. */
  isRepeatable(view: View): boolean
}
