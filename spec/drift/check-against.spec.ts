/** `checkAgainst` finds each difference between two backends by name, and nothing between equal ones. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, RestError, checkAgainst, createServer, resource } from '../../lib/index.ts'
import type { Difference, DriftReport, EngineOptions, HookContext, RestResponse } from '../../lib/index.ts'

interface Changes {
  readonly age?: 'text'
  readonly isNoteEmpty?: boolean
  readonly options?: Partial<EngineOptions>
  readonly rules?: object
  /** What the IDs begin with, so that no two backends have the same. */
  readonly first?: number
  readonly renamed?: boolean
}

/** Users with posts; no two of these have a record in common. */
async function create({
  age,
  isNoteEmpty = false,
  options = {},
  rules = {},
  first = 1,
  renamed = false,
}: Changes = {}): Promise<RestEngine> {
  const User = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      name: renamed ? p.string().serializedName('full_name') : p.string(),
      age: age === 'text' ? p.string() : p.integer(),
      note: isNoteEmpty ? p.string().nullable() : p.string(),
      posts: () => p.oneToMany(Post).mappedBy('user'),
    },
  })
  const Post = defineEntity({
    name: 'Post',
    properties: { id: p.integer().primary(), title: p.string(), done: p.boolean(), user: () => p.manyToOne(User) },
  })
  const users = Array.from({ length: 7 }, (_, index) => ({
    id: first + index,
    [renamed ? 'full_name' : 'name']: `Person ${first * 3 + ((index * 5) % 7)}`,
    age: age === 'text' ? String(20 + index) : 20 + ((index * 3) % 7) + first,
    note: isNoteEmpty && index === 2 ? null : `note ${index}`,
  }))
  const posts = Array.from({ length: 9 }, (_, index) => ({
    id: first * 2 + index,
    title: `T ${first} ${index}`,
    done: index % 2 === 0,
    user: first + (index % 3),
  }))
  return RestEngine.create({ entities: [User, Post], seed: { users, posts }, resources: [resource(User, rules)], ...options })
}

/** The fake that all comparisons copy. */
let origin: Promise<RestEngine> | undefined

/** Compares the fake with another one over HTTP. */
async function compare(changes: Changes, journal?: (fake: RestEngine) => Promise<unknown>): Promise<DriftReport> {
  await using fake = await (await (origin ??= create())).fork()
  await using real = await create({ first: 40, ...changes })
  const server = createServer(real)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await journal?.(fake)
    const { port } = server.address() as AddressInfo
    return await checkAgainst(`http://127.0.0.1:${port}`, fake, journal === undefined ? undefined : fake.requests)
  } finally {
    server.close()
  }
}

type Next = () => Promise<RestResponse>

const CASES: readonly { readonly what: string; readonly changes: Changes; readonly finds: Partial<Difference>; readonly says: RegExp }[] = [
  {
    what: 'an attribute of another name',
    changes: { renamed: true },
    finds: { kind: 'missing', resource: 'users', attribute: 'name' },
    says: /does not show "name"\. It may be called "full_name" there\./,
  },
  {
    what: 'a number that is a text',
    changes: { age: 'text' },
    finds: { kind: 'type', resource: 'users', attribute: 'age' },
    says: /is string \("2\d"\), not integer/,
  },
  {
    what: 'null in an attribute that cannot be null',
    changes: { isNoteEmpty: true },
    finds: { kind: 'type', resource: 'users', attribute: 'note' },
    says: /is null \(null\), not string/,
  },
  {
    what: 'a filter operator that the real backend does not take',
    changes: {
      rules: {
        list: (ctx: HookContext, next: Next) => {
          if ('age>=' in ctx.query) throw new RestError(400, 'no_such_operator', 'There is no such operator.')
          return next()
        },
      },
    },
    finds: { kind: 'status', resource: 'users', parameter: 'age>=' },
    says: /The fake answers with 200, the real backend with 400 \(no_such_operator\)/,
  },
  {
    what: 'a filter that the real backend ignores',
    changes: {
      rules: {
        list: (ctx: HookContext, next: Next) => ('note' in ctx.query ? ctx.engine.handle('GET', '/v1/users') : next()),
      },
    },
    finds: { kind: 'filter', resource: 'users', attribute: 'note', parameter: 'note' },
    says: /A record with "note 1" is found by note=note 0\./,
  },
  {
    what: 'another default order',
    changes: {
      rules: {
        list: (ctx: HookContext, next: Next) =>
          'sort' in ctx.query ? next() : ctx.engine.handle('GET', '/v1/users', { ...ctx.query, sort: 'name.desc' }),
      },
    },
    finds: { kind: 'sort', resource: 'users', parameter: 'sort' },
    says: /The default order is id\.asc in the fake, and name\.desc in the real backend/,
  },
  {
    what: 'records in another order than they were asked for',
    changes: {
      rules: {
        list: async (ctx: HookContext, next: Next) => {
          const answer = await next()
          return ctx.query['sort'] === 'age.desc' ? { ...answer, body: { ...answer.body, users: answer.body.users.toReversed() } } : answer
        },
      },
    },
    finds: { kind: 'sort', resource: 'users', attribute: 'age' },
    says: /Sorted by age\.desc, \d+ comes before \d+/,
  },
  {
    what: 'another status',
    changes: {
      rules: {
        get: () => {
          throw new RestError(410, 'gone', 'It is gone.')
        },
      },
    },
    finds: { kind: 'status', resource: 'users', parameter: undefined },
    says: /The fake answers with 200, the real backend with 410 \(gone\)/,
  },
  {
    what: 'a parameter that the real backend does not refuse',
    changes: {
      options: { parameters: { no_such_name_7: () => undefined } },
    },
    finds: { kind: 'status', resource: 'users', parameter: 'no_such_name_7' },
    says: /The fake answers with 400, the real backend with 200/,
  },
  {
    what: 'pages that are longer than they were asked for',
    changes: {
      rules: {
        list: (ctx: HookContext, next: Next) => ('limit' in ctx.query ? ctx.engine.handle('GET', '/v1/users', { depth: 1 }) : next()),
      },
    },
    finds: { kind: 'limit', resource: 'users', parameter: 'limit' },
    says: /7 records are given with limit=/,
  },
]

function format({ differences }: DriftReport): string {
  return differences
    .map(({ kind, resource: of, attribute, parameter, message }) => `${kind} ${of} ${attribute} ${parameter}: ${message}`)
    .join('\n')
}

describe('checkAgainst', { timeout: 240_000 }, () => {
  after(async () => {
    await (await origin)?.close()
    origin = undefined
  })

  it('finds nothing between equal backends with other records', async () => {
    const report = await compare({})
    assert.ok(report.passed, String(report))
    assert.ok(report.requests > 60, String(report.requests))
    assert.match(String(report), /^No difference in \d+ requests\.\n$/)
  })

  for (const { what, changes, finds, says } of CASES) {
    it(`finds ${what}`, async () => {
      const report = await compare(changes)
      const found = report.differences.find(
        each => Object.entries(finds).every(([name, value]) => each[name as keyof Difference] === value) && says.test(each.message),
      )
      assert.ok(found !== undefined, `nothing in:\n${format(report)}`)
      assert.equal(report.passed, false)
      assert.match(String(report), /\n {4}curl 'http:\/\/127\.0\.0\.1:\d+\/v1\//)
      // Only the resource that differs is named, and its relations.
      for (const { resource: of, parameter = '' } of report.differences)
        assert.ok(of === 'users' || /^(?:!?user\.|no_such)/.test(parameter), format(report))
    })
  }

  const tests = async (fake: RestEngine): Promise<void> => {
    await fake.handle('GET', '/v1/users', { age: 24, sort: 'name' })
    await fake.handle('GET', '/v1/users/3/posts')
    await fake.handle('GET', '/v1/users/99')
    const { body } = await fake.handle('POST', '/v1/users', undefined, { name: 'Dan', age: 3, note: 'x' })
    await fake.handle('PUT', `/v1/users/${body.user.id}`, undefined, { age: 4 })
    await fake.handle('DELETE', `/v1/users/${body.user.id}`)
  }

  it('replays the readings of a journal, and nothing else', async () => {
    const equal = await compare({}, tests)
    assert.ok(equal.passed, String(equal))
    // The list, the posts of a user, and a list of each resource, for IDs and values.
    assert.equal(equal.requests, 4)
    const other = await compare({ age: 'text' }, tests)
    assert.deepEqual(
      other.differences.map(({ kind, attribute }) => [kind, attribute]),
      [['type', 'age']],
    )
  })

  it('never writes unless it is asked to', async () => {
    await using fake = await create()
    await tests(fake)
    await using real = await create({ first: 40 })
    const methods = new Set<string>()
    const send = (request: Request): Promise<Response> => {
      methods.add(request.method)
      return real.fetch(request)
    }
    await checkAgainst(send, fake, fake.requests)
    await checkAgainst(send, fake)
    assert.deepEqual([...methods], ['GET'])
    assert.equal((await real.handle('GET', '/v1/users')).body.count, 7)
    const report = await checkAgainst(send, fake, fake.requests, { writes: true })
    assert.ok(report.passed, String(report))
    assert.deepEqual([...methods].toSorted(), ['DELETE', 'GET', 'POST', 'PUT'])
    // The record that was created there was changed and deleted there, by its ID of there.
    assert.deepEqual((await real.handle('GET', '/v1/users')).body.count, 7)
    assert.ok(real.requests.some(({ method, path, status }) => method === 'DELETE' && path === '/v1/users/47' && status === 200))
  })

  it('sends headers, and takes the place of the base', async () => {
    await using fake = await create({ options: { base: '/api' } })
    const seen: string[] = []
    const backend = async (request: Request): Promise<Response> => {
      seen.push(`${new URL(request.url).pathname} ${request.headers.get('x-key')}`)
      return fake.fetch(request)
    }
    const report = await checkAgainst(backend, fake, undefined, { headers: { 'X-Key': '7' }, maxRequests: 5 })
    assert.ok(report.passed, String(report))
    assert.ok(
      seen.every(line => /^\/api\/v1\b.* 7$/.test(line)),
      seen.join('\n'),
    )
    assert.match(report.skipped.join(), /More than 5 requests/)
  })

  it('compares records that come without an envelope, too', async () => {
    await using fake = await create()
    const users = [{ id: 'a1', name: 'Ann', age: '41', note: 'x', posts: [] }]
    const backend = ({ url }: Request): Response => {
      const { pathname } = new URL(url)
      if (pathname === '/v1/users') return Response.json(users)
      return pathname === '/v1/users/a1' ? Response.json(users[0]) : Response.json({}, { status: 404 })
    }
    await fake.handle('GET', '/v1/users')
    await fake.handle('GET', '/v1/users/1')
    const { differences } = await checkAgainst(backend, fake, fake.requests)
    assert.deepEqual(
      differences.map(({ kind, attribute }) => [kind, attribute]),
      [
        ['type', undefined],
        ['type', 'id'],
        ['type', 'age'],
      ],
    )
    assert.match(differences[0]!.message, /bare array of records/)
    assert.equal(differences[1]!.message, 'In the real backend it is string ("a1"), not integer.')
  })

  it('says that there is no answer, or none that is JSON', async () => {
    await using fake = await create()
    const page = await checkAgainst(() => new Response('<html>'), fake)
    assert.ok(page.differences.some(({ kind, message }) => kind === 'answer' && message === 'The answer is not JSON.'))
    const server = createServer(fake)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const none = await checkAgainst(`http://127.0.0.1:${port}`, fake)
    assert.match(none.differences[0]!.message, /There is no answer: .*ECONNREFUSED/)
  })

  it('refuses arguments that are not of their form', async () => {
    await using fake = await create()
    await assert.rejects(checkAgainst('real.example', fake), /begins with http/)
    await assert.rejects(checkAgainst(7 as never, fake), /address, or a function/)
    await assert.rejects(checkAgainst('http://a.test', fake, {} as never), /journal is a list/)
    await assert.rejects(checkAgainst('http://a.test', fake, [], { write: true } as object), /unknown option "write"/)
    await assert.rejects(checkAgainst('http://a.test', fake, [], { maxRequests: 0 }), /"maxRequests"/)
    await assert.rejects(checkAgainst('http://a.test', fake, [], { writes: 'no' } as object), /"writes" must be true or false, got "no"/)
    await assert.rejects(checkAgainst('http://a.test', fake, [], { headers: { a: 1 } } as object), /"headers" must be an object of strings/)
  })
})
