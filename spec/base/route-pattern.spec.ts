/** Patterns of requests: what a star stands for, and how long it takes to find out. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { compilePattern, meetsPath, meetsTemplate } from '../../lib/records/request/route-pattern.ts'
import { check } from '../helpers/check.ts'
import { Note, User, world } from '../auth/world.ts'

const textArb = (...letters: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map(all => `/${all.join('')}`)
const compile = (path: string): ReturnType<typeof compilePattern> => compilePattern(path, 'spec')

describe('a pattern', () => {
  it('matches what its regular expression would match', async () => {
    await check(
      fc.property(textArb('a', 'b', '/', '*', '*'), textArb('a', 'b', '/'), (pattern, path) => {
        const text = pattern.length > 1 ? pattern.replace(/\/$/, '') : pattern
        const expected = new RegExp(`^${text.replaceAll(/\*+/g, '.*')}$`, 's').test(path)
        assert.equal(meetsPath(compile(pattern), path), expected, `${pattern} and ${path}`)
      }),
      { label: 'patterns', runs: 2000 },
    )
  })

  it('meets a template where it meets a path of its form', async () => {
    const paths = ['a', 'b', 'aa', 'ab', 'ba', 'bb', 'aba']
    await check(
      fc.property(textArb('a', 'b', '/', '*', '*'), fc.constantFrom('/{x}', '/a/{x}', '/{x}/a', '/{x}/{y}', '/ab'), (pattern, template) => {
        const formed = paths.flatMap(x => paths.map(y => template.replace('{x}', x).replace('{y}', y)))
        const compiled = compile(pattern)
        if (formed.some(path => meetsPath(compiled, path))) assert.ok(meetsTemplate(compiled, template), `${pattern} and ${template}`)
        else if (!pattern.includes('*') && pattern.length < 4) assert.ok(!meetsTemplate(compiled, template), `${pattern} and ${template}`)
      }),
      { label: 'patterns and templates', runs: 1000 },
    )
    assert.ok(!meetsTemplate(compile('/v1/*/x'), '/v1/users/{id}/y'))
    assert.ok(!meetsTemplate(compile('/v1/users/'), '/v1/users/{id}'))
    assert.ok(meetsTemplate(compile('/v1/u*1'), '/v1/users/{id}'))
  })

  it('is answered in milliseconds by a path that is made to be slow, wherever patterns stand', async () => {
    const stars = `/v1/${'*a'.repeat(10)}b`
    await using engine = await RestEngine.create(world({ public: [`GET ${stars}`, `!GET ${stars}`, 'GET /v1/notes*'] }))
    engine.fail(`GET ${stars}`, { status: 503 })
    engine.delay(`GET ${stars}`, 1)
    engine.rateLimit(`GET ${stars}`, { requests: 1, per: '1m' })
    engine.hold(`GET ${stars}`)
    const long = 'a'.repeat(4000)
    for (const path of [`/v1/${long}`, `/v1/notes/${long}`, `/v1/${'a/'.repeat(2000)}`, `/v1/${'%61'.repeat(1300)}`]) {
      const started = performance.now()
      const { status } = await engine.handle('GET', path)
      assert.ok(status >= 400 && status < 500, `${status}`)
      assert.ok(performance.now() - started < 500, `${Math.round(performance.now() - started)} ms for ${path.slice(0, 20)}`)
    }
  })

  it('has a bounded number of stars, and holds in every percent-encoding', async () => {
    await using engine = await RestEngine.create({ entities: [User, Note] })
    assert.throws(() => engine.fail(`GET /v1/${'*a'.repeat(30)}`, { status: 503 }), /fail: "GET .*" has more than 20 stars\./)
    engine.fail('GET /v1/notes/a%40b', { status: 503 })
    for (const path of ['/v1/notes/a@b', '/v1/n%6ftes/a%40b']) assert.equal((await engine.handle('GET', path)).status, 503, path)
    assert.equal((await engine.handle('GET', '/v1/notes')).status, 200)
  })
})
