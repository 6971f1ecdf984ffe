/** Describes log-in, log-out, sign-up and the token's user. */
import { showsVersion } from './answers.ts'
import { OF_BODY, changeOf, type Describers, type OperationParts } from './operation.ts'
import type { PlacedOperation } from './extra-operations.ts'
import type { RecordSchemas } from './record-schemas.ts'
import { describeObject, orNull, type Schema } from './schema.ts'
import { listSecurity, type DescribedLogin } from './source.ts'

type SessionDescribers = Pick<Describers, 'source' | 'options' | 'answers' | 'bodies' | 'parameters'> & { readonly records: RecordSchemas }

const ABOUT_TOKEN = 'A token, for the header `Authorization: Bearer <token>`.'

export function sessionOperations(root: string, describers: SessionDescribers): PlacedOperation[] {
  const { source, answers } = describers
  const { login } = source
  if (login === undefined) return []
  const members = { message: { type: 'string' }, status: { const: 'OK' } }
  const left = answers.plain('The token has ended.', members, answers.cookies(login))
  return [
    describeLogIn(root, login, describers),
    post(`${root}/${login.paths.logout}`, { id: 'logOut', summary: 'Log out', success: left, failures: [413, 415] }),
    ...describeRefresh(root, login, describers),
    ...(source.readOnly ? [] : describeSignUp(root, login, describers)),
    ...describeOwnRecord(root, login, describers),
  ]
}

function post(path: string, parts: Omit<OperationParts, 'tag'>): PlacedOperation {
  return { method: 'POST', path, parts: { tag: 'session', ...parts } }
}

function describeLogIn(root: string, login: DescribedLogin, describers: SessionDescribers): PlacedOperation {
  return post(`${root}/${login.paths.login}`, {
    id: 'logIn',
    summary: 'Log in',
    body: describeCredentials(login),
    success: describeToken(login, describers),
    failures: [413, 415, 422, 429],
    security: [],
  })
}

function describeRefresh(root: string, login: DescribedLogin, describers: SessionDescribers): PlacedOperation[] {
  const { paths, cookie } = login
  if (paths.refresh === undefined) return []
  const also = cookie === undefined ? '' : ' It may come in the cookie that the log-in has set, instead.'
  return [
    post(`${root}/${paths.refresh}`, {
      id: 'refresh',
      summary: 'Get new tokens',
      description: `The refresh token is good for one time. Where it comes a second time, all tokens of its log-in end.${also}`,
      body: describeObject({
        properties: { refreshToken: { type: 'string', writeOnly: true } },
        required: cookie === undefined ? ['refreshToken'] : [],
        isOpen: true,
      }),
      success: describeToken(login, describers),
      failures: [401, 413, 415, 422],
      security: [],
    }),
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

function describeToken(login: DescribedLogin, { answers, records }: SessionDescribers, more: Schema = {}): Schema {
  const { user, answers: isUsual, refreshes, cookie } = login
  const headers = { ...answers.cookies(login), ...more }
  if (!isUsual)
    return {
      description: `${ABOUT_TOKEN} The application decides where it stands.`,
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      content: { 'application/json': { schema: {} } },
    }
  const members = {
    auth_token: { type: 'string' },
    ...(refreshes && cookie === undefined ? { refreshToken: { type: 'string' } } : {}),
    message: { type: 'string' },
    user: orNull(user === undefined ? { type: 'object' } : records.refer(user)),
  }
  return answers.plain(ABOUT_TOKEN, members, headers)
}

function describeSignUp(root: string, login: DescribedLogin, describers: SessionDescribers): PlacedOperation[] {
  const { user, paths, nests } = login
  if (paths.signUp === undefined || user === undefined || user.rules.access.create === false) return []
  const { bodies, source } = describers
  return [
    post(`${root}/${paths.signUp}`, {
      id: 'signUp',
      summary: `Create a ${user.singular}, and log in`,
      body: nests ? OF_APPLICATION : bodies.wrapped(bodies.referNew(user), user),
      status: source.createdStatus,
      success: describeToken(login, describers, { Location: describers.answers.location() }),
      failures: [403, 409, ...OF_BODY],
      security: [],
    }),
  ]
}

const OF_APPLICATION: Schema = {
  type: 'object',
  description: 'The attributes of the record, where the application takes the credentials of a log-in.',
}

function describeOwnRecord(root: string, login: DescribedLogin, describers: SessionDescribers): PlacedOperation[] {
  const { user, paths, nests, answers: isUsual } = login
  if (paths.me === undefined || user === undefined) return []
  const { answers, bodies, parameters, source } = describers
  const path = `${root}/${paths.me}`
  const own = { description: 'The user, in the form of the application.', content: { 'application/json': { schema: {} } } }
  const common = {
    tag: 'session',
    security: listSecurity(login),
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
      isConditional: source.etag === 'answer' || showsVersion(user),
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
      body: nests ? OF_APPLICATION : bodies.change(user),
      parameters: [...common.parameters, ...conditions],
      success: isUsual ? answers.own(user, login) : own,
      failures: [403, 404, ...failures, ...OF_BODY],
    },
  })
  return [
    ...(user.rules.access.get === false ? [] : [get]),
    ...(source.readOnly || user.rules.access.update === false ? [] : [change('PUT'), change('PATCH')]),
  ]
}
