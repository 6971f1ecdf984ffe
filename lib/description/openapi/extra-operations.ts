/** Extra operations: those beside the resources: the index, the description itself, log-in and log-out, and custom routes of the application. */
import type { Answers } from './answers.ts'
import { pascalCase } from './components.ts'
import type { OperationParts } from './operation.ts'
import type { RecordSchemas } from './record-schemas.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import { DESCRIPTION } from '../../records/request/reserved-paths.ts'
import { describeObject, orNull } from './schema.ts'
import type { Schema } from './schema.ts'
import type { ApiSource } from './source.ts'

/** An operation and its place. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly parts: OperationParts
  /** Parameters of the path. */
  readonly parameters?: readonly Schema[]
}

/** Methods that a path of OpenAPI 3.1 has a place for. */
const DESCRIBED = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'])

/** The index, and the path of this document. */
export function generalOperations(root: string, { tagsContent }: ApiSource, answers: Answers): PlacedOperation[] {
  const index = answers.plain('The versions, and the path of each resource.', {
    versions: { type: 'array', items: { type: 'string' } },
    resources: { type: 'object', additionalProperties: { type: 'string' } },
  })
  const document = answers.bare('An OpenAPI document.', { type: 'object' })
  const common = { tag: 'general', failures: [], isConditional: tagsContent }
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

/** Log-in and log-out. */
export function sessionOperations(root: string, source: ApiSource, answers: Answers, records: RecordSchemas): PlacedOperation[] {
  const { login } = source
  if (login === undefined) return []
  const names = login.credentials
  const body: Schema =
    names === undefined
      ? { type: 'object', description: 'What the application takes.' }
      : describeObject({
          properties: { [names[0]]: { type: 'string' }, [names[1]]: { type: 'string', format: 'password', writeOnly: true } },
          required: [...new Set(names)],
          isOpen: true,
        })
  const user = login.user === undefined ? { type: 'object' } : records.refer(login.user)
  const about = 'A token, for the header `Authorization: Bearer <token>`.'
  const own = { description: `${about} The application decides where it stands.`, content: { 'application/json': { schema: {} } } }
  const usual = (): Schema =>
    answers.plain(about, {
      auth_token: { type: 'string' },
      message: { type: 'string' },
      user: orNull(user),
    })
  const left = answers.plain('The token has ended.', { message: { type: 'string' }, status: { const: 'OK' } })
  const common = { tag: 'session' }
  return [
    {
      method: 'POST',
      path: `${root}/login`,
      parts: {
        ...common,
        id: 'logIn',
        summary: 'Log in',
        body,
        success: login.answers ? usual() : own,
        failures: [413, 415, 422, 429],
        security: [],
      },
    },
    { method: 'POST', path: `${root}/logout`, parts: { ...common, id: 'logOut', summary: 'Log out', success: left, failures: [413, 415] } },
  ]
}

/** Custom routes, as far as they say what they are: methods and paths. */
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
