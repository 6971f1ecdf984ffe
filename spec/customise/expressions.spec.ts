/** `$re` and `$ire`: regular expressions in scopes, parameters and wires, with one meaning on all databases, in a bounded time. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { resource, type RestEngine, type Wire } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

const Word = defineEntity({
  name: 'Word',
  properties: {
    id: p.integer().primary(),
    text: p.text().nullable(),
    secret: p.string().default('x').hidden(),
    count: p.integer().default(12),
    meta: p.json<object>().nullable(),
  },
})

/** The last letters are the Kelvin sign, which is a k in another case, and the long s, an s. */
const LETTERS = ['a', 'A', 'b', 'k', '1', '_', ' ', '.', '\n', '{', '(', '\\', '-', 'é', 'É', '😀', '\u212a', 'ſ']
const TEXTS = ['', ...LETTERS, 'ab', 'aab', 'bAbA', 'a\nb', 'a.b', 'ak1', '{1}', 'KS', '[a]', 'é😀a', 'aaaa', 'b-1']

/** Takes the condition on a text as JSON: `{ $re: '^A' }`. */
const wire: Wire = {
  answer: async ({ pairs }, api) => ({
    status: 200,
    body: (await api.list('words', { where: JSON.parse(pairs[0]![1]) as object, sort: ['id'], limit: 1000 })).records.map(({ id }) => id),
  }),
  refuse: ({ status, errors = [] }) => ({
    status,
    body: (errors as readonly { code: string; detail: string }[]).map(({ code, detail }) => `${code}: ${detail}`),
  }),
}
const options = {
  entities: [Word],
  wire,
  seed: { words: [...TEXTS.map((text, index) => ({ id: index + 1, text, meta: { of: text } })), { id: 999 }] },
}

async function ask(engine: RestEngine, where: object): Promise<unknown> {
  return (await engine.fetch(`http://api.test/?where=${encodeURIComponent(JSON.stringify(where))}`)).json()
}

const idsOf = (isIn: (text: string) => boolean): number[] => TEXTS.flatMap((text, index) => (isIn(text) ? [index + 1] : []))

/** Parts that JavaScript and PostgreSQL understand alike, flag `s` given. */
const part = fc.letrec<{ readonly whole: string; readonly each: string }>(tie => ({
  whole: fc.array(tie('each'), { maxLength: 4 }).map(parts => parts.join('')),
  each: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...'aAbk1_ é', '\\.', '\\{', '\\\\', '.', '[ab]', '[^a]', '[a-k]', '[\\d_]', '[^\\d\\n]', '\\d', '\\D', '\\s', '\\S', '^', '$'),
    fc.tuple(fc.constantFrom('a', '.', '[ab]', '\\S', 'é'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,3}', '{2,}?')).map(pair => pair.join('')),
    fc.tuple(tie('whole'), tie('whole'), fc.constantFrom('', '', '*', '?', '+', '{0,2}')).map(([one, other, sign]) =>
      /[$^]/.test(one + other) ? `(?:${one}|${other})` : `(${one}|${other})${sign}`,
    ),
  ),
})).whole // prettier-ignore

describeStores('$re', () => {
  const engineOf = suiteEngine(options)

  it('matches a part of a text, and what JavaScript matches', async () => {
    await check(
      fc.asyncProperty(part, fc.boolean(), async (expression, fold) => {
        const given = { text: { [fold ? '$ire' : '$re']: expression } }
        const expected = new RegExp(expression, fold ? 'isu' : 'su')
        assert.deepEqual(
          await ask(engineOf(), given),
          idsOf(text => expected.test(text)),
          expression,
        )
        const others = idsOf(text => !expected.test(text))
        assert.deepEqual(await ask(engineOf(), { $not: given }), others, `not ${expression}`)
      }),
      { label: '$re', runs: 400 },
    )
  })

  it('knows letters of all languages, brackets as PostgreSQL has them, and places in JSON', async () => {
    const find = (expression: string, name = '$re'): Promise<unknown> => ask(engineOf(), { text: { [name]: expression } })
    const same = async (expression: string, expected: RegExp): Promise<void> =>
      assert.deepEqual(
        await find(expression),
        idsOf(text => expected.test(text)),
        expression,
      )
    await same('^\\w$', /^[\p{Alphabetic}\p{Nd}_]$/u)
    await same('^\\W$', /^[^\p{Alphabetic}\p{Nd}_]$/u)
    await same('^[[:alpha:]]+$', /^\p{Alphabetic}+$/u)
    await same('^[[:upper:][:digit:]]$', /^[\p{Uppercase}\d]$/u)
    await same('[]{]', /[\]{]/)
    await same('[b-]1', /[b-]1/)
    await same('a{,2}', /a\{,2\}/)
    await same('^[\\s\\S]$', /^.$/su)
    await same('\\A\\u0061\\x62\\Z', /^ab$/)
    await same('^\\U0001f600|\\n$', /^😀|\n$/u)
    assert.deepEqual(
      await find('^ſ$', '$ire'),
      idsOf(text => text === 'ſ'),
    )
    assert.deepEqual(await find('s', '$ire'), await find('[sSſ]'))
    assert.deepEqual(await find('^[j-l]$', '$ire'), await find('^[j-lJ-L\u212a]$'))
    assert.deepEqual(await ask(engineOf(), { meta: { of: { $ire: '^AB?$' } } }), await find('^ab?$', '$ire'))
  })

  it('refuses what is malformed in the words of PostgreSQL, what is not taken, and attributes that are no texts', async () => {
    const said = async (expression: string): Promise<string> => {
      const [found] = (await ask(engineOf(), { text: { $re: expression } })) as [string]
      return /^expression_invalid: .*"where\.text": invalid regular expression: (.*)\.$/s.exec(found)![1]!
    }
    const malformed = {
      'parentheses () not balanced': ['(', 'a)', '(a', '(?:a'],
      'brackets [] not balanced': ['[', '[]', '[^]', '[a-', '[[:alpha:'],
      'braces {} not balanced': ['a{1', 'a{1,'],
      'quantifier operand invalid': ['*', 'a**', '(*)', '^*', 'a|+', '(b(?a))', 'a{1}{2}', '***a'],
      'invalid repetition count(s)': ['a{2,1}', 'a{256}', 'a{1x}', 'a{1,x}'],
      'invalid character range': ['[b-a]', '[a-c-e]', '[\\d-z]', '[a-\\d]'],
      'invalid character class': ['[[:foo:]]'],
      'invalid escape \\ sequence': ['a\\', '\\q', '\\u12', '\\U00110000'],
    }
    for (const [words, expressions] of Object.entries(malformed))
      for (const expression of expressions) assert.equal(await said(expression), words, expression)
    for (const expression of ['(a)\\1', '(?=a)', '(?<!a)', '(?i)a', '(?#x)', '***=a', '\\ba', '\\ya', '\\mb', '\\0', '[[.a.]]', '[[=a=]]', '[[:<:]]'])
      assert.match(await said(expression), / is not taken; there are characters, classes, groups/, expression) // prettier-ignore
    assert.match(await said('a\0'), /NUL/)
    assert.match(await said('\ud800'), /half of a character/)
    for (const where of [{ count: { $re: '1' } }, { text: { $re: 1 } }, { secret: { $re: 'x' } }, { text: { $re: ['a'] } }])
      assert.match(((await ask(engineOf(), where)) as [string])[0], /^(?:operator_invalid|value_invalid|attribute_unknown): /)
  })

  it('bounds what an expression costs', async () => {
    const hostile = [
      '(a{100}){100}', '((a{9}){9}){99}', '('.repeat(10_000) + ')'.repeat(10_000), 'a'.repeat(100_000), '((a?){30}){30}', '((a?){20}){20}',
      '((^|$)a?)*'.repeat(40), '(^|$|a?)'.repeat(20), '\\w'.repeat(500), '(a|b|){250}',
    ] // prettier-ignore
    for (const expression of hostile) {
      const [found] = (await ask(engineOf(), { text: { $re: expression } })) as [string]
      assert.match(found, /^expression_invalid: .*regular expression is too complex/s, expression.slice(0, 20))
    }
  })

  it('is a condition of scopes and parameters, and a RegExp there', async () => {
    const failures: string[] = []
    await using engine = await createEngine({
      entities: [Word],
      resources: [resource(Word, { scope: () => ({ text: /^[ab]+$/ }) })],
      parameters: {
        like: (value: string) => ({ text: new RegExp(value, 'i') }),
        alike: (value: string) => ({ text: { $re: value } }),
        flagged: () => ({ text: /a/g }),
      },
      onError: error => void failures.push(String(error)),
      seed: options.seed,
    })
    const { body } = await engine.handle('GET', '/v1/words', { like: '^A', attributes: 'text' })
    assert.deepEqual((body['words'] as { text: string }[]).map(({ text }) => text), ['a', 'ab', 'aab', 'aaaa']) // prettier-ignore
    const refused = await engine.handle('GET', '/v1/words', { alike: '(' })
    const [error] = refused.body['errors'] as [Record<string, string>]
    assert.deepEqual([refused.status, error['code'], error['parameter']], [400, 'expression_invalid', 'alike'])
    assert.equal(error['detail'], 'The parameter "alike".text cannot be read: invalid regular expression: parentheses () not balanced.')
    assert.equal((await engine.handle('GET', '/v1/words', { flagged: '1' })).status, 500)
    assert.match(failures.join(), /"flagged"\.text: a regular expression has the flag "i", or none; not "g"/)
  })
})

describeStores('a regular expression that meets a long text', store => {
  it('takes no longer than the text is long', async () => {
    await using engine = await createEngine({ entities: [Word], wire, seed: { words: [{ text: `${'a'.repeat(200_000)}b` }] } })
    const start = performance.now()
    const hostile = [
      '(a+)+$',
      '((a*)*)*c',
      '(a|a)*c',
      '(((a+)+)+)+c',
      '(.*)*(.*)*c',
      `${'('.repeat(300)}c${')+'.repeat(300)}`,
      '(.*a){99}c',
    ]
    for (const expression of hostile) assert.deepEqual(await ask(engine, { text: { $re: expression } }), [], expression)
    assert.deepEqual(await ask(engine, { text: { $re: '(a+)+b$' } }), [1])
    assert.ok(performance.now() - start < 10_000)
  })

  it('ends with the time of the request', { skip: store.name === 'memory' ? false : 'the server takes less time' }, async () => {
    let at = 7
    const text = Array.from({ length: 400_000 }, () => 'abcdefghij'[(at = (at * 16_807) % 2_147_483_647) % 10]).join('')
    await using engine = await createEngine({ entities: [Word], wire, limits: { timeout: 100 }, seed: { words: [{ text }] } })
    const where = JSON.stringify({ text: { $re: '[a-e](\\w{0,15}[a-i]){16}_' } })
    const start = performance.now()
    assert.equal((await engine.fetch(`http://api.test/?where=${encodeURIComponent(where)}`)).status, 503)
    assert.ok(performance.now() - start < 5000)
  })
})

describe('the first regular expression of a process', () => {
  for (const [place, expected] of Object.entries({
    scope: [1, 2],
    filter: [1, 2],
    parameter: [1, 2],
    wire: [1, 2],
    list: [2],
    write: [200, 403],
  }))
    it(`may stand in: ${place}`, async () => {
      const worker = new Worker(new URL('first-expression.ts', import.meta.url), { workerData: place })
      // A thread may end in the same turn as its message comes.
      const [[found]] = (await Promise.all([once(worker, 'message'), once(worker, 'exit')])) as [[unknown], unknown]
      assert.deepEqual(found, expected)
    })
})
