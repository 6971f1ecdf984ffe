/** Explains, for `engine.explain`, why the unit of work does a write, by the decisions of plan-rows.ts and plan-body.ts. */
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import type { RowConnection } from '../database/connection.ts'
import type { Attribute, Resource, ToManyAttribute } from '../../model/model.ts'
import { isComplete, mayLinkItself, planChanges, planNames } from './plan-body.ts'
import { planRows, type RowPlan } from './plan-rows.ts'
import { cascadesOrUnlinks } from '../validate/referrers.ts'

type Deed = 'insert' | 'update' | 'delete'

export function explainUnplanned(resource: Resource, deed: Deed, body: unknown, connection: RowConnection): string {
  const listens = connection.explainListeners()
  if (listens !== undefined) return listens
  const { className, open } = resource
  if (open !== undefined) return `${className} takes names that its model does not have`
  const row = planRows(resource)
  if (row === null) return resource.explainStored() ?? `${className} has properties that are more than columns of its table`
  if (deed === 'delete') {
    if (cascadesOrUnlinks(resource)) return `other records go, or lose a link, with a ${className}`
    return row.deletes
      ? `the record that has the list links records of ${className} by a foreign key of its own`
      : `MikroORM removes others with a ${className}`
  }
  if ((deed === 'insert' ? row.insert : row.update) === undefined) return explainWhole(resource, deed)
  const given = isObject(body) ? body : {}
  return (
    explainBody(row, resource, deed, given, connection) ??
    (deed === 'insert' ? explainNew(row, resource, given, connection) : explainHidden(row, resource, given, connection)) ??
    'the body is about several records of one kind, or keys that are counted'
  )
}

function explainNew({ stored }: RowPlan, resource: Resource, body: JsonObject, connection: RowConnection): string | undefined {
  const { className } = resource
  if (!connection.keepsTime(stored)) return `the database gives a new ${className} its own time`
  if (!isComplete(body, stored, resource, undefined)) return `a new ${className} needs more than the body gives`
  return mayLinkItself(body, resource) ? `the new ${className} links itself` : undefined
}

function explainHidden(row: RowPlan, resource: Resource, body: JsonObject, connection: RowConnection): string | undefined {
  const plan = planChanges(row, resource, body, connection)
  return plan && ![...plan.pivots.keys()].some(table => connection.countsKeys(table))
    ? 'an ordered list may have members that the caller does not see'
    : undefined
}

function explainWhole({ className, version }: Resource, deed: Deed): string {
  if (deed === 'insert') return `a new ${className} has values that MikroORM, or its constructor, makes`
  if (version?.type.kind === 'datetime') return `the version of ${className} is a time`
  return (
    `a type of ${className} makes something of null, ` +
    'MikroORM checks its values against concurrent changes, or sets others with each change'
  )
}

function explainBody(row: RowPlan, resource: Resource, deed: Deed, body: JsonObject, connection: RowConnection): string | undefined {
  for (const [name, value] of Object.entries(body)) {
    const attribute = resource.byName.get(name)
    if (attribute === undefined) continue
    const alone = { [name]: value }
    const plan = deed === 'insert' ? planNames(row, resource, alone, connection) : planChanges(row, resource, alone, connection)
    if (plan === undefined) return `"${name}" is ${describe(attribute, connection.mayHoldMisfits)}`
  }
  return undefined
}

function describe(attribute: Attribute, mayHoldMisfits: boolean): string {
  switch (attribute.kind) {
    case 'embedded':
      return mayHoldMisfits ? 'an object in a file of another program' : 'an object of which a statement cannot write all'
    case 'toOneOf':
      return 'a link to one of several entities'
    case 'toMany':
      return describeList(attribute, mayHoldMisfits)
    case 'toOne':
      if (!attribute.owner) return 'the other side of a one-to-one, whose record has the link'
      return attribute.orphanRemoval
        ? 'a link whose record is removed with it'
        : 'a link that is more than a key, or nests more than a plan says'
    case 'scalar':
      return 'a value of a type that MikroORM converts, compares or computes in its own way'
  }
}

function describeList({ where, via }: ToManyAttribute, mayHoldMisfits: boolean): string {
  if (mayHoldMisfits)
    return 'a list in a file of another program, whose tables have a trigger, an order, or columns that may hold more than keys'
  if (where !== undefined) return 'a list with a condition'
  return via.kind === 'pivot' && via.orderColumn !== undefined
    ? 'an ordered list'
    : 'a list of more than plain links, or nests more than a plan says'
}
