/**
 * Rules for the model of clubs: access functions, scopes, conditions beyond a link, which hold for some callers; and requests of such
 * callers.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { resource } from '../../../lib/index.ts'
import type { Action } from '../../../lib/index.ts'
import { clubRequests } from './clubs.ts'
import type { Request } from './ways-of-writing.ts'

/** What a rule is told. */
interface Caller {
  readonly headers: Readonly<Record<string, string>>
}

/** The rules of a resource: each may be asked once a request. */
class AskedOnce {
  readonly #asked = new WeakMap<object, Set<string>>()

  ask<T>(rule: string, ctx: Caller, answer: T): T {
    const asked = this.#asked.get(ctx) ?? new Set()
    this.#asked.set(ctx, asked)
    assert.ok(!asked.has(rule), `The rule ${rule} was asked twice.`)
    asked.add(rule)
    return answer
  }
}

const ACTIONS: readonly Action[] = ['create', 'update', 'delete', 'get', 'list']

/** What each resource hides from a caller who is not told otherwise: rows enter and leave by changes of the API. */
const HIDDEN: Readonly<Record<string, object>> = {
  Tag: { id: { $nin: ['c', 'h'] } },
  Player: { $or: [{ number: null }, { number: { $lt: 4 } }] },
  Ground: { name: { $ne: 'gb' } },
  Club: { name: { $nin: ['cb', 'b', 'h'] } },
  Note: { club: { name: { $ne: 'ca' } } },
  Team: { club: { id: { $lt: 3 } } },
}

/** What a caller may write who is told so, each with the same of a row of the table. */
export const WRITABLE: Readonly<
  Record<string, { readonly query: object; readonly holds: (row: Readonly<Record<string, unknown>>) => boolean }>
> = {
  Tag: { query: { id: { $ne: 'b' } }, holds: row => row['id'] !== 'b' },
  Player: { query: { $or: [{ number: null }, { number: { $ne: 2 } }] }, holds: row => row['number'] !== 2 },
  Club: { query: { name: { $nin: ['cc', 'a', 'f'] } }, holds: row => !['cc', 'a', 'f'].includes(String(row['name'])) },
  Note: { query: { about: null }, holds: row => row['about_id'] === null },
  Team: { query: { club: { id: { $ne: 2 } } }, holds: row => row['club_id'] !== 2 },
  Badge: { query: { text: { $ne: 'a' } }, holds: row => row['text'] !== 'a' },
  Event: { query: { $or: [{ club: null }, { club: { $ne: 3 } }] }, holds: row => row['club_id'] !== 3 },
}

/**
 * Rules that read the headers: `x-all` shows every row, `x-own` restricts what may be written, `x-no` forbids actions of some resources,
 * `x-late` has rules answer later.
 */
export function clubRules(entities: unknown[]): unknown[] {
  return (entities as { name: string }[]).map(entity => {
    const { name } = entity
    const once = new AskedOnce()
    const hidden = HIDDEN[name]
    const scope = (ctx: Caller): unknown => {
      const all = ctx.headers['x-all'] !== undefined
      const answer = once.ask('scope', ctx, all ? undefined : hidden)
      return ctx.headers['x-late'] === undefined ? answer : Promise.resolve(answer)
    }
    const rule = (action: Action) => (ctx: Caller) => {
      const answer = once.ask(action, ctx, ctx.headers['x-no']?.split(',').includes(`${name}.${action}`) !== true)
      return ctx.headers['x-late'] === undefined ? answer : Promise.resolve(answer)
    }
    const access = Object.fromEntries(ACTIONS.map(action => [action, rule(action)]))
    const write = (ctx: Caller): unknown => {
      const answer = once.ask('write', ctx, ctx.headers['x-own'] === undefined ? true : WRITABLE[name]?.query)
      return ctx.headers['x-late'] === undefined ? answer : Promise.resolve(answer)
    }
    const own = WRITABLE[name] === undefined ? {} : { write }
    return resource(entity as never, { access, ...own, ...(hidden === undefined ? {} : { scope }) } as never)
  })
}

const forbidden = fc
  .tuple(fc.constantFrom('Tag', 'Badge', 'Ground', 'Club', 'Player', 'Team', 'Note', 'Event'), fc.constantFrom(...ACTIONS))
  .map(([name, action]) => `${name}.${action}`)

/** The headers of a caller. */
const callers = fc
  .record(
    {
      'x-all': fc.constant('1'),
      'x-late': fc.constant('1'),
      'x-own': fc.constant('1'),
      'x-no': fc.array(forbidden, { minLength: 1, maxLength: 3 }).map(names => names.join()),
      'if-match': fc.constantFrom('*', '"1"', '"2"'),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map(headers => headers as Record<string, string>)

/** A request that writes, of any caller. */
export const ruledRequests = fc.tuple(clubRequests, callers).map(([request, headers]): Request => ({ ...request, headers }))
