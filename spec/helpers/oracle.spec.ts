/** Compares the oracle with tables that were written by hand from the contract. No engine takes part. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { comparator, matches, Refused, render, select, type Resource, type Row } from './oracle.ts'

const post: Resource = {
  name: 'posts',
  singular: 'post',
  key: ['id'],
  attributes: {
    id: { kind: 'plain', type: 'integer', nullable: false },
    name: { kind: 'plain', type: 'text', nullable: true },
    age: { kind: 'plain', type: 'integer', nullable: true },
    tags: { kind: 'many', target: () => tag, nullable: false },
    next: { kind: 'one', target: () => post, nullable: true },
  },
}
const tag: Resource = {
  name: 'tags',
  singular: 'tag',
  key: ['id'],
  attributes: {
    id: { kind: 'plain', type: 'integer', nullable: false },
    name: { kind: 'plain', type: 'text', nullable: true },
  },
}

const named = [null, 'Ann', 'ann', null, '', '100%', 'a,b', 'null', '*x', 'É']
const rows: Row[] = named.slice(1).map((name, i) => ({ of: post, values: { id: i + 1, name, age: null, tags: [], next: null } }))

const tags: Row[] = ['a', 'b', null].map((name, i) => ({ of: tag, values: { id: i + 1, name } }))
const [a, b, c] = tags as [Row, Row, Row]
const p3: Row = { of: post, values: { id: 3, name: 'p3', age: null, tags: [], next: null } }
const p2: Row = { of: post, values: { id: 2, name: 'p2', age: 20, tags: [b], next: p3 } }
const p1: Row = { of: post, values: { id: 1, name: 'p1', age: 10, tags: [a, b], next: p2 } }
const p4: Row = { of: post, values: { id: 4, name: 'p4', age: 30, tags: [c], next: null } }
const posts = [p1, p2, p3, p4]

const ids = (found: readonly Row[]): unknown => found.map(row => row.values['id'])

describe('oracle', () => {
  const golden: [name: string, value: string, found: number[]][] = [
    ['name', 'Ann', [1]],
    ['!name', 'Ann', [2, 3, 4, 5, 6, 7, 8, 9]],
    ['name!=', 'Ann', [2, 3, 4, 5, 6, 7, 8, 9]],
    ['!name!=', 'Ann', [1]],
    ['name', 'ann*', [2]],
    ['name~=', 'ann*', [1, 2]],
    ['name~=', 'é', [9]],
    ['!name', 'a*', [1, 3, 4, 5, 7, 8, 9]],
    ['name', '*', [1, 2, 4, 5, 6, 7, 8, 9]],
    ['!name', '*', [3]],
    ['name', 'null', [3]],
    ['!name', 'null', [1, 2, 4, 5, 6, 7, 8, 9]],
    ['name', '\\null', [7]],
    ['name', '', [4]],
    ['!name', '', [1, 2, 3, 5, 6, 7, 8, 9]],
    ['name', 'Ann,null', [1, 3]],
    ['!name', 'Ann,null', [2, 4, 5, 6, 7, 8, 9]],
    ['name', 'a\\,b', [6]],
    ['name', 'a,b', []],
    ['name', '100%', [5]],
    ['name', '100*', [5]],
    ['name', '%*', []],
    ['name', '\\*x', [8]],
    ['name', '\\**', [8]],
    ['name', 'Ann,Ann', [1]],
    ['name>=', 'a', [2, 6, 7, 9]],
    ['name<', 'Ann', [4, 5, 8]],
    ['name|id', '5', [5]],
  ]
  for (const [name, value, found] of golden) {
    it(`finds ${JSON.stringify(found)} by ${name} = ${value}`, () => {
      assert.deepEqual(ids(rows.filter(row => matches(row, name, value))), found)
    })
  }

  const related: [name: string, value: string, found: number[]][] = [
    ['tags.name', 'a', [1]],
    ['!tags.name', 'a', [2, 3, 4]],
    ['tags', 'null', [3]],
    ['!tags', 'null', [1, 2, 4]],
    ['tags', '2', [1, 2]],
    ['tags', 'null,1', [1, 3]],
    ['tags.name', 'null', [4]],
    ['tags.name', 'a,b', [1, 2]],
    ['next', '2', [1]],
    ['next', 'null', [3, 4]],
    ['next.name', 'null', [3, 4]],
    ['next.tags', 'null', [2, 3, 4]],
    ['next.tags.name', 'null', []],
    ['next.next.id', '3', [1]],
    ['age>=', '20', [2, 4]],
    ['!age>=', '20', [1, 3]],
  ]
  for (const [name, value, found] of related) {
    it(`finds ${JSON.stringify(found)} by ${name} = ${value} over relations`, () => {
      assert.deepEqual(ids(posts.filter(row => matches(row, name, value))), found)
    })
  }

  it('takes two filters as the intersection of each', () => {
    assert.deepEqual(
      ids(
        select(posts, [
          ['tags.name', 'a'],
          ['tags.name', 'b'],
        ]),
      ),
      [1],
    )
  })

  const refused: [name: string, value: string][] = [
    ['age', '01'],
    ['age', '5.0'],
    ['age', '1e3'],
    ['age', ''],
    ['age', '1*'],
    ['age>=', 'null'],
    ['age>=', '1,2'],
    ['name>', 'a*'],
    ['name', 'a\\'],
    ['age~=', '1'],
    ['nope', '1'],
    ['tags.nope', '1'],
    ['name.x', '1'],
  ]
  for (const [name, value] of refused) {
    it(`refuses ${name} = ${value}`, () => {
      for (const row of posts) assert.throws(() => matches(row, name, value), Refused)
    })
  }

  const sorted: [sort: string, found: number[]][] = [
    ['', [1, 2, 3, 4]],
    ['age', [3, 1, 2, 4]],
    ['age.desc', [4, 2, 1, 3]],
    ['tags.desc', [1, 2, 4, 3]],
    ['tags', [3, 2, 4, 1]],
    ['next.desc', [1, 2, 3, 4]],
    ['next', [3, 4, 1, 2]],
    ['next.age.desc,age', [1, 3, 2, 4]],
    ['tags.name', [3, 4, 1, 2]],
    ['tags.name.desc', [1, 2, 3, 4]],
    ['next.tags', [2, 3, 4, 1]],
  ]
  for (const [sort, found] of sorted) {
    it(`sorts ${JSON.stringify(found)} by ${sort || 'nothing'}`, () => {
      assert.deepEqual(ids([...posts].sort(comparator(sort))), found)
    })
  }

  it('renders depths', () => {
    const plain = { id: 1, name: 'p1', age: 10 }
    assert.deepEqual(render(p1, { depth: 0 }), plain)
    assert.deepEqual(render(p1, {}), { ...plain, tags: [1, 2], next: 2 })
    assert.deepEqual(render(p1, { depth: 2 }), {
      ...plain,
      tags: [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ],
      next: { id: 2, name: 'p2', age: 20, tags: [2], next: 3 },
    })
  })

  it('renders an expanded relation at the depth of its owner', () => {
    assert.deepEqual(render(p2, { depth: 0, expand: ['next'] }), { id: 2, name: 'p2', age: 20, next: { id: 3, name: 'p3', age: null } })
    assert.deepEqual(render(p2, { expand: ['next'] })['next'], { id: 3, name: 'p3', age: null, tags: [], next: null })
    const deep = render(p1, { depth: 2, expand: ['next'] })['next'] as Record<string, unknown>
    assert.deepEqual(deep['tags'], [{ id: 2, name: 'b' }])
    assert.deepEqual(deep['next'], { id: 3, name: 'p3', age: null, tags: [], next: null })
  })

  it('selects attributes', () => {
    assert.deepEqual(render(p1, { attributes: ['name', 'next.age'] }), { name: 'p1', next: 2 })
    assert.deepEqual(render(p1, { depth: 2, attributes: ['name', 'next.age'] }), { name: 'p1', next: { age: 20 } })
    assert.deepEqual(render(p1, { attributes: ['!tags', '!age'] }), { id: 1, name: 'p1', next: 2 })
    assert.deepEqual(render(p1, { attributes: ['id', 'age', '!age'] }), { id: 1 })
    assert.deepEqual(render(p2, { depth: 2, attributes: ['next', 'next.age'] }), {
      next: { id: 3, name: 'p3', age: null, tags: [], next: null },
    })
    assert.deepEqual(render(p1, { depth: 0, attributes: ['id', 'tags'] }), { id: 1 })
  })
})
