/** Refused value: the database cannot read the value as the type to compare with (`ip=abc` of an `inet` column). */
import { RestError } from '../../foundation/errors/errors.ts'
import type { ExpandedList } from '../request/query-string.ts'
import type { Binding } from './binding.ts'

export class RefusedValue extends RestError {
  readonly binding: Binding | undefined
  readonly reason: string
  /** The expanded list whose filter is refused. */
  readonly list: ExpandedList | undefined

  /** @param reason of the database */
  constructor(binding: Binding | undefined, reason: string, cause: unknown, list?: ExpandedList) {
    super(400, 'parameter_invalid', `The database does not take a value of the request: ${reason}.`, { cause })
    this.binding = binding
    this.reason = reason
    this.list = list
  }
}
