/** Validates the records of a seed by the model. Records may link others by the clients' key, even before primary keys are counted. */
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import type { Model } from '../../model/model.ts'
import { isInferredSeed, type SeedData } from '../../model/seeds.ts'
import type { ReadingConnection } from '../database/connection.ts'
import type { RecordInput } from '../validate/record-input.ts'
import { References, nameAllNew } from '../validate/references.ts'
import { validateRecord } from '../validate/validate-record.ts'
import { ValidationContext, type ValidationRules } from '../validate/validation-context.ts'

export interface ValidatedSeed {
  readonly changes: readonly RecordInput[]
  readonly errors: FieldErrors
}

/** @throws RestError for what is no seed at all */
export function validateSeed(data: SeedData, model: Model, connection: ReadingConnection): Promise<ValidatedSeed> {
  const keepsUnreachable = isInferredSeed(data)
  return validateTogether(connection, rules => validateAll(data, model, { ...rules, keepsUnreachable }))
}

/** Validates a second time, once the linked records are known. */
export async function validateTogether(
  connection: ReadingConnection,
  validate: (rules: ValidationRules) => ValidatedSeed,
): Promise<ValidatedSeed> {
  const references = new References()
  const rules: ValidationRules = { dialect: connection.dialect, seeding: true, references }
  const first = validate(rules)
  if (!references.isOpen) return first
  references.addNewNames(nameAllNew(first.changes))
  await references.resolve(connection)
  if (references.isSettled) return first
  references.begin()
  return validate(rules)
}

function validateAll(data: SeedData, model: Model, rules: ValidationRules): ValidatedSeed {
  const errors = new FieldErrors()
  const changes: RecordInput[] = []
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    if (resource === undefined) {
      const suggestion = findNearest(
        name,
        model.resources.map(({ plural }) => plural),
      )
      throw restError('resource_unknown', `seed: there is no resource "${name}".${formatHint(suggestion)}`)
    }
    if (resource.readOnly) throw restError('method_not_allowed', `seed: the ${resource.plural} are read-only.`)
    if (!Array.isArray(records)) throw restError('body_invalid', `seed: "${name}" must be an array of records.`)
    for (const [index, record] of (records as unknown[]).entries()) {
      const path = `${name}.${index}`
      if (!isObject(record)) throw restError('body_invalid', `seed: "${path}" must be an object.`)
      const context = new ValidationContext(errors, rules, path)
      changes.push(validateRecord(record, resource, { mode: 'create' }, context))
    }
  }
  return { changes, errors }
}
