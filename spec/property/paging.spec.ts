/**
 * Paging: pages joined are the whole, by offset and by following the links, forwards and back; the count does not depend on the page.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check } from '../helpers/check.ts'
import { select, type FilterPair, type Json } from '../helpers/oracle.ts'
import { resources, users } from './world/entities.ts'
import { eachWorld, recordIds, rowIds, type ListBody } from './world/harness.ts'
import { filterArb, formArb, sortArb } from './world/queries.ts'

eachWorld('paging', { count: 2, size: 20 }, ({ world, rows, list }) => {
  for (const resource of resources) {
    const path = `/v1/${resource.name}`
    const filters = fc.array(filterArb(world, resource, 2), { maxLength: 1 })
    const request = fc.record({ filters, sort: sortArb(world, resource), limit: fc.integer({ min: 1, max: 9 }), form: formArb })

    it(`joins the pages of ${resource.name} to the whole`, () =>
      check(
        fc.asyncProperty(request, async ({ filters, sort, limit, form }) => {
          const expected = rowIds(select(rows(resource), filters, sort))
          const joined: Json[] = []
          for (let offset = 0; offset === 0 || offset < expected.length; offset += limit) {
            const page = await list(path, [...filters, ['sort', sort], ['limit', String(limit)], ['offset', String(offset)]], form)
            assert.equal(page.count, expected.length)
            assert.equal(page.offset, offset)
            assert.equal(page.limit, limit)
            joined.push(...recordIds(resource, page.records))
          }
          assert.deepEqual(joined, expected)
        }),
        { label: `pages of ${resource.name}`, runs: 30 },
      ))

    it(`leads through ${resource.name} by keys`, () =>
      check(
        fc.asyncProperty(request, async ({ filters, sort, limit, form }) => {
          const expected = rowIds(select(rows(resource), filters, sort))
          const joined: Json[] = []
          let page = await list(path, [...filters, ['sort', sort], ['limit', String(limit)], ['offset', 'first']], form)
          for (;;) {
            assert.deepEqual([page.count, page.previous, page.limit], [expected.length, null, limit])
            joined.push(...recordIds(resource, page.records))
            if (page.next === null) break
            assert.ok(joined.length <= expected.length, 'next leads on for ever')
            const offset = new URLSearchParams(page.next.split('?')[1]).get('offset')
            page = await list(page.next)
            assert.equal(page.offset, offset)
          }
          assert.deepEqual(joined, expected)
        }),
        { label: `pages of ${resource.name} by keys`, runs: 20 },
      ))

    it(`leads through ${resource.name} by next and back by previous`, () =>
      check(
        fc.asyncProperty(request, async ({ filters, sort, limit, form }) => {
          const expected = rowIds(select(rows(resource), filters, sort))
          const pages: ListBody[] = [await list(path, [...filters, ['sort', sort], ['limit', String(limit)]], form)]
          assert.equal(pages[0]?.previous, null)
          for (let next = pages[0]?.next ?? null; next !== null; next = pages.at(-1)?.next ?? null) {
            assert.ok(next.startsWith(`${path}?`), next)
            assert.ok(pages.length <= expected.length, 'next leads on for ever')
            pages.push(await list(next))
          }
          assert.deepEqual(
            pages.flatMap(page => recordIds(resource, page.records)),
            expected,
          )
          for (const [i, page] of pages.entries()) {
            assert.deepEqual(page.filter, filters)
            if (i === 0) continue
            assert.deepEqual((await list(String(page.previous))).records, pages[i - 1]?.records)
          }
        }),
        { label: `links of ${resource.name}`, runs: 20 },
      ))
  }

  it('shows any window, and its neighbours', () =>
    check(
      fc.asyncProperty(fc.nat({ max: 30 }), fc.nat({ max: 30 }), formArb, async (offset, limit, form) => {
        const all = rowIds(select(rows(users), []))
        const pairs: FilterPair[] = [
          ['limit', String(limit)],
          ['offset', String(offset)],
        ]
        const page = await list('/v1/users', pairs, form)
        assert.deepEqual(recordIds(users, page.records), all.slice(offset, offset + limit))
        assert.equal(page.count, all.length)
        const startOf = (link: string | null): number | null =>
          link === null ? null : Number(new URLSearchParams(link.split('?')[1]).get('offset') ?? 0)
        // "`previous`/`next` are [...] `null` (both with `limit=0`); before the first full page `previous` starts at 0."
        assert.equal(startOf(page.next), limit > 0 && offset + limit < all.length ? offset + limit : null)
        // Past the end the contract does not say where `previous` leads, only that it is there.
        if (offset <= all.length) assert.equal(startOf(page.previous), limit > 0 && offset > 0 ? Math.max(0, offset - limit) : null)
      }),
      { label: 'windows', runs: 80 },
    ))

  it('clamps a limit above the maximum and says so', async () => {
    assert.equal((await list('/v1/users', [['limit', '1001']])).limit, 1000)
    assert.equal((await list('/v1/users', [['limit', '999999999999999999999']])).limit, 1000)
    assert.equal((await list('/v1/users')).limit, 100)
  })
})
