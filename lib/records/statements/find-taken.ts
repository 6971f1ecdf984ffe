/**
 * Find taken: names the value that the database has refused as taken. Refuses with unique_conflict; throws `Unplanned` where only
 * another transaction can ask the database.
 */
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Dialect } from '../database/dialect.ts'
import type { Resource } from '../../model/model.ts'
import type { View } from '../read/reader.ts'
import type { Validation } from '../validate/validate-record.ts'
import { Unplanned } from './unplanned.ts'
import type { ChangeValidator } from '../validate/validate-change.ts'

export interface RefusedBody {
  readonly body: JsonObject
  readonly resource: Resource
  readonly validation: Validation
  readonly view: View
}

/** Throws the check's error, if any. */
export function* findTaken(
  error: unknown,
  { body, resource, validation, view }: RefusedBody,
  { failsWhole }: Dialect,
  validator: ChangeValidator,
): Coroutine<void> {
  if (!failsWhole) yield* validator.validate(body, resource, validation, view)
  // An insert with another error is not repeated: another insert would draw another counted key.
  else if (validation.mode === 'update' || error instanceof UniqueConstraintViolationException) throw new Unplanned('', { cause: error })
}
