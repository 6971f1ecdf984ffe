/**
 * Flat bulk: inserts an array such as `[{ "name": "a" }, { "name": "b" }]`, with a shared shape (row-shape.ts), by statements of many rows.
 * After any refusal nothing is written: the records are created singly, to find the place of the error.
 */
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { linkColumns } from '../../model/stored-table.ts'
import type { Connection } from '../database/connection.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import { insertRows } from './insert-rows.ts'
import { isLinkedByShown, withRowKeys } from './link-rows.ts'
import type { PlannedWrite } from './planned-write.ts'
import type { RowShape } from './row-shape.ts'
import { bindFields, bindNewRow, forgetMade, hasNames, type RowShapes } from './row-shapes.ts'
import { statementDropped } from '../validate/dropped-writes.ts'
import type { Written } from '../validate/written.ts'

export class FlatBulk {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #shapes: RowShapes

  constructor(connection: Connection, reader: Reader, shapes: RowShapes) {
    this.#connection = connection
    this.#reader = reader
    this.#shapes = shapes
  }

  /** Returns undefined where the records are created singly. */
  insert(resource: Resource, bodies: readonly unknown[], view: View): PlannedWrite<readonly Written[] | undefined> | undefined {
    const [first] = bodies
    if (bodies.length < 2 || !resource.generatedKey || view.visibility !== EVERYTHING || !isObject(first)) return undefined
    const shape = this.#shapes.findInsert(resource, first)
    if (shape === undefined || !this.#connection.havePlainLinks(linkColumns(shape.row.stored))) return undefined
    if (!bodies.every(body => isObject(body) && hasNames(body, shape))) return undefined
    return { given: undefined, run: () => this.#insert(shape, resource, bodies as readonly JsonObject[], view) }
  }

  *#insert(shape: RowShape, resource: Resource, given: readonly JsonObject[], view: View): Coroutine<readonly Written[] | undefined> {
    const bodies = isLinkedByShown(shape.link) ? yield* withRowKeys(shape.link, given, this.#connection) : given
    if (bodies === undefined) return undefined
    const fields = bodies.map(body => bindFields(shape, body))
    if (fields.includes(undefined) || !(yield* this.#linksExist(shape, bodies))) return undefined
    const bound = bodies.map((body, index) =>
      bindNewRow({ shape, resource, body, fields: fields[index]!, member: given[index]! }, this.#connection),
    )
    const keys = yield* insertRows(bound, this.#connection, view.end)
    const records = yield* wait(this.#reader.records(resource, keys, view))
    // A trigger has taken a row away.
    if (records.length !== keys.length) throw yield* statementDropped(resource, 'inserted', this.#connection)
    forgetMade(given)
    return records.map((record, index) => ({ resource, key: keys[index]!, record }))
  }

  *#linksExist({ link }: RowShape, bodies: readonly JsonObject[]): Coroutine<boolean> {
    // `withRowKeys` has just found records named by a shown key.
    if (link === undefined || link.attribute.target.shownKey !== undefined) return true
    const keys = new Map<string, KeyValues>()
    for (const { [link.name]: value } of bodies) {
      const key = link.readKey(value)
      if (key !== undefined) keys.set(formatKey(key), key)
    }
    if (keys.size === 0) return true
    const found = yield* wait(this.#reader.existing(link.attribute.target, [...keys.values()], EVERYTHING))
    return found !== undefined && [...keys.keys()].every(key => found.has(key))
  }
}
