/**
 * What the compiler proves of the typed client: names, operators, values and results follow from the entities. Compiled with the other
 * sources and never run; every `@ts-expect-error` is a line that must not compile.
 */
import { Collection, defineEntity, p } from '@mikro-orm/core'
import type { Hidden, Ref } from '@mikro-orm/core'
import type { Page } from '../../lib/model/client/index.ts'
import { RestEngine, client } from '../../lib/index.ts'
import type { WithIds, WithKeys } from '../../lib/index.ts'

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- two generic functions are the same type only when their bodies are
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {}

const Home = defineEntity({ name: 'Home', embeddable: true, properties: { city: p.string(), zip: p.string().nullable() } })
const Base = defineEntity({ name: 'Base', abstract: true, properties: { id: p.integer().primary(), madeAt: p.datetime() } })
const User = defineEntity({
  name: 'User',
  extends: Base,
  properties: {
    name: p.string(),
    age: p.integer().nullable(),
    secret: p.string().hidden(),
    vip: p.boolean().default(false),
    role: p.enum(['admin', 'guest']).default('guest'),
    big: p.bigint(),
    price: p.decimal().scale(2),
    bytes: p.blob(),
    tags: p.array(),
    data: p.json<{ a: number; at: Date }>().nullable(),
    limit: p.integer(),
    home: () => p.embedded(Home),
    homes: () => p.embedded(Home).array(),
    profile: () => p.oneToOne(Profile).mappedBy('user'),
    posts: () => p.oneToMany(Post).mappedBy('user'),
  },
})
const Profile = defineEntity({ name: 'Profile', properties: { user: () => p.oneToOne(User).primary().owner(), text: p.text() } })
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.bigint().primary(),
    title: p.string(),
    likes: p.integer().formula('1'),
    user: () => p.manyToOne(User),
    editor: () => p.manyToOne(User).nullable().ref(),
    labels: () => p.manyToMany(Label),
    about: () => p.manyToOne([Label, User]).nullable(),
  },
})
const Label = defineEntity({ name: 'Label', properties: { code: p.string().primary(), text: p.string() } })

class Author {
  id!: number
  name!: string
  born?: Date
  pen!: string | null
  pin!: Hidden<string>
  friend?: Ref<Author>
  books = new Collection<Book>(this)
  greet(): string {
    return this.name
  }
}
class Book {
  uuid!: string
  title!: string
  author!: Author
}

const engine = await RestEngine.create({ entities: [User, Profile, Post, Label] })
const api = client(engine, { users: User, profiles: Profile, posts: Post, labels: Label, authors: Author, books: Book })

// A record: values in their JSON form, null where the model says so, relations as IDs, nothing that is hidden.
const user = await api.users.get(1)
same<
  typeof user,
  {
    id: number
    madeAt: string
    name: string
    age: number | null
    vip: boolean
    role: 'admin' | 'guest'
    big: string
    price: string
    bytes: string
    tags: string[]
    data: { a: number; at: string } | null
    limit: number
    home: { city: string; zip: string | null }
    homes: { city: string; zip: string | null }[]
    profile: number | string | null
    posts: string[]
  }
>()
// @ts-expect-error -- hidden
void user.secret
// @ts-expect-error -- no such attribute
void user.nme
// @ts-expect-error -- may be null
user.age satisfies number
// @ts-expect-error -- a date is a text in JSON
user.madeAt satisfies Date

const post = await api.posts.get('1')
same<typeof post.id, string>()
same<typeof post.user, number>()
same<typeof post.editor, number | null>()
same<typeof post.labels, string[]>()
same<typeof post.about, { type: string; id: number | string | bigint } | null>()
// @ts-expect-error -- an ID, since nothing is expanded
void post.user.name

// Expanded: objects, also behind relations, by `expand` or `depth`.
const whole = await api.posts.get('1', {
  expand: ['user', 'labels', 'editor.posts'],
})
same<typeof whole.user.name, string>()
same<typeof whole.user.posts, string[]>()
whole.labels[0]?.text satisfies string | undefined
whole.editor?.posts[0]?.title satisfies string | undefined
// @ts-expect-error -- may be null
void whole.editor.name
// @ts-expect-error -- hidden in related records, too
void whole.user.secret
const one = await api.posts.get('1', { expand: 'user' })
one.user.age satisfies number | null
const deep = await api.posts.get('1', { depth: 2 })
deep.user.posts satisfies string[]
deep.labels[0]?.text satisfies string | undefined
const flat = await api.posts.get('1', { depth: 0 })
// @ts-expect-error -- depth 0 has no relations
void flat.user
const shown = await api.posts.get('1', { depth: 0, expand: 'user' })
shown.user.name satisfies string
// @ts-expect-error -- shown at the depth of its owner, which is 0
void shown.user.posts
// @ts-expect-error -- no such relation
await api.posts.get('1', { expand: 'usr' })
// @ts-expect-error -- no such relation behind it
await api.posts.get('1', { expand: 'user.pots' })
// @ts-expect-error -- not a relation
await api.posts.get('1', { expand: 'title' })
// @ts-expect-error -- no such depth
await api.posts.get('1', { depth: 3 })
// @ts-expect-error -- one record takes no filters
await api.posts.get('1', { title: 'x' })

// Selected attributes.
const some = await api.posts.get('1', { attributes: ['id', 'title', 'user.name'], expand: 'user' })
same<typeof some, { id: string; title: string; user: { name: string } }>()
const fewer = await api.users.get(1, { attributes: ['!home', '!homes.zip'] })
same<(typeof fewer.homes)[0], { city: string }>()
// @ts-expect-error -- left out
void fewer.home
// @ts-expect-error -- no such attribute
await api.users.get(1, { attributes: ['nme'] })

// Filters.
const page = await api.users.list({
  'age>=': 18,
  'age<': 65,
  'age!=': null,
  'name~=': ['a*', 'b*'],
  'role!=': ['guest'],
  'madeAt>': new Date(),
  'madeAt<=': '2026-01-01',
  vip: true,
  big: 5n,
  'price>=': 10,
  limit_: 3,
  posts: null,
  'posts.title': 'A*',
  'home.city!=': 'Rome',
  'profile.text': null,
  sort: ['age.desc', 'posts', 'home.city'],
  limit: 20,
  offset: 40,
  page: 3,
  $: { 'posts.labels.code': 'x', '!posts.title~=': 'b*', quickstats: true, 'name|role': ['a', 'b'] },
})
same<typeof page, Page<typeof user>>()
await api.posts.list({ user: 1, editor: [1, null], 'editor.age>': 3, 'user.name': 'Ann', labels: ['a', 'b'] })
await api.users.list({ '|': [{ vip: true }, { 'age>=': 18, '!|': [{ role: 'guest' }] }], posts: { title: 'a*', '|': [{ likes: 3 }] } })
await api.posts.list({ user: { vip: true, 'age>': 3 }, '!labels': { code: ['a', 'b'], 'text~=': 'x' } })
// @ts-expect-error -- no such attribute in a group
await api.users.list({ '|': [{ nme: 'Ann' }] })
// @ts-expect-error -- no such attribute of the related records
await api.users.list({ posts: { ttle: 'a*' } })
// @ts-expect-error -- a number of the related record
await api.posts.list({ user: { age: 'old' } })
// @ts-expect-error -- no such attribute
await api.users.list({ nme: 'Ann' })
// @ts-expect-error -- no such operator
await api.users.list({ 'name=~': 'Ann' })
// @ts-expect-error -- hidden
await api.users.list({ secret: 'x' })
// @ts-expect-error -- a number
await api.users.list({ age: 'old' })
// @ts-expect-error -- a text
await api.users.list({ name: 5 })
// @ts-expect-error -- no such role
await api.users.list({ role: 'boss' })
// @ts-expect-error -- cannot be null
await api.users.list({ name: null })
// @ts-expect-error -- one value alone can be compared
await api.users.list({ 'age>': [1, 2] })
// @ts-expect-error -- a number has no case
await api.users.list({ 'age~=': 'x' })
// @ts-expect-error -- booleans have no order
await api.users.list({ 'vip>': true })
// @ts-expect-error -- arrays cannot be filtered by
await api.users.list({ tags: 'x' })
// @ts-expect-error -- no such attribute behind the relation
await api.users.list({ 'posts.ttle': 'x' })
// @ts-expect-error -- a number behind the relation
await api.posts.list({ 'user.age': 'old' })
// @ts-expect-error -- deeper paths are checked by the engine alone
await api.users.list({ 'posts.labels.code': 'x' })
// @ts-expect-error -- no such attribute
await api.users.list({ sort: 'nme' })
// @ts-expect-error -- no such direction
await api.users.list({ sort: 'name.down' })
// @ts-expect-error -- a number
await api.users.list({ limit: '5' })
// @ts-expect-error -- no such resource
void api.usrs

// Bodies.
await api.users.create({
  name: 'Ann',
  secret: 'x',
  age: null,
  madeAt: new Date(),
  big: 5n,
  home: { city: 'Rome' },
  posts: [{ title: 'a' }, '7'],
})
await api.posts.create({ title: 'x', user: { name: 'Bob' }, labels: ['a', { code: 'b' }], editor: null })
await api.posts.update(1, { title: 'y', user: 3 }, { expand: 'user' })
// @ts-expect-error -- no such attribute
await api.posts.create({ titel: 'x' })
// @ts-expect-error -- a text
await api.posts.create({ title: 5 })
// @ts-expect-error -- cannot be null
await api.posts.create({ title: null })
// @ts-expect-error -- no such attribute of the related record
await api.posts.create({ user: { nme: 'Bob' } })
// @ts-expect-error -- computed
await api.posts.create({ likes: 5 })
// @ts-expect-error -- no such role
await api.users.update(1, { role: 'boss' })

// Attributes and lists of related records.
same<Awaited<ReturnType<typeof api.users.getAttribute<'age'>>>, number | null>()
const editor = await api.posts.getAttribute(1, 'editor')
editor?.name satisfies string | undefined
await api.users.setAttribute(1, 'age', null)
await api.posts.setAttribute(1, 'labels', ['a', { code: 'b', text: 'B' }])
// @ts-expect-error -- cannot be null
await api.users.setAttribute(1, 'name', null)
// @ts-expect-error -- no such attribute
await api.users.getAttribute(1, 'nme')
const titles = (await api.users.related(1, 'posts').list({ title: 'A*', expand: 'labels' })).items
titles[0]?.labels[0]?.code satisfies string | undefined
await api.users.related(1, 'posts').create({ title: 'x' })
await api.users.related(1, 'posts').delete({ 'title~=': 'x*' })
// @ts-expect-error -- not a list
api.users.related(1, 'name')
// @ts-expect-error -- no such attribute
await api.users.related(1, 'posts').list({ ttle: 'x' })
;(await api.posts.deleteAttribute(1, 'editor')).name satisfies string
// @ts-expect-error -- not a relation
await api.posts.deleteAttribute(1, 'title')
for await (const { name } of api.users.all({ vip: true })) name satisfies string

// Classes: as far as the types of their members say.
const author = await api.authors.get(1)
same<
  typeof author,
  {
    id: number
    name: string
    born: string | null
    pen: string | null
    friend: number | null
    books: string[]
  }
>()
;(await api.books.get(1, { expand: 'author' })).author.name satisfies string
await api.authors.list({ 'name~=': 'a*', 'books.title': 'x', sort: 'books.desc', born: null })
// @ts-expect-error -- no such attribute
await api.authors.list({ nme: 'x' })
// @ts-expect-error -- a method is no attribute
await api.authors.list({ greet: 'x' })

// Without entities at run time: types alone.
const remote = client<{ users: typeof User }>('https://api.example.com/api')
;(await remote.users.list({ name: 'A*' })).items[0]?.name satisfies string | undefined
// @ts-expect-error -- no such filter
await remote.users.list({ nme: 'A*' })

// Targets and options.
client(engine.fetch, { users: User }, { url: 'https://api.example.com/api', version: null })
client(globalThis.fetch, { users: User })
// @ts-expect-error -- not a target
client(5, { users: User })
// @ts-expect-error -- not an entity
client(engine, { users: 'User' })
// @ts-expect-error -- no such option
client(engine, { users: User }, { versoin: 'v1' })
;(await (await api.login({ email: 'a', password: 'b' })).users.list()).count satisfies number
;(await (await (await api.signUp({ email: 'a' })).refresh()).users.list()).count satisfies number
;(await (await api.updateMe({ name: 'Ann' })).api.users.list()).count satisfies number
client(engine, { users: User }, { paths: { login: 'users/login', me: 'user' } })
// @ts-expect-error -- no such path
client(engine, { users: User }, { paths: { logn: 'users/login' } })

// A relation to a resource with another key shows that one.
{
  const engine = await RestEngine.create({ entities: [User] })
  const api = client(engine, { posts: Post as WithKeys<typeof Post, { user: 'name'; editor: 'name'; labels: 'code' }> })
  const plain = await api.posts.get('a')
  same<(typeof plain)['user'], string>()
  same<(typeof plain)['editor'], string | null>()
  same<(typeof plain)['labels'], string[]>()
  const deep = await api.posts.get('a', { depth: 2 })
  void deep.user.name
  await api.posts.list({ user: 'Ann' })
  await api.posts.create({ title: 'x', user: 'Ann' })
  await api.posts.create({ title: 'x', user: { name: 'x' } })
  // @ts-expect-error -- its key is a text
  await api.posts.create({ title: 'x', user: 1 })
}

// IDs under a name of their own are plain values; the relation is in the type where it is shown.
{
  const engine = await RestEngine.create({ entities: [User] })
  const api = client(engine, { posts: Post as WithIds<typeof Post, { user: 'userId'; editor: 'editorId'; labels: 'labelCodes' }> })
  const plain = await api.posts.get(1)
  same<(typeof plain)['editorId'], number | null>()
  same<(typeof plain)['userId'], number>()
  same<(typeof plain)['labelCodes'], string[]>()
  // @ts-expect-error -- is shown where it is expanded
  void plain.user
  const expanded = await api.posts.get(1, { expand: 'user' })
  void expanded.user.name
  void expanded.userId
  const deep = await api.posts.get(1, { depth: 2 })
  void deep.user.name
  await api.posts.list({ userId: 1, 'userId>=': 2, 'user.name': 'Ann', sort: 'userId.desc' })
  await api.posts.create({ title: 'x', userId: 1 })
  // @ts-expect-error -- an ID is plain
  await api.posts.create({ title: 'x', userId: { name: 'x' } })
}

// Lists with parameters of their own: paths are checked; a count is a number.
const cut = await api.users.list({ expand: [{ posts: { 'title~=': 'a*', sort: 'id.desc', limit: 3 } }] })
same<(typeof cut)['items'][number]['posts'][number]['title'], string>()
const nested = await api.users.list({ expand: { posts: { limit: 3 }, 'posts.labels': { 'code!=': 'x' } } })
same<(typeof nested)['items'][number]['posts'][number]['labels'][number]['text'], string>()
const counted = await api.users.get(1, { expand: 'posts(count;title=a*)' })
same<typeof counted.posts, number>()
const written = await api.users.get(1, { expand: ['posts(limit=3)', 'profile'] })
same<(typeof written)['posts'][number]['title'], string>()
// @ts-expect-error -- no such relation
await api.users.list({ expand: [{ pots: { limit: 3 } }] })
