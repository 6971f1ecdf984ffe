/** Costly requests: what a few hundred bytes may ask for costs what its data is worth, and not the product of it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { cpuOf, leastOf, leastTime } from '../helpers/least.ts'
import { sharedLists, Site, Tag, User } from '../helpers/shared-lists.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

describe('sorting by counts through shared lists', () => {
  let engine: RestEngine
  before(async () => (engine = await sharedLists(1000, 10_000, 50)))
  after(() => engine.close())

  for (const path of ['/v1/users?sort=sites.tags.sites.desc', '/v1/sites?sort=tags.sites.desc', '/v1/tags?sort=sites.user.sites.desc']) {
    it(`walks each list once for ${path}`, async () => {
      const duration = await leastTime(async () => {
        assert.equal((await engine.handle('GET', `${path}&depth=0`)).status, 200)
      }, 5000)
      // Record by record the first one takes 20 seconds.
      assert.ok(duration < 5000, `${duration} ms`)
    })
  }
})

describe('sorting by counts through shared lists with keys that are texts', () => {
  it('walks each list once', async () => {
    const keyed = { id: p.string().primary() }
    const Box = defineEntity({ name: 'Box', properties: { ...keyed, marks: () => p.manyToMany(Mark) } })
    const Mark = defineEntity({ name: 'Mark', properties: { ...keyed, boxes: () => p.manyToMany(Box).mappedBy('marks') } })
    await using engine = await RestEngine.create({ entities: [Box, Mark] })
    const numbers = (count: number): string =>
      `with recursive number(i) as (values (1) union all select i + 1 from number where i < ${count}) insert into`
    for (const sql of [
      `${numbers(2000)} box (id) select 'b' || i from number`,
      `${numbers(20)} mark (id) select 'm' || i from number`,
      `${numbers(2000)} box_marks (box_id, mark_id) select 'b' || i, 'm' || (1 + i % 20) from number`,
    ])
      await engine.orm.em.getConnection().execute(sql)
    const duration = await leastTime(async () => {
      const { body } = await engine.handle('GET', '/v1/boxes', { sort: 'marks.boxes.marks.boxes.desc,id', depth: 0, limit: 1 })
      assert.deepEqual(body.boxes, [{ id: 'b1' }])
    }, 1000)
    // Record by record the sort takes 13 seconds.
    assert.ok(duration < 1000, `${duration} ms`)
  })
})

describe('patterns over long texts', () => {
  // One expression for all pieces would try each place of one for each place of the others.
  const oracle = (text: string, pieces: readonly string[], fold: boolean): boolean => {
    let from = 0
    return pieces.every((piece, index) => {
      const source = piece.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) + (index === pieces.length - 1 ? '$' : '')
      const expression = new RegExp(source, `${fold ? 'i' : ''}u${index === 0 ? 'y' : 'g'}`)
      expression.lastIndex = from
      const found = expression.exec(text)
      from = expression.lastIndex
      return found !== null
    })
  }

  it('matches as it does over short ones', async () => {
    await using engine = await sharedLists(1, 1, 1)
    const units = fc.constantFrom('a', 'A', 'b', 'ab', 'ſ', 'K', 'é', '\u{10400}', '\u{10428}')
    const textArb = fc
      .tuple(fc.array(units, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 1500 }), fc.array(units, { maxLength: 6 }))
      .map(([unit, times, rest]) => unit.join('').repeat(times) + rest.join(''))
    const pieceArb = fc
      .tuple(fc.array(units, { maxLength: 4 }), fc.integer({ min: 0, max: 100 }))
      .map(([unit, times]) => unit.join('').repeat(times))
    await check(
      fc.asyncProperty(textArb, fc.array(pieceArb, { minLength: 2, maxLength: 4 }), fc.boolean(), async (title, pieces, fold) => {
        await engine.handle('PATCH', '/v1/sites/1', {}, { title })
        const query = { [fold ? 'title~=' : 'title']: pieces.join('*'), limit: 0 }
        const { body } = await engine.handle('GET', '/v1/sites', query)
        assert.equal((body as { count: number }).count, oracle(title, pieces, fold) ? 1 : 0)
      }),
      { label: 'patterns over long texts', runs: 40 },
    )
  })

  it('takes no longer for a long pattern', async () => {
    await using engine = await sharedLists(1, 1, 1)
    await engine.handle('PATCH', '/v1/sites/1', {}, { title: 'a'.repeat(500_000) })
    const half = 'a'.repeat(2000)
    for (const query of [{ title: `*${half}b*${half}` }, { title: `*${half}b${half}*` }, { 'title~=': `*${half}*b` }]) {
      const duration = await leastTime(async () => {
        const { body } = await engine.handle('GET', '/v1/sites', query)
        assert.equal(body.count, 0)
      }, 2000)
      assert.ok(duration < 2000, `${Object.values(query)[0]!.length}: ${duration} ms`)
    }
  })
})

describeStores('hundreds of patterns', () => {
  it('fold each text once', async () => {
    await using engine = await createEngine({ entities: [User, Site, Tag] })
    const sites = Array.from({ length: 3 }, (_, index) => ({ id: index + 1, title: 'Äbcdefghij'.repeat(1000) }))
    await engine.send('POST /v1/users', { body: { id: 1, name: 'Ann', sites } })
    const patterns = Array.from({ length: 900 }, (_, index) => `*${index}x*`)
    for (const name of ['title~=', 'title~~=']) {
      const duration = await leastTime(async () => {
        const { body } = await engine.handle('GET', '/v1/sites', { [name]: [...patterns, '*JÄb*'].join(), limit: 0 })
        assert.equal(body.count, 3)
      }, 3000)
      // Folded for each pattern, the texts take 20 seconds on PostgreSQL.
      assert.ok(duration < 3000, `${name} ${duration} ms`)
    }
  })
})

describe('large bodies', () => {
  const url = 'http://localhost/v1/sites/1'
  const put = (text: string): Request => new Request(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: text })

  it('costs little more than to parse and to write it, whatever it is nested like', async () => {
    await using engine = await sharedLists(1, 1, 1)
    for (const text of [`[${'[],'.repeat(300_000)}1]`, `[${`${'['.repeat(150)}${']'.repeat(150)},`.repeat(3000)}1]`]) {
      const body = `{"title":${text}}`
      const answer = async (): Promise<void> => assert.equal((await engine.fetch(put(body))).status, 422)
      // The refusal bears the value that was refused.
      const parseAndWrite = (): unknown => JSON.stringify(JSON.parse(body))
      const isCheap = (floor: number, answered: number): boolean => answered < 3 * floor + 10
      const [floor, answered] = await leastOf([() => cpuOf(parseAndWrite), () => cpuOf(answer)], isCheap)
      // Walks through the value, and a copy of it, made it 5 to 20 times what it takes to parse it.
      assert.ok(isCheap(floor, answered), `${answered} ms, parsed and written in ${floor}`)
    }
  })

  it('stands in the journal as it was sent', async () => {
    await using engine = await sharedLists(1, 1, 1)
    const body = { title: 'x'.repeat(5000), 'a"]\\': [[{ '[': null }]] }
    await engine.fetch(put(JSON.stringify(body)))
    assert.deepEqual(engine.requests.at(-1)!.body, body)
  })

  it('is refused where it is nested too deep, and not for brackets in its texts', async () => {
    await using engine = await sharedLists(1, 1, 1)
    const deep = await engine.fetch(put(`{"title":"${'x'.repeat(5000)}","more":${'['.repeat(300)}${']'.repeat(300)}}`))
    assert.equal(((await deep.json()) as { code: string }).code, 'body_invalid')
    const flat = await engine.fetch(put(JSON.stringify({ title: `"\\${'[{'.repeat(3000)}` })))
    assert.equal(flat.status, 200)
  })
})
