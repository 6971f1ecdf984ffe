/**
 * Limits: what a request may ask for. At a limit it is answered, just over it is refused by name, and whatever limits are met together,
 * nothing is a failure of the server. A list of many values is one parameter of its statement, and must find what a list of few finds.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { select, type FilterPair } from '../helpers/oracle.ts'
import { resources, users } from './world/entities.ts'
import { eachWorld, recordIds, rowIds } from './world/harness.ts'
import { filterArb, pathsOf } from './world/queries.ts'

const times = (count: number, text: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, n) => text(n)).join(separator)

eachWorld('limits', { count: 1, size: 12 }, ({ world, rows, engine, list }) => {
  for (const resource of resources) {
    it(`finds by a list of many values the ${resource.name} that it finds by few`, () =>
      check(
        fc.asyncProperty(filterArb(world, resource), fc.integer({ min: 9, max: 80 }), async (pair, count) => {
          const [name, value] = pair
          fc.pre(!/[<>]=?$/.test(name))
          const found = await list(`/v1/${resource.name}`, [[name, times(count, () => value)]])
          assert.deepEqual(recordIds(resource, found.records), rowIds(select(rows(resource), [pair])))
        }),
        { label: `long lists of ${resource.name}`, runs: costly(60) },
      ))
  }

  const paths = pathsOf(world, users, 4)
  const isPlain = ({ end }: (typeof paths)[number]): boolean => end.kind === 'plain'
  const path = fc.constantFrom(...paths)
  const sortable = fc.constantFrom(...paths.filter(isPlain))
  /** A number at a limit, or just over it. */
  const near = (limit: number): fc.Arbitrary<{ count: number; isOver: boolean }> =>
    fc.boolean().map(isOver => ({ count: limit + (isOver ? 1 : 0), isOver }))
  const word = fc.constantFrom('a', '*', 'a*', '*a*', 'a*b*c', 'null', '7', '2020-01-01', '\\,')

  const requests: Record<string, fc.Arbitrary<{ pairs: FilterPair[]; isOver: boolean }>> = {
    patterns: fc
      .tuple(near(1000), fc.constantFrom('name', 'name~=', '!name', 'boss.name', 'sites.url~='), fc.constantFrom('a*', '*a*', 'a*b', '*'))
      .map(([{ count, isOver }, name, pattern]) => ({ pairs: [[name, times(count, n => `${n}${pattern}`)]], isOver })),
    values: fc
      .tuple(near(1000), path, word)
      .map(([{ count, isOver }, { path: name }, value]) => ({ pairs: [[name, times(count, () => value)]], isOver })),
    filters: fc.tuple(near(50), fc.array(path, { minLength: 5, maxLength: 51 }), word).map(([{ count, isOver }, names, value]) => ({
      pairs: Array.from({ length: count }, (_, n): FilterPair => [names[n % names.length]!.path, value]),
      isOver,
    })),
    'long lists in all filters': fc.tuple(near(50), path, word).map(([{ count, isOver }, { path: name }, value]) => ({
      pairs: Array.from({ length: count }, (): FilterPair => [name, times(1000, () => value)]),
      isOver,
    })),
    'sort keys': fc
      .tuple(near(20), fc.array(sortable, { minLength: 1, maxLength: 21 }))
      .map(([{ count, isOver }, keys]) => ({ pairs: [['sort', times(count, n => keys[n % keys.length]!.path)]], isOver })),
    'or-paths': fc
      .tuple(near(20), fc.array(path, { minLength: 1, maxLength: 21 }), word)
      .map(([{ count, isOver }, names, value]) => ({ pairs: [[times(count, n => names[n % names.length]!.path, '|'), value]], isOver })),
    expand: near(50).map(({ count, isOver }) => ({
      pairs: [['expand', times(count, n => ['sites', 'boss.boss', 'tags', 'friends.sites'][n % 4]!)]],
      isOver,
    })),
    attributes: near(1000).map(({ count, isOver }) => ({
      pairs: [['attributes', times(count, n => (n % 2 === 0 ? 'name' : '!email'))]],
      isOver,
    })),
  }
  for (const [name, arbitrary] of Object.entries(requests)) {
    it(`refuses by name what goes over the limit of ${name}, and never fails`, () =>
      check(
        fc.asyncProperty(arbitrary, async ({ pairs, isOver }) => {
          const { status, body } = await engine().handle(
            'GET',
            '/v1/users',
            pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&'),
          )
          const { errors } = body as { errors?: { code: string }[] }
          if (isOver) assert.equal(errors?.[0]?.code, 'limit_exceeded', JSON.stringify(body).slice(0, 500))
          assert.ok(status < 500, `${status} ${JSON.stringify(body).slice(0, 500)}`)
        }),
        { label: `limit of ${name}`, runs: costly(25) },
      ))
  }
})
