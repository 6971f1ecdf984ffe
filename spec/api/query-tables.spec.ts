/** What is added to the tables of the query (reserved parameters, operators) has an example here, or this file does not compile. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import type { Sign } from '../../lib/records/request/operators.ts'
import { ALL_RESERVED, PARAMETERS } from '../../lib/records/request/reserved-parameters.ts'
import type { Reserved } from '../../lib/records/request/reserved-parameters.ts'

const Author = defineEntity({ name: 'Author', properties: { id: p.integer().primary(), name: p.string() } })
const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), pages: p.integer(), author: () => p.manyToOne(Author) },
})

const world = async () =>
  RestEngine.create({
    entities: [Author, Book],
    parameters: { page: 'page' },
    seed: {
      authors: [
        { id: 1, name: 'Zoe' },
        { id: 2, name: 'Ann' },
      ],
      books: [
        { id: 1, title: 'One', pages: 30, author: 1 },
        { id: 2, title: 'two', pages: 20, author: 2 },
        { id: 3, title: 'Three', pages: 10, author: 1 },
      ],
    },
  })

/** Two values of each parameter that differ from each other and from the default in what they show, and one that is refused. */
const PARAMETER_EXAMPLES = {
  limit: { values: ['1', '2'], wrong: 'x' },
  offset: { values: ['1', '2'], wrong: '-1' },
  page: { values: ['2', '3'], wrong: '0' },
  sort: { values: ['pages', 'author.name'], wrong: 'nonsense' },
  depth: { values: ['0', '2'], wrong: '3' },
  attributes: { values: ['id', 'title'], wrong: 'nonsense' },
  expand: { values: ['author', 'author,author'], wrong: 'title' },
} satisfies Record<Reserved, { readonly values: readonly [string, string]; readonly wrong: string }>

/** A filter by each operator, and the books that it finds. */
const OPERATOR_EXAMPLES = {
  '=': ['title=two', [2]],
  '!=': ['title!=two', [1, 3]],
  '~=': ['title~=t*', [2, 3]],
  '~~=': ['title~~=tẅ*', [2]],
  '>=': ['pages>=20', [1, 2]],
  '<=': ['pages<=20', [2, 3]],
  '>': ['pages>20', [1]],
  '<': ['pages<20', [3]],
} satisfies Record<Sign, readonly [string, readonly number[]]>

describe('every reserved parameter', () => {
  it('has an effect, and refuses what is not of its form', async () => {
    await using engine = await world()
    const plain = JSON.stringify(((await engine.handle('GET', '/v1/books')).body as { books: unknown }).books)
    for (const name of ALL_RESERVED) {
      const { values, wrong } = PARAMETER_EXAMPLES[name]
      const answer = await engine.handle('GET', '/v1/books', { [name]: values[0] })
      assert.notEqual(JSON.stringify((answer.body as { books: unknown }).books), plain, `${name}=${values[0]}`)
      assert.equal((await engine.handle('GET', '/v1/books', { [name]: wrong })).status, 400, `${name}=${wrong}`)
    }
  })

  it('is part of the key of cached plans where plans depend on it', async () => {
    await using engine = await world()
    for (const name of ALL_RESERVED) {
      const queries = ['', ...PARAMETER_EXAMPLES[name].values.map(value => `?${name}=${value}`)]
      // One engine has the plans of all that came before; a new one has none.
      for (const query of queries) {
        const path = `/v1/books${query}`
        await using fresh = await world()
        const shown = ({ body }: { body: unknown }): unknown => ({ ...(body as object), timestamp: '' })
        assert.deepEqual(shown(await engine.handle('GET', path)), shown(await fresh.handle('GET', path)), path)
      }
    }
  })

  it('is taken by single records as its table says', async () => {
    await using engine = await world()
    for (const name of ALL_RESERVED) {
      const { status } = await engine.handle('GET', '/v1/books/1', { [name]: PARAMETER_EXAMPLES[name].values[0] })
      assert.equal(status, PARAMETERS[name].forRecords ? 200 : 400, name)
    }
  })
})

describe('every operator', () => {
  for (const [sign, [query, found]] of Object.entries(OPERATOR_EXAMPLES)) {
    it(`${sign} means the same in a text, in a text with encoded names, in an object, and in links`, async () => {
      await using engine = await world()
      const idsIn = ({ body }: { body: unknown }): number[] => (body as { books: { id: number }[] }).books.map(({ id }) => id)
      assert.deepEqual(idsIn(await engine.handle('GET', `/v1/books?${query}`)), found)
      const [, name = '', value = ''] = /^(\w+)[^\w]+(.*)$/.exec(query) ?? []
      const encoded = sign.endsWith('=') ? `${encodeURIComponent(sign.slice(0, -1))}=${value}` : encodeURIComponent(sign + value)
      assert.deepEqual(idsIn(await engine.handle('GET', `/v1/books?${name}${encoded}`)), found)
      assert.deepEqual(idsIn(await engine.handle('GET', '/v1/books', { [sign === '=' ? name : name + sign]: value })), found)
      const page = await engine.handle('GET', `/v1/books?limit=1&${query}`)
      const { next } = page.body as { next: string | null }
      assert.deepEqual(next === null ? found.slice(1) : idsIn(await engine.handle('GET', next)), found.slice(1, 2))
    })
  }
})
