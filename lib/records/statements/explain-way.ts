/** Explain way: tells `engine.explain` why the unit of work does a write, by the decisions of plan-rows.ts and plan-body.ts. */
import { isObject } from '../../foundation/json/json.ts'
import type { RowConnection } from '../database/connection.ts'
import type { Attribute, Resource, ToManyAttribute } from '../../model/model.ts'
import { planChanges, planNew } from './plan-body.ts'
import { planRows } from './plan-rows.ts'
import { cascadesOrUnlinks } from '../validate/referrers.ts'

export const BY_STATEMENTS = 'by statements of a plan'

type Deed = 'insert' | 'update' | 'delete'

export function byUnitOfWork(why: string): string {
  return `by MikroORM's unit of work, since ${why}`
}

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
  return (
    (isObject(body) ? explainBody(resource, deed, body, connection) : undefined) ??
    `the body is about several records of one kind, or keys that are counted`
  )
}

function explainWhole({ className, version }: Resource, deed: Deed): string {
  if (deed === 'insert') return `a new ${className} has values that MikroORM, or its constructor, makes`
  if (version?.type.kind === 'datetime') return `the version of ${className} is a time`
  return (
    `a type of ${className} makes something of null, ` +
    'MikroORM checks its values against concurrent changes, or sets others with each change'
  )
}

function explainBody(
  resource: Resource,
  deed: Deed,
  body: Readonly<Record<string, unknown>>,
  connection: RowConnection,
): string | undefined {
  const row = planRows(resource)!
  for (const [name, value] of Object.entries(body)) {
    const attribute = resource.byName.get(name)
    if (attribute === undefined) continue
    const alone = { [name]: value }
    const plan = deed === 'insert' ? planNew(row, resource, alone, connection) : planChanges(row, resource, alone, connection)
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
