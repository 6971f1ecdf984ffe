/**
 * A new record that links itself, under the rules of the application: it must be one that the caller may link, as it will be. Statements
 * and the unit of work refuse the same.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, type RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

type Options = Parameters<typeof createEngine>[0]
type Body = Readonly<Record<string, unknown>>

const Node = defineEntity({
  name: 'Node',
  properties: {
    id: p.integer().primary(),
    name: p.string().default('x'),
    parent: () => p.manyToOne(Node).nullable(),
    children: () => p.oneToMany(Node).mappedBy('parent'),
    twin: () => p.oneToOne(Node).owner().inversedBy('twinOf').nullable(),
    twinOf: () => p.oneToOne(Node).mappedBy('twin').nullable(),
    friends: () => p.manyToMany(Node).owner().inversedBy('fans'),
    fans: () => p.manyToMany(Node).mappedBy('friends'),
    box: () => p.manyToOne(Box).nullable(),
  },
})
const Box = defineEntity({ name: 'Box', properties: { id: p.integer().primary(), nodes: () => p.oneToMany(Node).mappedBy('box') } })
const Soft = defineEntity({
  name: 'Soft',
  properties: { id: p.integer().primary(), gone: p.boolean().default(false), up: () => p.manyToOne(Soft).nullable() },
  filters: { live: { name: 'live', cond: { gone: false }, default: true } },
})
const Person = defineEntity({
  name: 'Person',
  discriminatorColumn: 'kind',
  discriminatorMap: { person: 'Person', boss: 'Boss' } as never,
  properties: {
    id: p.integer().primary(),
    kind: p.enum(['person', 'boss']),
    name: p.string().nullable(),
    friend: () => p.manyToOne(Person).nullable(),
    fans: () => p.oneToMany(Person).mappedBy('friend'),
    pals: () => p.manyToMany(Person),
  },
})
const Boss = defineEntity({ name: 'Boss', extends: Person, properties: { rank: p.integer().nullable() } })

const Tag = defineEntity({
  name: 'Tag',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    name: p.string(),
    near: () => p.manyToMany(Tag).owner().inversedBy('nearOf'),
    nearOf: () => p.manyToMany(Tag).mappedBy('near'),
  },
})

/** All ways to say that a node links itself. */
const OWN: readonly Body[] = [{ parent: 5 }, { children: [5] }, { twin: 5 }, { twinOf: 5 }, { friends: [5] }, { fans: [5] }]
const own = (more: Body = {}): Body[] => OWN.map(link => ({ id: 5, ...more, ...link }))

/** What is asked of engines with the same rules. */
type Asking = (path: string, body: Body, table?: string) => Promise<unknown>

/**
 * Makes an engine for each writer. What is asked goes to both, which must say the same: the first refusal, or `made`. Whatever is refused
 * leaves no row.
 */
async function askBoth(options: Options, ask: (post: Asking) => Promise<void>): Promise<void> {
  await using byStatements = await createEngine(options)
  await using byWork = await createEngine({ ...options, orm: { subscribers: [{ beforeCreate() {} }] } as never })
  await ask(async (path, body, table = path.slice(0, -1)) => {
    const outcomes: unknown[] = []
    for (const engine of [byStatements, byWork]) {
      await engine.reset()
      outcomes.push(await post(engine, path, body, table))
    }
    assert.deepEqual(outcomes[1], outcomes[0], JSON.stringify(body))
    return outcomes[0]
  })
}

async function post(engine: RestEngine, path: string, body: Body, table: string): Promise<unknown> {
  const { status, body: answer } = await engine.handle('POST', `/v1/${path}`, undefined, body)
  const [counted] = await engine.orm.em.fork().getConnection().execute<{ n: number }[]>(`select count(*) as n from "${table}"`)
  assert.equal(Number(counted!.n), status === 200 ? 1 : 0)
  if (status === 200) return 'made'
  assert.ok(answer.errors === undefined || answer.errors.length === 1, JSON.stringify(answer.errors))
  return answer.errors === undefined ? `${answer.code}: ${answer.detail}` : `${answer.errors[0].code}: ${answer.errors[0].detail}`
}

const NODES = { entities: [Node, Box] }
const UNSEEN = 'outside_scope: The node would be outside of what you may see.'

describeStores('a new record that links itself', () => {
  it('is within the scope of the caller, or refused', async () => {
    await askBoth({ ...NODES, resources: [resource(Node, { scope: () => ({ name: { $ne: 'Eve' } }) })] }, async ask => {
      for (const body of own({ name: 'Eve' })) assert.equal(await ask('nodes', body), UNSEEN)
      for (const body of own({ name: 'Ann' })) assert.equal(await ask('nodes', body), 'made')
      assert.equal(await ask('boxes', { id: 1, nodes: [{ id: 5, name: 'Eve', parent: 5 }] }, 'box'), UNSEEN)
    })
  })

  it('is held against a scope as it will be, with its link', async () => {
    await askBoth({ ...NODES, resources: [resource(Node, { scope: () => ({ parent: { name: 'Ann' } }) })] }, async ask => {
      assert.equal(await ask('nodes', { id: 5, name: 'Ann', parent: 5 }), 'made')
      assert.equal(await ask('nodes', { id: 5, name: 'Ann', children: [5] }), 'made')
      assert.equal(await ask('nodes', { id: 5, name: 'Eve', parent: 5 }), UNSEEN)
      assert.equal(await ask('nodes', { id: 5, name: 'Ann', friends: [5] }), UNSEEN)
    })
  })

  it('is shown by the filters of the entity, or refused', async () => {
    await askBoth({ entities: [Soft] }, async ask => {
      assert.equal(await ask('softs', { id: 5, up: 5 }), 'made')
      assert.equal(await ask('softs', { id: 5, up: 5, gone: true }), 'outside_scope: The soft would be outside of what you may see.')
    })
  })

  it('is one that the caller may write', async () => {
    await askBoth({ ...NODES, resources: [resource(Node, { write: () => ({ name: 'Ann' }) })] }, async ask => {
      const refusal = 'forbidden: The node would be outside of what you may write.'
      for (const body of own({ name: 'Eve' })) assert.equal(await ask('nodes', body), refusal)
      for (const body of own({ name: 'Ann' })) assert.equal(await ask('nodes', body), 'made')
    })
  })

  it('is one that the caller may write, by the key that clients know it by', async () => {
    await askBoth({ entities: [Tag], resources: [resource(Tag, { key: 'slug', write: () => ({ name: 'Ann' }) })] }, async ask => {
      for (const link of [{ near: ['a'] }, { nearOf: ['a'] }]) {
        assert.equal(await ask('tags', { slug: 'a', name: 'Ann', ...link }), 'made')
        const refusal = 'forbidden: The tag would be outside of what you may write.'
        assert.equal(await ask('tags', { slug: 'a', name: 'Eve', ...link }), refusal)
      }
    })
  })

  it('is one that the caller may read, and need not be one that the caller may change', async () => {
    await askBoth({ ...NODES, resources: [resource(Node, { access: { get: () => false } })] }, async ask => {
      for (const body of own()) assert.match(String(await ask('nodes', body)), /^(?:attribute_unknown|reference_not_found): /)
    })
    await askBoth({ ...NODES, resources: [resource(Node, { access: { update: false } })] }, async ask => {
      for (const body of own()) assert.equal(await ask('nodes', body), 'made')
    })
  })

  it('is refused where its link is read-only, from each side', async () => {
    const readOnly = { readOnly: true }
    const links = { parent: readOnly, twin: readOnly, friends: readOnly }
    await askBoth({ ...NODES, resources: [resource(Node, { attributes: links })] }, async ask => {
      for (const body of own()) assert.match(String(await ask('nodes', body)), /^read_only: /)
    })
    const others = { children: readOnly, twinOf: readOnly, fans: readOnly }
    await askBoth({ ...NODES, resources: [resource(Node, { attributes: others })] }, async ask => {
      for (const body of own()) {
        const isLink = 'parent' in body || 'twin' in body
        assert.match(String(await ask('nodes', body)), isLink ? /^made$/ : /^read_only: /)
      }
    })
  })

  it('may be given the link by the engine', async () => {
    await askBoth({ ...NODES, resources: [resource(Node, { attributes: { parent: { fill: () => 5 } } })] }, async ask => {
      assert.equal(await ask('nodes', { id: 5 }), 'made')
      assert.match(String(await ask('nodes', { id: 6 })), /^reference_not_found: /)
      assert.match(String(await ask('nodes', { id: 5, children: [5] })), /^read_only: /)
    })
  })

  it('is linked as one of a class above under the rules of that class', async () => {
    await askBoth({ entities: [Person, Boss], resources: [resource(Person, { scope: () => ({ name: 'Ann' }) })] }, async ask => {
      const unseen = 'outside_scope: The person would be outside of what you may see.'
      for (const link of [{ friend: 5 }, { fans: [5] }, { pals: [5] }]) {
        for (const kind of [{}, { kind: 'boss' }]) {
          assert.equal(await ask('bosses', { id: 5, ...kind, name: 'Eve', ...link }, 'person'), unseen)
          assert.equal(await ask('bosses', { id: 5, ...kind, name: 'Ann', ...link }, 'person'), 'made')
        }
      }
      assert.equal(await ask('bosses', { id: 5, name: 'Eve' }, 'person'), 'made')
    })
  })
})
