/**
 * Validates the body of a write: against the model, the rules of the caller, the record that it changes, and the database. All errors are reported at once.
 * Refuses with validation_failed, unique_conflict, forbidden and body_invalid.
 */
import { authorize } from '../access/access-rules.ts'
import { wait } from '../base/awaitable.ts'
import type { Awaitable, Coroutine } from '../base/awaitable.ts'
import { FieldErrors } from '../base/body-errors.ts'
import type { Connection } from '../database/dialect.ts'
import type { Entity } from '../model/entity-key.ts'
import type { KeyValues } from '../model/key.ts'
import type { Resource } from '../model/model.ts'
import { retryWithRules } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { requireNewEmbedded } from './assign-values.ts'
import { checkChanges } from './check-database.ts'
import type { Implied } from './check-database.ts'
import { addContradictions } from './contradictions.ts'
import { checkShared } from './shared-columns.ts'
import { givesForms, renderedIn, withoutUnchanged } from './unchanged.ts'
import { validateRecord } from './validate-record.ts'
import type { Validation } from './validate-record.ts'
import type { RecordInput } from './write-plan.ts'

/** A change, with the faults of its body. */
interface ValidatedInput {
  readonly change: RecordInput
  readonly faults: FieldErrors
}

/** Validates the bodies of writes. */
export class ChangeValidator {
  readonly #connection: Connection
  readonly #reader: Reader

  constructor(connection: Connection, reader: Reader) {
    this.#connection = connection
    this.#reader = reader
  }

  /** The change that a body asks for; `entity` is the record that is changed. */
  *validate(body: unknown, resource: Resource, validation: Validation, view: View, entity?: Entity): Coroutine<RecordInput> {
    const { visibility, trace } = view
    const before = trace?.enter('validate')
    const { change, faults } = yield* this.#changeAsked(body, resource, validation, view)
    // First of all, so that the faults of a nested body tell nothing to those who may not make such records.
    if (change.links.length > 0 || change.lists.length > 0) yield* wait(this.#authorizeNested(change, view))
    if (entity !== undefined) {
      const required = yield* wait(retryWithRules(visibility, () => requireNewEmbedded(entity, change, visibility)))
      // What was given and is wrong has its fault already.
      faults.push(...required.filter(({ attribute }) => !faults.has(attribute)))
    }
    checkShared(change, entity, faults)
    addContradictions(change, validation.key, faults)
    const checking = { self: validation.key, implied: impliedBy(validation) }
    yield* wait(checkChanges([change], checking, this.#connection, visibility, faults))
    const refusal = faults.refusal()
    if (refusal !== undefined) throw refusal
    if (before !== undefined) trace?.enter(before)
    return change
  }

  /** The change of a body as the model alone takes it: what is given as it is shown is no change, be it of a form that nobody may write. */
  *#changeAsked(body: unknown, resource: Resource, validation: Validation, view: View): Coroutine<ValidatedInput> {
    const { visibility } = view
    const ask = (given: unknown): Awaitable<ValidatedInput> =>
      retryWithRules(visibility, () => {
        const faults = new FieldErrors(this.#reader.limits)
        return { change: validateRecord(given, resource, { ...validation, visibility }, faults), faults }
      })
    const asked = yield* wait(ask(body))
    const { key, mode } = validation
    const given = body as Readonly<Record<string, unknown>>
    if (mode !== 'update' || key === undefined || (asked.faults.listed.length === 0 && !givesForms(given, resource))) return asked
    const rest = withoutUnchanged(given, resource, yield* this.#shown(given, resource, key, view))
    return rest === given ? asked : yield* wait(ask(rest))
  }

  /** What is shown of a record: as it is stored, and, of what the body gives, as it is rendered. */
  *#shown(body: Readonly<Record<string, unknown>>, resource: Resource, key: KeyValues, view: View): Coroutine<readonly JsonRecord[]> {
    const attributes = renderedIn(body, resource)
    const stored = yield* wait(this.#reader.stored(resource, key))
    const parameters = { ...NO_PARAMETERS, depth: 0 as const, attributes }
    const rendered = attributes.length === 0 ? undefined : yield* wait(this.#reader.record(resource, key, { ...view, parameters }))
    return [stored, rendered].filter(record => record !== undefined)
  }

  /** A body may only make records that the caller could make by themselves. */
  async #authorizeNested(change: RecordInput, view: View): Promise<void> {
    const refs = [...change.links.map(({ link }) => link), ...change.lists.flatMap(({ items }) => items)]
    for (const ref of refs) {
      if (ref?.kind !== 'new') continue
      await authorize(ref.record.resource, 'create', view.visibility, view.ctx)
      await this.#authorizeNested(ref.record, view)
    }
  }
}

function impliedBy({ implied }: Validation): Implied | undefined {
  return implied?.key === undefined ? undefined : { name: implied.name, owner: implied.key }
}
