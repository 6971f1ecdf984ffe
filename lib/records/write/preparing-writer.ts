/** Extends RecordWriter by steps before the transaction: asking schemas, hashing passwords, and filling in the engine's values. */
import { chain, runCoroutine, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { Model, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import type { Connection } from '../database/connection.ts'
import type { Reader, View } from '../read/reader.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { checkSchemas, hasSchemas } from '../validate/check-schemas.ts'
import { fillBody, giveBody, hasFills, type FillMode } from '../validate/fill-body.ts'
import type { PasswordHashes } from '../validate/password-hashes.ts'
import { RecordWriter } from './record-writer.ts'
import type { Writer } from './writer.ts'
import type { RecordAddress, Written } from '../validate/written.ts'

export function makeWriter(connection: Connection, reader: Reader, model: Model, hashes: PasswordHashes | undefined): Writer {
  return hashes === undefined && !hasFills(model) && !hasSchemas(model)
    ? new RecordWriter(connection, reader, model)
    : new PreparingWriter(connection, reader, model, hashes)
}

class PreparingWriter extends RecordWriter {
  readonly #reader: Reader
  readonly #hashes: PasswordHashes | undefined
  readonly #fills: boolean
  readonly #schemas: boolean
  readonly #dialect: Connection['dialect']

  constructor(connection: Connection, reader: Reader, model: Model, hashes: PasswordHashes | undefined) {
    super(connection, reader, model)
    this.#reader = reader
    this.#hashes = hashes
    this.#fills = hasFills(model)
    this.#schemas = hasSchemas(model)
    this.#dialect = connection.dialect
  }

  override create(resource: Resource, body: unknown, view: View): Awaitable<Written> {
    return chain(this.#prepare(body, resource, 'create', view), ready => super.create(resource, ready, view))
  }

  override createAll(resource: Resource, bodies: readonly unknown[], view: View): Awaitable<readonly Written[] | undefined> {
    return chain(this.#check(bodies, resource, view), hashed =>
      chain(runCoroutine(this.#fillAll(hashed as readonly unknown[], resource, view)), ready => super.createAll(resource, ready, view)),
    )
  }

  override append(owner: RecordAddress, attribute: ToManyAttribute, body: unknown, view: View): Awaitable<Written> {
    return chain(this.#prepare(body, attribute.target, 'create', view), ready => super.append(owner, attribute, ready, view))
  }

  /** The engine's values are neither checked nor hashed. */
  override give(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return super.change(address, giveBody(body), view)
  }

  protected override change(address: RecordAddress, body: JsonObject, view: View): Awaitable<Written> {
    return chain(this.#prepare(body, address.resource, 'update', view), ready => super.change(address, ready as JsonObject, view))
  }

  protected override changeLinked(address: RecordAddress, attribute: ToOneAttribute, body: JsonObject, view: View): Awaitable<Written> {
    const { target } = attribute
    const linked = this.#fills
      ? this.#reader.relatedKeys(address.resource, address.key, attribute, { ...view, parameters: NO_PARAMETERS })
      : []
    return chain(linked, ({ length }) =>
      chain(this.#prepare(body, target, length === 0 ? 'create' : 'update', view), ready =>
        super.changeLinked(address, attribute, ready as JsonObject, view),
      ),
    )
  }

  protected override changeOneOf(address: RecordAddress, attribute: ToOneOfAttribute, body: JsonObject, view: View): Awaitable<Written> {
    return chain(this.#check({ [attribute.name]: body }, address.resource, view), hashed =>
      super.changeOneOf(address, attribute, (hashed as JsonObject)[attribute.name] as JsonObject, view),
    )
  }

  protected override filled(body: JsonObject, resource: Resource, mode: FillMode, { ctx }: View): Coroutine<JsonObject> {
    return fillBody(body, resource, mode, ctx) as Coroutine<JsonObject>
  }

  #prepare(body: unknown, resource: Resource, mode: FillMode, view: View): Awaitable<unknown> {
    return chain(this.#check(body, resource, view), hashed =>
      this.#fills ? runCoroutine(fillBody(hashed, resource, mode, view.ctx)) : hashed,
    )
  }

  /** Checks values, then hashes plain passwords. */
  #check(body: unknown, resource: Resource, { end, ctx }: View): Awaitable<unknown> {
    const checked = this.#schemas ? runCoroutine(checkSchemas(body, resource, ctx, this.#dialect)) : body
    return this.#hashes === undefined ? checked : chain(checked, each => this.#hashes!.inBody(each, resource, end))
  }

  *#fillAll(bodies: readonly unknown[], resource: Resource, { ctx }: View): Coroutine<readonly unknown[]> {
    if (!this.#fills) return bodies
    const filled: unknown[] = []
    for (const body of bodies) filled.push(yield* fillBody(body, resource, 'create', ctx))
    return filled
  }
}
