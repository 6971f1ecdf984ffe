/** Filters that are refused with 400: wrong values, wrong places, unknown names, and more than the limits allow. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { leastTime } from '../helpers/least.ts'
import { COPY_1, librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer, Target } from '../helpers/targets.ts'
import type { Query } from '../helpers/encode-query.ts'

/** That a list is refused with 400 for one parameter; gives the fault. */
async function refuse(target: Target, resource: string, query: Query): Promise<Answer['body']> {
  const answer = await target.call('GET', `/v1/${resource}`, query)
  assert.equal(answer.status, 400, `${JSON.stringify(query)}: ${JSON.stringify(answer.body)}`)
  assertSound(answer, query)
  assert.ok(Array.isArray(answer.body.errors))
  assert.equal(typeof answer.body.errors[0].parameter, 'string')
  return answer.body.errors[0]
}

const Thing = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    integer: p.integer().nullable(),
    bigint: p.bigint().nullable(),
    float: p.float().nullable(),
    double: p.double().nullable(),
    decimal: p.decimal().precision(10).scale(2).nullable(),
    boolean: p.boolean().nullable(),
    datetime: p.datetime().nullable(),
    date: p.date().nullable(),
    time: p.time().nullable(),
    uuid: p.uuid().nullable(),
    word: p.enum(['high', 'low']).nullable(),
    digit: p.enum([1, 2, 3]).nullable(),
    string: p.string().nullable(),
    json: p.json<unknown>().nullable(),
    blob: p.blob().nullable(),
    formula: p.formula<number>(columns => `${String(columns.integer)} * 2`).type('integer'),
    other: () => p.manyToOne(Thing).nullable(),
    others: () => p.oneToMany(Thing).mappedBy('other'),
  },
})

const NO_INTEGERS = [
  'abc',
  '',
  '01',
  '-01',
  '5.0',
  '1e3',
  '0x10',
  ' 1',
  '1 ',
  '+1',
  '1_000',
  '--1',
  '1-',
  '٣',
  'true',
  'NULL',
  '1180591620717411303424',
]
const NO_NUMBERS = ['abc', '', 'NaN', 'Infinity', '-Infinity', '0x10', ' 1', '1 ', '1.2.3', '--1', '1_000', 'true']

const WRONG: Record<string, string[]> = {
  integer: NO_INTEGERS,
  formula: NO_INTEGERS,
  digit: [...NO_INTEGERS, '0', '4'],
  bigint: [...NO_INTEGERS, '9223372036854775808', '-9223372036854775809'],
  float: NO_NUMBERS,
  double: NO_NUMBERS,
  decimal: NO_NUMBERS,
  boolean: ['', 'yes', 'no', 'on', 'TRUE', 'True', 't', '2', '-1', '01', '1.0', ' true', 'NULL'],
  datetime: [
    '',
    'abc',
    'now',
    'today',
    '2026',
    '2026-13-01',
    '2026-02-30',
    '2026-00-10',
    '2026-01-01T25:00:00Z',
    '2026-01-01T12:61:00Z',
    '01/02/2026',
    '1767225600000',
    '2026-01-01T12:00:00+99:00',
  ],
  date: ['', 'abc', '2026-02-30', '2026-13-01', '2026-1-1', '20260101', '01.02.2026', '2026-01-32', 'yesterday'],
  time: ['', 'abc', '25:00:00', '12:60:00', '12:00:60', '12', 'noon', '-01:00:00'],
  uuid: ['', 'abc', '1', `${COPY_1}0`, COPY_1.slice(1), `${COPY_1.slice(1)}g`, ` ${COPY_1}`],
  word: ['', 'medium', 'HIGH', ' low', '1'],
  other: [...NO_INTEGERS, '1~2'],
  others: NO_INTEGERS,
}

describeTargets('values that cannot be of the type', { entities: [Thing], fresh: 'suite' }, target => {
  it('says what the attribute takes, and what came', async () => {
    const { detail } = await refuse(target, 'things', { integer: 'abc' })
    assert.equal(detail, '"integer" must be an integer, got "abc".')
  })

  it('says which parameters are of lists', async () => {
    const { errors } = (await target.call('GET', '/v1/things/1', { limit: 1 })).body
    assert.equal(errors[0].detail, '"limit" works on lists only; a single record takes depth, attributes, expand.')
  })

  for (const [name, values] of Object.entries(WRONG)) {
    for (const value of values) {
      it(`refuses ${name} = ${JSON.stringify(value)}`, async () => {
        const fault = await refuse(target, 'things', { [name]: value })
        assert.equal(fault.parameter, name)
        await refuse(target, 'things', { [`!${name}`]: value })
        await refuse(target, 'things', { [`${name}!=`]: value })
        await refuse(target, 'things', { [`id|${name}`]: value })
        await refuse(target, 'things', { [name]: `null,${value}` })
        if (!name.startsWith('other')) {
          await refuse(target, 'things', { [`other.${name}`]: value })
          await refuse(target, 'things', { [`others.${name}`]: value })
          for (const operator of ['>=', '<=', '>', '<']) await refuse(target, 'things', { [name + operator]: value })
        }
      })
    }
  }

  const good: Record<string, string> = {
    integer: '1',
    formula: '1',
    bigint: '1',
    float: '1.5',
    double: '1.5',
    decimal: '1.5',
    boolean: 'true',
    datetime: '2026-01-01T00:00:00Z',
    date: '2026-01-01',
    time: '12:00:00',
    uuid: COPY_1,
    digit: '1',
  }
  for (const [name, value] of Object.entries(good)) {
    it(`refuses wildcards and ~= on ${name}, which is no text`, async () => {
      for (const wild of ['*', `${value}*`, `*${value}`, `${value},*`, `null,*`]) await refuse(target, 'things', { [name]: wild })
      await refuse(target, 'things', { [`${name}~=`]: value })
      await refuse(target, 'things', { [`!${name}~=`]: value })
      await refuse(target, 'things', { [`${name}~=`]: '*' })
    })
  }

  for (const [name, value] of Object.entries({ ...good, string: 'x', word: 'low' })) {
    it(`refuses a list, a wildcard and null beside >=, <=, > and < on ${name}`, async () => {
      for (const operator of ['>=', '<=', '>', '<']) {
        for (const wrong of [`${value},${value}`, `${value},`, 'null', '*', `${value}*`, `null,${value}`]) {
          await refuse(target, 'things', { [name + operator]: wrong })
          await refuse(target, 'things', { [`!${name}${operator}`]: wrong })
        }
      }
    })
  }

  for (const name of ['blob', 'other.blob', 'others.blob']) {
    it(`refuses every filter by ${name}`, async () => {
      for (const key of [name, `!${name}`, `${name}!=`, `${name}~=`, `${name}>=`, `${name}<=`, `${name}>`, `${name}<`]) {
        for (const value of ['AAEC', 'x', '', '*', 'null']) await refuse(target, 'things', { [key]: value })
      }
    })
  }

  for (const name of ['json', 'other.json', 'others.json']) {
    it(`refuses to compare ${name} with a list or null by order`, async () => {
      for (const key of [`${name}>=`, `${name}<`]) {
        for (const value of ['1,2', 'null', '1*']) await refuse(target, 'things', { [key]: value })
      }
    })
  }

  for (const name of ['other', 'others']) {
    it(`compares the relation ${name} with = and IDs only`, async () => {
      for (const operator of ['>=', '<=', '>', '<', '~=']) {
        await refuse(target, 'things', { [name + operator]: '1' })
        await refuse(target, 'things', { [name + operator]: 'null' })
      }
      for (const value of ['*', '1*', '1,*']) await refuse(target, 'things', { [name]: value })
    })
  }
})

describeTargets('filters by names that are not there', { ...library, seed: librarySeed, fresh: 'suite' }, target => {
  const unknown: [resource: string, name: string, suggestion: string | undefined][] = [
    ['authors', 'nam', 'name'],
    ['authors', 'emial', 'email'],
    ['authors', 'Name', 'name'],
    ['authors', 'penName', 'pen_name'],
    ['authors', 'limt', 'limit'],
    ['authors', 'atributes', 'attributes'],
    ['authors', 'created_at', 'createdAt'],
    ['authors', 'zzzzzzzzzz', undefined],
    ['books', 'author.nam', 'name'],
    ['books', 'author.mentor.emial', 'email'],
    ['books', 'genres.nam', 'name'],
    ['books', 'genres.parent.nam', 'name'],
    ['books', 'reviews.star', 'stars'],
    ['authors', 'home.cty', 'city'],
    ['books', 'size.widht', 'width'],
    ['books', 'auther.name', 'author'],
    ['authors', 'books.titel', 'title'],
    ['authors', 'name|emial', 'email'],
    ['authors', 'emial|name', 'email'],
  ]
  for (const [resource, name, suggestion] of unknown) {
    it(`refuses to filter ${resource} by ${name}${suggestion === undefined ? '' : `, and suggests ${suggestion}`}`, async () => {
      const fault = await refuse(target, resource, { [name]: 'x' })
      assert.equal(fault.parameter, name)
      assert.equal(fault.suggestion, suggestion)
      for (const key of [`!${name}`, `${name}!=`, `${name}~=`, `${name}>=`, `${name}<`]) await refuse(target, resource, { [key]: 'x' })
    })
  }

  const noPaths: [resource: string, name: string][] = [
    ['authors', 'name.x'],
    ['authors', 'name.length'],
    ['authors', 'id.id'],
    ['authors', 'home'],
    ['authors', 'home.'],
    ['authors', 'home.city.x'],
    ['books', 'size'],
    ['books', 'author.'],
    ['books', '.author'],
    ['books', 'author..name'],
    ['books', '.'],
    ['authors', 'name|'],
    ['authors', '|name'],
    ['authors', '|'],
    ['authors', ''],
    ['authors', '!'],
    ['authors', ' name'],
    ['authors', 'name '],
    ['authors', 'passwordHash'],
    ['books', 'author.passwordHash'],
    ['authors', 'pupils.passwordHash'],
    ['authors', 'name|passwordHash'],
    ['books', 'draft'],
    ['books', 'author_id'],
    ['books', 'title_'],
    ['books', 'limit_'],
    ['books', 'genres__inverse'],
    ['books', 'book__inverse'],
    ['genres', 'books.draft'],
    ['reviews', 'id'],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'length'].flatMap((name): [string, string][] => [
      ['authors', name],
      ['authors', `mentor.${name}`],
      ['authors', `books.${name}`],
      ['authors', `home.${name}`],
      ['authors', `name.${name}`],
      ['authors', `${name}.name`],
    ]),
  ]
  for (const [resource, name] of noPaths) {
    it(`refuses to filter ${resource} by ${JSON.stringify(name)}`, async () => {
      for (const value of ['x', 'null', '*', '1']) await refuse(target, resource, `${encodeURIComponent(name)}=${value}`)
    })
  }

  it('refuses a hidden attribute as one that is not there, and never suggests it', async () => {
    for (const name of ['passwordHash', 'passwordHas', 'password_hash', 'passwordhash']) {
      const { body } = await target.call('GET', '/v1/authors', { [name]: 'secret-1' })
      assert.equal(body.status, 400)
      assert.notEqual(body.errors[0].suggestion, 'passwordHash')
      assert.ok(!JSON.stringify(body.errors[0].allowed ?? []).includes('passwordHash'))
    }
    const known = await target.call('GET', '/v1/authors', { passwordHash: 'secret-1' })
    const other = await target.call('GET', '/v1/authors', { passwordHosh: 'secret-1' })
    assert.equal(known.body.code, other.body.code)
    assert.equal(known.body.errors[0].code, other.body.errors[0].code)
  })

  it('refuses a backslash that stands alone at the end', async () => {
    for (const value of ['\\', 'x\\', 'a,\\', 'a*\\', '\\\\\\']) {
      for (const key of ['name', '!name', 'name~=', 'name>=', 'mentor.name', 'name|email'])
        await refuse(target, 'authors', { [key]: value })
    }
    assert.equal((await target.call('GET', '/v1/authors', { name: '\\\\' })).status, 200)
  })

  const badIds: [resource: string, name: string, ids: string[]][] = [
    ['books', 'author', ['abc', '01', '1.0', '1e3', '1180591620717411303424', ' 1', '1~1', '']],
    ['books', 'genres', ['abc', '1,abc', '01', '']],
    ['books', 'copies', ['1', 'abc', COPY_1.slice(1), '']],
    ['copies', 'shelf', ['B', 'B~', 'B~x', 'B~01', 'B~1~2', '1', '']],
    ['comments', 'review', ['2', '2~', '2~x', '02~1', 'x~1', '2~1~1', '']],
    ['books', 'author.mentor', ['abc', '01']],
    ['authors', 'books.genres', ['abc', '01']],
  ]
  for (const [resource, name, ids] of badIds) {
    it(`refuses to filter ${resource} by an ${name} that cannot be an ID`, async () => {
      for (const id of ids) {
        await refuse(target, resource, { [name]: id })
        await refuse(target, resource, { [`!${name}`]: id })
      }
    })
  }
})

const chain = (relations: number, end: string): string => [...Array.from({ length: relations }, () => 'mentor'), end].join('.')

describe('guards', () => {
  describeTargets('the default limits of filters', { ...library, seed: librarySeed, fresh: 'suite' }, target => {
    it('takes a path of five relations and refuses one of six', async () => {
      assert.equal((await target.call('GET', '/v1/authors', { [chain(5, 'name')]: 'x' })).status, 200)
      assert.equal((await target.call('GET', '/v1/authors', { [chain(4, 'books')]: '1' })).status, 200)
      assert.equal((await target.call('GET', '/v1/authors', { [chain(4, 'mentor')]: 'null' })).status, 200)
      await refuse(target, 'authors', { [chain(6, 'name')]: 'x' })
      await refuse(target, 'authors', { [chain(5, 'books')]: '1' })
      await refuse(target, 'authors', { [chain(5, 'mentor')]: 'null' })
      await refuse(target, 'authors', { [`name|${chain(6, 'name')}`]: 'x' })
      await refuse(target, 'authors', { [chain(200, 'name')]: 'x' })
    })

    it('takes fifty filters and refuses fifty-one', async () => {
      const filters = (count: number): string => Array.from({ length: count }, (_, index) => `!id=${index + 100}`).join('&')
      const { status, body } = await target.call('GET', '/v1/authors', `${filters(50)}&limit=5&depth=0`)
      assert.equal(status, 200)
      assert.equal(body.count, 4)
      await refuse(target, 'authors', filters(51))
    })

    it('takes a list of a thousand values and refuses one more', async () => {
      const list = (count: number): string => Array.from({ length: count }, (_, index) => index + 1).join(',')
      for (const name of ['id', '!id', 'mentor', 'pupils']) {
        assert.equal((await target.call('GET', '/v1/authors', { [name]: list(1000) })).status, 200)
        await refuse(target, 'authors', { [name]: list(1001) })
      }
      assert.equal((await target.call('GET', '/v1/authors', { name: `Ann${',x'.repeat(999)}` })).body.count, 1)
      await refuse(target, 'authors', { name: 'x,'.repeat(1000) })
    })

    it('takes ten stars in a value and refuses eleven', async () => {
      for (const key of ['name', 'name~=']) {
        assert.equal((await target.call('GET', '/v1/authors', { [key]: `${'*'.repeat(9)}n*` })).status, 200)
        assert.equal((await target.call('GET', '/v1/authors', { [key]: `${'a*'.repeat(10)},${'b*'.repeat(10)}` })).status, 200)
        assert.equal((await target.call('GET', '/v1/authors', { [key]: `${'*'.repeat(10)}${'\\*'.repeat(5)}` })).status, 200)
        await refuse(target, 'authors', { [key]: 'a*'.repeat(11) })
        await refuse(target, 'authors', { [key]: `x,${'*'.repeat(11)}` })
      }
    })

    it('answers a long value fast, found or not', async () => {
      const duration = await leastTime(async () => {
        await target.call('GET', '/v1/authors', { name: `${'a'.repeat(3000)}*${'b'.repeat(3000)}` })
        await target.call('GET', '/v1/authors', { 'name~=': `*${'a*'.repeat(9)}b` })
      }, 2000)
      assert.ok(duration < 2000, `${duration} ms`)
    })
  })

  const limits = { maxPathRelations: 1, maxFilters: 2, maxListValues: 3, maxStars: 1 }
  describeTargets('other limits of filters', { ...library, seed: librarySeed, limits, fresh: 'suite' }, target => {
    const table: [within: Query, over: Query][] = [
      ['mentor.name=x', 'mentor.mentor.name=x'],
      ['!id=7&!id=8', '!id=7&!id=8&!id=9'],
      ['id=1,2,3', 'id=1,2,3,4'],
      ['name=a*', 'name=*a*'],
    ]
    for (const [within, over] of table) {
      it(`takes ${within as string} and refuses ${over as string}`, async () => {
        assert.equal((await target.call('GET', '/v1/authors', within)).status, 200)
        await refuse(target, 'authors', over)
      })
    }
  })
})
