/** The names of resources for the compiler: what must compile, and what must not. `npm run types` checks it. */
import { defineEntity, p } from '@mikro-orm/core'
import { createServer, fromJson, listener, RestEngine } from '../../lib/index.ts'
import type { Give, ResourceNames, RestResponse } from '../../lib/index.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary() } })
const BlogEntry = defineEntity({ name: 'BlogEntry', properties: { id: p.integer().primary() } })
const Person = defineEntity({ name: 'Person', properties: { id: p.integer().primary() } })
class Tag {
  id!: number
}

const engine: RestEngine<ResourceNames<typeof User | typeof BlogEntry>> = await RestEngine.create({ entities: [User, BlogEntry] })

await engine.given('user', { id: 1 })
await engine.given('blog-entry')
await engine.given.many('blogEntries', 3)
await engine.seed({ users: [{ id: 1 }], blog_entries: [] })
await engine.expect({ users: 1, '*': 'any' }, () => {})
const world = await engine.fork()
await world.given('users')
// Names of the moment are as free as ever where they are told so.
const name: string = 'users'
await (engine as RestEngine).given(name)
await engine.handle('GET', '/v1/usrs')
await engine.handle('get', name)
// What an editor proposes.
type Proposed = Extract<Parameters<typeof engine.handle>[1], `/v1/${string}`>
'/v1/blog-entries' satisfies Proposed
// @ts-expect-error -- no such resource
'/v1/usrs' satisfies Proposed
// @ts-expect-error -- a path is a text
await engine.handle('GET', 5)

// The body is anything, or what it is taken for.
const any = await engine.handle('GET', '/v1/users')
const anything: number = any.body.users[0].id
const taken: RestResponse<{ users: { id: number }[]; count: number }> = await engine.handle('GET', '/v1/users')
const id: number = taken.body.users[0]!.id
// @ts-expect-error -- an ID is a number
const wrong: string = taken.body.users[0]!.id
// @ts-expect-error -- there is no such member
void taken.body.user
void [anything, id, wrong]

// @ts-expect-error -- no such resource
await engine.given('usr')
// @ts-expect-error -- no such resource
await engine.given.many('blogEntrys', 3)
// @ts-expect-error -- no such resource
await engine.seed({ usres: [{ id: 1 }] })
// @ts-expect-error -- no such resource
await engine.expect({ user_s: 1 }, () => {})
// @ts-expect-error -- no such resource
await world.given('nothing')
// @ts-expect-error -- a seed has lists
await engine.seed({ users: { id: 1 } })

// An engine with names is an engine.
const plain: RestEngine = engine
createServer(engine)
listener(engine)
const give: Give = engine.given
await give('anything')
await plain.given('anything')
await plain.seed({ anything: [] })

// What the compiler cannot know is any text.
null as unknown as ResourceNames<typeof Person> satisfies string
const free: string extends ResourceNames<typeof Person> ? true : false = true
const freeClass: string extends ResourceNames<typeof Tag> ? true : false = true
const known: string extends ResourceNames<typeof User> ? true : false = false
void [free, freeClass, known]
const json = await RestEngine.create(fromJson({ users: [{ id: 1 }] }))
await json.given('anything')
// An engine may be used by what it is made of.
const own = await RestEngine.create({
  entities: [User],
  routes: [{ method: 'GET', path: '/{version}/count', handler: async () => ({ body: (await own.handle('GET', '/v1/users')).body.count }) }],
})
