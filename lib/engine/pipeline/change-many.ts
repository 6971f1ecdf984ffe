/** Changes or deletes the records that filters choose, each as by a request, all or none. Refuses more than `limit` with limit_exceeded. */
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { Turns } from '../../foundation/async/turns.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError, parameterError } from '../../foundation/errors/errors.ts'
import { answerRefused, requireAccepted } from '../../foundation/http/refused.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { idToSegment, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Reader, View } from '../../records/read/reader.ts'
import { readRecord } from './bulk.ts'

interface ManyParts {
  readonly resource: Resource
  readonly view: View
  readonly reader: Reader
  /** The client's name of `limit`. */
  readonly parameter: string
  /** Deletes: a cascade from one record may have removed the next. */
  readonly removes: boolean
  readonly transaction: <T>(work: () => Promise<T>, end?: RequestAbort) => Promise<T>
  readonly answer: (key: KeyValues, id: string) => Awaitable<RestResponse>
}

export function changeMany(parts: ManyParts): Promise<readonly unknown[] | RestResponse> {
  return answerRefused(() => parts.transaction(() => changeEach(parts), parts.view.end))
}

async function changeEach(parts: ManyParts): Promise<readonly unknown[]> {
  const { resource, view, answer, removes } = parts
  const records: unknown[] = []
  const turns = new Turns()
  for (const key of await findAll(parts)) {
    const turn = turns.next()
    if (turn !== undefined) await turn
    view.end?.throwIfReached()
    const id = idToSegment(key, resource)
    try {
      records.push(readRecord(requireAccepted(await answer(key, id)).body))
    } catch (error) {
      const isGone = removes && error instanceof RestError && error.code === 'record_not_found'
      if (!isGone) throw placeError(error, resource, id)
    }
  }
  return records
}

async function findAll({ resource, view, reader, parameter }: ManyParts): Promise<readonly KeyValues[]> {
  const limit = view.parameters.limit!
  const { keys, count } = await reader.keys(resource, limit, view)
  if (count <= limit) return keys
  throw parameterError({
    code: 'limit_exceeded',
    detail: `${count} ${resource.plural} match, and "${parameter}" is ${limit}: nothing has been changed.`,
    parameter,
    value: limit,
  })
}

/** Names the record by its ID, if clients know records by the primary key. */
function placeError(error: unknown, { singular, shownKey }: Resource, id: string): unknown {
  if (!(error instanceof RestError)) return error
  const { status, code, message, errors, headers, cause } = error
  const place = shownKey === undefined ? `${singular} ${id}` : singular
  return new RestError(status, code, `${place}: ${message}`, { ...(errors === undefined ? {} : { errors }), headers, cause })
}
