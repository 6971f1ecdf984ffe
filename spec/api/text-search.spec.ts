/** Search: any text of a record (`*~=`), and texts without accents (`~~=`). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { resource, type RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { describeTargets, type Target } from '../helpers/targets.ts'

const Home = defineEntity({ embeddable: true, name: 'Home', properties: { city: p.string(), rooms: p.integer().nullable() } })
const Person = defineEntity({
  name: 'Person',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    note: p.text().nullable(),
    role: p.enum(['admin', 'guest']).default('guest'),
    age: p.integer().nullable(),
    secret: p.string().hidden().default(''),
    diary: p.string().default(''),
    closed: p.string().default(''),
    home: () => p.embedded(Home),
    pets: () => p.oneToMany(Pet).mappedBy('owner'),
  },
})
const Pet = defineEntity({
  name: 'Pet',
  properties: { id: p.integer().primary(), name: p.string(), kind: p.string(), owner: () => p.manyToOne(Person) },
})
const Count = defineEntity({ name: 'Count', properties: { id: p.integer().primary(), amount: p.integer() } })

const hidden = { secret: 'sesame', diary: 'sesame', closed: 'sesame' }
const world = {
  entities: [Home, Person, Pet, Count],
  seed: {
    people: [
      { id: 1, name: 'Ann', note: 'Hábito', home: { city: 'Zürich' }, ...hidden },
      { id: 2, name: 'Bob', note: 'HABITO, de novo', role: 'admin', home: { city: 'Annaburg' }, ...hidden },
      { id: 3, name: 'Ωμέγα', home: { city: 'A\u030Angstro\u0308m' }, ...hidden },
      { id: 4, name: 'Ångström', note: 'x%_[', home: { city: 'Rome' }, ...hidden },
    ],
    pets: [
      { id: 1, name: 'Ràna', kind: 'frog', owner: 1 },
      { id: 2, name: 'Anna', kind: 'cat', owner: 4 },
    ],
  },
  resources: [resource(Person, { attributes: { diary: { private: true }, closed: { filterable: false } } })],
}

async function find(target: Target, query: string): Promise<number[]> {
  const { status, body } = await target.call('GET', '/v1/people', query)
  assert.equal(status, 200, JSON.stringify(body))
  return body.people.map(({ id }: { id: number }) => id)
}

const TABLE: [query: string, ids: number[]][] = [
  ['name~~=angstrom', [4]],
  ['home.city~~=ÅNGSTROM', [3]],
  ['home.city~~=*ng*ö*', [3]],
  ['note~~=*habito*', [1, 2]],
  ['note~~=hábitó', [1]],
  ['note~=*habito*', [2]],
  ['!note~~=*habito*', [3, 4]],
  ['note~~=null,habito', [1, 3]],
  ['name~~=ωμεγα', [3]],
  ['note~~=X%25_[', [4]],
  ['note~~=x__[', []],
  ['pets.name~~=rana', [1]],
  ['*~=*ann*', [1, 2]],
  ['*~=ann', [1]],
  ['*=Ann', [1]],
  ['*=A*', [1, 2, 3]],
  ['*~~=*angstrom', [3, 4]],
  ['!*~=*ann*', [3, 4]],
  ['*!=Ann', [2, 3, 4]],
  ['*=null', [3]],
  ['*~=*sesame*', []],
  ['*~=*admin*', []],
  ['pets(*~=*ann*)', [4]],
  ['pets(*~~=ran*;kind=frog)', [1]],
  ['(*~~=*zuri*|name=Bob)', [1, 2]],
]

describeTargets('search in texts', { ...world, fresh: 'suite' }, target => {
  for (const [query, ids] of TABLE) {
    it(`${query} finds ${ids.join()}`, async () => {
      assert.deepEqual(await find(target, query), ids)
    })
  }

  it('is written in objects, and repeated in links', async () => {
    const asked = async (query: unknown): Promise<unknown> =>
      (await target.call('QUERY', '/v1/people', undefined, query, { 'content-type': 'application/json' })).body
    const shown = (await asked({ '*~=': '*ann*', 'note~~=': '*habito*', limit: 1 })) as { count: number; filter: unknown; next: string }
    assert.deepEqual(
      [shown.count, shown.filter],
      [
        2,
        [
          ['*~=', '*ann*'],
          ['note~~=', '*habito*'],
        ],
      ],
    )
    assert.deepEqual(
      (await target.call('GET', shown.next)).body.people.map(({ id }: { id: number }) => id),
      [2],
    )
    assert.equal(((await asked({ '|': [{ '*~~=': 'bob' }, { '*': ['Ann', 'Ångström'] }] })) as { count: number }).count, 3)
  })

  it('refuses what it cannot be', async () => {
    for (const [path, query, code] of [
      ['/v1/people', '*>=x', 'operator_invalid'],
      ['/v1/people', '*~=a\\', 'value_invalid'],
      ['/v1/people', 'age~~=1', 'operator_invalid'],
      ['/v1/people', 'home.*~=x', 'attribute_unknown'],
      ['/v1/counts', '*~=x', 'not_filterable'],
    ] as const) {
      const { status, body } = await target.call('GET', path, query)
      assert.deepEqual([status, body.errors?.[0].code], [400, code], query)
    }
  })

  it('finds many patterns, and in long texts', async () => {
    const many = Array.from({ length: 300 }, (_, index) => `nothing${index}*`)
    assert.deepEqual(await find(target, `note~~=${many.join()},*habito`), [1])
    const { body } = await target.call('POST', '/v1/people', undefined, {
      id: 9,
      name: 'x',
      note: `${'é'.repeat(3000)}ñ`,
      home: { city: 'y' },
    })
    assert.equal(body.success, true)
    assert.deepEqual(await find(target, `note~~=*${'e'.repeat(40)}n`), [9])
    await target.call('DELETE', '/v1/people/9')
  })
})

describeStores('search under access rules', () => {
  it('looks at no attribute that the caller may not see', async () => {
    await using engine: RestEngine = await createEngine(world)
    for (const word of ['*sesame*', 'sesame']) {
      for (const sign of ['~=', '~~=', '=']) {
        const { body } = await engine.handle('GET', '/v1/people', { [`*${sign === '=' ? '' : sign}`]: word })
        assert.equal(body.count, 0)
      }
    }
  })
})
