/**
 * A process that serves the database of DATABASE by the library of LIBRARY: the script that `many-processes.spec.ts` starts several times.
 * It prints its port.
 */
import type { AddressInfo } from 'node:net'
import { defineEntity, p, raw } from '@mikro-orm/core'
import type * as Library from '../../lib/index.ts'

const { RestEngine, auth, createServer } = (await import(process.env['LIBRARY']!)) as typeof Library

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden() },
})
const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    amount: p.integer().default(0),
    hits: p.integer().default(0),
    version: p.integer().version(),
  },
})

const engine = await RestEngine.create({
  entities: [User, Account],
  database: JSON.parse(process.env['DATABASE'] ?? '') as { url: string },
  auth: auth({ entity: User, secret: 'of all processes', public: ['* /v1/accounts*', '* /v1/hits*'] }),
  createdStatus: 201,
  // Those without a connection are answered 503.
  onError: () => {},
  routes: [
    {
      method: 'POST',
      path: '/{version}/hits/{id}',
      handler: async ctx => {
        await ctx.em.nativeUpdate(Account, { id: Number(ctx.params['id']) }, { hits: raw<number>('hits + 1') })
        return { body: {} }
      },
    },
  ],
})
const server = createServer(engine).listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
