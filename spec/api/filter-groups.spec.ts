/** Groups of filters: alternatives, conditions that hold together, and conditions on one and the same related record. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { resource, type HookContext, type RestEngine } from '../../lib/index.ts'
import { assertSound } from '../helpers/sound.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { describeTargets, type Target } from '../helpers/targets.ts'

const Person = defineEntity({
  name: 'Person',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    age: p.integer().nullable(),
    role: p.string().nullable(),
    secret: p.string().hidden().nullable(),
    limit: p.integer().nullable(),
    home: () => p.embedded(Home),
    meta: p.json<unknown>().nullable(),
    boss: () => p.manyToOne(Person).nullable(),
    skills: () => p.oneToMany(Skill).mappedBy('owner'),
    clubs: () => p.manyToMany(Club).owner(),
  },
})
const Home = defineEntity({ embeddable: true, name: 'Home', properties: { city: p.string(), zip: p.string().nullable() } })
const Skill = defineEntity({
  name: 'Skill',
  properties: { id: p.integer().primary(), level: p.integer(), kind: p.string(), owner: () => p.manyToOne(Person) },
})
const Club = defineEntity({ name: 'Club', properties: { id: p.integer().primary(), name: p.string(), open: p.boolean() } })

const home = { city: 'Rome' }
const world = {
  entities: [Person, Skill, Club, Home],
  seed: {
    clubs: [
      { id: 1, name: 'Chess', open: true },
      { id: 2, name: 'Golf', open: false },
    ],
    people: [
      { id: 1, name: 'Ann', age: 20, role: 'admin', limit: 5, secret: 'sesame', home, meta: { 'size(cm)': 5, 'a(b': '1)' }, clubs: [1, 2] },
      { id: 2, name: 'Bob', age: 17, role: 'user', home: { city: 'Oslo', zip: 'x' }, boss: 1, clubs: [2] },
      { id: 3, name: 'Abe', age: 30, home, boss: 2 },
      { id: 4, name: 'a|b;(c)', home, boss: 2, clubs: [1] },
    ],
    skills: [
      { id: 1, level: 1, kind: 'go', owner: 1 },
      { id: 2, level: 2, kind: 'go', owner: 2 },
      { id: 3, level: 1, kind: 'js', owner: 2 },
    ],
  },
}

type Conditions = Readonly<Record<string, unknown>>

async function find(target: Target, query: string | Conditions): Promise<number[]> {
  const { status, body } =
    typeof query === 'string'
      ? await target.call('GET', '/v1/people', query)
      : await target.call('QUERY', '/v1/people', undefined, query, { 'content-type': 'application/json' })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.count, body.people.length)
  return body.people.map(({ id }: { id: number }) => id)
}

/** A group as a text, as an object, and what it finds. */
const TABLE: [text: string, query: Conditions, ids: number[]][] = [
  ['(role=admin|age>=18;name=A*)', { '|': [{ role: 'admin' }, { 'age>=': 18, name: 'A*' }] }, [1, 3]],
  ['!(role=admin|age>=18;name=A*)', { '!|': [{ role: 'admin' }, { 'age>=': 18, name: 'A*' }] }, [2, 4]],
  ['!!(role=admin|name=Bob)', { '!!|': [{ role: 'admin' }, { name: 'Bob' }] }, [1, 2]],
  ['(name=Ann|(age>17;(role=null|age<18)))', { '|': [{ name: 'Ann' }, { 'age>': 17, '|': [{ role: null }, { 'age<': 18 }] }] }, [1, 3]],
  ['(age=20,17|name~=a*;!age=30)', { '|': [{ age: [20, 17] }, { 'name~=': 'a*', '!age': 30 }] }, [1, 2, 4]],
  ['(home.city=Oslo|boss.name=Bob;age!=null)', { '|': [{ 'home.city': 'Oslo' }, { 'boss.name': 'Bob', 'age!=': null }] }, [2, 3]],
  ['(age=null)', { '|': [{ age: null }] }, [4]],
  ['!(age=null;role=null)', { '!|': [{ age: null, role: null }] }, [1, 2, 3]],
  [String.raw`(name=a\|b\;\(c\)|age=17)`, { '|': [{ name: 'a|b;(c)' }, { age: 17 }] }, [2, 4]],
  [String.raw`(name=a\|b\;\(c\))`, { '|': [{ name: String.raw`a\|b;\(c)` }] }, [4]],
  ['(limit=5|limit_=6)', { '|': [{ limit: 5 }, { limit_: 6 }] }, [1]],
  ['skills(level=1;kind=go)', { skills: { level: 1, kind: 'go' } }, [1]],
  ['!skills(level=1;kind=go)', { '!skills': { level: 1, kind: 'go' } }, [2, 3, 4]],
  ['skills(level=1|kind=go)', { skills: { '|': [{ level: 1 }, { kind: 'go' }] } }, [1, 2]],
  ['skills(!level=1;!kind=js)', { skills: { '!level': 1, '!kind': 'js' } }, [2]],
  ['boss(name=A*;age>5)', { boss: { name: 'A*', 'age>': 5 } }, [2]],
  ['boss(role!=admin)', { boss: { 'role!=': 'admin' } }, [3, 4]],
  ['!boss(role!=admin)', { '!boss': { 'role!=': 'admin' } }, [1, 2]],
  ['boss.skills(level=1;kind=js)', { 'boss.skills': { level: 1, kind: 'js' } }, [3, 4]],
  ['boss(skills(level=1;kind=js);age=17)', { boss: { skills: { level: 1, kind: 'js' }, age: 17 } }, [3, 4]],
  ['skills.owner(name=Bob;age=17)', { 'skills.owner': { name: 'Bob', age: 17 } }, [2]],
  ['clubs(open=true;name=Golf)', { clubs: { open: true, name: 'Golf' } }, []],
  ['clubs(open=false;name=G*,C*)', { clubs: { open: false, name: ['G*', 'C*'] } }, [1, 2]],
  ['(clubs(open=true)|skills(kind=js))', { '|': [{ clubs: { open: true } }, { skills: { kind: 'js' } }] }, [1, 2, 4]],
  ['(!clubs(open=true)|skills(kind=js);name=*)', { '|': [{ '!clubs': { open: true } }, { skills: { kind: 'js' }, name: '*' }] }, [2, 3]],
]

describeTargets('groups of filters', { ...world, fresh: 'suite' }, target => {
  for (const [text, query, ids] of TABLE) {
    it(`${text} finds ${ids.join()}`, async () => {
      assert.deepEqual(await find(target, text), ids)
      assert.deepEqual(await find(target, encodeURIComponent(text)), ids)
      // As a name alone, as clients write a parameter without a value.
      assert.deepEqual(await find(target, `${encodeURIComponent(text)}=`), ids)
      assert.deepEqual(await find(target, query), ids)
      assert.deepEqual(
        await find(target, `!${text}`),
        [1, 2, 3, 4].filter(id => !ids.includes(id)),
      )
    })
  }

  it('stand beside other filters, and in pages', async () => {
    assert.deepEqual(await find(target, '(age=20|age=17)&(name=Bob|role=admin)&boss=null'), [1])
    const { body } = await target.call('GET', '/v1/people', String.raw`(age>=20|name=a\|b*)&sort=id.desc&limit=1&skills=null`)
    assert.deepEqual(body.filter, [
      [String.raw`(age>=20|name=a\|b*)`, ''],
      ['skills', 'null'],
    ])
    assert.deepEqual([body.people[0].id, body.count], [4, 2])
    const next = await target.call('GET', body.next)
    assert.deepEqual([next.body.people[0].id, next.body.count, next.body.filter], [3, 2, body.filter])
  })

  it('name keys inside of JSON with brackets', async () => {
    assert.deepEqual(await find(target, 'meta.size(cm)=5'), [1])
    assert.deepEqual(await find(target, { 'meta.size(cm)': 5 }), [1])
    assert.deepEqual(await find(target, String.raw`meta.a\(b=1)`), [1])
    assert.deepEqual(await find(target, String.raw`(meta.size\(cm\)=5|age=3)`), [1])
    assert.deepEqual(await find(target, { '|': [{ 'meta.size(cm)': 5 }] }), [1])
  })

  it('stand in the parentheses of expanded lists', async () => {
    const shown = async (query: unknown): Promise<unknown> => {
      const { status, body } = await target.call('QUERY', '/v1/people', undefined, query, { 'content-type': 'application/json' })
      assert.equal(status, 200, JSON.stringify(body))
      return body.people.map(({ skills }: { skills: { id: number }[] }) => skills.map(({ id }) => id))
    }
    const text = 'skills((level=2|kind=js);owner(age=17;role=user);limit=5)'
    assert.deepEqual(await shown({ expand: text }), [[], [2, 3], [], []])
    const skills = { '|': [{ level: 2 }, { kind: 'js' }], owner: { age: 17, role: 'user' }, limit: 5 }
    assert.deepEqual(await shown({ expand: { skills } }), [[], [2, 3], [], []])
    assert.deepEqual(await shown({ expand: { skills: { '!|': [{ level: 2 }, { kind: 'js' }] } }, '|': [{ age: 20 }, { age: 30 }] }), [
      [1],
      [],
    ])
  })

  it('choose what the deletion of a list deletes', async () => {
    const { body } = await target.call('DELETE', '/v1/people/2/skills', '(level=9|kind=go;level=7)')
    assert.equal(body.count, 0)
  })
})

/** A group that is refused, and a part of why. */
const REFUSED: [query: string | Conditions, why: string][] = [
  ['()', 'a condition is missing'],
  ['(|)', 'a condition is missing'],
  ['(role=admin|)', 'a condition is missing'],
  ['(role=admin;;age=1)', 'a condition is missing'],
  ['(!)', 'a condition is missing'],
  ['(role=admin', 'a bracket is not closed'],
  ['(a=1|(b=2)', 'a bracket is not closed'],
  ['skills(level=1', 'a bracket is not closed'],
  ['(role=admin))', 'a bracket is closed that is not open'],
  ['(age=1)(age=2)', '"(age" follows the closed group'],
  ['(age=1)x', '"x" follows the closed group'],
  ['(name=a(b)', 'has a bracket in it. A literal "|", ";", "(" or ")" is written with a backslash before it.'],
  [String.raw`(name=a\)`, 'a bracket is not closed'],
  ['(name|role=x)', '"name" has no operator'],
  ['skills()', 'Did you mean "skills"?'],
  ['(limit=5|offset=3)', 'The parameter "offset" stands beside the group.'],
  ['(nme=x|age=3)', 'Did you mean "name"?'],
  ['(age=x|name=Ann)', '"age" must be an integer, got "x".'],
  ['(age~=1|name=Ann)', '"~=" takes strings only'],
  ['(secret=sesame|age=1)', 'A person has no attribute "secret".'],
  ['skills(owner.secret=s*)', 'A person has no attribute "secret"'],
  ['skills(lvel=1)', 'Did you mean "level"?'],
  ['skils(level=1)', 'Did you mean "skills"?'],
  ['name(a=1)', '"name" is a plain attribute'],
  ['home(city=Oslo)', 'Filter by "home.city".'],
  ['meta.a(b=1)', 'In the name of a key a bracket is written with a backslash before it.'],
  ['boss(boss(boss(boss(boss(boss(age=1))))))', 'walks more than 5 relations'],
  [{ '|': [] }, 'takes an array of query objects'],
  [{ '|': 'x' }, 'takes an array of query objects'],
  [{ '|': [{}] }, 'has a query object without conditions'],
  [{ '|': [{ age: 1 }, 5] }, 'takes query objects'],
  [{ '|': [{ age: [] }] }, 'has an array without values'],
  [{ '|': [{ 'name|role': 'x' }] }, 'names several paths'],
  [{ '|': [{ name: 'a\\' }] }, 'ends with a lone backslash'],
  [{ skills: { level: { gte: 1 } } }, 'An operator follows the name: { "level>=": 1 }.'],
  [{ age: { $gte: 18 } }, 'An operator follows the name: { "age>=": 18 }.'],
]

describeTargets('groups that are refused', { ...world, fresh: 'suite' }, target => {
  for (const [query, why] of REFUSED) {
    it(`${typeof query === 'string' ? query : JSON.stringify(query)}: ${why}`, async () => {
      const answer =
        typeof query === 'string'
          ? await target.call('GET', '/v1/people', query)
          : await target.call('QUERY', '/v1/people', undefined, query, { 'content-type': 'application/json' })
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assertSound(answer, query)
      assert.ok(answer.body.errors[0].detail.includes(why), answer.body.errors[0].detail)
    })
  }

  it('are refused where they are too large, in no time', async () => {
    const deep = (levels: number): Conditions => (levels === 0 ? { age: 1 } : { '|': [deep(levels - 1)] })
    const huge: (string | Conditions)[] = [
      `${'('.repeat(3000)}age=1${')'.repeat(3000)}`,
      '('.repeat(3000),
      `${'boss('.repeat(500)}age=1${')'.repeat(500)}`,
      `(${'age=1|'.repeat(1000)}age=1)`,
      `(${'(age=1);'.repeat(600)}age=1)`,
      '(age=1|age=2|age=3)&'.repeat(51),
      deep(31),
      deep(100),
    ]
    for (const query of huge) {
      const { status, body } =
        typeof query === 'string'
          ? await target.call('QUERY', '/v1/people', undefined, query, { 'content-type': 'application/x-www-form-urlencoded' })
          : await target.call('QUERY', '/v1/people', undefined, query, { 'content-type': 'application/json' })
      assert.equal(status, 400)
      assert.equal(body.errors[0].code, 'limit_exceeded')
    }
    assert.deepEqual(await find(target, deep(30)), [])
    assert.deepEqual(await find(target, `(${'age=1|skills(level=9)|'.repeat(300)}age=17)`), [2])
  })
})

describeStores('groups under rules', () => {
  const user = (ctx: HookContext): string => ctx.headers['x-user'] ?? ''
  const engineOf = async (): Promise<RestEngine> =>
    await createEngine({
      ...world,
      resources: [
        resource(Person, { scope: ctx => (user(ctx) === 'ann' ? { age: { $lt: 30 } } : {}) }),
        resource(Skill, { scope: ctx => (user(ctx) === 'ann' ? { kind: 'go' } : {}) }),
        resource(Club, { access: { list: ctx => user(ctx) !== 'ann', get: ctx => user(ctx) !== 'ann' } }),
      ],
    })

  it('see the rows that exist for the caller, on each side of a group', async () => {
    await using engine = await engineOf()
    const ids = async (query: string, of = 'ann'): Promise<unknown> => {
      const { status, body } = await engine.handle('GET', '/v1/people', query, undefined, { headers: { 'x-user': of } })
      return status === 200 ? body.people.map(({ id }: { id: number }) => id) : body.errors[0].detail
    }
    assert.deepEqual(await ids('(name=Abe|name=Bob)'), [2])
    assert.deepEqual(await ids('skills(kind=js;level=1)'), [])
    assert.deepEqual(await ids('!skills(kind=js;level=1)'), [1, 2])
    assert.deepEqual(await ids('(skills(kind=js)|boss(name=Ann))'), [2])
    assert.deepEqual(await ids('(skills(kind=js)|boss(name=Ann))', 'bob'), [2])
    assert.match(String(await ids('(clubs(open=true)|age=1)')), /no attribute "clubs"|no parameter "clubs"/)
    assert.deepEqual(await ids('(clubs(open=true)|age=1)', 'bob'), [1, 4])
  })

  it('are told from lists of a renamed expand', async () => {
    await using engine = await createEngine({ ...world, parameters: { expand: 'with' } })
    const query = { with: { skills: { limit: 1 } }, skills: { level: 1, kind: 'js' } }
    const { body } = await engine.handle('GET', '/v1/people', query)
    assert.deepEqual(
      body.people[0].skills.map(({ id }: { id: number }) => id),
      [2],
    )
    assert.deepEqual(body.filter, [['skills(level=1;kind=js)', '']])
    assert.equal((await engine.handle('GET', '/v1/people/2', { with: { skills: {} } })).body.person.skills.length, 2)
    assert.equal((await engine.handle('GET', '/v1/people', { expand: { a: 1 } })).body.errors[0].code, 'parameter_unknown')
  })

  it('are values of a default filter, and of an explanation', async () => {
    const filter = { '|': [{ role: 'admin' }, { skills: { level: 1, kind: 'js' } }] }
    await using engine = await createEngine({ ...world, resources: [resource(Person, { filter })] })
    const { body } = await engine.handle('GET', '/v1/people')
    assert.deepEqual(body.filter, [['(role=admin|skills(level=1;kind=js))', '']])
    assert.equal(body.count, 2)
    assert.ok(JSON.stringify(await engine.openapi()).includes('(role=admin|skills(level=1;kind=js))'))
    const { statements } = await engine.explain('GET', '/v1/people', '(age=20|skills(level=1;kind=go))')
    assert.ok(statements.some(({ sql }) => / or .*exists|exists.* or | or .* in \(/s.test(sql)))
  })

  it('keep secret values out of the journal', async () => {
    await using engine = await engineOf()
    await engine.handle('GET', '/v1/people', '(secret=sesame-open|age=3;boss(secret=sesame-open))')
    await engine.handle('GET', '/v1/people', '(secret=sesame-open(x')
    await engine.handle('GET', '/v1/people', '(age=1)secret=sesame-open')
    for (let length = 60; length < 100; length++) await engine.handle('GET', '/v1/people', `(name=${'x'.repeat(length)}|secret=sesame-open`)
    await engine.handle('GET', '/v1/people', { '|': [{ secret: 'sesame-open' }] })
    assert.doesNotMatch(JSON.stringify(engine.requests), /sesam/)
    assert.match(JSON.stringify(engine.requests), /\(secret=\[secret\]\|age=3;boss\(secret=\[secret\]\)\)/)
  })
})
