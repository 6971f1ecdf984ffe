/**
 * Finds credentials in a body, and the user. Refuses with login_failed, login_throttled; malformed credentials with body_invalid and
 * validation_failed.
 */
import { RestError, restError, type FieldError } from '../../foundation/errors/errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { Entity } from '../../model/entity-key.ts'
import type { HookContext } from '../../model/hook-context.ts'
import { isInEagerCircle } from '../../model/metadata/eager-cycles.ts'
import type { AuthModule } from './auth-module.ts'
import { foldText } from './fold-text.ts'
import { verifyPassword } from './password.ts'
import { failed } from './refusals.ts'
import type { AuthServices } from './services.ts'
import type { StateColumns } from './user-state.ts'
import { keyToSub, type Users } from './users.ts'

interface Throttle {
  run<T>(identifier: string, check: () => Promise<T | undefined>): Promise<T | undefined>
}

export class Credentials {
  readonly #options: AuthModule['options']
  readonly #services: AuthServices
  readonly #users: Users
  readonly #throttle: Throttle
  readonly #isPlain: boolean

  constructor(options: AuthModule['options'], services: AuthServices, users: Users, throttle: Throttle, isPlain: boolean) {
    this.#options = options
    this.#services = services
    this.#users = users
    this.#throttle = throttle
    this.#isPlain = isPlain
  }

  async read(body: unknown): Promise<unknown> {
    const { credentials } = this.#options
    if (credentials === undefined) return body
    try {
      return await credentials(body)
    } catch (error) {
      if (error instanceof RestError) throw error
      throw restError('body_invalid', 'The body does not have the credentials where this log-in takes them.', { cause: error })
    }
  }

  /**
   * Finds the user, unless the identifier failed too often. Databases compare identifiers in their own ways, so failures count against the
   * found user, however spelled, and against the folded text: otherwise the count would show which users exist.
   *
   * @param complete takes the user; undefined: nobody is meant
   */
  async find<T>(credentials: unknown, ctx: HookContext, complete: (user: unknown) => Promise<T | undefined>): Promise<T> {
    const check = async (): Promise<T | undefined> => this.#check(credentials, ctx, complete)
    const identifier = isObject(credentials) ? credentials[this.#options.identifier] : undefined
    const found = typeof identifier === 'string' ? await this.#throttle.run(`text:${foldText(identifier)}`, check) : await check()
    return found ?? failed()
  }

  /** Takes the checked password, not the row's: a change meanwhile ends the token, too. */
  withCheckedPassword(user: unknown, { password }: StateColumns, row: readonly unknown[]): readonly unknown[] {
    const { authenticate, password: property } = this.#options
    const checked = authenticate === undefined && password?.type.codec === undefined ? (user as Entity)[property] : undefined
    return typeof checked === 'string' ? [checked, ...row.slice(1)] : row
  }

  async #check<T>(credentials: unknown, ctx: HookContext, complete: (user: unknown) => Promise<T | undefined>): Promise<T | undefined> {
    const { authenticate, identifier, password } = this.#options
    if (authenticate !== undefined) return complete(await authenticate(credentials, ctx))
    const place = this.#options.credentials === undefined ? 'The body' : 'The credentials of the body'
    if (!isObject(credentials)) throw restError('body_invalid', `${place} must be an object with "${identifier}" and "${password}".`)
    const faults = [identifier, password].flatMap((name): FieldError[] => {
      const value = credentials[name]
      if (typeof value === 'string') return []
      return [{ code: value === undefined ? 'required' : 'value_invalid', detail: `"${name}" must be a string.`, attribute: name }]
    })
    if (faults.length > 0) {
      const others = Object.keys(credentials).filter(name => name !== identifier && name !== password)
      const instead =
        others.length === 0
          ? ''
          : ` ${place} ${place === 'The body' ? 'has' : 'have'} ${others
              .slice(0, 5)
              .map(name => `"${name.slice(0, 100)}"`)
              .join(', ')} instead.`
      throw restError('validation_failed', faults.map(({ detail }) => detail).join(' ') + instead, { errors: faults })
    }
    const user = await this.#find(credentials[identifier] as string)
    const stored = (user as Entity | null | undefined)?.[password]
    const verify = async (): Promise<T | undefined> =>
      (await verifyPassword(credentials[password] as string, stored, this.#isPlain)) ? complete(user) : undefined
    const resource = this.#users.resource('')
    const key = this.#users.readKey(user, resource)
    return key === undefined ? verify() : this.#throttle.run(`user:${keyToSub(key, resource)}`, verify)
  }

  async #find(identified: string): Promise<unknown> {
    const { entity, identifier, password } = this.#options
    const em = this.#services.orm().em.fork()
    const where = { [identifier]: identified }
    try {
      // MikroORM leaves a lazy password out.
      return isInEagerCircle(em.getMetadata().get(entity))
        ? (await em.find(entity, where, { fields: ['*', password], populate: false, limit: 1 }))[0]
        : await em.findOne(entity, where, { populate: [password] })
    } catch (error) {
      // A text too long for the column is nobody's.
      if (this.#services.refuses(error as Error)) return undefined
      throw error
    }
  }
}
