/** Database errors: in terms of the model. */
import {
  CheckConstraintViolationException,
  DriverException,
  ForeignKeyConstraintViolationException,
  NotNullConstraintViolationException,
  OptimisticLockError,
  UniqueConstraintViolationException,
} from '@mikro-orm/core'
import { withArticle } from '../../foundation/base/article.ts'
import { RestError, restError, type FieldError } from '../../foundation/errors/errors.ts'
import type { Dialect } from '../database/dialect.ts'
import { tableColumns, type Model, type Resource } from '../../model/model.ts'
import { refuseMembers, type RefusedRow } from './refused-members.ts'
import type { Translating } from './unit-of-work.ts'
import { qualifyTable } from '../../model/table-name.ts'

export function translateDatabaseError(error: unknown, { dialect, model, work }: Translating): unknown {
  if (error instanceof RestError || !(error instanceof Error)) return error
  const refused = work && refuseMembers(error, findRow(error, dialect, model.entities), work, model)
  if (refused !== undefined) return refused
  if (error instanceof OptimisticLockError) {
    return restError('version_conflict', 'The record has changed since it was read: read it again, and send its new version.', {
      cause: error,
    })
  }
  if (error instanceof ForeignKeyConstraintViolationException || dialect.breaksReference(error)) {
    const errors = violated(error, dialect, model).map((attribute): FieldError => ({
      code: 'reference_not_found',
      detail: `"${attribute}" names what is not there.`,
      attribute,
    }))
    if (errors.length > 0) return restError('validation_failed', errors.map(({ detail }) => detail).join(' '), { errors, cause: error })
    const why = 'it names a record that is not there, or would leave others without one that they need'
    return restError('owner_required', `A foreign key of the database refuses it: ${why}${describeBeside(model)}.`, { cause: error })
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
    const reason = dialect.refusal(error)
    if (reason !== undefined) return restError('validation_failed', `The database refuses it: ${reason}.`, { cause: error })
  }
  return error
}

/** The database does not name broken foreign keys to more than a primary key. */
function describeBeside({ resources }: Model): string {
  const links = resources.flatMap(({ attributes, singular }) =>
    attributes.flatMap(attribute => {
      if (attribute.kind !== 'toOne' || !attribute.owner || attribute.beside === undefined) return []
      const columns = attribute.beside.map(({ column }) => `"${column}"`).join(', ')
      return [`"${attribute.name}" of ${withArticle(singular)} links a record of another ${columns}`]
    }),
  )
  return links.length === 0 ? '' : `; or ${links.join('; or ')}`
}

function missing(violation: ReturnType<Dialect['violation']>): string {
  if (violation === undefined) return 'A value that is needed is missing.'
  const columns = violation.columns.map(column => `"${column}"`).join(', ')
  return `The column ${columns} of the table "${violation.table}" must have a value, and no attribute gives it one.`
}

/** The database may spell names in another case. */
function findRow(error: Error, dialect: Dialect, resources: readonly Resource[]): RefusedRow | undefined {
  const violation = dialect.violation(error)
  const names = violation === undefined ? [] : [qualifyTable(violation.table, violation.schema), violation.table]
  const [resource] = names.flatMap(name => resources.find(({ table }) => table.toLowerCase() === name.toLowerCase()) ?? [])
  return violation && resource && { resource, columns: violation.columns }
}

function violated(error: Error, dialect: Dialect, model: Model): string[] {
  const row = findRow(error, dialect, model.resources)
  if (row === undefined) return []
  const { hierarchy } = row.resource
  const { attributes } = hierarchy?.isShared === true ? hierarchy.root : row.resource
  return attributes.filter(attribute => tableColumns(attribute).some(column => row.columns.includes(column))).map(({ name }) => name)
}
