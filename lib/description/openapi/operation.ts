/** The parts of an operation before its path is known, and what the classes of all operations share. */
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

export interface OperationParts {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Schema[]
  /** The filter of a request without filters. */
  readonly filter?: readonly (readonly [name: string, value: string])[]
  readonly body?: Schema
  /** Whether a DELETE keeps the record: the removal of a mark. */
  readonly isKept?: boolean
  /** Whether clients may send a form. */
  readonly hasNames?: true
  readonly status?: number
  readonly success: Schema
  /** The answer to an ID as body, which links a record (status 200). */
  readonly linked?: Schema
  readonly failures: readonly number[]
  /** Failures to list even if `default` covers them. */
  readonly listed?: readonly number[]
  /** Whether `If-None-Match` may lead to a 304. */
  readonly isConditional?: boolean
  /** Default: the security of the whole document. */
  readonly security?: readonly Schema[]
}

export interface Describers extends DocumentParts {
  readonly parameters: ParameterSchemas
  readonly bodies: BodySchemas
  readonly answers: Answers
  readonly failures: Failures
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export const OF_BODY = [413, 415, 422]

/**
 * Parameters of conditional changes. A model without a visible version has no entity tags, so only `attributes: true` lists the parameters.
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
