/**
 * The floor: the least that an engine does for a request beside the code by hand of the same answer. It takes the request as the engine
 * does, finds record, depth and attributes in it and refuses others, and a change and its answer are one transaction. All else is written
 * for these resources alone: no model, plan, rules, hooks, journal or errors. So an engine cannot come below its figures, unless it makes
 * JSON in another way.
 */
import type Database from 'better-sqlite3'
import { toUser } from './by-hand.ts'
import type { UserRow } from './by-hand.ts'
import type { Request } from './trials.ts'

const COLUMNS = 'id, name, email, active, score, created_at'

interface Site {
  readonly id: number
  readonly url: string
  readonly user: number
}

/** How the value of an attribute is checked, and what is stored. Throws for one of another type. */
const ATTRIBUTES: Readonly<Record<string, (value: unknown) => string | number>> = {
  name: text(60),
  email: text(120),
  active: value => (typeof value === 'boolean' ? Number(value) : refuse('a boolean')),
  score: value => (Number.isSafeInteger(value) ? (value as number) : refuse('an integer')),
  created_at: value => {
    const time = typeof value === 'string' ? Date.parse(value) : NaN
    return Number.isNaN(time) ? refuse('a time') : time
  },
}
const NAMES = Object.keys(ATTRIBUTES)

function text(length: number): (value: unknown) => string {
  return value => (typeof value === 'string' && value.length <= length ? value : refuse(`a text of ${length} characters`))
}

export function refuse(what: string): never {
  throw new TypeError(`Expected: ${what}.`)
}

export class Floor {
  readonly #user
  readonly #siteIds
  readonly #insert
  readonly #updates = new Map<string, Database.Statement>()
  readonly #delete
  readonly #begin
  readonly #commit
  readonly #db: Database.Database

  constructor(db: Database.Database) {
    this.#db = db
    db.pragma('foreign_keys = on')
    this.#user = db.prepare<[number], UserRow>(`select ${COLUMNS} from user where id = ?`)
    this.#siteIds = db.prepare<[number], number>('select id from site where user_id = ? order by id').pluck()
    this.#insert = db.prepare<unknown[], UserRow>(
      `insert into user (${NAMES.join(', ')}) values (${NAMES.map(() => '?').join(', ')}) returning ${COLUMNS}`,
    )
    this.#delete = db.prepare<[number], Site>('delete from site where id = ? returning id, url, user_id as user')
    this.#begin = db.prepare('begin')
    this.#commit = db.prepare('commit')
  }

  async answer({ method, path, query, body }: Request): Promise<string> {
    const [empty, version, resource, id, ...rest] = path.split('/')
    if (empty !== '' || version !== 'v1' || rest.length > 0) refuse('a path of this API')
    if (method === 'DELETE' && resource === 'sites') return this.#remove(keyOf(id))
    if (resource !== 'users') refuse('a known resource')
    if (method === 'GET') return envelope('user', this.#show(this.#user.get(keyOf(id)), depthOf(query)))
    if (method === 'POST' && id === undefined) return this.#create(body)
    return method === 'PUT' ? this.#change(keyOf(id), body) : refuse('a known method')
  }

  #create(body: unknown): string {
    const values = valuesOf(body)
    return this.#transaction(() => {
      const row = this.#insert.get(...NAMES.map(name => values.get(name) ?? refuse(name)))
      return envelope('user', this.#show(row, 1), 'OK')
    })
  }

  #change(id: number, body: unknown): string {
    const values = valuesOf(body)
    const names = [...values.keys()]
    return this.#transaction(() => {
      // Sets the row only if it differs, which versions and journals count.
      this.#update(names).run(...values.values(), id, ...values.values())
      return envelope('user', this.#show(this.#user.get(id), 1))
    })
  }

  #remove(id: number): string {
    return this.#transaction(() => envelope('site', this.#delete.get(id) ?? refuse('a known site'), 'OK'))
  }

  #update(names: readonly string[]): Database.Statement {
    const key = names.join()
    let update = this.#updates.get(key)
    if (update === undefined) {
      const [set, differs] = [names.map(name => `${name} = ?`).join(', '), names.map(name => `${name} is not ?`).join(' or ')]
      update = this.#db.prepare(`update user set ${set} where id = ? and (${differs})`)
      this.#updates.set(key, update)
    }
    return update
  }

  #show(row: UserRow | undefined, depth: 0 | 1): object {
    if (row === undefined) refuse('a known user')
    const user = toUser(row)
    if (depth === 1) user.sites = this.#siteIds.all(row.id)
    return user
  }

  #transaction(work: () => string): string {
    this.#begin.run()
    try {
      return work()
    } finally {
      this.#commit.run()
    }
  }
}

function envelope(resource: string, record: object, status?: 'OK'): string {
  return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource, [resource]: record, status })
}

function keyOf(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : refuse('an ID')
}

function depthOf(query: Request['query']): 0 | 1 {
  let depth: 0 | 1 = 1
  for (const [name, value] of Object.entries(query ?? {})) {
    if (name !== 'depth') refuse('a known parameter')
    depth = Number(value) === 0 ? 0 : Number(value) === 1 ? 1 : refuse('0 or 1')
  }
  return depth
}

function valuesOf(body: unknown): Map<string, string | number> {
  if (typeof body !== 'object' || body === null) refuse('an object')
  const values = new Map<string, string | number>()
  for (const [name, value] of Object.entries(body)) values.set(name, (ATTRIBUTES[name] ?? refuse('a known attribute'))(value))
  return values
}
