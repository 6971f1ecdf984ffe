/** Reads a record's version, for a write that loads nothing else. Refuses with precondition_failed and record_not_found. */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { View } from '../read/reader.ts'
import { readRows } from '../read/run-read.ts'
import { lookForVersion } from './look-ups.ts'
import { checkPrecondition } from './precondition.ts'
import type { RecordAddress } from './written.ts'

export class VersionReader {
  readonly #connection: ReadingConnection

  constructor(connection: ReadingConnection) {
    this.#connection = connection
  }

  /** Reads where headers or body (`isGiven`) depend on the version; checks the headers. */
  *read(
    { resource, key, id }: RecordAddress,
    { ctx: { headers } }: View,
    isGiven: boolean,
  ): Coroutine<Record<string, unknown> | undefined> {
    if (!isGiven && !hasPrecondition(headers)) return undefined
    const { dialect } = this.#connection
    const statement = lookForVersion(resource, dialect)
    const [row] = yield* wait(this.#connection.read(() => readRows(statement, { filters: [], limit: 1, offset: 0, key }, dialect)))
    if (row === undefined) throw notFound(resource, id)
    const { version } = resource
    const entity = version === undefined ? {} : { [version.property]: dialect.decode(row[0], version.type) }
    checkPrecondition(headers, resource, entity)
    return entity
  }
}

export function hasPrecondition(headers: Readonly<Record<string, string>>): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
}
