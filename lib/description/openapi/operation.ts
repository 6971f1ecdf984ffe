/** Operation: what an operation is made of before it is known where it stands, and what describes its parts. */
import { idNames } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { showsVersion, type Answers } from './answers.ts'
import type { BodySchemas } from './body-schemas.ts'
import { pascalCase } from './components.ts'
import type { Failures } from './failures.ts'
import type { ParameterSchemas } from './parameters.ts'
import type { Schema } from './schema.ts'
import type { DescribeOptions } from './source.ts'
import type { DocumentParts } from './describer.ts'

/** An operation, before it is known where it stands. */
export interface OperationParts {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Schema[]
  /** The filters of a request without any, as an envelope shows them. */
  readonly filter?: readonly (readonly [name: string, value: string])[]
  readonly body?: Schema
  /** Whether a DELETE leaves the record, and answers with it. */
  readonly isKept?: boolean
  /** Whether a form may stand for the body: it has names. */
  readonly hasNames?: true
  readonly status?: number
  readonly success: Schema
  /** The answer with 200 beside it, where an ID in the body links a record. */
  readonly linked?: Schema
  readonly failures: readonly number[]
  /** Failures that are listed though other operations have them, too. */
  readonly listed?: readonly number[]
  /** Whether it may be answered with 304. */
  readonly isConditional?: boolean
  /** Undefined: as the whole document says. */
  readonly security?: readonly Schema[]
}

/** What describes the parts of operations. */
export interface Describers extends DocumentParts {
  readonly parameters: ParameterSchemas
  readonly bodies: BodySchemas
  readonly answers: Answers
  readonly failures: Failures
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** Statuses that a body may get. */
export const OF_BODY = [413, 415, 422]

/**
 * The conditions of a change and the statuses that it may get: a record that shows no version meets or fails a condition whatever its tag.
 */
export function changeOf(
  { options, parameters }: Pick<Describers, 'options' | 'parameters'>,
  ...resources: readonly Resource[]
): ChangeParts {
  const isTagged = options.attributes || resources.some(showsVersion)
  return { conditions: isTagged ? parameters.conditions() : [], failures: isTagged ? [409, 412] : [409] }
}

interface ChangeParts {
  readonly conditions: readonly Schema[]
  readonly failures: readonly number[]
}

/** From a new record to what can be done with it, which the names of operations say, too. */
export function linksTo(resource: Resource, { attributes }: DescribeOptions): Schema {
  const { singular, byName, rules, readOnly } = resource
  const [name = '', ...others] = idNames(resource)
  const key = byName.get(name)
  if (
    !attributes ||
    rules.single !== undefined ||
    others.length > 0 ||
    key === undefined ||
    key.kind !== 'scalar' ||
    key.hidden ||
    key.render !== undefined
  )
    return {}
  const parameters = { id: `$response.body#/${singular}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` }
  const to = (verb: string, action: 'get' | 'update' | 'delete'): [string, Schema][] => {
    const id = `${verb}${pascalCase(singular)}`
    if (rules.access[action] === false || (readOnly && action !== 'get')) return []
    return [[id, { operationId: id, parameters }]]
  }
  return Object.fromEntries([...to('get', 'get'), ...to('update', 'update'), ...to('delete', 'delete')])
}
