/**
 * What the compiler proves of `resource`: names and values of attributes follow from the entity. Compiled with the other sources and never
 * run; every `@ts-expect-error` is a line that must not compile.
 */
import { defineEntity, p, raw } from '@mikro-orm/sqlite'
import type { InferEntity, SqlEntityManager } from '@mikro-orm/sqlite'
import { RestError, resource } from '../../lib/index.ts'
import type { HandlerResponse, HookContext, JsonOf, PropertyName, RequestEntityManager, ResourceDefinition } from '../../lib/index.ts'

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- two generic functions are the same type only when their bodies are
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {}

const Home = defineEntity({ name: 'Home', embeddable: true, properties: { city: p.string() } })
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    nick: p.string().nullable(),
    active: p.boolean().default(true),
    born: p.datetime().nullable(),
    at: p.datetime(),
    big: p.bigint(),
    score: p.float(),
    role: p.enum(['admin', 'guest']),
    bytes: p.blob(),
    home: () => p.embedded(Home).nullable(),
    posts: () => p.oneToMany(Post).mappedBy('user'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), user: () => p.manyToOne(User) },
})
class Plain {
  id!: number
  name!: string
}
type IUser = InferEntity<typeof User>

// Names are those of the properties.
same<PropertyName<Plain>, 'id' | 'name'>()
same<'name' extends PropertyName<IUser> ? true : false, true>()
same<'nope' extends PropertyName<IUser> ? true : false, false>()

// Values come in their JSON form.
same<JsonOf<string>, string>()
same<JsonOf<number | null>, number | null>()
same<JsonOf<Date>, string>()
same<JsonOf<Date | null | undefined>, string | null>()
same<JsonOf<bigint>, string>()
same<JsonOf<Uint8Array>, string>()
same<JsonOf<'a' | 'b'>, 'a' | 'b'>()
same<JsonOf<{ city: string }>, unknown>()

const users: ResourceDefinition = resource(User, {
  name: 'people',
  depth: 2,
  expand: ['posts'],
  attributes: {
    id: { render: id => (same<typeof id, number>(), id) },
    name: { render: name => (same<typeof name, string>(), name.toLowerCase()) },
    nick: { render: nick => (same<typeof nick, string | null>(), nick?.length) },
    active: { render: (active: boolean) => !active },
    born: { render: born => (same<typeof born, string | null>(), born?.slice(0, 4)) },
    at: { render: at => (same<typeof at, string>(), at.slice(0, 4)) },
    score: { render: async score => Promise.resolve(score * 2) },
    role: { render: role => (same<typeof role, 'admin' | 'guest'>(), role === 'admin') },
    bytes: { render: bytes => (same<typeof bytes, string>(), bytes.length) },
    posts: { private: true },
    home: {
      render: (home, record, ctx) => {
        same<typeof home, unknown>()
        same<typeof record, Readonly<Record<string, unknown>>>()
        same<typeof ctx, HookContext>()
        return undefined
      },
    },
    // @ts-expect-error -- there is no such attribute
    nam: { private: true },
  },
})
void users

// A class does as well as a definition.
resource(Plain, { attributes: { name: { render: name => name.toUpperCase() } } })

resource(Plain, {
  attributes: {
    id: {
      // @ts-expect-error -- a number has no such method
      render: id => id.toUpperCase(),
    },
    name: {
      // @ts-expect-error -- there is no such rule
      hidden: true,
    },
  },
})

resource(User, {
  // @ts-expect-error -- there is no such option
  scopes: () => ({}),
})
// @ts-expect-error -- there is no such depth
resource(User, { depth: 3 })
// @ts-expect-error -- a renderer is a function
resource(User, { attributes: { name: { render: 'x' } } })

// Scopes are conditions on the entity.
resource(User, { scope: () => ({ name: 'Ann', posts: { title: { $like: 'a%' } } }) })
resource(User, { scope: async ctx => Promise.resolve(ctx.user === undefined ? undefined : { $or: [{ role: 'guest' }, { active: true }] }) })
// @ts-expect-error -- there is no such property
resource(User, { scope: () => ({ nam: 'Ann' }) })
// @ts-expect-error -- a name is a text
resource(User, { scope: () => ({ name: 5 }) })
// @ts-expect-error -- there is no such role
resource(User, { scope: () => ({ role: 'boss' }) })

// Access is a boolean, a function, or one for each action.
resource(User, { access: true })
resource(User, { access: (ctx, action) => ctx.user !== undefined || action === 'list' })
resource(User, { access: { list: true, update: async ctx => Promise.resolve(ctx.id === '1') } })
// @ts-expect-error -- there is no such action
resource(User, { access: { read: true } })
// @ts-expect-error -- there is no such action
resource(User, { access: (_ctx, action) => action === 'read' })
// @ts-expect-error -- an access rule tells true or false
resource(User, { access: () => 'yes' })

// Computed attributes have a type and an expression, also in groups.
resource(User, {
  computed: {
    posts_: { type: 'integer', sql: alias => `select count(*) from post where user_id = ${alias}.id` },
    stats: { flag: 'stats', deep: { recent: { type: 'integer', sql: alias => raw(`select ? from ${alias}`, [1]) } } },
  },
})
// @ts-expect-error -- there is no such type
resource(User, { computed: { one: { type: 'int', sql: () => '1' } } })

// What is expanded begins with a property, and goes on by dots.
resource(User, { expand: ['posts', 'posts.author'] })
// @ts-expect-error -- there is no such property
resource(User, { expand: ['postz'] })
// @ts-expect-error -- nor here
resource(User, { expand: ['postz.author'] })

// Parameters of a resource give conditions on it, and marks are named by lists.
resource(User, { parameters: { named: (name, ctx) => ({ name: ctx.logsIn ? name : null }) } })
// @ts-expect-error -- there is no such property
resource(User, { parameters: { named: name => ({ nmae: name }) } })
// @ts-expect-error -- there is no such list
resource(User, { marks: { like: 'postz' } })

// Wrappers give a response.
resource(User, {
  list: async (ctx, next) => {
    same<typeof ctx, HookContext>()
    const response = await next()
    same<typeof response.status, number>()
    return { ...response, headers: { 'x-page': '1' } }
  },
  create: (): HandlerResponse => ({ body: null }),
  delete: () => {
    throw new RestError(403, 'no', 'No.')
  },
})
// @ts-expect-error -- a status is a number
resource(User, { get: () => ({ status: '200' }) })
// @ts-expect-error -- a wrapper gives a response
resource(User, { get: () => 'ok' })

// The entity manager of a request is that of MikroORM on SQL, as far as the types say it.
null as unknown as SqlEntityManager satisfies RequestEntityManager
const total = async ({ em }: HookContext): Promise<number> => {
  const [row] = await em.execute<{ total: number }[]>('select count(*) as total from post where id > ?', [1])
  return em.transactional(async inner => ((await inner.execute('select 1 as one'))[0]?.['one'] === 1 ? (row?.total ?? 0) : 0))
}
void total
