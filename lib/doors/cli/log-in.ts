/**
 * Adds a log-in to the API of a JSON file (`--login users`). Notes the guessed attribute of the user's name. Refuses a file without such
 * users.
 */
import { auth } from '../../engine/auth/auth-options.ts'
import { isOtherHash, isPasswordHash } from '../../engine/auth/password.ts'
import type { EngineOptions } from '../../engine/options/options.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { InferredCollection } from '../../model/json-model/infer-model.ts'
import { CommandError } from './command-error.ts'
import type { InferredFile } from './json-options.ts'

/** Best first. */
const IDENTIFIERS = ['email', 'mail', 'emailaddress', 'username', 'login', 'user', 'handle', 'nickname', 'name']
const PASSWORDS = ['password', 'passwd', 'pass', 'pwd', 'passwordhash', 'secret', 'pin']

export interface LogIn {
  readonly identifier: string
  readonly password: string
  readonly example: { readonly identifier: string; readonly id: string | number }
  readonly hides: string
}

/**
 * @param login `users`, or `users.nickname`
 * @param hashes whether passwords are hashed at loading; else they are compared as texts
 */
export function addLogIn(
  options: EngineOptions,
  { name: file, collections }: InferredFile,
  login: string,
  hashes: boolean,
): { readonly options: EngineOptions; readonly logIn: LogIn } {
  if (options.auth !== undefined) throw new CommandError('The options of --config have a log-in: leave --login out.', 2)
  const [name = '', wanted] = login.split(/\.(.*)/s)
  const users = collections.find(({ resource, single, isOfValues }) => resource === name && !single && !isOfValues)
  const names = collections.map(({ resource }) => resource)
  if (users === undefined) throw new CommandError(`--login: ${file} has no collection "${name}".${formatHint(findNearest(name, names))}`, 2)
  const identifier = findIdentifier(users, wanted, file)
  const password = findAttribute(users, PASSWORDS)
  if (password === undefined) throw new CommandError(`--login: no attribute of ${name} is a password, such as "password".`, 2)
  const first = users.records.findIndex(record => typeof record[identifier] === 'string')
  const others = users.records.filter(record => typeof record[password] === 'string' && isOtherHash(record[password])).length
  const plain = users.records.filter(record => isPlain(record[password])).length
  const how = `plain ${plain === 1 ? 'password is' : 'passwords are'} ${hashes ? 'hashed in memory' : 'compared as the file has them'}`
  const notes = [
    `${name} log in by "${identifier}" and "${password}", which is not shown: ${plain} ${how}.`,
    ...(others === 0 ? [] : [`${others} of ${name} cannot log in: another program has hashed the password.`]),
  ]
  const module = auth({ entity: users.className, identifier, password, ...(hashes ? { hash: true } : { plain: true }) })
  return {
    options: { ...options, auth: module, notes: [...(options.notes ?? []), ...notes] },
    logIn: {
      identifier,
      password,
      example: { identifier: String(users.records[first]![identifier]), id: users.ids[first] as string | number },
      hides: `${users.className}.${password}`,
    },
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && !isPasswordHash(value) && !isOtherHash(value))
}

/** Without `wanted`: the likeliest attribute with another text in each record. */
function findIdentifier(users: InferredCollection, wanted: string | undefined, file: string): string {
  const texts = users.attributes.filter(each => each.kind === 'plain' && each.type === 'text').map(({ key }) => key)
  if (wanted !== undefined) {
    if (texts.includes(wanted) && isUnique(users, wanted)) return wanted
    const why = texts.includes(wanted) ? 'is the same in two records' : 'is no text of them'
    throw new CommandError(`--login: "${wanted}" of ${users.resource} ${why}.${formatHint(findNearest(wanted, texts))}`, 2)
  }
  const unique = { ...users, attributes: users.attributes.filter(({ key }) => texts.includes(key) && isUnique(users, key)) }
  const found = findAttribute(unique, IDENTIFIERS)
  if (found !== undefined) return found
  throw new CommandError(
    `--login: no attribute of ${users.resource} in ${file} tells users apart, such as "email" or "username": name one, ` +
      `--login ${users.resource}.ATTRIBUTE.`,
    2,
  )
}

function isUnique({ records }: InferredCollection, key: string): boolean {
  const values = records.map(record => record[key]).filter(value => value !== undefined && value !== null)
  return values.length > 0 && new Set(values).size === values.length
}

function findAttribute({ attributes }: Pick<InferredCollection, 'attributes'>, names: readonly string[]): string | undefined {
  const keys = attributes.filter(({ kind }) => kind === 'plain').map(({ key }) => key)
  return names.map(name => keys.find(key => key.toLowerCase().replaceAll(/[_\W]/g, '') === name)).find(each => each !== undefined)
}
