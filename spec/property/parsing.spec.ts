/**
 * Whatever a client sends, `handle` answers: it never rejects, never fails with 500, every error has the one shape of contract section 6,
 * every body is its own JSON round trip, and a request that is refused has written nothing.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { assertSound } from '../helpers/sound.ts'
import { idOf } from '../helpers/oracle.ts'
import { resources } from './world/entities.ts'
import { eachWorld } from './world/harness.ts'
import { attributesArb, expandArb, filterArb, sortArb } from './world/queries.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const NAMES = [
  ...'limit offset sort depth attributes expand limit_ __proto__ constructor toString hasOwnProperty'.split(' '),
  '',
  ...resources.flatMap(resource => [resource.name, resource.singular, ...Object.keys(resource.attributes)]),
]
const VALUES = Array.from(
  ' |null|1|0|-1|01|1e3|5.0|999999999999999999999999|true|*|a*|\\|a\\|,|,,|.|..|!|~|1~2|null,null|****************|2024-02-30'.split('|'),
  value => value.trim(),
).concat('id.asc', 'id.up', 'name.desc,id', 'sites.url', '!name', 'a.b.c.d.e.f.g', '|', 'x|y')

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
)
const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...NAMES) }, junk)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join('.'))
const parameter = fc
  .tuple(
    fc.constantFrom('', '', '!', '!!'),
    fc.array(path, { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', '!=', '~=', '~~=', '>=', '<=', '>', '<', '='),
  )
  .map(([not, paths, operator]) => not + paths.join('|') + operator)
const value = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...VALUES) }, path, junk)
const scalar = fc.oneof({ weight: 3, arbitrary: value }, fc.integer(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true }))

const segment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES, '1', '2', '3', '1~2') },
  fc.constantFrom('%', '%zz', '%E0%A4%A', '%00', '%2F', '%2e%2e', '..', '.', '', '%F0%9F%98%80', '+', '~', '1~', '~1', '%7E', ';', '\0'),
  junk,
  junk.map(text => encodeURIComponent(text.toWellFormed())),
)
const anyPath = fc.oneof(
  { weight: 4, arbitrary: fc.array(segment, { maxLength: 4 }).map(segments => ['/v1', ...segments].join('/')) },
  fc.array(segment, { maxLength: 5 }).map(segments => segments.join('/')),
  junk,
)
const anyQuery: Arbitrary<unknown> = fc.oneof(
  fc.constant(undefined),
  fc
    .array(fc.tuple(parameter, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }))), { maxLength: 4 })
    .map(pairs => Object.fromEntries(pairs)),
  fc.array(fc.tuple(parameter, value), { maxLength: 4 }).map(pairs => pairs.map(([key, text]) => `${key}=${text}`).join('&')),
  fc.array(fc.tuple(parameter, value), { maxLength: 3 }).map(pairs => new URLSearchParams(pairs)),
  junk,
)
/** JSON as a client may send it. Zeroes are positive: JSON has no other, once written. */
const json = fc.jsonValue({ maxDepth: 3 }).map(drawn => JSON.parse(JSON.stringify(drawn)) as unknown)
const wanted = fc.oneof(
  json,
  fc.constantFrom<unknown>(1, 2, '1', null, [], {}, [1, 2], [null], '2024-01-01', 'a\0b', true, 1.5, 2 ** 60, '12.345'),
)
const members: Arbitrary<unknown> = fc.oneof(
  wanted,
  fc.array(fc.tuple(name, wanted), { maxLength: 4 }).map(pairs => Object.fromEntries(pairs)),
)
const anyBody: Arbitrary<unknown> = fc.oneof(
  fc.constant(undefined),
  json,
  fc.array(fc.tuple(name, members), { maxLength: 6 }).map(pairs => Object.fromEntries(pairs)),
)

eachWorld('parsing', { count: 1, size: 8 }, ({ world, rows, engine, list }) => {
  it('answers any request', () =>
    check(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...METHODS) }, junk),
        anyPath,
        anyQuery,
        anyBody,
        async (...request) => {
          const [method, path, query, body] = request
          assertSound(await engine().handle(method, path, query as never, body), request)
        },
      ),
      { label: 'any request', runs: costly(3000) },
    ))

  it('answers any query of a list', () =>
    check(
      fc.asyncProperty(fc.constantFrom(...resources), anyQuery, async (resource, query) => {
        const response = await engine().handle('GET', `/v1/${resource.name}`, query as never)
        assertSound(response, [resource.name, query])
        assert.ok(response.status === 200 || response.status === 400, `${JSON.stringify(query)} answered ${response.status}`)
      }),
      { label: 'any query', runs: costly(2500) },
    ))

  it('answers a good query with one character changed', () => {
    const query = fc.constantFrom(...resources).chain(resource =>
      fc.tuple(
        fc.constant(resource),
        fc.oneof(
          filterArb(world, resource),
          sortArb(world, resource).map(sort => ['sort', sort] as const),
          expandArb(world, resource).map(paths => ['expand', paths.join(',')] as const),
          attributesArb(world, resource).map(paths => ['attributes', paths.join(',')] as const),
        ),
      ),
    )
    const change = fc.tuple(fc.nat(), fc.constantFrom('', '.', ',', '!', '\\', '*', '|', '=', '>', '~', '%', ' ', 'é', '\0', '\ud800'))
    return check(
      fc.asyncProperty(query, change, fc.boolean(), async ([resource, [key, value]], [at, char], inKey) => {
        const changed = (text: string): string => text.slice(0, at % (text.length + 1)) + char + text.slice((at % (text.length + 1)) + 1)
        const request = inKey ? { [changed(key)]: value } : { [key]: changed(value) }
        const response = await engine().handle('GET', `/v1/${resource.name}`, request)
        assertSound(response, [resource.name, request])
        assert.ok(response.status === 200 || response.status === 400, `${JSON.stringify(request)} answered ${response.status}`)
      }),
      { label: 'a character changed', runs: costly(600) },
    )
  })

  it('writes nothing when it refuses a body', () => {
    const target = fc.constantFrom(...resources).chain(resource => {
      const ids = rows(resource).map(row => `/v1/${resource.name}/${encodeURIComponent(idOf(row))}`)
      const item = fc.constantFrom(...ids, `/v1/${resource.name}/999`)
      const attribute = fc.tuple(item, fc.constantFrom(...Object.keys(resource.attributes))).map(parts => parts.join('/'))
      return fc.oneof(
        fc.constant(['POST', `/v1/${resource.name}`] as const),
        item.map(path => ['PUT', path] as const),
        attribute.map(path => ['PUT', path] as const),
        attribute.map(path => ['POST', path] as const),
        attribute.map(path => ['DELETE', path] as const),
      )
    })
    const everything = async (): Promise<unknown> =>
      Promise.all(resources.map(async resource => (await list(`/v1/${resource.name}`, [['limit', '1000']])).records))
    return check(
      fc.asyncProperty(target, anyBody, async ([method, path], body) => {
        const before = await everything()
        const response = await engine().handle(method, path, undefined, method === 'DELETE' ? undefined : body)
        assertSound(response, [method, path, body])
        if (response.status >= 400) assert.deepEqual(await everything(), before)
      }),
      { label: 'refused bodies', runs: costly(300) },
    )
  })
})
