/**
 * What the compiler writes and says of the typed client in the code of a user: helpers compile to declarations, against the package as it
 * is built; types and messages are short.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { declaredTypes, TSC } from '../helpers/declared-types.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const MODEL = `
import { defineEntity, p } from '@mikro-orm/core'
export const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(), name: p.string(), age: p.integer().nullable(), secret: p.string().hidden(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
export const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User), tags: () => p.manyToMany(Tag) },
})
export const Tag = defineEntity({ name: 'Tag', properties: { code: p.string().primary(), text: p.string() } })
`
const api = (entry: string): string => `
import { client } from '${entry}'
import { Post, Tag, User } from './model.ts'
export const api = client('http://x', { users: User, posts: Post, tags: Tag })
`
/** All that code may export of a client: calls in functions, calls by themselves, their arguments. */
const HELPERS = `
export const readUser = (id: number) => api.users.get(id)
export const readPost = (id: number) => api.posts.get(id, { expand: ['author', 'tags'] })
export const listUsers = () => api.users.list({ 'age>=': 3, sort: 'name' })
export const allUsers = () => api.users.all({ expand: 'posts', attributes: ['!age'] })
export const addPost = (title: string) => api.posts.create({ title, author: { name: 'Ann' } })
export const readAuthor = () => api.posts.getAttribute(1, 'author')
export const users = api.users
export const posts = api.users.related(1, 'posts')
export const removePosts = () => posts.delete({ title: 'x' })
export const logIn = () => api.login({})
export const changeMe = () => api.updateMe({})
export const { list, page, all, get, create, update, getAttribute, setAttribute, deleteAttribute, related } = api.users
export const removed = api.users.delete
export const { list: listRelated, create: createRelated, delete: deleteRelated } = posts
export const search = (query: Parameters<typeof api.posts.list>[0]) => api.posts.list(query)
export class Users {
  calls = api.users
  read = (id: number) => this.calls.get(id, { depth: 2 })
}
`

describe('the typed client in the code of a user', { timeout: 600_000 }, () => {
  let folder: string
  before(() => {
    // Inside the repository, so that packages are found, and outside of its sources.
    const cache = join(root, 'node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    folder = mkdtempSync(join(cache, 'declarations-'))
    const own = join(folder, 'node_modules/mikro-rest')
    mkdirSync(own, { recursive: true })
    copyFileSync(join(root, 'package.json'), join(own, 'package.json'))
    symlinkSync(declaredTypes(), join(own, 'dist'), 'junction')
    write('model.ts', MODEL)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function compile(given: readonly string[]): { readonly status: number | null; readonly stdout: string } {
    return spawnSync(process.execPath, [TSC, ...given], { encoding: 'utf8' })
  }

  function write(file: string, text: string): void {
    writeFileSync(join(folder, file), text)
  }

  /** Compiles a file, also to its declarations. */
  function check(file: string): string {
    const compilerOptions = { declaration: true, emitDeclarationOnly: true, noEmit: false, outDir: 'out', rootDir: '.' }
    write('tsconfig.json', JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files: [file], include: [] }))
    return compile(['-p', folder]).stdout
  }

  for (const entry of ['mikro-rest', 'mikro-rest/client']) {
    it(`compiles with its declarations, from ${entry}`, () => {
      write('helpers.ts', api(entry) + HELPERS)
      assert.equal(check('helpers.ts'), '')
      const written = readFileSync(join(folder, 'out/helpers.d.ts'), 'utf8')
      const readUser = /readUser: \(id: number\) => Promise<(\{[^}]*\})>/.exec(written)?.[1]?.replaceAll(/\s+/g, ' ')
      assert.equal(readUser, '{ id: number; name: string; age: number | null; posts: number[]; }')
    })
  }

  it('is told what is wrong in short types, not in those of builders', () => {
    write(
      'wrong.ts',
      `${api('mikro-rest')}
(await api.users.get(1)) satisfies never
(await api.posts.get(1, { expand: 'author' })) satisfies never
(await api.tags.list()) satisfies never
await api.users.list({ nme: 'x' })
await api.users.list({ 'posts.titel': 'x' })
await api.users.list({ sort: 'nme' })
await api.posts.get(1, { expand: 'autor' })
await api.users.create({ nme: 'x' })
import { RestEngine } from 'mikro-rest'
import type { ResourceNames } from 'mikro-rest'
const engine: RestEngine<ResourceNames<typeof User | typeof Post>> = await RestEngine.create({ entities: [User, Post, Tag] })
await engine.given('usr')
await engine.seed({ psts: [] })
`.replaceAll('\n(', '\n;('),
    )
    const messages = check('wrong.ts')
    assert.doesNotMatch(messages, /Options|Builder|ShownValue|PropertyChain|Omit</)
    for (const part of [
      "Type '{ id: number; name: string; age: number | null; posts: number[]; }' does not satisfy",
      "Type '{ id: number; title: string; author: { id: number; name: string; age: number | null; posts: number[]; }; tags: string[]; }'",
      "Type 'Page<{ code: string; text: string; }>'",
      "'nme' does not exist in type 'PageQuery<1, never, never> & { readonly age?: OneOrAny<number | null>;",
      `'"nme"' is not assignable to type '"age.asc"`,
      `Did you mean '"name"'?`,
      `Did you mean '"author"'?`,
      "'nme' does not exist in type '{ readonly age?: number | null; readonly id?: number; readonly name?: string;",
      `'"usr"' is not assignable to parameter of type '"post" | "posts" | "user" | "users"'`,
      "Did you mean to write 'posts'?",
    ])
      assert.ok(messages.includes(part), `${part}\n${messages}`)
    assert.equal(messages.match(/Did you mean to write 'name'\?/g)?.length, 2)
    assert.equal(messages.match(/error TS/g)?.length, 10, messages)
  })
})
