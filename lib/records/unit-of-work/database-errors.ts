/** Translates errors of the database to the model: a broken foreign key becomes `"author" names what is not there.` */
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
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { Dialect } from '../database/dialect.ts'
import { tableColumns, type Model, type Resource } from '../../model/model.ts'
import type { MadeLinks } from '../validate/linked-records.ts'
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

interface RefusedRow {
  readonly resource: Resource
  readonly columns: readonly string[]
}

/**
 * Explains a refused row of a many-to-many list, where an entity stands for the rows: the body names no such record, so errors name the
 * members. Undefined where no link of the body asked for the row.
 */
function refuseMembers(error: Error, row: RefusedRow | undefined, work: MadeLinks, model: Model): RestError | undefined {
  if (row === undefined) return undefined
  const lists = work.newMembers.filter(({ attribute: { via } }) => via.kind === 'pivot' && via.table === row.resource.table)
  const needed = listNeeded(row.resource, lists)
  const isMissing = error instanceof NotNullConstraintViolationException
  // The body may nest records of the pivot with the same error, unless validated for missing values.
  if (work.touched.some(({ resource }) => resource === row.resource) && !(isMissing && needed.length > 0)) return undefined
  const paths = lists.flatMap(({ attribute, items }) =>
    items.map(item => (item.kind === 'new' ? item.record.path : item.path) || attribute.name),
  )
  const errors = new FieldErrors()
  // A value is missing in all rows; other errors do not name the row.
  const places = isMissing || paths.length < 2 ? paths : new Set(paths.map(path => path.replace(/\.\d+$/, '')))
  for (const attribute of places) {
    if (isMissing) {
      const detail = `"${attribute}" cannot be linked by the list: ${explainMissing(row, needed, model)}`
      errors.push({ code: 'required', detail, attribute })
    } else if (error instanceof UniqueConstraintViolationException) {
      const detail = `"${attribute}" cannot be linked: another ${row.resource.singular} has this ${quote(nameColumns(row))} already.`
      errors.push({ code: 'not_unique', detail, attribute })
    } else if (error instanceof ForeignKeyConstraintViolationException) {
      errors.push({ code: 'reference_not_found', detail: `"${attribute}" names what is not there.`, attribute })
    }
  }
  return errors.refusal()
}

function listNeeded({ attributes }: Resource, lists: MadeLinks['newMembers']): readonly string[] {
  const given = lists.flatMap(({ attribute: { via } }) =>
    via.kind === 'pivot' ? [...via.ownerColumns, ...via.targetColumns, via.orderColumn] : [],
  )
  const needed = attributes.filter(each => each.required && !tableColumns(each).some(column => given.includes(column)))
  return needed.map(({ name }) => name)
}

function explainMissing(row: RefusedRow, needed: readonly string[], { resources }: Model): string {
  const { resource } = row
  const names = needed.length > 0 ? needed : nameColumns(row)
  const canCreate = resources.includes(resource) && !resource.readOnly && resource.rules.access.create !== false
  const advice = canCreate ? ` Create the ${resource.singular} itself: POST /${resource.plural}.` : ''
  return `${withArticle(resource.singular)} needs its ${quote(names)}.${advice}`
}

function nameColumns({ resource, columns }: RefusedRow): readonly string[] {
  return columns.map(column => resource.attributes.find(attribute => tableColumns(attribute).includes(column))?.name ?? column)
}

function quote(names: readonly string[]): string {
  return names.map(name => `"${name}"`).join(' and ')
}
