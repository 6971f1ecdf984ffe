/** Describes the index, the OpenAPI document itself, and custom routes. */
import type { Answers } from './answers.ts'
import { pascalCase } from './components.ts'
import type { OperationParts } from './operation.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import { DESCRIPTION } from '../../records/request/reserved-paths.ts'
import type { Schema } from './schema.ts'
import type { ApiSource } from './source.ts'

export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly parts: OperationParts
  readonly parameters?: readonly Schema[]
}

/** Methods that a path item of OpenAPI 3.1 can hold. */
const DESCRIBED = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'])

export function generalOperations(root: string, { etag }: ApiSource, answers: Answers): PlacedOperation[] {
  const index = answers.plain('The versions, and the path of each resource.', {
    versions: { type: 'array', items: { type: 'string' } },
    resources: { type: 'object', additionalProperties: { type: 'string' } },
  })
  const document = answers.bare('An OpenAPI document.', { type: 'object' })
  const common = { tag: 'general', failures: [], isConditional: etag === 'answer' }
  const indexOf = (path: string, id: string, summary: string): PlacedOperation => ({
    method: 'GET',
    path,
    parts: { ...common, id, summary, success: index },
  })
  return [
    ...(root === '' ? [] : [indexOf('/', 'getRoot', 'List the resources of the first version')]),
    indexOf(root === '' ? '/' : root, 'getIndex', 'List the resources'),
    {
      method: 'GET',
      path: `${root}/${DESCRIPTION}`,
      parts: { ...common, id: 'getDescription', summary: 'Get this description', success: document },
    },
  ]
}

export function routeOperations({ routes, version }: ApiSource): PlacedOperation[] {
  return routes.flatMap(({ method, path }): PlacedOperation[] => {
    const [, first, ...others] = path.split('/')
    if (version !== NO_VERSION && first !== '{version}' && first !== version) return []
    if (!DESCRIBED.has(method)) return []
    const own = version === NO_VERSION ? path : ['', version, ...others].join('/')
    const rest = version === NO_VERSION ? path.split('/').slice(1) : others
    const names = rest.flatMap(segment => /^\{(\w+)\}$/.exec(segment)?.[1] ?? [])
    return [
      {
        method,
        path: own,
        parts: {
          id: `${method.toLowerCase()}${rest.map(pascalCase).join('')}`,
          tag: 'routes',
          summary: `${method} ${own}`,
          description: 'A route of the application, which decides what it takes and answers.',
          ...(['POST', 'PUT', 'PATCH'].includes(method) ? { body: {} } : {}),
          success: { description: 'What the application answers.', content: { 'application/json': { schema: {} } } },
          failures: [404],
        },
        parameters: names.map(name => ({ name, in: 'path', required: true, description: `Part of the path.`, schema: { type: 'string' } })),
      },
    ]
  })
}
