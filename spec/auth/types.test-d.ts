/**
 * What the compiler proves of `auth`: the properties of the log-in are those of the entity. Compiled with the other sources and never run;
 * every `@ts-expect-error` is a line that must not compile.
 */
import { defineEntity, p } from '@mikro-orm/core'
import type { EntityName } from '@mikro-orm/core'
import { auth } from '../../lib/index.ts'
import type { AuthModule, AuthOptions } from '../../lib/index.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), nick: p.string().unique(), secretHash: p.string().hidden() },
})
class Plain {
  id!: number
  email!: string
  password!: string
}

auth({ entity: User, identifier: 'nick', password: 'secretHash' }) satisfies AuthModule
auth({ entity: User, identifier: 'nick', cookie: { name: 'session', sameSite: 'Strict' }, refresh: { ttl: 60 } })
auth({ entity: Plain, identifier: 'email' })
// The defaults are checked when the engine is created.
auth({ entity: User })

// @ts-expect-error a property that is misspelt
auth({ entity: User, identifier: 'nik' })
// @ts-expect-error the same of a class
auth({ entity: Plain, identifier: 'emial' })
// @ts-expect-error the same of the password
auth({ entity: User, identifier: 'nick', password: 'secret' })

// A check of the application's own may know others.
auth({ entity: User, identifier: 'pin', authenticate: () => undefined })

// Where the entity is not known, any name goes.
auth({ entity: User as EntityName, identifier: 'anything' })
export const made = (options: AuthOptions): AuthModule => auth(options)

// @ts-expect-error no policy
auth({ entity: User, cookie: { name: 'session', sameSite: 'lazy' } })
// @ts-expect-error an unknown path
auth({ entity: User, paths: { signin: 'x' } })
