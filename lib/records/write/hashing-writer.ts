/** Hashing writer: the writer of a model with users whose passwords are hashed. It hashes those of a body before the transaction of the write begins. */
import { chain } from '../../foundation/base/awaitable.ts'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { Attribute, Model, Resource, ToManyAttribute } from '../../model/model.ts'
import type { Connection } from '../database/dialect.ts'
import type { Reader, View } from '../read/reader.ts'
import type { PasswordHashes } from './hash-passwords.ts'
import { Writer } from './writer.ts'
import type { Address, Written } from './written.ts'

export class HashingWriter extends Writer {
  readonly #hashes: PasswordHashes

  constructor(connection: Connection, reader: Reader, model: Model, hashes: PasswordHashes) {
    super(connection, reader, model)
    this.#hashes = hashes
  }

  override create(resource: Resource, body: unknown, view: View): Awaitable<Written> {
    return chain(this.#hashes.inBody(body, resource, view.end), hashed => super.create(resource, hashed, view))
  }

  override createAll(resource: Resource, bodies: readonly unknown[], view: View): Awaitable<readonly Written[] | undefined> {
    const hashed = this.#hashes.inBody(bodies, resource, view.end) as Awaitable<readonly unknown[]>
    return chain(hashed, all => super.createAll(resource, all, view))
  }

  override append(owner: Address, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written> {
    return chain(this.#hashes.inBody(body, attribute.target, view.end), hashed => super.append(owner, attribute, hashed, view))
  }

  override update(address: Address, body: unknown, view: View): Awaitable<Written> {
    return chain(this.#hashes.inBody(body, address.resource, view.end), hashed => super.update(address, hashed, view))
  }

  override updateAttribute(address: Address, attribute: Attribute, body: unknown, view: View): Awaitable<Written> {
    const { name } = attribute
    const hashed = this.#hashes.inBody({ [name]: body }, address.resource, view.end) as Awaitable<Record<string, unknown>>
    return chain(hashed, ({ [name]: value }) => super.updateAttribute(address, attribute, value, view))
  }
}
