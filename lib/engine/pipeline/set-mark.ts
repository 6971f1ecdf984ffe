/**
 * Sets or removes the caller's mark of a record, such as `/v1/articles/7/favorite` (`ResourceConfig.marks`). Needs only the right to read.
 * Refuses with token_missing, forbidden and record_not_found.
 */
import { restError } from '../../foundation/errors/errors.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import { requireLogIn } from '../../records/access/access-rules.ts'
import { notFound, type Target } from '../../records/access/resolve-path.ts'
import type { ReadingConnection } from '../../records/database/connection.ts'
import { hasRowKey, idToJson, keyFromText } from '../../model/key.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import { findId } from '../../records/read/row-keys.ts'
import type { View } from '../../records/read/reader.ts'
import { locate } from './locate.ts'
import { respondRecord } from './respond.ts'
import type { MemberWriting } from './member.ts'

type MarkTarget = Extract<Target, { readonly kind: 'mark' }>

export async function setMark(target: MarkTarget, isSet: boolean, view: View, services: MemberWriting): Promise<RestResponse> {
  const { resource, id, mark } = target
  const { reader, writing, connection, clock, transaction } = services
  const { ctx } = view
  requireLogIn(resource, 'update', ctx)
  return transaction(async () => {
    const { key } = hasRowKey(target) ? target : await locate(target, connection)
    if (!(await reader.exists(resource, key, view.visibility))) throw notFound(resource, id)
    const user = await findCaller(target, ctx.claims!.sub, connection)
    const change = { [isSet ? 'connect' : 'disconnect']: [user] }
    // Rules for updates do not count, and bodies never have the list.
    await writing.writer.give({ resource, key, id }, { [mark.list.name]: change }, { ...view, visibility: EVERYTHING })
    const record = await reader.record(resource, key, view)
    if (record === undefined) throw notFound(resource, id)
    view.end?.throwIfReached()
    return respondRecord(resource, record, formatIso(clock.time()))
  }, view.end)
}

async function findCaller({ mark: { list } }: MarkTarget, sub: string, connection: ReadingConnection): Promise<unknown> {
  const key = keyFromText(sub, list.target)
  const id = key && (await findId(list.target, key, connection))
  if (id === undefined) throw restError('forbidden', 'The user of the token is none that can set a mark.')
  return idToJson(id, list.target)
}
