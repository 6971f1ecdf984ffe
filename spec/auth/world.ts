/** The small world of the authentication specs: users with hashed passwords, and their notes. */
import { defineEntity, p } from '@mikro-orm/core'
import { auth } from '../../lib/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import type { Answer, Target, TargetOptions } from '../helpers/targets.ts'

export const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    email: p.string().unique(),
    password: p.string().hidden().lazy(),
    notes: () => p.oneToMany(Note).mappedBy('user'),
  },
})
export const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), user: () => p.manyToOne(User).nullable() },
})

export const PASSWORD = 'correct horse'
export const HASH = cheapHash(PASSWORD)
/** A whole second, so that tokens live exactly as long as they say. */
export const START = new Date('2026-05-01T12:00:00.000Z')

export const seed = {
  users: [
    { id: 1, name: 'Ann', email: 'ann@example.test', password: HASH },
    { id: 2, name: 'Bob', email: 'bob@example.test', password: HASH },
  ],
  notes: [{ id: 1, text: 'first', user: 1 }],
}

/** Engine options of the world; `module` goes to `auth`. */
export function world(
  module: Partial<Omit<AuthOptions, 'secret'>> & { readonly secret?: string | undefined } = {},
  others: Partial<TargetOptions> = {},
): TargetOptions {
  return {
    entities: [User, Note],
    seed,
    clock: () => START,
    auth: auth({ entity: User, secret: 'of the specs', ...module } as AuthOptions),
    ...others,
  }
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

/** Logs in, as Ann unless other credentials are given. */
export function logIn(
  target: Pick<Target, 'call'>,
  credentials: unknown = { email: 'ann@example.test', password: PASSWORD },
): Promise<Answer> {
  return target.call('POST', '/v1/login', undefined, credentials)
}

/** The parts of an answer that tell one refusal from another. */
export function refusal({ status, body, headers }: Answer): unknown[] {
  return [status, body.code, headers['www-authenticate']]
}
