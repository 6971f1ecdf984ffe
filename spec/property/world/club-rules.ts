/** Rules for the model of clubs: access functions, scopes, conditions beyond a link, which hold for some callers; and requests of such callers. */
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

/** Rules that read the headers: `x-all` shows every row, `x-no` forbids actions of some resources, `x-late` has rules answer later. */
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
    return resource(entity as never, { access, ...(hidden === undefined ? {} : { scope }) } as never)
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
      'x-no': fc.array(forbidden, { minLength: 1, maxLength: 3 }).map(names => names.join()),
      'if-match': fc.constantFrom('*', '"1"', '"2"'),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map(headers => headers as Record<string, string>)

/** A request that writes, of any caller. */
export const ruledRequests = fc.tuple(clubRequests, callers).map(([request, headers]): Request => ({ ...request, headers }))
