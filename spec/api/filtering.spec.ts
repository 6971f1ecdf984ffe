/** Filtering: which records each filter finds. Refusals are in filtering-refusals.spec.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { COPY_1, COPY_2, COPY_3, librarySeed } from '../helpers/library-seed.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Target } from '../helpers/targets.ts'
import type { Query } from '../helpers/encode-query.ts'

type Id = number | string

/** The IDs that a filter finds, in order; that the count is theirs is always part of it. */
async function find(target: Target, resource: string, query: Query): Promise<Id[]> {
  const { status, body } = await target.call('GET', `/v1/${resource}`, query)
  assert.equal(status, 200, JSON.stringify(body))
  const records = body[body.resource] as Record<string, Id>[]
  assert.equal(body.count, records.length)
  return records.map(record => record['id'] ?? record['code'] ?? `${record['author'] ?? record['room']}~${record['number']}`)
}

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), name: p.string().length(60).nullable() } })

const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), tags: () => p.manyToMany(Tag).inversedBy('posts') },
})

const Tag = defineEntity({
  name: 'Tag',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    color: p.string().nullable(),
    posts: () => p.manyToMany(Post).mappedBy('tags'),
  },
})

const NAMES = ['Ann', 'ann', null, '', '100%', 'a,b', 'null', '*x', 'É']

const golden = {
  entities: [Note, Post, Tag],
  seed: {
    notes: NAMES.map((name, index) => ({ id: index + 1, name })),
    tags: [
      { id: 1, name: 'a', color: 'red' },
      { id: 2, name: 'b' },
    ],
    posts: [
      { id: 1, tags: [1, 2] },
      { id: 2, tags: [2] },
      { id: 3, tags: [] },
    ],
  },
}

describeTargets('the golden table of filters', { ...golden, fresh: 'suite' }, target => {
  const table: [query: Query, ids: number[]][] = [
    [{ name: 'Ann' }, [1]],
    [{ '!name': 'Ann' }, [2, 3, 4, 5, 6, 7, 8, 9]],
    [{ 'name!=': 'Ann' }, [2, 3, 4, 5, 6, 7, 8, 9]],
    [{ '!name!=': 'Ann' }, [1]],
    [{ name: 'ann*' }, [2]],
    [{ name: 'Ann*' }, [1]],
    [{ 'name~=': 'ann*' }, [1, 2]],
    [{ 'name~=': 'ANN' }, [1, 2]],
    [{ 'name~=': '*N*' }, [1, 2, 7]],
    [{ '!name~=': 'ann*' }, [3, 4, 5, 6, 7, 8, 9]],
    [{ '!name': 'a*' }, [1, 3, 4, 5, 7, 8, 9]],
    [{ name: '*' }, [1, 2, 4, 5, 6, 7, 8, 9]],
    [{ '!name': '*' }, [3]],
    [{ 'name~=': '*' }, [1, 2, 4, 5, 6, 7, 8, 9]],
    [{ name: 'null' }, [3]],
    [{ '!name': 'null' }, [1, 2, 4, 5, 6, 7, 8, 9]],
    [{ name: '\\null' }, [7]],
    [{ '!name': '\\null' }, [1, 2, 3, 4, 5, 6, 8, 9]],
    [{ name: 'nul\\l' }, [7]],
    [{ name: 'null*' }, [7]],
    [{ name: 'NULL' }, []],
    [{ 'name~=': '\\NULL' }, [7]],
    [{ name: '' }, [4]],
    [{ '!name': '' }, [1, 2, 3, 5, 6, 7, 8, 9]],
    [{ name: 'Ann,null' }, [1, 3]],
    [{ '!name': 'Ann,null' }, [2, 4, 5, 6, 7, 8, 9]],
    [{ name: 'null,null' }, [3]],
    [{ name: 'Ann,' }, [1, 4]],
    [{ name: ',' }, [4]],
    [{ name: 'a\\,b' }, [6]],
    [{ name: 'a,b' }, []],
    [{ name: 'Ann,ann' }, [1, 2]],
    [{ name: 'Ann,*x' }, [1, 8]],
    [{ name: '1*,a*' }, [2, 5, 6]],
    [{ name: '100%' }, [5]],
    [{ name: '100*' }, [5]],
    [{ name: '%*' }, []],
    [{ name: '%' }, []],
    [{ name: '*%' }, [5]],
    [{ name: 'A_n' }, []],
    [{ name: '___' }, []],
    [{ name: 'A?n*' }, []],
    [{ name: '[A]nn*' }, []],
    [{ name: '*x' }, [8]],
    [{ name: '\\*x' }, [8]],
    [{ name: '\\**' }, [8]],
    [{ name: '\\*' }, []],
    [{ name: '*\\,*' }, [6]],
    [{ name: 'A\\nn' }, [1]],
    [{ name: '\\!Ann' }, []],
    [{ name: ['Ann', 'ann'] }, [1, 2]],
    [{ name: ['A*', '*n'] }, [1, 2]],
    ['name=Ann&name=ann', []],
    ['name=A*&name=*n', [1]],
    [{ name: 'Ann,Ann' }, [1]],
    [{ name: 'é*' }, []],
    [{ name: 'É*' }, [9]],
    [{ 'name~=': 'é*' }, [9]],
    [{ 'name~=': 'é' }, [9]],
    [{ 'name~=': 'É,ann' }, [1, 2, 9]],
    [{ 'name~=': 'null' }, [3]],
    [{ 'name~=': '' }, [4]],
    [{ 'name~=': '%' }, []],
    [{ 'name~=': '100%' }, [5]],
    [{ 'name~=': 'a_n' }, []],
    [{ 'name~=': '\\*X' }, [8]],
    [{ 'name>=': 'a' }, [2, 6, 7, 9]],
    [{ 'name>': 'a' }, [2, 6, 7, 9]],
    [{ 'name<': 'Ann' }, [4, 5, 8]],
    [{ 'name<=': 'Ann' }, [1, 4, 5, 8]],
    [{ '!name<': 'Ann' }, [1, 2, 3, 6, 7, 9]],
    [{ 'name>=': 'a\\,b' }, [2, 6, 7, 9]],
    [{ 'name<=': '\\*x' }, [4, 8]],
    [{ 'name>=': '\\null' }, [7, 9]],
    [{ 'name>': '' }, [1, 2, 5, 6, 7, 8, 9]],
    [{ 'name<=': '' }, [4]],
    [{ name: 'Ann', id: 1 }, [1]],
    [{ name: 'Ann', id: 2 }, []],
  ]
  for (const [query, ids] of table) {
    it(`finds ${JSON.stringify(ids)} by ${JSON.stringify(query)}`, async () => assert.deepEqual(await find(target, 'notes', query), ids))
  }

  const lists: [query: Query, ids: number[]][] = [
    [{ 'tags.name': 'a' }, [1]],
    [{ '!tags.name': 'a' }, [2, 3]],
    [{ tags: 'null' }, [3]],
    [{ '!tags': 'null' }, [1, 2]],
    [{ tags: '1' }, [1]],
    [{ tags: '2' }, [1, 2]],
    [{ 'tags!=': '2' }, [3]],
    [{ tags: '1,null' }, [1, 3]],
    [{ '!tags': '1,null' }, [2]],
    [{ 'tags.name': 'a,b' }, [1, 2]],
    [{ 'tags.name': ['a', 'b'] }, [1, 2]],
    [{ tags: [1, 2] }, [1, 2]],
    ['tags.name=a&tags.name=b', [1]],
    ['tags=1&tags=2', [1]],
    [{ 'tags.name': 'b', 'tags.color': 'red' }, [1]],
    [{ 'tags.color': 'null' }, [1, 2]],
    [{ '!tags.color': 'null' }, [3]],
    [{ 'tags.name': '*' }, [1, 2]],
    [{ 'tags.name>': 'a' }, [1, 2]],
    [{ 'tags.name<': 'a' }, []],
    [{ 'tags.posts': 3 }, []],
    [{ 'tags.posts': 2 }, [1, 2]],
    [{ 'tags.posts.tags.name': 'a' }, [1, 2]],
    [{ tags: 99 }, []],
    [{ '!tags': 99 }, [1, 2, 3]],
  ]
  for (const [query, ids] of lists) {
    it(`finds ${JSON.stringify(ids)} by ${JSON.stringify(query)} through a list`, async () => {
      assert.deepEqual(await find(target, 'posts', query), ids)
    })
  }
})

/** One attribute of every type, and for each a low and a high value, of the first record and the second; the third has NULLs. */
const Thing = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    integer: p.integer().nullable(),
    bigint: p.bigint().nullable(),
    bigintText: p.bigint('string').nullable(),
    bigintNumber: p.bigint('number').nullable(),
    float: p.float().nullable(),
    double: p.double().nullable(),
    decimal: p.decimal().precision(10).scale(2).nullable(),
    decimalNumber: p.decimal('number').precision(10).scale(2).nullable(),
    string: p.string().nullable(),
    text: p.text().nullable(),
    boolean: p.boolean().nullable(),
    datetime: p.datetime().nullable(),
    date: p.date().nullable(),
    time: p.time().nullable(),
    uuid: p.uuid().nullable(),
    word: p.enum(['high', 'low']).nullable(),
    digit: p.enum([1, 2, 3]).nullable(),
    formula: p.formula<number>(columns => `${String(columns.integer)} * 2`).type('integer'),
    inside: () => p.embedded(Inside).nullable(),
    object: () => p.embedded(Inside).object().nullable(),
  },
})

const Inside = defineEntity({
  name: 'Inside',
  embeddable: true,
  properties: {
    integer: p.integer().nullable(),
    float: p.float().nullable(),
    string: p.string().nullable(),
    boolean: p.boolean().nullable(),
    word: p.enum(['high', 'low']).nullable(),
  },
})

const UUIDS = ['0a000000-0000-4000-8000-00000000000a', 'b0000000-0000-4000-8000-00000000000b'] as const

const KINDS: [path: string, low: unknown, high: unknown][] = [
  ['integer', -5, 1000],
  ['bigint', '9007199254740992', '9007199254740993'],
  ['bigintText', '-9223372036854775808', '9223372036854775807'],
  ['bigintNumber', -1, 0],
  ['float', -0.5, 1e21],
  ['double', 1e-7, 0.1],
  ['decimal', '9.90', '10.00'],
  ['decimalNumber', -0.01, 99999999.99],
  ['string', 'Z', 'a'],
  ['text', 'x', 'x y'],
  ['boolean', false, true],
  ['datetime', '1969-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z'],
  ['date', '1999-12-31', '2000-01-01'],
  ['time', '09:59:59', '10:00:00'],
  ['uuid', UUIDS[0], UUIDS[1]],
  ['word', 'high', 'low'],
  ['digit', 1, 3],
  ['formula', -10, 2000],
  ['inside.integer', 9, 10],
  ['inside.float', 0.25, 0.5],
  ['inside.string', 'B', 'a'],
  ['inside.boolean', false, true],
  ['object.integer', 9, 10],
  ['object.float', 0.25, 0.5],
  ['object.string', 'B', 'a'],
  ['object.boolean', false, true],
  ['object.word', 'high', 'low'],
]

function thing(id: number, value: 1 | 2): Record<string, unknown> {
  const record: Record<string, unknown> = { id }
  for (const kind of KINDS) {
    const [name = '', child] = kind[0].split('.')
    if (name === 'formula') continue
    if (child === undefined) record[name] = kind[value]
    else record[name] = { ...(record[name] as object | undefined), [child]: kind[value] }
  }
  return record
}

const things = { entities: [Thing, Inside], seed: { things: [thing(1, 1), thing(2, 2), { id: 3 }] } }

describeTargets('every operator on every type', { ...things, fresh: 'suite' }, target => {
  for (const [path, lowValue, highValue] of KINDS) {
    const [low, high] = [String(lowValue), String(highValue)]
    it(`compares ${path}, for which ${low} comes before ${high}`, async () => {
      const table: [query: Query, ids: number[]][] = [
        [{ [path]: low }, [1]],
        [{ [path]: high }, [2]],
        [{ [`${path}!=`]: low }, [2, 3]],
        [{ [`!${path}`]: low }, [2, 3]],
        [{ [`!${path}!=`]: low }, [1]],
        [{ [path]: `${low},${high}` }, [1, 2]],
        [{ [`!${path}`]: `${low},${high}` }, [3]],
        [{ [path]: 'null' }, [3]],
        [{ [`${path}!=`]: 'null' }, [1, 2]],
        [{ [path]: `null,${high}` }, [2, 3]],
        [{ [`!${path}`]: `${low},null` }, [2]],
        [{ [path]: [low, high] }, [1, 2]],
        [{ [`${path}>=`]: low }, [1, 2]],
        [{ [`${path}>`]: low }, [2]],
        [{ [`${path}<=`]: low }, [1]],
        [{ [`${path}<`]: low }, []],
        [{ [`${path}>=`]: high }, [2]],
        [{ [`${path}>`]: high }, []],
        [{ [`${path}<`]: high }, [1]],
        [{ [`${path}<=`]: high }, [1, 2]],
        [{ [`!${path}>=`]: high }, [1, 3]],
        [{ [`!${path}<`]: high }, [2, 3]],
        [{ [`${path}>=`]: low, [`${path}<`]: high }, [1]],
        [{ [`${path}|id`]: 'null' }, [3]],
      ]
      for (const [query, ids] of table) assert.deepEqual(await find(target, 'things', query), ids, JSON.stringify(query))
    })
  }

  const spellings: [query: Query, ids: number[]][] = [
    [{ boolean: '1' }, [2]],
    [{ boolean: '0' }, [1]],
    [{ boolean: true }, [2]],
    [{ boolean: false }, [1]],
    [{ integer: 1000 }, [2]],
    [{ integer: null }, [3]],
    [{ string: null }, [3]],
    [{ boolean: [true, null] }, [2, 3]],
    [{ decimal: '9.9' }, [1]],
    [{ decimal: '10' }, [2]],
    [{ decimal: '9.99' }, []],
    [{ 'decimal<': '9.95' }, [1]],
    [{ 'decimal>=': 9.9 }, [1, 2]],
    [{ double: '0.1' }, [2]],
    [{ double: '0.10' }, [2]],
    [{ datetime: '2026-01-01' }, [2]],
    [{ datetime: '2026-01-01T00:00:00' }, [2]],
    [{ datetime: '2026-01-01T00:00:00Z' }, [2]],
    [{ datetime: '2026-01-01T01:00:00+01:00' }, [2]],
    [{ datetime: '2025-12-31T19:00:00-05:00' }, [2]],
    [{ datetime: '2026-01-01T00:00:00.001Z' }, []],
    [{ datetime: '1969-12-31T23:59:59.999' }, [1]],
    [{ 'datetime<': '2026-01-01' }, [1]],
    [{ 'datetime>=': '1970-01-01' }, [2]],
    [{ uuid: UUIDS[0].toUpperCase() }, [1]],
    [{ uuid: `${UUIDS[0].toUpperCase()},${UUIDS[1]}` }, [1, 2]],
    [{ bigint: '9007199254740994' }, []],
    [{ 'bigint>': '9007199254740991' }, [1, 2]],
    [{ time: '10:00' }, [2]],
    [{ 'word>': 'high' }, [2]],
    [{ 'word!=': 'low' }, [1, 3]],
    [{ 'inside.string~=': 'b' }, [1]],
    [{ 'inside.string': '*' }, [1, 2]],
    [{ 'object.string~=': 'b' }, [1]],
    [{ 'object.string': 'B*' }, [1]],
    [{ 'object.string': 'b*' }, []],
    [{ '!object.string': '*' }, [3]],
  ]
  for (const [query, ids] of spellings) {
    it(`finds ${JSON.stringify(ids)} by ${JSON.stringify(query)}`, async () => assert.deepEqual(await find(target, 'things', query), ids))
  }
})

/** Every character that means something to SQL, to a pattern language, or to a query string. */
const CHARACTERS = [...`%_?[]^-*\\,'"\`;()|!&=+#~<>./:@$ {}`, '\t', '\n', 'é', 'ß', '😊', '\u{10ffff}', 'ﬃ']

describeTargets(
  'literal characters',
  { entities: [Note], seed: { notes: CHARACTERS.map((character, index) => ({ id: index + 1, name: `a${character}b` })) }, fresh: 'suite' },
  target => {
    for (const [index, character] of CHARACTERS.entries()) {
      it(`finds the one text with ${JSON.stringify(character)}`, async () => {
        const literal = ['*', ',', '\\'].includes(character) ? `\\${character}` : character
        const escaped = `\\${character}`
        for (const key of ['name', 'name~=']) {
          for (const value of [`a${literal}b`, `a${literal}*`, `*${literal}b`, `*${literal}*`, `a*${literal}*b`, `*a*${literal}b`]) {
            assert.deepEqual(await find(target, 'notes', { [key]: value }), [index + 1], JSON.stringify({ [key]: value }))
          }
        }
        // A backslash takes the next code unit; before a character of two it stands before the pair all the same.
        assert.deepEqual(await find(target, 'notes', { name: `a${escaped}b` }), [index + 1])
        assert.deepEqual(await find(target, 'notes', { name: `${literal}*` }), [])
        const others = CHARACTERS.map((_, other) => other + 1).filter(other => other !== index + 1)
        assert.deepEqual(await find(target, 'notes', { '!name': `*${literal}*` }), others)
      })
    }

    it('lets a star stand for any run of characters, none and line breaks included', async () => {
      assert.equal((await find(target, 'notes', { name: 'a*b' })).length, CHARACTERS.length)
      assert.equal((await find(target, 'notes', { name: '*a*b*' })).length, CHARACTERS.length)
      assert.equal((await find(target, 'notes', { name: '**a**b**' })).length, CHARACTERS.length)
      assert.deepEqual(await find(target, 'notes', { name: 'a*a*' }), [])
      assert.deepEqual(await find(target, 'notes', { name: 'ab*' }), [])
      assert.deepEqual(await find(target, 'notes', { name: '*ab' }), [])
    })
  },
)

const FOLDED: [stored: string, asked: string, found: boolean][] = [
  ['ÉCOLE', 'école', true],
  ['école', 'ÉCOLE', true],
  ['Łódź', 'łÓDŹ', true],
  ['Ωμέγα', 'ωΜΈΓΑ', true],
  ['привет', 'ПРИВЕТ', true],
  ['σας', 'ΣΑΣ', true],
  ['ecole', 'école', false],
  ['İ', 'i', false],
]

describeTargets(
  'case folding',
  { entities: [Note], seed: { notes: FOLDED.map(([name], index) => ({ id: index + 1, name: `${index}${name}` })) }, fresh: 'suite' },
  target => {
    for (const [index, [stored, asked, found]] of FOLDED.entries()) {
      it(`${found ? 'finds' : 'does not find'} ${stored} by ~= ${asked}, and not by =`, async () => {
        for (const value of [`${index}${asked}`, `${index}*${asked}`, `${index}${asked}*`, `*${index}${asked}*`]) {
          assert.deepEqual(await find(target, 'notes', { 'name~=': value }), found ? [index + 1] : [], value)
          assert.deepEqual(await find(target, 'notes', { name: value }), [], value)
        }
      })
    }
  },
)

describeTargets('filters of the library', { ...library, seed: librarySeed, fresh: 'suite' }, target => {
  const tables: Record<string, [query: Query, ids: Id[]][]> = {
    'a to-one by ID': [
      ['books?author=1', [1, 2, 4]],
      ['books?author=2', [3]],
      ['books?author=1,2', [1, 2, 3, 4]],
      ['books?author!=1', [3]],
      ['books?author=99', []],
      ['books?author=null', []],
      ['books?!author=null', [1, 2, 3, 4]],
      ['authors?mentor=1', [2, 3]],
      ['authors?!mentor=1', [1, 4]],
      ['authors?mentor=null', [1]],
      ['authors?mentor!=null', [2, 3, 4]],
      ['authors?mentor=null,2', [1, 4]],
      ['authors?!mentor=null,2', [2, 3]],
      ['books?sequelOf=1', [2]],
      ['books?sequelOf=null', [1, 3, 4]],
      ['copies?branch=MAIN', [COPY_1]],
      ['copies?branch=main', []],
      [`copies?branch=${encodeURIComponent('a/b %~')}`, [COPY_3]],
      ['copies?branch=null', [COPY_2]],
      ['copies?branch=%5Cnull', []],
      [`copies?shelf=${encodeURIComponent('A%7E1~4')}`, [COPY_1]],
      [`copies?shelf=${encodeURIComponent('A%7E1~4,C%2FD~10')}`, [COPY_1, COPY_3]],
      [`copies?shelf=${encodeURIComponent('B~1')}`, []],
      ['copies?shelf=null', [COPY_2]],
      ['copies?!shelf=null', [COPY_1, COPY_3]],
      ['comments?review=2~1', [1, 2]],
      ['comments?review=2~2', []],
      ['comments?!review=2~2', [1, 2]],
      ['reviews?author=2', ['2~1', '2~2']],
      ['reviews?author=2&number=2', ['2~2']],
    ],
    'the inverse side of a one-to-one': [
      ['authors?profile=1', [1]],
      ['authors?profile=null', [2, 3, 4]],
      ['authors?!profile=1', [2, 3, 4]],
      ['authors?profile.newsletter=true', [1]],
      ['authors?profile.website=null', [2, 3, 4]],
      ['books?sequel=2', [1]],
      ['books?sequel=null', [2, 3, 4]],
      ['books?sequel.title=Two', [1]],
      ['books?sequelOf.sequelOf=null', [1, 2, 3, 4]],
    ],
    'a list by ID': [
      ['books?genres=2', [1, 2]],
      ['books?genres=2,3', [1, 2, 4]],
      ['books?!genres=2', [3, 4]],
      ['books?genres=null', [3]],
      ['books?genres!=null', [1, 2, 4]],
      ['books?genres=null,1', [1, 3]],
      ['books?genres=1&genres=2', [1]],
      ['books?similar=2', [1]],
      ['books?similar=null', [2, 3, 4]],
      ['genres?children=2', [1]],
      ['genres?children=null', [2, 3, 4]],
      ['genres?books=null', [4]],
      ['authors?pupils=3,4', [1, 2]],
      ['authors?reviews=2~2', [2]],
      ['authors?reviews=2~1,3~1', [2, 3]],
      ['books?reviews=null', [2, 4]],
      [`books?copies=${COPY_1.toUpperCase()}`, [1]],
      [`books?copies=${COPY_1},${COPY_3}`, [1, 2]],
      [`shelves?copies=${COPY_1}`, ['A~1~4']],
      ['shelves?copies=null', ['B~1']],
    ],
    'a path through to-ones': [
      ['books?author.name=Ann', [1, 2, 4]],
      ['books?author.name~=ANN', [1, 2, 4]],
      ['books?author.mentor.name=Ann', [3]],
      ['books?author.mentor=null', [1, 2, 4]],
      ['authors?mentor.name=Ann', [2, 3]],
      ['authors?!mentor.name=Ann', [1, 4]],
      ['authors?mentor.name=null', [1]],
      ['authors?mentor.name!=null', [2, 3, 4]],
      ['authors?mentor.bio=null', [1, 4]],
      ['authors?mentor.mentor.name=Ann', [4]],
      ['authors?mentor.mentor.name=null', [1, 2, 3]],
      ['authors?mentor.mentor=null', [1, 2, 3]],
      ['authors?mentor.rating>=0', [2, 3]],
      ['authors?!mentor.rating>=0', [1, 4]],
      ['authors?mentor.id=1', [2, 3]],
      ['copies?book.author.name=Ann', [COPY_1, COPY_2, COPY_3]],
      ['copies?shelf.room=B,C/D', [COPY_3]],
      ['copies?shelf.label=null', [COPY_2]],
      ['comments?review.author=2', [1, 2]],
      ['comments?review.author.name=Bob', [1, 2]],
      ['comments?review.book.title=One', [1, 2]],
      ['comments?review.number=2', []],
    ],
    'a path through lists': [
      ['books?genres.name=crime', [1, 2]],
      ['books?!genres.name=crime', [3, 4]],
      ['books?genres.name=*i*', [1, 2, 4]],
      ['books?genres.parent=null', [1]],
      ['books?genres.parent.name=fiction', [1, 2, 4]],
      ['books?genres.parent.name=null', [1]],
      ['books?!genres.parent.name=null', [2, 3, 4]],
      ['authors?books.genres.name=satire', [1]],
      ['authors?books.title=null', []],
      ['authors?books=null', [3, 4]],
      ['authors?books.pages=null', [2]],
      ['authors?books.reviews.stars>=4', [1, 2]],
      ['authors?books.reviews.stars=3&books.reviews.stars=5', [1]],
      ['authors?books.reviews.author=1', [2]],
      ['authors?books.copies.shelf.room=A~1', [1]],
      ['authors?reviews.comments.text=true', [2]],
      ['authors?mentor.books.title=One', [2, 3]],
      ['authors?!mentor.books.title=One', [1, 4]],
      ['authors?mentor.books.pages=null', [4]],
      ['authors?!mentor.books.pages=null', [1, 2, 3]],
      ['authors?mentor.books=3', [4]],
      ['authors?mentor.pupils=null', [1]],
      ['genres?books.author.name=Ann', [1, 2, 3]],
      ['genres?books.author.profile.website=*', [1, 2, 3]],
    ],
    'embedded objects': [
      ['authors?home.city=York', [2]],
      ['authors?home.city=york', []],
      ['authors?home.city~=york', [2]],
      ['authors?home.city=*o*', [1, 2]],
      ['authors?home.city=null', [3, 4]],
      ['authors?!home.city=York', [1, 3, 4]],
      ['authors?home.zip=null', [2, 3, 4]],
      ['authors?home.city>=I', [2]],
      ['authors?mentor.home.city=Haworth', [2, 3]],
      ['authors?mentor.home.city=null', [1]],
      ['authors?pupils.home.city=York', [1]],
      ['branches?address.city=Leeds', ['MAIN']],
      ['branches?address.city=null', ['a/b %~']],
      ['books?size.unit=in', [4]],
      ['books?size.unit=mm,in', [1, 4]],
      ['books?size.unit=null', [2, 3]],
      ['books?size.width>5', [1]],
      ['books?size.width<=10', [1, 4]],
      ['books?size.width=10', [1]],
      ['books?size.height=20.5', [1]],
      ['books?!size.height=20.5', [2, 3, 4]],
      ['books?size.measuredOn=null', [1, 2, 3, 4]],
      ['books?sequelOf.size.unit=mm', [2]],
      ['genres?books.size.unit=mm', [1, 2]],
    ],
    'any of several paths': [
      ['authors?name|email=*ann*', [1, 3]],
      ['authors?name|email~=*BOB*', [2]],
      ['authors?!name|email=*ann*', [2, 4]],
      ['authors?name|email!=*ann*', [2, 4]],
      ['authors?name|mentor.name=Ann', [1, 2, 3]],
      ['authors?name|home.city=York,ann', [2, 3]],
      ['authors?bio|born=null', [2, 4]],
      ['authors?!bio|born=null', [1, 3]],
      ['authors?mentor|mentor.mentor=1', [2, 3, 4]],
      ['books?title|genres.name=Two,fiction', [1, 2]],
      ['books?genres|similar=2', [1, 2]],
      ['books?genres|similar=null', [2, 3, 4]],
      ['books?pages|views>=100', [1, 2]],
      ['books?pages|views|edition=3', [4]],
      ['authors?name|name=Ann', [1]],
    ],
    'what serializedName, formulas and defaults make': [
      ['authors?pen_name=A. Nonymous', [1]],
      ['authors?pen_name=null', [2, 3, 4]],
      ['books?author.pen_name=A.*', [1, 2, 4]],
      ['books?titleLength=3', [1, 2]],
      ['books?titleLength>3', [3, 4]],
      ['books?author.books.titleLength=4', [1, 2, 4]],
      ['authors?role=writer', [1, 3]],
      ['authors?followers=0', [2, 4]],
      ['authors?royalties=0', [2, 4]],
      ['authors?royalties=0.00', [2, 4]],
    ],
    'several filters, each on its own': [
      ['authors?active=true&role=writer', [1, 3]],
      ['authors?active=true&role=writer&name=Ann', [1]],
      ['books?pages>=50&pages<200', [1, 4]],
      ['books?pages>=50&!pages=100&pages<=200', [2, 4]],
      ['books?author.name=Ann&author.name=Bob', []],
      ['books?genres.name=crime&genres.id=1', [1]],
      ['books?genres.name=crime&!genres.id=1', [2]],
    ],
    'null where an attribute cannot be null': [
      ['authors?name=null', []],
      ['authors?!name=null', [1, 2, 3, 4]],
      ['authors?id=null', []],
      ['authors?name=null,Ann', [1]],
      ['authors?active=null', []],
    ],
  }
  for (const [what, table] of Object.entries(tables)) {
    describe(what, () => {
      for (const [request, ids] of table) {
        it(`finds ${JSON.stringify(ids)} by ${request as string}`, async () => {
          const [resource = '', query = ''] = (request as string).split(/\?(.*)/s)
          assert.deepEqual(await find(target, resource, query), ids)
        })
      }
    })
  }

  const forms: [query: Query, ids: number[]][] = [
    ['pages>=100', [1, 2]],
    ['pages>100', [2]],
    ['pages<=100', [1, 4]],
    ['pages<100', [4]],
    ['pages%3E=100', [1, 2]],
    ['pages%3E100', [2]],
    ['pages%3C=100', [1, 4]],
    ['pages%3C100', [4]],
    ['!pages>100', [1, 3, 4]],
    ['title!=One', [2, 3, 4]],
    ['title~=*o*', [1, 2, 4]],
    ['%74itle=One', [1]],
    ['title=100%25+*', [3]],
    ['title=100%25%20*', [3]],
    ['title=One&title=O*&', [1]],
    [{ 'pages>=': 100 }, [1, 2]],
    [{ 'pages>': 100 }, [2]],
    [{ 'pages<=': 100 }, [1, 4]],
    [{ 'pages<': 100 }, [4]],
    [{ 'pages>=': 50, 'pages<': 200 }, [1, 4]],
    [{ 'title!=': 'One' }, [2, 3, 4]],
    [{ 'title~=': 'ONE' }, [1]],
    [{ '!title': 'One' }, [2, 3, 4]],
    [{ title: ['O*', '*e'] }, [1]],
    [{ title: 'One,Two' }, [1, 2]],
    ['genres.name=crime&genres.name=fiction', [1]],
    [{ sequelOf: null }, [1, 3, 4]],
    [{ 'sequelOf!=': null }, [2]],
    [{ 'title|isbn': '9780000000001' }, [1]],
    [new URLSearchParams({ title: '100% \\*true\\*\\, really' }), [3]],
    [new URLSearchParams('pages=100'), [1]],
  ]
  for (const [query, ids] of forms) {
    it(`reads ${query instanceof URLSearchParams ? `URLSearchParams ${String(query)}` : JSON.stringify(query)} as written`, async () => {
      assert.deepEqual(await find(target, 'books', query), ids)
    })
  }

  const echoes: [query: Query, filter: [string, string][]][] = [
    [{}, []],
    [{ '!name': 'A*' }, [['!name', 'A*']]],
    [{ name: 'A\\,*,null' }, [['name', 'A\\,*,null']]],
    [{ 'rating>=': 1 }, [['rating>=', '1']]],
    [{ 'rating>': 1 }, [['rating>', '1']]],
    [{ 'rating<': 1 }, [['rating<', '1']]],
    [{ 'rating<=': 1 }, [['rating<=', '1']]],
    [{ 'name!=': 'x' }, [['name!=', 'x']]],
    [{ 'name~=': 'é*' }, [['name~=', 'é*']]],
    [{ 'name|email': '*a*' }, [['name|email', '*a*']]],
    [{ mentor: null }, [['mentor', 'null']]],
    [{ active: true }, [['active', 'true']]],
    [{ bio: '' }, [['bio', '']]],
    [{ name: ['a', 'b,*', null, 'null', '\\'], limit: 5 }, [['name', 'a,b\\,*,null,\\null,\\\\']]],
    [
      'rating>=1&rating>1&name!=x&!name=%41',
      [
        ['rating>=', '1'],
        ['rating>', '1'],
        ['name!=', 'x'],
        ['!name', 'A'],
      ],
    ],
    ['name=a+b%2Bc%26d', [['name', 'a b+c&d']]],
  ]
  for (const [query, filter] of echoes) {
    it(`repeats ${JSON.stringify(query)} in the envelope, decoded`, async () => {
      assert.deepEqual((await target.call('GET', '/v1/authors', query)).body.filter, filter)
    })
  }

  it('neither repeats a record that is reached by many ways nor counts it twice', async () => {
    for (const query of [
      'books.reviews.stars>=1',
      'books.genres.name=*',
      'books.copies.loanable=true,false',
      'pupils.pupils|pupils=2,3,4',
    ]) {
      const { body } = await target.call('GET', '/v1/authors', `${query}&sort=books.reviews,books.genres.name`)
      const ids = (body.authors as { id: number }[]).map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length)
      assert.equal(body.count, ids.length)
      assert.equal((await target.call('GET', '/v1/authors', `${query}&limit=0`)).body.count, ids.length)
    }
  })

  it('filters the list of an attribute, rooted at the related resource', async () => {
    assert.deepEqual(await find(target, 'authors/1/books', 'pages>=100&sort=id'), [1, 2])
    assert.deepEqual(await find(target, 'authors/1/books', { 'genres.name': 'satire' }), [4])
    assert.deepEqual(await find(target, 'books/1/genres', { 'books.title': 'Two' }), [2])
    assert.deepEqual(await find(target, 'genres/1/children', { '!name': 'crime' }), [3])
    assert.deepEqual(await find(target, 'books/1/reviews', { 'stars>': 3 }), ['3~1', '2~2'])
    assert.deepEqual(await find(target, 'books/1/similar', { author: 2 }), [3])
  })
})

/** Attributes that bear the names of parameters. */
const Setting = defineEntity({
  name: 'Setting',
  properties: {
    id: p.integer().primary(),
    limit: p.integer(),
    sort: p.string(),
    depth: p.integer().nullable(),
    parent: () => p.manyToOne(Setting).nullable(),
  },
})

const settings = {
  entities: [Setting],
  seed: {
    settings: [
      { id: 1, limit: 5, sort: 'b' },
      { id: 2, limit: 7, sort: 'a', depth: 1, parent: 1 },
    ],
  },
}

describeTargets('attributes with reserved names', { ...settings, fresh: 'suite' }, target => {
  const table: [query: Query, ids: number[]][] = [
    [{ limit_: 5 }, [1]],
    [{ '!limit_': 5 }, [2]],
    [{ 'limit_!=': 5 }, [2]],
    [{ 'limit_>': 5 }, [2]],
    [{ 'limit_<=': 5 }, [1]],
    [{ limit_: '5,7' }, [1, 2]],
    [{ sort_: 'b' }, [1]],
    [{ 'sort_~=': 'B' }, [1]],
    [{ 'sort_|id': '2' }, [2]],
    [{ 'id|limit_': 5 }, [1]],
    [{ depth_: null }, [1]],
    [{ limit_: 5, limit: 1 }, [1]],
    [{ 'parent.limit': 5 }, [2]],
    [{ sort: 'limit.desc', limit: 5 }, [2, 1]],
    [{ sort: 'sort' }, [2, 1]],
  ]
  for (const [query, ids] of table) {
    it(`finds ${JSON.stringify(ids)} by ${JSON.stringify(query)}`, async () => assert.deepEqual(await find(target, 'settings', query), ids))
  }

  it('repeats the name as it was written', async () => {
    assert.deepEqual((await target.call('GET', '/v1/settings', { limit_: 5 })).body.filter, [['limit_', '5']])
  })
})
