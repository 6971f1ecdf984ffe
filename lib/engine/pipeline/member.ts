/** Reads or removes a record of a list attribute, such as `/v1/users/1/posts/2`. Refuses with record_not_found. */
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import { hasRowKey, type KeyValues } from '../../model/key.ts'
import { notFound, refuseHidden, type Target } from '../../records/access/resolve-path.ts'
import { isNamable, onlyRecord, retryWithRules } from '../../records/plan/visibility.ts'
import { NO_PARAMETERS } from '../../records/request/query-string.ts'
import type { Reader, View } from '../../records/read/reader.ts'
import type { ReadingConnection } from '../../records/database/connection.ts'
import type { LoadedWriter } from '../../records/write/load-writer.ts'
import { findRowKey } from '../../records/read/row-keys.ts'
import { locate } from './locate.ts'
import { respondDeleted, respondRecord } from './respond.ts'

export interface MemberServices {
  readonly connection: ReadingConnection
  readonly reader: Reader
  readonly clock: Clock
  readonly transaction: <T>(work: () => Promise<T>, end?: RequestAbort) => Promise<T>
}

export interface MemberWriting extends MemberServices {
  readonly writing: LoadedWriter
}

type MemberTarget = Extract<Target, { readonly kind: 'member' }>

const ONE_RECORD = Object.freeze({ limit: 1, offset: 0 })
const NO_RECORDS = Object.freeze({ limit: 0, offset: 0 })

export async function getMember(target: MemberTarget, view: View, services: MemberServices): Promise<RestResponse> {
  const { resource, key, id, attribute, member } = target
  const { reader, connection, clock } = services
  await checkList(target, view)
  const memberKey = await findRowKey(member.resource, member.key, connection)
  // Without the member, the reading still checks owner and parameters.
  const narrowed = memberKey === undefined ? view : narrowedTo(memberKey, target, view)
  const page = await reader.relatedPage(resource, key, attribute, memberKey === undefined ? NO_RECORDS : ONE_RECORD, narrowed)
  if (page === undefined) throw notFound(resource, id)
  const [record] = page.records
  if (record === undefined) throw notInList(target)
  return respondRecord(member.resource, record, formatIso(clock.time()))
}

export async function removeMember(target: MemberTarget, view: View, services: MemberWriting): Promise<RestResponse> {
  const { resource, attribute, member } = target
  const { reader, writing, connection, clock } = services
  await checkList(target, view)
  return services.transaction(async () => {
    const owner = hasRowKey(target) ? target : await locate(target, connection)
    if (!(await reader.exists(resource, owner.key, view.visibility))) throw notFound(resource, target.id)
    const key = await findMember(target, connection)
    const narrowed = { ...narrowedTo(key, target, view), parameters: NO_PARAMETERS }
    const found = await reader.relatedKeys(resource, owner.key, attribute, narrowed)
    if (found.length === 0) throw notInList(target)
    const { record } = await writing.writer.delete({ resource: member.resource, key, id: member.id }, view)
    view.end?.throwIfReached()
    return respondDeleted(member.resource, record, formatIso(clock.time()))
  }, view.end)
}

async function findMember(target: MemberTarget, connection: ReadingConnection): Promise<KeyValues> {
  const { resource, key } = target.member
  const found = await findRowKey(resource, key, connection)
  if (found === undefined) throw notInList(target)
  return found
}

function checkList({ resource, attribute }: MemberTarget, { visibility }: View): Awaitable<void> {
  return retryWithRules(visibility, () => refuseHidden(resource, resource.byName.get(attribute.name) ?? attribute, visibility))
}

/** The record may exist outside of the list. The answer names no resource that is closed to everybody. */
function notInList({ resource, id, attribute, member }: MemberTarget) {
  if (!isNamable(resource) || !isNamable(member.resource)) return restError('record_not_found', 'There is no such record.')
  const name = member.id.slice(0, 100)
  return restError(
    'record_not_found',
    `"${attribute.name}" of the ${resource.singular} ${id.slice(0, 100)} has no ${member.resource.singular} with the ID ${name}.`,
  )
}

function narrowedTo(key: KeyValues, { member }: MemberTarget, view: View): View {
  return { ...view, visibility: onlyRecord(member.resource, key, view.visibility) }
}
