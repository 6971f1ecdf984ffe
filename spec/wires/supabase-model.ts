/** A small project of Supabase, and supabase-js on its engine. */
import { defineEntity, p } from '@mikro-orm/core'
import type { RestEngine } from '../../lib/index.ts'

export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: () => ({
    id: p.integer().primary(),
    name: p.string().length(50),
    email: p.string().unique(),
    age: p.integer().nullable(),
    role: p.enum(['admin', 'editor', 'viewer']).default('viewer'),
    active: p.boolean().default(true),
    posts: () => p.oneToMany(Post).mappedBy('author'),
    createdAt: p.datetime().onCreate(() => new Date()),
  }),
})
export const Post = defineEntity({
  name: 'Post',
  tableName: 'posts',
  properties: () => ({
    id: p.integer().primary(),
    title: p.string(),
    views: p.integer().default(0),
    published: p.boolean().default(false),
    meta: p.json<object>().nullable(),
    author: () => p.manyToOne(User),
    comments: () => p.oneToMany(Comment).mappedBy('post'),
    tags: () => p.manyToMany(Tag),
  }),
})
export const Comment = defineEntity({
  name: 'Comment',
  tableName: 'comments',
  properties: () => ({ id: p.integer().primary(), text: p.string(), post: () => p.manyToOne(Post) }),
})
export const Tag = defineEntity({
  name: 'Tag',
  tableName: 'tags',
  properties: () => ({ id: p.integer().primary(), name: p.string().unique(), posts: () => p.manyToMany(Post).mappedBy('tags') }),
})

export const entities = [User, Post, Comment, Tag]

export const seed = {
  users: [
    { id: 1, name: 'Ann', email: 'ann@x.test', age: 30, role: 'admin' },
    { id: 2, name: 'Bob', email: 'bob@x.test', age: null, role: 'editor' },
    { id: 3, name: 'Cy', email: 'cy@x.test', age: 25, active: false },
    { id: 4, name: 'Dee, "D" (x)', email: 'dee@x.test', age: 41 },
  ],
  tags: [
    { id: 1, name: 'js' },
    { id: 2, name: 'db' },
  ],
  posts: [1, 2, 3, 4, 5].map(id => ({
    id,
    title: `Post ${id}`,
    views: id * 10,
    published: id % 2 === 1,
    author: (id % 3) + 1,
    meta: { color: id % 2 === 1 ? 'red' : 'blue' },
    tags: id % 2 === 1 ? [1] : [1, 2],
  })),
  comments: [1, 2, 3].map(id => ({ id, text: `c${id}`, post: id === 3 ? 2 : 1 })),
}

export interface ClientAnswer {
  readonly data: never
  readonly error: { readonly code?: string; readonly message: string; readonly details?: unknown; readonly hint?: string | null } | null
  readonly count: number | null
  readonly status: number
}

/** A query of supabase-js, without the types of a database. */
export type ClientQuery = PromiseLike<ClientAnswer> & { readonly [name: string]: (...args: readonly unknown[]) => ClientQuery }

export interface Supabase {
  from(table: string): ClientQuery
  rpc(name: string, args?: object, options?: object): ClientQuery
  readonly auth: Readonly<
    Record<string, (...args: readonly unknown[]) => Promise<{ readonly data: never; readonly error: { readonly code?: string } | null }>>
  >
}

/** Its types would be those of a database that is not known. */
const CLIENT: string = '@supabase/supabase-js'
const URL_OF_PROJECT = 'https://demo.supabase.co'

/** Lets supabase-js talk to the engine until the result is disposed. */
export async function openClient(engine: RestEngine): Promise<{ readonly sb: Supabase } & Disposable> {
  const { createClient } = (await import(CLIENT)) as {
    readonly createClient: (...args: readonly unknown[]) => Supabase
  }
  const interception = engine.intercept(URL_OF_PROJECT)
  const sb = createClient(URL_OF_PROJECT, 'anon-key', { auth: { persistSession: false, autoRefreshToken: false } })
  return { sb, [Symbol.dispose]: () => interception[Symbol.dispose]() }
}
