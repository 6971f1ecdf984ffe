/**
 * Hostile queries through each wire, and through `where`: none is a failure of the server, and none takes long. FC_RUNS=80 asks 20,000.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import type { Wire } from '../../lib/index.ts'
import { jsonServer } from '../../lib/wires/json-server/index.ts'
import { postgrest, supabase } from '../../lib/wires/postgrest/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { entities, seed } from './supabase-model.ts'

/** Of one run. */
const REQUESTS = 50
/** Milliseconds of the processor: a pattern or a plan that explodes takes minutes. */
const MOST = 3000

const NAMES = [
  'id',
  'name',
  'age',
  'active',
  'createdAt',
  'created_at',
  'meta',
  'author',
  'author_id',
  'posts',
  'users',
  'tags',
  'comments',
]
const SIGNS = [
  '.',
  ',',
  ':',
  '::',
  '(',
  ')',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  "'",
  '->',
  '->>',
  '!',
  '*',
  '%',
  '_',
  '-',
  ' ',
  '&',
  '=',
  '\0',
  '+',
]
const VALUES = [
  'null',
  'true',
  '-1',
  '1e999',
  '9'.repeat(30),
  '0x10',
  '2026-02-30',
  '2026-01-01T00:00:00Z',
  'é',
  '\u{1f600}',
  '\ud800',
  '__proto__',
]
const OF_POSTGREST = (
  'eq. neq. gt. gte. lt. like. ilike. in.( is. cs. cd. ov. fts. match. imatch. not. sl. eq(any).{ like(all).{ isdistinct. ' +
  'or( and( count() .sum() ::int !inner !left ... nullsfirst .desc'
).split(' ')
const OF_JSON_SERVER = [
  '_gte',
  '_lte',
  '_ne',
  '_like',
  ':gt',
  ':in',
  ':contains',
  ':startsWith',
  '.*',
  '^',
  '$',
  '|',
  '(a+)+',
  '[',
  '_sort',
  '_embed',
]

const text = (words: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.array(fc.constantFrom(...NAMES, ...SIGNS, ...VALUES, ...words), { maxLength: 9 }).map(parts => parts.join('')),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.array(fc.constantFrom(...NAMES, ...SIGNS, ...words), { minLength: 1, maxLength: 3 }), fc.integer({ min: 2, max: 3000 }))
        .map(([parts, times]) => parts.join('').repeat(times)),
    },
  )

const parameters = (names: readonly string[], words: readonly string[]): fc.Arbitrary<readonly [string, string]> =>
  fc.tuple(fc.oneof({ weight: 7, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: text(words) }), text(words))

const OPERATORS = [
  '$eq',
  '$ne',
  '$in',
  '$nin',
  '$gt',
  '$lte',
  '$like',
  '$ilike',
  '$exists',
  '$not',
  '$some',
  '$none',
  '$every',
  '$and',
  '$or',
  '$re',
  '$ire',
]

/** What a wire may give as `where`, and what it may not. */
const condition = fc.letrec<{ readonly value: unknown; readonly node: unknown }>(tie => ({
  value: fc.oneof(
    fc.constantFrom(null, 1, -1, 1e300, true, '', 'Ann', '%', '2026-02-30'),
    text([]),
    fc.array(fc.constantFrom('a', 1, null), { maxLength: 5 }),
  ),
  node: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    tie('value'),
    fc.dictionary(fc.constantFrom(...NAMES, ...OPERATORS, '', '__proto__', 'constructor'), tie('node'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    fc.array(tie('node'), { maxLength: 3 }),
  ),
})).node

/** Takes `where` as JSON. */
const byWhere: Wire = {
  async answer({ segments: [name = ''], pairs }, api) {
    const given = Object.fromEntries(pairs)
    const where = JSON.parse(given['where'] ?? '{}') as object
    const { records, count } = await api.list(name, { where, ...(given['sort'] === undefined ? {} : { sort: [given['sort']] }) })
    return { status: 200, body: { records, count } }
  },
  refuse: ({ status, code, message }) => ({ status, body: { code, message } }),
}

interface Hostile {
  readonly name: string
  readonly wire: Wire
  readonly paths: readonly string[]
  readonly query: fc.Arbitrary<string>
}

const queryOf = (names: readonly string[], words: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(parameters(names, words), { minLength: 1, maxLength: 3 })
    .map(pairs => new URLSearchParams(pairs as [string, string][]).toString())

const tables = [
  'select',
  'order',
  'limit',
  'offset',
  'or',
  'and',
  'not.or',
  'id',
  'name',
  'age',
  'created_at',
  'meta',
  'meta->>a',
  'posts.id',
  'posts.order',
]
const lists = [
  '_sort',
  '_order',
  '_page',
  '_limit',
  '_per_page',
  '_start',
  '_end',
  '_embed',
  '_expand',
  '_where',
  'q',
  'id',
  'name_like',
  'age:gt',
  'meta.a',
]

const KINDS: readonly Hostile[] = [
  { name: 'postgrest', wire: postgrest(), paths: ['/users', '/posts', '/comments'], query: queryOf(tables, OF_POSTGREST) },
  { name: 'supabase', wire: supabase(), paths: ['/rest/v1/users', '/rest/v1/posts'], query: queryOf(tables, OF_POSTGREST) },
  {
    name: 'json-server 0',
    wire: jsonServer({ version: 0 }),
    paths: ['/users', '/posts', '/users/1/posts'],
    query: queryOf(lists, OF_JSON_SERVER),
  },
  { name: 'json-server 1', wire: jsonServer(), paths: ['/users', '/posts', '/users/1/posts'], query: queryOf(lists, OF_JSON_SERVER) },
  {
    name: 'where',
    wire: byWhere,
    paths: ['/users', '/posts'],
    query: fc
      .tuple(condition, fc.option(text([]), { nil: undefined }))
      .map(([where, sort]) =>
        new URLSearchParams({ where: JSON.stringify(where) ?? 'null', ...(sort === undefined ? {} : { sort }) }).toString(),
      ),
  },
]

describeStores('hostile queries', store => {
  for (const { name, wire, paths, query } of KINDS) {
    it(`are answered or refused by ${name}, in time`, async () => {
      await using engine = await createEngine({ entities, seed, versions: [], wire })
      const statuses = new Map<number, number>()
      const asked = fc.array(fc.tuple(fc.constantFrom(...paths), query), { minLength: REQUESTS, maxLength: REQUESTS })
      const property = fc.asyncProperty(asked, async requests => {
        for (const [path, given] of requests) {
          const before = process.cpuUsage()
          const response = await engine.fetch(`http://api.test${path}?${given}`)
          const body = await response.text()
          const { user, system } = process.cpuUsage(before)
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
          assert.ok(response.status < 500, `${response.status} ${body.slice(0, 300)} of ${path}?${given.slice(0, 2000)}`)
          assert.ok((user + system) / 1000 < MOST, `${(user + system) / 1000} ms for ${path}?${given.slice(0, 2000)}`)
        }
      })
      await check(property, { label: `hostile queries through ${name} (${store.name})`, runs: store.name === 'postgres' ? 3 : 8 })
      assert.equal((await engine.fetch(`http://api.test${paths[0]}`)).status, 200)
    })
  }
})
