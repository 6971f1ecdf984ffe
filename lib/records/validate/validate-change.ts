/**
 * Validates a body by the model, the caller's rules, the changed record and the database, with all errors at once. Refuses with
 * validation_failed, unique_conflict, forbidden and body_invalid.
 */
import { authorize } from '../access/access-rules.ts'
import { notFound } from '../access/resolve-path.ts'
import { chain, runCoroutine, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { RestError } from '../../foundation/errors/errors.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { Entity } from '../../model/entity-key.ts'
import { formatKey, type KeyValues } from '../../model/key.ts'
import { isRelation, type Resource } from '../../model/model.ts'
import { EVERYTHING, retryWithRules, type Visibility } from '../plan/visibility.ts'
import type { Reader, View } from '../read/reader.ts'
import type { RowKeys } from '../read/row-keys.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { NO_PARAMETERS } from '../request/query-string.ts'
import { checkChanges } from './check-database.ts'
import { addContradictions } from './contradictions.ts'
import { References } from './references.ts'
import { checkShared } from './shared-columns.ts'
import { givesStoredForms, listRefusedLinks, listRendered, omitUnchanged, omitUnchangedLinks } from './unchanged.ts'
import { ValidationContext } from './validation-context.ts'
import { findHeldLinks } from './held-values.ts'
import { validateRecord, type Validation } from './validate-record.ts'
import { listReferences } from './linked-records.ts'
import type { RecordInput } from './record-input.ts'
import { requireNewEmbedded } from './required-attributes.ts'

export interface GivenBody {
  readonly body: JsonObject
  readonly resource: Resource
  readonly validation: Validation
  readonly view: View
  /** The ID in the path. */
  readonly id: string | undefined
  /** The write runs once more, after a refusal by the database without errors of validation. */
  readonly again?: boolean
}

interface ValidatedInput {
  readonly change: RecordInput
  readonly errors: FieldErrors
}

export class ChangeValidator {
  readonly #connection: ReadingConnection
  readonly #reader: Reader

  constructor(connection: ReadingConnection, reader: Reader) {
    this.#connection = connection
    this.#reader = reader
  }

  /**
   * A missing record gives record_not_found alone.
   *
   * @param later what the database refuses
   */
  *validateGiven(given: GivenBody, later: Pick<Validation, 'uniquesLater' | 'linksLater'> = {}, entity?: Entity): Coroutine<RecordInput> {
    const { body, resource, validation, view, id } = given
    try {
      return yield* this.validate(body, resource, { ...validation, ...later }, view, entity)
    } catch (error) {
      if (!(error instanceof RestError)) throw error
      const { key } = validation
      if (key !== undefined && !(yield* wait(this.#reader.exists(resource, key, view.visibility)))) throw notFound(resource, id!)
      if (later.uniquesLater === true || later.linksLater === true) return yield* this.validateGiven(given, {}, entity)
      throw error
    }
  }

  /** `entity` is the record before, or objects of the record. */
  *validate(body: JsonObject, resource: Resource, validation: Validation, view: View, entity?: Entity): Coroutine<RecordInput> {
    const { visibility, trace } = view
    const before = trace?.enter('validate')
    const validated = yield* wait(this.#validateByModel(body, resource, validation, view))
    const { change, errors } =
      validation.mode === 'update' ? yield* this.#omitUnchanged(validated, body, resource, validation, view) : validated
    // Before any error is told: errors of a nested body must reveal nothing to callers who may not create such records.
    if (visibility !== EVERYTHING && (change.links.length > 0 || change.lists.length > 0)) yield* this.#authorizeNested(change, view)
    if (entity !== undefined && change.values.some(({ attribute }) => attribute.kind === 'embedded')) {
      const required = yield* wait(retryWithRules(visibility, () => requireNewEmbedded(entity, change, visibility)))
      // An attribute with a wrong value has an error already.
      errors.push(...required.filter(({ attribute }) => !errors.has(attribute)))
    }
    checkShared(change, entity, errors)
    addContradictions(change, validation.key, errors)
    const { key: self, uniquesLater = false, linksLater = false, implied } = validation
    const owner = implied?.key === undefined ? undefined : { name: implied.name, owner: implied.key }
    const checking = { self, uniquesLater, linksLater, implied: owner }
    yield* wait(checkChanges([change], checking, this.#connection, visibility, errors))
    const refusal = errors.refusal()
    let checked = change
    if (refusal !== undefined) {
      const rest = yield* this.#omitUnchangedLinks(body, resource, validation, view, errors)
      const held = rest === undefined && validation.held === undefined ? findHeldLinks(resource, body, errors) : validation.held
      if (rest === undefined && held === validation.held) throw refusal
      checked = yield* this.validate(rest ?? body, resource, held === undefined ? validation : { ...validation, held }, view, entity)
    }
    if (before !== undefined) trace?.enter(before)
    return checked
  }

  /** The body without refused relations as shown, such as links to missing records; undefined: none. */
  *#omitUnchangedLinks(
    body: JsonObject,
    resource: Resource,
    { mode, key }: Validation,
    view: View,
    { listed }: FieldErrors,
  ): Coroutine<JsonObject | undefined> {
    const refused = mode === 'update' ? listRefusedLinks(body, resource, listed) : []
    if (refused.length === 0 || key === undefined) return undefined
    const groups = yield* this.#leaveForbidden(refused, resource, view)
    if (groups.length === 0) return undefined
    const parameters = { ...NO_PARAMETERS, depth: 1 as const, attributes: [...new Set(groups.flat())] }
    const shown = yield* wait(this.#reader.record(resource, key, { ...view, parameters }))
    const rest = shown === undefined ? body : omitUnchangedLinks(body, groups, shown)
    return rest === body ? undefined : rest
  }

  /** Even an ID as shown needs permission to get the record. */
  *#leaveForbidden(groups: readonly string[][], { byName }: Resource, { visibility }: View): Coroutine<string[][]> {
    const permitted: string[][] = []
    for (const group of groups) {
      let isPermitted = true
      for (const name of group) {
        const attribute = byName.get(name)
        if (attribute !== undefined && isRelation(attribute)) isPermitted &&= yield* wait(visibility.permits(attribute.target, 'get'))
      }
      if (isPermitted) permitted.push(group)
    }
    return permitted
  }

  #validateByModel(body: JsonObject, resource: Resource, validation: Validation, { visibility }: View): Awaitable<ValidatedInput> {
    const references = new References()
    const { dialect } = this.#connection
    const run = (): Awaitable<ValidatedInput> =>
      retryWithRules(visibility, () => {
        references.begin()
        const errors = new FieldErrors(this.#reader.limits)
        const context = new ValidationContext(errors, { dialect, visibility, references })
        return { change: validateRecord(body, resource, validation, context), errors }
      })
    return chain(run(), validated => {
      if (!references.isOpen) return validated
      const keep = (found: RowKeys): Awaitable<RowKeys> =>
        visibility === EVERYTHING ? found : runCoroutine(this.#leaveHidden(found, visibility))
      return chain(references.resolve(this.#connection, keep), () => (references.isSettled ? validated : run()))
    })
  }

  *#leaveHidden(found: RowKeys, visibility: Visibility): Coroutine<RowKeys> {
    const left = new Map<Resource, ReadonlyMap<string, KeyValues>>()
    for (const [resource, keys] of found) {
      const all = keys.size < 2 ? undefined : yield* wait(this.#reader.existing(resource, [...keys.values()], visibility))
      const seen = new Map<string, KeyValues>()
      for (const [text, key] of keys)
        if (all === undefined ? yield* wait(this.#reader.exists(resource, key, visibility)) : all.has(formatKey(key))) seen.set(text, key)
      left.set(resource, seen)
    }
    return left
  }

  /** A value as shown is no change, even if refused by the model. */
  *#omitUnchanged(
    validated: ValidatedInput,
    body: JsonObject,
    resource: Resource,
    validation: Validation,
    view: View,
  ): Coroutine<ValidatedInput> {
    const { key } = validation
    if (key === undefined) return validated
    const { mayHoldMisfits } = this.#connection
    const isPlain = validated.errors.listed.length === 0 && !mayHoldMisfits
    if (isPlain && !givesStoredForms(body, resource)) return validated
    const rest = omitUnchanged(body, resource, yield* this.#readShown(body, resource, key, view), mayHoldMisfits)
    return rest === body ? validated : yield* wait(this.#validateByModel(rest, resource, validation, view))
  }

  *#readShown(body: JsonObject, resource: Resource, key: KeyValues, view: View): Coroutine<readonly JsonRecord[]> {
    const attributes = listRendered(body, resource)
    const stored = yield* wait(this.#reader.asStored.record(resource, key))
    const parameters = { ...NO_PARAMETERS, depth: 0 as const, attributes }
    const rendered = attributes.length === 0 ? undefined : yield* wait(this.#reader.record(resource, key, { ...view, parameters }))
    return [stored, rendered].filter(record => record !== undefined)
  }

  *#authorizeNested(change: RecordInput, view: View): Coroutine<void> {
    for (const { ref } of listReferences(change)) {
      if (ref.kind !== 'new') continue
      yield* wait(authorize(ref.record.resource, 'create', view.visibility, view.ctx))
      yield* this.#authorizeNested(ref.record, view)
    }
  }
}
