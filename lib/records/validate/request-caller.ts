/** Answers what exists for the caller of a write, and what the caller may do. */
import { authorize } from '../access/access-rules.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Connection } from '../database/connection.ts'
import type { KeyValues } from '../../model/key.ts'
import type { Resource, ToManyAttribute } from '../../model/model.ts'
import type { Reader, View } from '../read/reader.ts'
import { hasFixed } from '../../model/resource-rules.ts'

export class RequestCaller {
  readonly connection: Connection
  readonly #reader: Reader
  readonly #view: View

  constructor(connection: Connection, reader: Reader, view: View) {
    this.connection = connection
    this.#reader = reader
    this.#view = view
  }

  isVisible(resource: Resource, key: KeyValues): Awaitable<boolean> {
    return this.#reader.exists(resource, key, this.#view.visibility)
  }

  mayLeave(resource: Resource, key: KeyValues): Awaitable<boolean> {
    return hasFixed(resource) && this.#reader.exists(resource, key, this.#view.visibility.leaving())
  }

  meets(list: ToManyAttribute, key: KeyValues): Awaitable<boolean> {
    return this.#reader.meets(list, key)
  }

  authorize(resource: Resource, action: 'update' | 'delete'): Awaitable<void> {
    const { visibility, ctx } = this.#view
    return authorize(resource, action, visibility, ctx)
  }

  async mayMention(resource: Resource): Promise<boolean> {
    const { visibility } = this.#view
    return (await visibility.permits(resource, 'get')) && (await visibility.permits(resource, 'list'))
  }
}
