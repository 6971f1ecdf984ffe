/** `$like` in scopes and custom parameters: one meaning on all databases, that of PostgreSQL. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import type { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Word = defineEntity({
  name: 'Word',
  properties: {
    id: p.integer().primary(),
    text: p.text().nullable(),
    kind: p.enum(['ab', 'Ab']).nullable(),
    count: p.integer().default(12),
  },
})

/** Short texts, and long ones, which SQLite leaves to a function of the engine's. */
const LETTERS = ['a', 'A', 'b', 'é', 'É', '%', '_', '\\', '*', '?', '[', ']', '😀', ' ']
const TEXTS = ['', ...LETTERS, 'ab', 'AB', 'aB', 'a\\', 'a%b', 'a_b', '[ab]', 'a*b', 'é😀a', 'ab'.repeat(600), `${'x'.repeat(1100)}A%`]

const parameters = {
  like: (value: string) => ({ text: { $like: value } }),
  unlike: (value: string) => ({ $not: { text: { $like: value } } }),
  nul: () => ({ text: { $like: 'a\0%' } }),
  ofKind: (value: string) => ({ kind: { $like: value } }),
  ofCount: (value: string) => ({ count: { $like: value } }),
}

const open = (): Promise<RestEngine> =>
  createEngine({
    entities: [Word],
    parameters,
    seed: { words: [...TEXTS.map((text, index) => ({ id: index + 1, text, kind: index % 2 === 0 ? 'ab' : 'Ab' })), { id: 999 }] },
  })

/** What the pattern means: read by hand, a regular expression made of it. */
function meaning(pattern: string): RegExp {
  let source = ''
  const rest = [...pattern]
  while (rest.length > 0) {
    const character = rest.shift()!
    const isPlain = character === '\\' && rest.length > 0
    if (character === '%') source += '.*'
    else if (character === '_') source += '.'
    else source += (isPlain ? rest.shift()! : character).replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`)
  }
  return new RegExp(`^${source}$`, 'su')
}

async function find(engine: RestEngine, query: Record<string, string>): Promise<number[]> {
  const { status, body } = await engine.handle('GET', '/v1/words', { ...query, limit: '1000', sort: 'id', attributes: 'id' })
  assert.equal(status, 200, JSON.stringify(body))
  return (body['words'] as { id: number }[]).map(({ id }) => id)
}

describeStores('$like', () => {
  it('compares letters as they are, and takes `\\` for an escape', async () => {
    await using engine = await open()
    await check(
      fc.asyncProperty(fc.array(fc.constantFrom(...LETTERS, '%', '%', '_'), { maxLength: 6 }), async characters => {
        const pattern = characters.join('')
        const expected = TEXTS.flatMap((text, index) => (meaning(pattern).test(text) ? [index + 1] : []))
        assert.deepEqual(await find(engine, { like: pattern }), expected, pattern)
        const others = TEXTS.flatMap((_, index) => (expected.includes(index + 1) ? [] : [index + 1]))
        assert.deepEqual(await find(engine, { unlike: pattern }), others, `not ${pattern}`)
      }),
      { label: '$like', runs: 300 },
    )
  })

  it('finds nothing by what no text holds, and what is no text by what is shown of it', async () => {
    await using engine = await open()
    assert.deepEqual(await find(engine, { nul: '' }), [])
    assert.deepEqual((await find(engine, { ofKind: 'A%' })).length, Math.floor(TEXTS.length / 2))
    assert.equal((await find(engine, { ofCount: '1_' })).length, TEXTS.length + 1)
  })
})
