/** The article before names of the model. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { withArticle, withCapitalArticle } from '../../lib/foundation/base/article.ts'
import { RestEngine } from '../../lib/index.ts'

describe('the article', () => {
  it('goes by how a name is spoken', () => {
    for (const name of [
      'artist',
      'Entry',
      'item',
      'order',
      'order_item',
      'uncle',
      'update',
      'unnamed',
      'unimportant',
      'hour',
      'honour',
      'heir',
      'oneiric',
      'object',
      'array',
    ])
      assert.equal(withArticle(name), `an ${name}`)
    for (const name of [
      'user',
      'User',
      'unit',
      'university',
      'usage',
      'utility',
      'uri',
      'euro',
      'one_time_code',
      'book',
      'hotel',
      'honey',
      'year',
      'x',
      '_',
      '',
    ])
      assert.equal(withArticle(name), `a ${name}`)
    assert.equal(withCapitalArticle('artist'), 'An artist')
    assert.equal(withCapitalArticle('user'), 'A user')
  })

  it('is right in refusals', async () => {
    const Artist = defineEntity({ name: 'Artist', properties: { id: p.integer().primary(), name: p.string() } })
    const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), idol: () => p.manyToOne(Artist).nullable() } })
    await using engine = await RestEngine.create({
      entities: [Artist, User],
      seed: { artists: [{ id: 1, name: 'Ann' }], users: [{ idol: 1 }] },
    })
    for (const [method, path, body] of [
      ['GET', '/v1/artists?nam=x'],
      ['GET', '/v1/artists?sort=nam'],
      ['GET', '/v1/artists/1/nam'],
      ['POST', '/v1/artists', { nam: 'x' }],
      ['GET', '/v1/users?idol=x'],
      ['POST', '/v1/users', { idol: true }],
      ['DELETE', '/v1/artists/1', undefined],
    ] as const) {
      const answer = await engine.handle(method, path, undefined, body)
      const text = JSON.stringify(answer.body)
      if (answer.status >= 400) assert.match(text, /\b[Aa]n artist\b|artist has/, text)
      assert.doesNotMatch(text, /\b[Aa] artist|\b[Aa]n user/, text)
    }
  })
})
