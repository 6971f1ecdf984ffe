/** An error for a value unreadable for the database as the compared type, such as `ip=abc` of an `inet` column. */
import { RestError } from '../../foundation/errors/errors.ts'
import type { ExpandedList } from '../request/query-string.ts'
import type { Binding } from './binding.ts'

export class RefusedValue extends RestError {
  readonly binding: Binding | undefined
  readonly reason: string
  /** With the refused filter. */
  readonly list: ExpandedList | undefined

  /** @param reason of the database */
  constructor(binding: Binding | undefined, reason: string, cause: unknown, list?: ExpandedList) {
    super(400, 'parameter_invalid', `The database does not take a value of the request: ${reason}.`, { cause })
    this.binding = binding
    this.reason = reason
    this.list = list
  }
}
