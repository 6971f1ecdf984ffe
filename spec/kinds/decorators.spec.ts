/**
 * Entities as decorated classes: ES decorators, and the legacy ones of TypeScript, which are called here as the compiler would call them.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Collection } from '@mikro-orm/core'
import type { Rel } from '@mikro-orm/core'
import * as es from '@mikro-orm/decorators/es'
import * as legacy from '@mikro-orm/decorators/legacy'
import { createEngine, describeStores } from '../helpers/stores.ts'

@es.Entity()
class Shelf {
  @es.PrimaryKey({ type: 'integer' })
  id!: number

  @es.Property({ type: 'string', length: 20 })
  name!: string

  @es.OneToMany({ entity: () => Volume, mappedBy: 'shelf' })
  volumes = new Collection<Volume>(this)
}

@es.Entity()
class Volume {
  @es.PrimaryKey({ type: 'integer' })
  id!: number

  @es.Property({ type: 'string', nullable: true })
  title?: string | null

  @es.Enum({ items: ['lent', 'here'] })
  state: 'lent' | 'here' = 'here'

  @es.ManyToOne({ entity: () => Shelf })
  shelf!: Rel<Shelf>
}

@es.Entity({ abstract: true })
abstract class Dated {
  @es.PrimaryKey({ type: 'integer' })
  id!: number

  @es.Property({ type: 'integer' })
  year!: number
}

@es.Entity()
class Letter extends Dated {
  @es.Property({ type: 'string' })
  title!: string
}

class Box {
  declare id: number
  declare label: string
  declare parent: Box | null
}

function decorate(target: object, name: string, decorator: unknown): void {
  ;(decorator as (target: object, name: string) => void)(target, name)
}
decorate(Box.prototype, 'id', legacy.PrimaryKey({ type: 'integer' }))
decorate(Box.prototype, 'label', legacy.Property({ type: 'string' }))
decorate(Box.prototype, 'parent', legacy.ManyToOne({ entity: () => Box, nullable: true }))
;(legacy.Entity() as (target: object) => void)(Box)

describeStores('decorated classes', () => {
  it('are served: ES decorators', async () => {
    await using engine = await createEngine({
      entities: [Shelf, Volume],
      seed: { shelves: [{ id: 1, name: 'A' }], volumes: [{ title: 'One', shelf: 1 }] },
    })
    const made = await engine.handle('POST', '/v1/volumes', undefined, { title: null, state: 'lent', shelf: 1 })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const { body } = await engine.handle('GET', '/v1/shelves', { 'volumes.state': 'lent', expand: 'volumes' })
    assert.deepEqual((body as { shelves: object[] }).shelves, [
      {
        id: 1,
        name: 'A',
        volumes: [
          { id: 1, title: 'One', state: 'here', shelf: 1 },
          { id: 2, title: null, state: 'lent', shelf: 1 },
        ],
      },
    ])
    const refused = await engine.handle('POST', '/v1/volumes', undefined, { state: 'lost' })
    assert.equal(refused.status, 422)
    assert.deepEqual(
      (refused.body as { errors: { attribute: string }[] }).errors.map(({ attribute }) => attribute),
      ['state', 'shelf'],
    )
  })

  it('are served: legacy decorators', async () => {
    await using engine = await createEngine({ entities: [Box] })
    await engine.handle('POST', '/v1/boxes', undefined, { label: 'outer' })
    const { body } = await engine.handle('POST', '/v1/boxes', undefined, { label: 'inner', parent: 1 })
    assert.deepEqual((body as { box: object }).box, { id: 2, label: 'inner', parent: 1 })
    const { body: found } = await engine.handle('GET', '/v1/boxes', { 'parent.label': 'out*' })
    assert.equal((found as { count: number }).count, 1)
  })

  it('are served with the abstract class that they extend among the entities', async () => {
    await using engine = await createEngine({ entities: [Dated, Letter] })
    const made = await engine.handle('POST', '/v1/letters', undefined, { title: 'One', year: 2026 })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual((made.body as { letter: object }).letter, { id: 1, year: 2026, title: 'One' })
    assert.equal((await engine.handle('GET', '/v1/dateds')).status, 404)
  })
})
