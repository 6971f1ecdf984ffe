/** The Server-Timing header: its grammar, which stages it names, that their times fit into the whole, and who sees it. */
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { RestEngine, auth, createServer, hashPassword, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { Author, Book, entities } from '../../fixtures/library/index.ts'
import { Command } from '../helpers/command.ts'
import { leastOf } from '../helpers/least.ts'

interface Metric {
  readonly name: string
  readonly dur: number
  readonly desc: string | undefined
}

/**
 * Reads the header by its grammar (W3C Server Timing, section 4.1, with the tokens and quoted strings of RFC 9110 section 5.6), and by
 * nothing of ours.
 */
function parseServerTiming(text: string): Metric[] {
  let at = 0
  const take = (pattern: RegExp, what: string): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    assert.ok(found !== null, `${what} expected at ${at} of ${text}`)
    at += found[0].length
    return found[0]
  }
  const token = (): string => take(/[!#$%&'*+.^_`|~0-9A-Za-z-]+/y, 'a token')
  const metrics: Metric[] = []
  for (;;) {
    const name = token()
    const parameters = new Map<string, string>()
    while (/[ \t]*;/y.test(text.slice(at))) {
      take(/[ \t]*;[ \t]*/y, 'a semicolon')
      const key = token().toLowerCase()
      assert.ok(!parameters.has(key), `${key} twice`)
      take(/=/y, 'an equals sign')
      parameters.set(
        key,
        text[at] === '"'
          ? take(/"(?:[\t !#-[\]-~]|\\[\t !-~])*"/y, 'a quoted string')
              .slice(1, -1)
              .replaceAll(/\\(.)/g, '$1')
          : token(),
      )
    }
    const dur = parameters.get('dur') ?? ''
    assert.match(dur, /^\d+(?:\.\d{1,3})?$/, `dur of ${name}`)
    metrics.push({ name, dur: Number(dur), desc: parameters.get('desc') })
    if (at === text.length) return metrics
    take(/[ \t]*,[ \t]*/y, 'a comma')
  }
}

async function timed(
  engine: RestEngine,
  ...[method, path, query, body, context]: Parameters<RestEngine['handle']>
): Promise<{ status: number; metrics: Metric[]; stages: string[]; of: (name: string) => Metric | undefined }> {
  const begun = performance.now()
  const { status, headers } = await engine.handle(method, path, query, body, context)
  const elapsed = performance.now() - begun
  const metrics = parseServerTiming(headers['server-timing'] ?? '')
  const names = metrics.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, 'each stage once')
  assert.equal(names.at(-1), 'total')
  const total = metrics.at(-1)!.dur
  const sum = metrics.slice(0, -1).reduce((all, { dur }) => all + dur, 0)
  // What is rounded down at each stage, and what floating point adds.
  assert.ok(sum <= total + 1e-9, `${sum} of ${total}`)
  assert.ok(sum > total - 0.001 * (metrics.length + 1), `${sum} of ${total}: no time is left out`)
  assert.ok(total <= elapsed + 0.001, `${total} of ${elapsed}`)
  return { status, metrics, stages: names.slice(0, -1), of: name => metrics.find(metric => metric.name === name) }
}

function make(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({ entities, serverTiming: true, seed: { authors: [{ id: 1, name: 'Ann', email: 'ann@a.test' }] }, ...options })
}

describe('the Server-Timing header', () => {
  it('is absent unless it was asked for', async () => {
    await using engine = await make({ serverTiming: false })
    for (const path of ['/v1/authors', '/v1/authors/77', '/nothing']) {
      assert.equal((await engine.handle('GET', path)).headers['server-timing'], undefined)
    }
    assert.equal('timing' in engine.requests[0]!, false)
    await assert.rejects(make({ serverTiming: 'yes' as never }), { name: 'TypeError', message: /"serverTiming" must be true or false/ })
  })

  it('names the stages of a list, its statements, and whether its plan was there already', async () => {
    await using engine = await make()
    const first = await timed(engine, 'GET', '/v1/authors?name=A*')
    assert.deepEqual(first.stages, ['parse', 'auth', 'resolve', 'access', 'render', 'plan', 'sql'])
    assert.equal(first.of('plan')?.desc, 'new')
    // The row, and its lists of pupils, books and reviews.
    assert.equal(first.of('sql')?.desc, '4 statements')
    const second = await timed(engine, 'GET', '/v1/authors?name=B*')
    assert.equal(second.of('plan')?.desc, 'cached')
    assert.equal(second.of('sql')?.desc, '1 statement')
  })

  it('names those of a write, and counts what MikroORM runs', async () => {
    await using engine = await make()
    const created = await timed(engine, 'POST', '/v1/authors', { depth: 0 }, { name: 'Bob', email: 'bob@b.test' })
    assert.equal(created.status, 200)
    for (const stage of ['write', 'validate', 'sql', 'plan', 'render']) assert.ok(created.stages.includes(stage), stage)
    assert.equal(Number(/^(\d+) statements$/.exec(created.of('sql')?.desc ?? '')?.[1]) >= 4, true, 'begin, check, insert, select, commit')
  })

  it('is on errors of every stage, on HEAD and OPTIONS, and where nothing is read', async () => {
    await using engine = await make()
    const cases: [string, string, unknown, number, string][] = [
      ['GET', '/v1/%ZZ', undefined, 400, 'parse'],
      ['GET', '/v1/autors', undefined, 404, 'resolve'],
      ['DELETE', '/v1/authors', undefined, 405, 'resolve'],
      ['GET', '/v1/authors?nothing=1', undefined, 400, 'plan'],
      ['GET', '/v1/authors/77', undefined, 404, 'sql'],
      ['POST', '/v1/authors', { name: 5 }, 422, 'validate'],
      ['HEAD', '/v1/authors', undefined, 200, 'sql'],
      ['OPTIONS', '/v1/authors', undefined, 204, 'render'],
      ['GET', '/v1', undefined, 200, 'render'],
    ]
    for (const [method, path, body, status, stage] of cases) {
      const answer = await timed(engine, method, path, undefined, body)
      assert.equal(answer.status, status, path)
      assert.ok(answer.stages.includes(stage), `${method} ${path}: ${answer.stages.join()}`)
    }
  })

  it('tells waiting apart: for faults, for the lock, for log-in', async () => {
    const password = await hashPassword('secret-1')
    await using engine = await make({
      seed: { authors: [{ id: 1, name: 'Ann', email: 'ann@a.test', passwordHash: password }] },
      auth: auth({ entity: Author, password: 'passwordHash', public: ['GET /v1/*', 'POST /v1/authors'] }),
    })
    const login = await timed(engine, 'POST', '/v1/login', undefined, { email: 'ann@a.test', passwordHash: 'secret-1' })
    assert.equal(login.status, 200)
    assert.ok(login.of('handler')!.dur > 1, 'scrypt takes its time')
    {
      using _ = engine.delay('GET /v1/authors*', 30)
      const delayed = await timed(engine, 'GET', '/v1/authors/1')
      assert.ok(delayed.of('fault')!.dur >= 28)
      // A busy machine may stop anywhere.
      const [parse] = await leastOf([async () => (await timed(engine, 'GET', '/v1/authors/1')).of('parse')!.dur], least => least < 28)
      assert.ok(parse < 28, `${parse} ms`)
    }
    // A busy machine may let the request come to the lock late.
    const holdFor30 = async (): Promise<number> => {
      const begun = Promise.withResolvers<void>()
      const go = Promise.withResolvers<void>()
      const writing = engine.orm.em.fork().transactional(async () => {
        begun.resolve()
        await go.promise
      })
      await begun.promise
      const waiting = timed(engine, 'GET', '/v1/authors/1')
      await wait(30)
      go.resolve()
      await writing
      return 30 - (await waiting).of('lock')!.dur
    }
    const [lacking] = await leastOf([holdFor30], least => least <= 5)
    assert.ok(lacking <= 5, `${lacking} of 30 ms are not told`)
  })

  it('has what hooks ask as part of the request: one header, all statements', async () => {
    let nested: Readonly<Record<string, string>> | undefined
    await using engine = await make({
      resources: [
        resource(Book, {
          list: async (ctx, next) => {
            nested = (await ctx.engine.handle('GET', '/v1/authors?depth=0')).headers
            await wait(20)
            return next()
          },
        }),
      ],
    })
    const answer = await timed(engine, 'GET', '/v1/books?depth=0')
    assert.equal(answer.of('sql')?.desc, '2 statements')
    assert.ok(answer.of('handler')!.dur >= 18)
    assert.equal(nested?.['server-timing'], undefined)
    // What a hook leaves running does not belong to a request that has been answered.
    assert.equal((await timed(engine, 'GET', '/v1/authors?depth=0')).of('sql')?.desc, '1 statement')
  })

  it('keeps requests that run beside each other apart', async () => {
    // A write around which functions of the application run waits for those before it; others are done at once.
    await using engine = await make({ resources: [resource(Author, { create: (_, next) => next() })] })
    const bodies = Array.from({ length: 8 }, (_, index) => ({ name: `N${index}`, email: `n${index}@n.test` }))
    const answers = await Promise.all(bodies.map(body => timed(engine, 'POST', '/v1/authors', { depth: 0 }, body)))
    // All but the first prepare nothing, and run the same statements.
    assert.equal(new Set(answers.slice(1).map(({ of }) => of('sql')?.desc)).size, 1)
    assert.ok(answers.slice(2).every(({ stages }) => stages.includes('lock')))
  })

  it('is in the journal, and in forks', async () => {
    await using engine = await make()
    await using fork = await engine.fork()
    await timed(fork, 'GET', '/v1/authors')
    const [entry] = fork.requests
    assert.equal(typeof entry!.timing?.['sql'], 'number')
    assert.ok(Object.values(entry!.timing!).reduce((all, ms) => all + ms, 0) <= entry!.duration + 1)
  })

  it('comes through fetch and HTTP; with CORS a page of another origin may see it', async () => {
    await using engine = await make()
    parseServerTiming((await engine.fetch(new Request('http://api.test/v1/authors'))).headers.get('server-timing') ?? '')
    for (const [cors, origin, allowed] of [
      [undefined, 'http://a.test', null],
      [true, 'http://a.test', '*'],
      ['http://a.test', 'http://a.test', 'http://a.test'],
      ['http://a.test', 'http://b.test', null],
    ] as const) {
      const server = createServer(engine, cors === undefined ? {} : { cors }).listen(0, '127.0.0.1')
      await new Promise(resolve => server.once('listening', resolve))
      const { port } = server.address() as AddressInfo
      const response = await fetch(`http://127.0.0.1:${port}/v1/authors`, { headers: { origin } })
      parseServerTiming(response.headers.get('server-timing') ?? '')
      assert.equal(response.headers.get('timing-allow-origin'), allowed)
      await response.text()
      await new Promise(resolve => server.close(resolve))
    }
    await using silent = await make({ serverTiming: false })
    const server = createServer(silent, { cors: true }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/authors`)
    assert.equal(response.headers.get('timing-allow-origin'), null)
    await response.text()
    await new Promise(resolve => server.close(resolve))
  })

  it('is an option of the command', async () => {
    await using plain = new Command('.', '--port', '0')
    assert.equal((await fetch(`${await plain.origin()}/v1`)).headers.get('server-timing'), null)
    await using command = new Command('.', '--port', '0', '--server-timing')
    const response = await fetch(`${await command.origin()}/v1/users`)
    assert.deepEqual(
      parseServerTiming(response.headers.get('server-timing') ?? '')
        .map(({ name }) => name)
        .at(-1),
      'total',
    )
  })
})
