/**
 * Find taken: says which value of a body is taken, where the database has refused one that nothing had looked for before. Refuses with
 * unique_conflict, as the check does; `Unplanned` where the database has to be asked in another transaction.
 */
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { Coroutine } from '../../foundation/work/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Dialect } from '../database/dialect.ts'
import type { Resource } from '../../model/model.ts'
import type { View } from '../read/reader.ts'
import { Unplanned } from '../unit-of-work/unplanned.ts'
import type { ChangeValidator } from '../unit-of-work/validate-change.ts'
import type { Validation } from '../validate/validate-record.ts'

/** A body whose statement has been refused. */
export interface RefusedBody {
  readonly body: JsonObject
  readonly resource: Resource
  readonly validation: Validation
  readonly view: View
}

/** Throws the error of the check; returns where it finds none. */
export function* findTaken(
  error: unknown,
  { body, resource, validation, view }: RefusedBody,
  { failsWhole }: Dialect,
  validator: ChangeValidator,
): Coroutine<void> {
  if (!failsWhole) yield* validator.validate(body, resource, validation, view)
  // Another new record would draw another key.
  else if (validation.mode === 'update' || error instanceof UniqueConstraintViolationException) throw new Unplanned('', { cause: error })
}
