/** Session operations: log-in, log-out, sign-up and the record of the token's user, at the paths of the log-in module. */
import { showsVersion } from './answers.ts'
import { OF_BODY, changeOf } from './operation.ts'
import type { Describers } from './operation.ts'
import type { PlacedOperation } from './extra-operations.ts'
import type { RecordSchemas } from './record-schemas.ts'
import { describeObject, orNull } from './schema.ts'
import type { Schema } from './schema.ts'
import type { DescribedLogin } from './source.ts'

type SessionDescribers = Pick<Describers, 'source' | 'options' | 'answers' | 'bodies' | 'parameters'> & { readonly records: RecordSchemas }

const ABOUT_TOKEN = 'A token, for the header `Authorization: Bearer <token>`.'

/** @param root the path of the version */
export function sessionOperations(root: string, describers: SessionDescribers): PlacedOperation[] {
  const { source, answers } = describers
  const { login } = source
  if (login === undefined) return []
  const left = answers.plain('The token has ended.', { message: { type: 'string' }, status: { const: 'OK' } })
  const common = { tag: 'session' }
  const free = { ...common, security: [] }
  return [
    {
      method: 'POST',
      path: `${root}/${login.paths.login}`,
      parts: {
        ...free,
        id: 'logIn',
        summary: 'Log in',
        body: describeCredentials(login),
        success: describeToken(login, describers),
        failures: [413, 415, 422, 429],
      },
    },
    {
      method: 'POST',
      path: `${root}/${login.paths.logout}`,
      parts: { ...common, id: 'logOut', summary: 'Log out', success: left, failures: [413, 415] },
    },
    ...(source.readOnly ? [] : describeSignUp(root, login, describers)),
    ...describeOwnRecord(root, login, describers),
  ]
}

function describeCredentials({ credentials: names }: DescribedLogin): Schema {
  if (names === undefined) return { type: 'object', description: 'What the application takes.' }
  return describeObject({
    properties: { [names[0]]: { type: 'string' }, [names[1]]: { type: 'string', format: 'password', writeOnly: true } },
    required: [...new Set(names)],
    isOpen: true,
  })
}

function describeToken({ user, answers: isUsual }: DescribedLogin, { answers, records }: SessionDescribers, headers: Schema = {}): Schema {
  if (!isUsual)
    return {
      description: `${ABOUT_TOKEN} The application decides where it stands.`,
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      content: { 'application/json': { schema: {} } },
    }
  return answers.plain(
    ABOUT_TOKEN,
    {
      auth_token: { type: 'string' },
      message: { type: 'string' },
      user: orNull(user === undefined ? { type: 'object' } : records.refer(user)),
    },
    headers,
  )
}

function describeSignUp(root: string, login: DescribedLogin, describers: SessionDescribers): PlacedOperation[] {
  const { user, paths, nests } = login
  if (paths.signUp === undefined || user === undefined || user.rules.access.create === false) return []
  const { bodies, source } = describers
  return [
    {
      method: 'POST',
      path: `${root}/${paths.signUp}`,
      parts: {
        tag: 'session',
        id: 'signUp',
        summary: `Create a ${user.singular}, and log in`,
        body: nests ? OF_APPLICATION : bodies.referNew(user),
        status: source.createdStatus,
        success: describeToken(login, describers, { Location: describers.answers.location() }),
        failures: [403, 409, ...OF_BODY],
        security: [],
      },
    },
  ]
}

/** The attributes stand where the application says. */
const OF_APPLICATION: Schema = {
  type: 'object',
  description: 'The attributes of the record, where the application takes the credentials of a log-in.',
}

function describeOwnRecord(
  root: string,
  { user, paths, nests, answers: isUsual }: DescribedLogin,
  describers: SessionDescribers,
): PlacedOperation[] {
  if (paths.me === undefined || user === undefined) return []
  const { answers, bodies, parameters, source } = describers
  const path = `${root}/${paths.me}`
  const own = { description: 'The user, in the form of the application.', content: { 'application/json': { schema: {} } } }
  const common = {
    tag: 'session',
    security: [{ bearer: [] }],
    parameters: parameters.ofRecords(user),
    success: isUsual ? answers.record(user) : own,
  }
  const { conditions, failures } = changeOf(describers, user)
  const get: PlacedOperation = {
    method: 'GET',
    path,
    parts: {
      ...common,
      id: 'getMe',
      summary: `Get the ${user.singular} of the token`,
      failures: [403, 404],
      isConditional: source.tagsContent || showsVersion(user),
    },
  }
  const change = (method: 'PUT' | 'PATCH'): PlacedOperation => ({
    method,
    path,
    parts: {
      ...common,
      id: method === 'PUT' ? 'updateMe' : 'patchMe',
      summary: `Change the ${user.singular} of the token`,
      description: 'The given attributes change, the others stay. A new password ends older tokens, and is answered with a new one.',
      body: nests ? OF_APPLICATION : bodies.referChange(user),
      parameters: [...common.parameters, ...conditions],
      success: isUsual ? answers.own(user) : own,
      failures: [403, 404, ...failures, ...OF_BODY],
    },
  })
  return [
    ...(user.rules.access.get === false ? [] : [get]),
    ...(source.readOnly || user.rules.access.update === false ? [] : [change('PUT'), change('PATCH')]),
  ]
}
