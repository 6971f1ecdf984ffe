/**
 * Sends random requests, valid and hostile, in the process. None may be answered with 500 or above, and the contract must allow each
 * answer.
 */
import library from '../../fixtures/library/index.ts'
import { RestEngine } from '../../lib/index.ts'
import { librarySeed } from '../helpers/library-seed.ts'
import { assertSound } from '../helpers/sound.ts'
import { answered, pick, random } from './tally.ts'
import type { Check, Counter, Plan } from './tally.ts'

const NAMES = [
  'id',
  'name',
  'title',
  'mentor',
  'books',
  'mentor.name',
  'books.title',
  'pupils',
  'pupils.books.title',
  'nothing',
  '__proto__',
  'constructor',
  '',
  'limit_',
]
const VALUES = [
  '1',
  '-1',
  '0',
  'null',
  'Ann',
  '*',
  'A*',
  '\\',
  '\\*',
  'a,b,null',
  '1e999',
  '9'.repeat(400),
  '💥',
  '%00',
  '%',
  "'; drop table author; --",
  '2020-01-01',
  'true',
  '[]',
  '{"a":',
  'x'.repeat(3000),
  '1~2',
  '~',
  '',
]
const OPERATORS = ['=', '!=', '~=', '>=', '<=', '>', '<', '']
const METHODS = ['GET', 'GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'get', '']
const RESERVED = ['limit', 'offset', 'sort', 'depth', 'attributes', 'expand']

function text(next: () => number): string {
  return pick(next, VALUES)
}

function query(next: () => number): string {
  const parts = Array.from({ length: Math.floor(next() * 5) }, () => {
    const bang = next() < 0.2 ? '!' : ''
    if (next() < 0.4) {
      const list = Array.from({ length: 1 + Math.floor(next() * 4) }, () => bang + pick(next, NAMES))
      return `${pick(next, RESERVED)}=${next() < 0.5 ? text(next) : list.join()}`
    }
    const or = next() < 0.2 ? `|${pick(next, NAMES)}` : ''
    const many = next() < 0.1 ? Array.from({ length: 1 + Math.floor(next() * 1001) }, () => text(next)).join() : text(next)
    return `${bang}${pick(next, NAMES)}${or}${pick(next, OPERATORS)}${many}`
  })
  return parts.join('&')
}

function value(next: () => number, depth = 0): unknown {
  const kind = next()
  if (kind < 0.5)
    return pick<unknown>(next, [null, true, 0, 1, -1, 1.5, 1e308, 2 ** 60, '', 'Ann', '1', '\0', '\ud800', 'x'.repeat(5000), '2020-01-01'])
  if (depth > 4) return {}
  if (kind < 0.7) return Array.from({ length: Math.floor(next() * 4) }, () => value(next, depth + 1))
  return Object.fromEntries(
    Array.from({ length: Math.floor(next() * 5) }, () => [pick(next, NAMES).split('.')[0]!, value(next, depth + 1)]),
  )
}

const LISTS = ['authors', 'authors', 'books', 'books', 'loans', 'copies', 'author']

/** Returns a path, half of the time one that exists. */
function path(next: () => number): string {
  const isGood = next() < 0.6
  const parts = [isGood ? 'v1' : pick(next, ['v1', 'v1', 'v2', '..', ''])]
  if (isGood || next() < 0.9) parts.push(isGood ? pick(next, LISTS) : pick(next, [...LISTS, 'nothing', '__proto__', '%zz']))
  if (next() < 0.4) parts.push(isGood ? String(1 + Math.floor(next() * 6)) : encodeURIComponent(text(next)))
  if (parts.length === 3 && next() < 0.5) parts.push(pick(next, isGood ? ['name', 'title', 'books', 'mentor', 'pupils'] : NAMES))
  return `/${parts.join('/')}`
}

const GOOD = [
  'name=A*',
  'sort=name.desc',
  'sort=mentor.name,books',
  'expand=mentor',
  'depth=2',
  'depth=0',
  'limit=2&offset=1',
  'id=1,2,3',
  '!mentor=null',
  'mentor.name~=*a*',
  'books.title=*',
  'attributes=name',
  'title=*a*',
  'id>=2',
]

async function run(counter: Counter, { seed, scale, place }: Plan): Promise<void> {
  const next = random(seed)
  let cause: unknown
  await using own = await place()
  const { database } = own
  const where = database === undefined ? {} : { database }
  const engine = await RestEngine.create({
    ...library,
    ...where,
    seed: librarySeed,
    limits: { timeout: 2000 },
    onError: error => (cause = error),
  })
  const codes = new Map<number, number>()
  const count = Math.round(40_000 * scale)
  const start = await engine.snapshot()
  for (let index = 0; index < count; index++) {
    if (index % 500 === 499) await engine.restore(start)
    const method = pick(next, METHODS)
    const asked = `${path(next)}?${next() < 0.5 ? pick(next, GOOD) : query(next)}`
    const body =
      next() < 0.3 ? pick<unknown>(next, [{ name: 'Zoe' }, { title: 'New' }, { mentor: 1 }, { books: [] }, 1, [1, 2], null]) : value(next)
    const response = await engine.handle(method, asked, undefined, body)
    codes.set(response.status, (codes.get(response.status) ?? 0) + 1)
    let failure: unknown
    try {
      assertSound(response, [method, asked, body])
    } catch (error) {
      failure = error
    }
    counter.ok(failure === undefined, () => `${method} ${asked.slice(0, 300)}: ${String(failure).slice(0, 500)} ${String(cause)}`)
  }
  await engine.close()
  counter.note = answered(codes)
}

export const requests: Check = { name: 'random requests, good and hostile', what: 'requests', isOfServers: true, run }
