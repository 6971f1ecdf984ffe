/**
 * Translates the errors of a database that refuses a write into errors in terms of the model. MikroORM's exceptions are distinguished by class; the
 * dialect says what a broken constraint is about.
 */
import {
  CheckConstraintViolationException,
  DriverException,
  ForeignKeyConstraintViolationException,
  NotNullConstraintViolationException,
  OptimisticLockError,
  UniqueConstraintViolationException,
} from '@mikro-orm/core'
import { RestError, restError } from '../base/errors.ts'
import type { FieldError } from '../base/errors.ts'
import type { Dialect } from '../database/dialect.ts'
import { tableColumns } from '../model/model.ts'
import type { Attribute, Model } from '../model/model.ts'

/** What the database itself refuses, told in terms of the model. */
export function translateDatabaseError(error: unknown, dialect: Dialect, model: Model): unknown {
  if (error instanceof RestError || !(error instanceof Error)) return error
  if (error instanceof OptimisticLockError) {
    return restError('version_conflict', 'The record has changed meanwhile.', { cause: error })
  }
  if (error instanceof ForeignKeyConstraintViolationException || dialect.breaksReference(error)) {
    return restError('owner_required', 'Records refer to each other, and one of them would be left without what it needs.', {
      cause: error,
    })
  }
  if (error instanceof UniqueConstraintViolationException || error instanceof NotNullConstraintViolationException) {
    const unique = error instanceof UniqueConstraintViolationException
    const names = violated(error, dialect, model)
    const errors = names.map((attribute): FieldError =>
      unique
        ? { code: 'not_unique', detail: `Another record has this ${names.map(name => `"${name}"`).join(' and ')} already.`, attribute }
        : { code: 'required', detail: `"${attribute}" must be given.`, attribute },
    )
    const detail = errors[0]?.detail ?? (unique ? 'A value that must be unique exists already.' : missing(dialect.violation(error)))
    return restError(unique ? 'unique_conflict' : 'validation_failed', detail, { errors, cause: error })
  }
  if (error instanceof CheckConstraintViolationException) {
    return restError('validation_failed', `A check of the model is not met: ${dialect.brokenCheck(error) ?? ''}.`, { cause: error })
  }
  if (error instanceof DriverException) {
    const said = dialect.refusal(error)
    if (said !== undefined) return restError('validation_failed', `The database refuses it: ${said}.`, { cause: error })
  }
  return error
}

/** Of a column that no attribute has. */
function missing(violation: ReturnType<Dialect['violation']>): string {
  if (violation === undefined) return 'A value that is needed is missing.'
  const columns = violation.columns.map(column => `"${column}"`).join(', ')
  return `The column ${columns} of the table "${violation.table}" must have a value, and no attribute gives it one.`
}

/** The attributes that a broken constraint is about. */
function violated(error: Error, dialect: Dialect, model: Model): string[] {
  const violation = dialect.violation(error)
  // As SQLite compares names, and the table is called in the file.
  const found = model.resources.find(({ table }) => table.toLowerCase() === violation?.table.toLowerCase())
  const resource = found?.hierarchy?.isShared === true ? found.hierarchy.root : found
  if (violation === undefined || resource === undefined) return []
  const columnsOf = (attribute: Attribute): readonly string[] =>
    attribute.kind === 'scalar'
      ? attribute.source.kind === 'column'
        ? [attribute.source.column]
        : []
      : attribute.kind === 'embedded'
        ? attribute.attributes.flatMap(columnsOf)
        : tableColumns(attribute)
  return resource.attributes
    .filter(attribute => columnsOf(attribute).some(column => violation.columns.includes(column)))
    .map(({ name }) => name)
}
