/**
 * Validates a body refused by the database, now with all look-ups. Without an error, returns the written lists, for translating the
 * database's error.
 */
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import type { ToManyAttribute } from '../../model/model.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import type { Dialect } from '../database/dialect.ts'
import { EVERYTHING } from '../plan/visibility.ts'
import type { Reader } from '../read/reader.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import type { PlannedWrite } from '../statements/planned-write.ts'
import { listNewMembers, listNew, type MadeLinks } from '../validate/linked-records.ts'
import type { RecordRef } from '../validate/record-input.ts'
import type { ChangeValidator, GivenBody } from '../validate/validate-change.ts'

export function* explainRefused(
  given: GivenBody,
  { list }: Pick<PlannedWrite<unknown>, 'list'>,
  validator: ChangeValidator,
  reader: Reader,
): Coroutine<MadeLinks> {
  const change = yield* validator.validateGiven(given)
  const { resource, validation, view, id } = given
  const { key } = validation
  // Nothing may have looked for the record before.
  if (key !== undefined && !(yield* wait(reader.exists(resource, key, view.visibility)))) throw notFound(resource, id!)
  const records = listNew(change)
  const made = key === undefined ? records : records.slice(1)
  const newMembers = listNewMembers(made)
  if (list !== undefined) newMembers.push({ attribute: list, items: [{ kind: 'new', record: change }] })
  if (key !== undefined)
    for (const { attribute, items } of listNewMembers([change]))
      newMembers.push({ attribute, items: yield* leaveMembers(items, attribute, key, given, reader) })
  return { newMembers, touched: made }
}

/** Whether a second try may pass: another request may have removed the cause, or a guard alone has left out the row. */
export function mayPass(error: unknown, { failsWhole }: Dialect): boolean {
  return failsWhole && (error instanceof UniqueConstraintViolationException || error instanceof RestError)
}

function* leaveMembers(
  items: readonly RecordRef[],
  list: ToManyAttribute,
  key: KeyValues,
  { resource, view }: GivenBody,
  reader: Reader,
): Coroutine<readonly RecordRef[]> {
  const all = { ...view, visibility: EVERYTHING, parameters: NO_PARAMETERS }
  const members = new Set((yield* wait(reader.relatedKeys(resource, key, list, all))).map(formatKey))
  return items.filter(item => item.kind === 'new' || !members.has(formatKey(item.key)))
}
