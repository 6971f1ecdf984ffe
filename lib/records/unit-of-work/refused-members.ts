/**
 * Refused members: why the database refuses rows of many-to-many lists that are records of an entity. A body names no such record, so
 * errors name the members.
 */
import {
  ForeignKeyConstraintViolationException,
  NotNullConstraintViolationException,
  UniqueConstraintViolationException,
} from '@mikro-orm/core'
import { withArticle } from '../../foundation/base/article.ts'
import { FieldErrors } from '../../foundation/json/body-errors.ts'
import type { RestError } from '../../foundation/errors/errors.ts'
import { tableColumns, type Model, type Resource } from '../../model/model.ts'
import type { MadeLinks } from '../validate/linked-records.ts'

export interface RefusedRow {
  readonly resource: Resource
  readonly columns: readonly string[]
}

/** `undefined`: the body's links did not ask for the row. */
export function refuseMembers(error: Error, row: RefusedRow | undefined, work: MadeLinks, model: Model): RestError | undefined {
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
  // A value is missing in all rows; else the database does not name the row.
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
