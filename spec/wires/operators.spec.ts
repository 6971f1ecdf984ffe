/** Operators of PostgREST: `match` and `imatch`, and what PostgreSQL says of operators that the type of a column does not have. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { defineEntity, p } from '@mikro-orm/core'
import { postgrest, supabase } from '../../lib/wires/postgrest/index.ts'
import { RestEngine, fromJson } from '../../lib/index.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'
import { findNoServer, SERVER_URL } from '../postgres/server-database.ts'
import { entities, openClient, seed } from './supabase-model.ts'

interface Said {
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

async function ask(engine: RestEngine, path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await engine.fetch(`http://api.test/${path}`)
  return { status: response.status, body: await response.json() }
}

describeStores('match and imatch', () => {
  const engineOf = suiteEngine({ entities, seed, versions: [], wire: postgrest() })
  const idsOf = async (query: string, table = 'users'): Promise<unknown> => {
    const { status, body } = await ask(engineOf(), `${table}?select=id&order=id&${query}`)
    return status === 200 ? (body as { id: number }[]).map(({ id }) => id) : [status, (body as Said).code]
  }

  it('find rows, alone, negated, quantified, in groups, in embedded tables and in JSON', async () => {
    assert.deepEqual(await idsOf('name=match.^[AB]'), [1, 2])
    assert.deepEqual(await idsOf('name=match.^a'), [])
    assert.deepEqual(await idsOf('name=imatch.^a'), [1])
    assert.deepEqual(await idsOf(`name=match.${encodeURIComponent('\\(x\\)$')}`), [4])
    assert.deepEqual(await idsOf('name=not.match.^[AB]'), [3, 4])
    assert.deepEqual(await idsOf('name=match(any).{^A,y$}'), [1, 3])
    assert.deepEqual(await idsOf('name=imatch(all).{^D,"d"}'), [4])
    assert.deepEqual(await idsOf('or=(name.match.^A,name.imatch."^(bob|cy)$",age.gt.100)'), [1, 2, 3])
    assert.deepEqual(await idsOf('name=match.*'), [400, '2201B'], 'a star is no wildcard')
    assert.deepEqual(await idsOf('age=fts.1'), [404, '42883'])
    assert.deepEqual(await idsOf('meta->>color=match.^r', 'posts'), [1, 3, 5])
    assert.deepEqual(await idsOf('title=match.[12]$&select=id,users!inner(name)&users.name=imatch.^(ann|bob)$', 'posts'), [1])
  })

  it('do not mean a search, which finds words, phrases and alternatives, and nothing where there are none', async () => {
    const Post = defineEntity({
      name: 'Post',
      tableName: 'posts',
      properties: { id: p.integer().primary(), title: p.string().nullable() },
    })
    const titles = ['a fat cat', 'fat and a cat', 'a rat', 'a rat, a dog', '50%', null]
    await using engine = await createEngine({
      entities: [Post],
      versions: [],
      wire: postgrest(),
      seed: { posts: titles.map((title, at) => ({ id: at + 1, title })) },
    })
    const found = async (operator: string, text: string): Promise<unknown> => {
      const { body } = await ask(engine, `posts?select=id&order=id&title=${operator}.${encodeURIComponent(text)}`)
      return (body as { id: number }[]).map(({ id }) => id)
    }
    assert.deepEqual(await found('fts', 'Fat & cat'), [1, 2])
    assert.deepEqual(await found('plfts', 'cat fat'), [1, 2])
    assert.deepEqual(await found('phfts', 'fat cat'), [1])
    assert.deepEqual(await found('wfts', '"fat cat" or dog'), [1, 4])
    assert.deepEqual(await found('wfts', 'rat -dog'), [3])
    assert.deepEqual(await found('wfts', '-rat'), [1, 2, 5])
    assert.deepEqual(await found('plfts', '50%'), [5])
    for (const operator of ['fts', 'plfts', 'phfts', 'wfts'])
      for (const text of ['', ' ', '-', '""', 'or']) {
        if (text === 'or' && operator !== 'wfts') continue
        assert.deepEqual(await found(operator, text), [], `${operator}.${text}`)
        const removed = await engine.fetch(`http://api.test/posts?title=${operator}.${encodeURIComponent(text)}`, { method: 'DELETE' })
        assert.equal(removed.status, 204)
      }
    assert.equal((await engine.handle('GET', '/posts')).body['count'], titles.length)
  })

  it('are no filter of the table where they filter an embedded one: without a filter no row is changed or removed', async () => {
    for (const query of ['comments.id=eq.1', 'comments.limit=1', 'comments.order=id', 'comments.or=(id.eq.1,id.eq.2)'])
      for (const method of ['DELETE', 'PATCH']) {
        const init = { method, headers: { 'content-type': 'application/json' }, ...(method === 'PATCH' ? { body: '{ "views": 0 }' } : {}) }
        const response = await engineOf().fetch(`http://api.test/posts?select=*,comments(*)&${query}`, init)
        assert.deepEqual([response.status, ((await response.json()) as Said).code], [400, '21000'], `${method} ${query}`)
      }
    assert.deepEqual(await idsOf('views=gt.0', 'posts'), [1, 2, 3, 4, 5])
  })

  it('name the tables of a JSON file as the file does', async () => {
    await using engine = await createEngine({ ...fromJson({ posts: [{ id: 1, title: 'a' }] }), versions: [], wire: postgrest() })
    assert.equal(((await ask(engine, 'posts?titel=eq.1')).body as Said).message, 'column posts.titel does not exist')
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'return=headers-only' },
      body: '{ "title": "b" }',
    }
    assert.equal((await engine.fetch('http://api.test/posts', init)).headers.get('location'), '/posts?id=eq.2')
    assert.match(((await ask(engine, 'posts?select=id,tags(id)')).body as Said).message, /between 'posts' and 'tags'/)
  })

  it('find rows by keys of several parts, which are changed and removed', async () => {
    const Text = defineEntity({
      name: 'Text',
      tableName: 'texts',
      properties: { id: p.integer().primary(), lang: p.string().primary(), text: p.string() },
    })
    const seedOf = ['en', 'a,b', 'x~y%'].map(lang => ({ id: 7, lang, text: lang }))
    await using engine = await createEngine({ entities: [Text], versions: [], wire: postgrest(), seed: { texts: seedOf } })
    const send = async (method: string, query: string, body?: object): Promise<unknown> => {
      const headers = { 'content-type': 'application/json', prefer: 'return=representation' }
      const response = await engine.fetch(`http://api.test/texts?${query}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return response.json()
    }
    for (const { lang } of seedOf) {
      const query = `id=eq.7&lang=eq.${encodeURIComponent(lang)}`
      assert.deepEqual(await send('PATCH', query, { text: 'new' }), [{ id: 7, lang, text: 'new' }])
      assert.deepEqual(await send('DELETE', query), [{ id: 7, lang, text: 'new' }])
    }
    assert.deepEqual(await send('GET', ''), [])
  })

  it('are regexMatch and regexIMatch of supabase-js', async () => {
    await using engine = await createEngine({ entities, seed, versions: [], wire: supabase() })
    const opened = await openClient(engine)
    using _ = opened
    const users = (): never => opened.sb.from('users').select!('id').order!('id') as never
    const found = async (query: PromiseLike<{ readonly data: unknown }>): Promise<unknown> => (await query).data
    const query = users() as unknown as Record<
      'regexMatch' | 'regexIMatch',
      (column: string, given: string) => PromiseLike<{ readonly data: unknown }>
    >
    assert.deepEqual(await found(query.regexMatch('name', '^(Ann|Cy)$')), [{ id: 1 }, { id: 3 }])
    const other = users() as unknown as typeof query
    assert.deepEqual(await found(other.regexIMatch('name', '^(ANN|CY)$')), [{ id: 1 }, { id: 3 }])
  })

  it('are refused as PostgreSQL refuses them', async () => {
    const said = async (expression: string, column = 'name'): Promise<unknown> => {
      const { status, body } = await ask(engineOf(), `users?${column}=match.${encodeURIComponent(expression)}`)
      const { code, message, hint } = body as Said
      return [status, code, message, hint]
    }
    const malformed = (what: string, hint: string | null = null): unknown => [400, '2201B', `invalid regular expression: ${what}`, hint]
    assert.deepEqual(await said('(a'), malformed('parentheses () not balanced'))
    assert.deepEqual(await said('a\\'), malformed('invalid escape \\ sequence'))
    assert.deepEqual(await said('[b-a]'), malformed('invalid character range'))
    const taken = 'there are characters, classes, groups, "|", repetitions, "^" and "$"'
    assert.deepEqual(await said('(a)\\1'), malformed('the back-reference "\\1" is not taken', taken))
    const most = 'with repetitions written out, it may have 1000 characters'
    assert.deepEqual(await said('(a{99}){99}'), malformed('regular expression is too complex', most))
    assert.deepEqual(await said('a'.repeat(5000)), malformed('regular expression is too complex', 'it may have 1000 characters'))
    const hint = 'No operator matches the given name and argument types. You might need to add explicit type casts.'
    assert.deepEqual(await said('1', 'age'), [404, '42883', 'operator does not exist: integer ~ unknown', hint])
    const nul = await ask(engineOf(), 'users?name=imatch.%00')
    assert.deepEqual([nul.status, (nul.body as Said).code], [400, '22021'])
  })
})

const Row = defineEntity({
  name: 'Row',
  tableName: 'all_types',
  properties: {
    id: p.integer().primary(),
    large: p.bigint(),
    amount: p.decimal(),
    ratio: p.double(),
    text: p.string(),
    on: p.boolean(),
    at: p.datetime(),
    day: p.date(),
    hour: p.time(),
    uuid: p.uuid(),
    doc: p.json(),
    tags: p.array(),
    bytes: p.blob(),
  },
})

const COLUMNS: Readonly<Record<string, string>> = {
  id: 'integer',
  large: 'bigint',
  amount: 'numeric',
  ratio: 'double precision',
  text: 'text',
  on: 'boolean',
  at: 'timestamptz',
  day: 'date',
  hour: 'time',
  uuid: 'uuid',
  doc: 'jsonb',
  tags: 'text[]',
  bytes: 'bytea',
}
const SIGNS: Readonly<Record<string, string>> = {
  sl: '<<', sr: '>>', nxr: '&<', nxl: '&>', adj: '-|-', cs: '@>', cd: '<@', ov: '&&', match: '~', imatch: '~*', like: '~~', ilike: '~~*',
} // prettier-ignore

describe('operators that a type does not have', { skip: await findNoServer() }, () => {
  it('are refused as PostgreSQL refuses them', async () => {
    await using engine = await RestEngine.create({ entities: [Row], versions: [], wire: postgrest() })
    const server = new Client({ connectionString: SERVER_URL })
    await server.connect()
    try {
      await server.query(`create temporary table all_types (${Object.entries(COLUMNS).map(each => `"${each.join('" ')}`).join(', ')})`) // prettier-ignore
      let refused = 0
      for (const column of Object.keys(COLUMNS)) {
        for (const [operator, sign] of Object.entries(SIGNS)) {
          const { status, body } = await ask(engine, `all_types?${column}=${operator}.{}`)
          try {
            await server.query(`select 1 from all_types where "${column}" ${sign} $1`, ['{}'])
          } catch (error) {
            const { code, message, hint } = error as Partial<Said>
            // Bytes have a LIKE of their own.
            assert.deepEqual([status, (body as Said).code, (body as Said).message, (body as Said).hint], [code === '42883' ? 404 : 400, code, message, hint ?? null], `${column} ${operator}`) // prettier-ignore
            refused++
            continue
          }
          assert.ok(status === 200 || ['blob', 'bytes'].includes(column), `${column} ${operator}: ${status} ${JSON.stringify(body)}`)
        }
      }
      assert.ok(refused > 120, String(refused))
    } finally {
      await server.end()
    }
  })
})
