/** Entities whose names are keys of the answers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Filter = defineEntity({ name: 'Filter', properties: { id: p.integer().primary(), name: p.string() } })
const Detail = defineEntity({ name: 'Detail', properties: { id: p.integer().primary(), filter: () => p.manyToOne(Filter) } })

describeStores('an entity whose singular is a key of the answers', () => {
  it('is shown under the plural, unless it is given another name', async () => {
    await using engine = await createEngine({ entities: [Filter, Detail], seed: { filters: [{ id: 1, name: 'a' }] } })
    const { body } = await engine.handle('GET', '/v1/filters/1')
    assert.deepEqual([body.resource, body.filters], ['filters', { id: 1, name: 'a' }])
    assert.deepEqual((await engine.handle('GET', '/v1/filter')).body.filters, [{ id: 1, name: 'a' }])
    const made = await engine.handle('POST', '/v1/details', undefined, { filter: { name: 'b' } })
    assert.deepEqual([made.status, made.body.details], [200, { id: 1, filter: 2 }])
    await using named = await createEngine({
      entities: [Filter, Detail],
      resources: [resource(Filter, { name: 'filters', singular: 'sieve' })],
      seed: { filters: [{ id: 1, name: 'a' }] },
    })
    assert.deepEqual((await named.handle('GET', '/v1/filters/1')).body.sieve, { id: 1, name: 'a' })
  })
})
