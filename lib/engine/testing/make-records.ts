/**
 * Inserts minimal valid graphs for `engine.given`, values and parents made up, in one transaction. The same seed and data give the same
 * records. Rejects with body_invalid, validation_failed, unique_conflict.
 */
import { CheckConstraintViolationException, type EntityManager } from '@mikro-orm/core'
import type { Dialect } from '../../records/database/dialect.ts'
import { RestError, restError, type FieldError } from '../../foundation/errors/errors.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import { keyOfEntity } from '../../model/entity-key.ts'
import { NO_PARAMETERS } from '../../records/request/query-string.ts'
import { loadReadable } from './faker-text.ts'
import { DraftFiller } from './fill-drafts.ts'
import { RecordDrafts } from './record-drafts.ts'
import type { GivenRecord, Overrides, RecordMaking } from './given-options.ts'
import { insert } from '../../records/seed/seed.ts'
import { ValidationContext, joinPath } from '../../records/validate/validation-context.ts'
import type { RecordInput } from '../../records/validate/record-input.ts'
import { validateRecord } from '../../records/validate/validate-record.ts'
import { validateTogether } from '../../records/seed/validate-seed.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import { translateDatabaseError } from '../../records/unit-of-work/database-errors.ts'
import type { Translating } from '../../records/unit-of-work/unit-of-work.ts'
import type { GivenServices } from './given-services.ts'

export async function makeRecords(
  resource: Resource,
  all: readonly Overrides[],
  making: RecordMaking,
  services: GivenServices,
): Promise<GivenRecord[]> {
  const madeUp = new Set<ScalarAttribute>()
  const hashed = (await services.served().hashes?.inRecords(all, resource)) ?? all
  for (let attempt = 1; ; attempt++) {
    const drafts = new RecordDrafts(madeUp, making.maxRecords)
    try {
      return await attemptAll(drafts, resource, hashed, making, services)
    } catch (error) {
      const defaulted = findLeftOut(error, drafts)
      if (attempt === ATTEMPTS || (defaulted.length === 0 && !isOfMadeUp(error, drafts))) throw nameCall(error)
      for (const attribute of defaulted) madeUp.add(attribute)
    }
  }
}

export async function completeRecord(
  resource: Resource,
  overrides: Overrides,
  seed: number,
  { connection, clock }: GivenServices,
): Promise<Record<string, unknown>> {
  const drafts = new RecordDrafts(new Set())
  const { body } = drafts.add(resource, overrides, { path: '', stream: String(seed) })
  await new DraftFiller(drafts, connection, await loadReadable(), clock.standing).fill()
  drafts.resolve()
  return body
}

async function attemptAll(
  drafts: RecordDrafts,
  resource: Resource,
  all: readonly Overrides[],
  { seed, pathOf }: RecordMaking,
  { connection, clock, context, served }: GivenServices,
): Promise<GivenRecord[]> {
  const { model, reader } = served()
  const roots = all.map((overrides, index) => drafts.add(resource, overrides, { path: pathOf(index), stream: `${seed}/${index}` }))
  const filler = new DraftFiller(drafts, connection, await loadReadable(), clock.standing)
  const translating: Translating = { dialect: connection.dialect, model }
  try {
    return await connection.write(async (em: EntityManager) => {
      await filler.fill()
      drafts.resolve()
      const { changes, errors: faults } = await validateTogether(connection, rules => {
        const errors = new FieldErrors(undefined, Infinity)
        const validate = ({ body, path }: (typeof roots)[number]): RecordInput =>
          validateRecord(body, resource, { mode: 'create' }, new ValidationContext(errors, rules, path))
        return { changes: roots.map(validate), errors }
      })
      const keys = (await insert(changes, faults, em, connection, translating)).map(entity => keyOfEntity(resource, entity))
      const view = { parameters: NO_PARAMETERS, visibility: EVERYTHING, ctx: context(resource), signal: undefined }
      const records: GivenRecord[] = []
      for (const key of keys) records.push((await reader.record(resource, key, view))!)
      return records
    })
  } catch (error) {
    const translated = describeMissingDefault(translateDatabaseError(error, translating), drafts)
    throw describeBrokenCheck(translated, drafts, connection.dialect)
  }
}

function nameCall(error: unknown): unknown {
  if (!(error instanceof RestError) || error.message.startsWith('given: ')) return error
  const { status, code, message, errors, headers, cause } = error
  return new RestError(status, code, `given: ${message}`, { ...(errors === undefined ? {} : { errors }), headers, cause })
}

/** Other processes may write the same values. */
const ATTEMPTS = 10

/** Whether another record, written at the same time, has a made-up value. */
function isOfMadeUp(error: unknown, drafts: RecordDrafts): boolean {
  if (!(error instanceof RestError) || error.code !== 'unique_conflict') return false
  const names = new Set(drafts.all.flatMap(({ slots }) => slots.map(({ attribute }) => attribute.name)))
  return error.errors?.some(({ attribute }) => attribute !== undefined && names.has(attribute)) === true
}

/** Finds unique attributes left to a default that another record has. */
function findLeftOut(error: unknown, drafts: RecordDrafts): ScalarAttribute[] {
  if (!(error instanceof RestError) || error.code !== 'unique_conflict') return []
  const names = new Set(error.errors?.map(({ attribute }) => attribute))
  return drafts.all.flatMap(({ resource, body, slots }) =>
    resource.attributes.flatMap(attribute => {
      const { name } = attribute
      const isLeft = names.has(name) && body[name] === undefined && slots.every(slot => slot.attribute !== attribute)
      const isOwn = attribute.kind === 'scalar' && !attribute.readOnly && !attribute.primary && attribute.source.kind === 'column'
      return isLeft && isOwn && resource.uniques.some(paths => paths.includes(name)) ? [attribute] : []
    }),
  )
}

/** For a broken CHECK, unknown to the model: names made-up values. */
function describeBrokenCheck(error: unknown, drafts: RecordDrafts, dialect: Dialect): unknown {
  if (!(error instanceof RestError) || !(error.cause instanceof CheckConstraintViolationException)) return error
  const text = dialect.brokenCheck(error.cause) ?? ''
  const named = drafts.all.flatMap(draft =>
    draft.slots
      .filter(({ attribute: { source } }) => source.kind === 'column' && text.includes(source.column))
      .filter(() => error.cause instanceof Error && error.cause.message.includes(draft.resource.table))
      .map(({ attribute, holder, path }) => ({ at: joinPath(draft.path, path), value: holder[attribute.name], hidden: attribute.hidden })),
  )
  if (named.length === 0) return error
  const errors = named.map(({ at, value, hidden }): FieldError => ({
    code: 'value_invalid',
    detail: `"${at}" was made up and does not meet the check "${text}": give it in the overrides.`,
    attribute: at,
    ...(hidden ? {} : { value }),
  }))
  return restError('validation_failed', `given: ${error.message} ${errors[0]!.detail}`, { errors, cause: error.cause })
}

/** For a broken foreign key: a link's default may name no record. */
function describeMissingDefault(error: unknown, { all }: RecordDrafts): unknown {
  const isKey =
    error instanceof RestError &&
    (error.code === 'owner_required' || error.errors?.some(({ code }) => code === 'reference_not_found') === true)
  if (!isKey) return error
  const places = all.flatMap(({ resource, body, path, implied }) =>
    resource.attributes.flatMap(each => {
      const isLeft = each.kind === 'toOne' && each.owner && !each.nullable && !each.required && !each.readOnly
      return isLeft && body[each.name] === undefined && implied?.name !== each.name ? [joinPath(path, each.name)] : []
    }),
  )
  if (places.length === 0) return error
  const errors = places.map((attribute): FieldError => ({
    code: 'required',
    detail: `"${attribute}" was left to its default, which links a record that must be there: make that first, or give "${attribute}".`,
    attribute,
  }))
  return restError('validation_failed', `given: ${errors[0]!.detail}`, { errors, cause: error.cause })
}
