/**
 * The API of the trials, written by hand with `pg`: each request is one transaction, as those of the engine are; a reading of one statement
 * needs none. In the usual form each statement waits for the one before it, and rows are objects. In the other one statements have names,
 * and those that need nothing of each other are sent together.
 */
import { Pool } from 'pg'
import type { PoolClient } from 'pg'
import { envelope } from '../by-hand.ts'
import type { NewUser } from '../by-hand.ts'

interface UserRow {
  id: number
  name: string
  email: string
  active: boolean
  score: number
  created_at: Date
}

interface SiteRow {
  id: number
  url: string
  user: number
}

type User = UserRow & { sites?: (number | SiteRow)[] }

type Depth = 0 | 1 | 2

const USER = 'u.id, u.name, u.email, u.active, u.score, u.created_at'
const LIMIT = 100
const READING = 'begin isolation level repeatable read, read only'
const WRITING = 'begin isolation level repeatable read'

/** A page of users: what is behind `from "user" u`. */
interface PageQuery {
  readonly where?: string
  readonly values?: readonly unknown[]
  readonly order: string
  readonly offset: number
}

export class ByHand {
  readonly #pool: Pool
  readonly #isTuned: boolean
  readonly #names = new Map<string, string>()

  /** @param isTuned whether statements have names and are sent together */
  constructor(url: string, isTuned: boolean) {
    this.#pool = new Pool({ connectionString: url, max: 10, pipeline: isTuned })
    this.#isTuned = isTuned
  }

  /** `GET /v1/users?depth=:depth&offset=:offset` */
  async listUsers(depth: Depth, offset: number): Promise<string> {
    const { users, count } = await this.#readPage({ order: 'u.id', offset }, depth)
    return envelope('users', 'id.asc', offset, [], count, start => `/v1/users?depth=${depth}&offset=${start}`, users)
  }

  /** `GET /v1/users?active=true&sort=score&depth=0&offset=:offset` */
  async listActiveUsers(offset: number): Promise<string> {
    const { users, count } = await this.#readPage({ where: 'u.active = $1', values: [true], order: 'u.score, u.id', offset })
    const link = (start: number): string => `/v1/users?active=true&sort=score&depth=0&offset=${start}`
    return envelope('users', 'score.asc', offset, [['active', 'true']], count, link, users)
  }

  /** `GET /v1/users?score>=:first&score<:end&sort=created_at.desc&depth=0` */
  async listUsersScored(first: number, end: number): Promise<string> {
    const where = 'u.score >= $1 and u.score < $2'
    const { users, count } = await this.#readPage({ where, values: [first, end], order: 'u.created_at desc, u.id', offset: 0 })
    const filter = [
      ['score>=', String(first)],
      ['score<', String(end)],
    ]
    const link = (start: number): string => `/v1/users?score%3E=${first}&score%3C${end}&sort=created_at.desc&depth=0&offset=${start}`
    return envelope('users', 'created_at.desc', 0, filter, count, link, users)
  }

  /** `GET /v1/users?email=:pattern&depth=0`, of a pattern that ends in a wildcard */
  async listUsersByEmail(pattern: string): Promise<string> {
    const low = pattern.slice(0, -1)
    const high = low.slice(0, -1) + String.fromCodePoint(low.codePointAt(low.length - 1)! + 1)
    const where = 'u.email collate "C" >= $1 and u.email collate "C" < $2'
    const { users, count } = await this.#readPage({ where, values: [low, high], order: 'u.id', offset: 0 })
    const link = (start: number): string => `/v1/users?email=${encodeURIComponent(pattern)}&depth=0&offset=${start}`
    return envelope('users', 'id.asc', 0, [['email', pattern]], count, link, users)
  }

  /** `GET /v1/users?sort=email&depth=0&offset=:offset` */
  async listUsersInOrder(offset: number): Promise<string> {
    const { users, count } = await this.#readPage({ order: 'u.email collate "C", u.id', offset })
    return envelope('users', 'email.asc', offset, [], count, start => `/v1/users?sort=email&depth=0&offset=${start}`, users)
  }

  /** `GET /v1/users/:id?depth=:depth` */
  async getUser(id: number, depth: 0 | 1): Promise<string> {
    const client = await this.#pool.connect()
    try {
      const user =
        depth === 0 ? await this.#readUser(client, id) : await this.#transact(client, READING, () => this.#readUserWithSites(client, id))
      return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user })
    } finally {
      client.release()
    }
  }

  /** `POST /v1/users` */
  async createUser({ name, email, active, score, created_at }: NewUser): Promise<string> {
    const insert = `insert into "user" as u (name, email, active, score, created_at) values ($1, $2, $3, $4, $5) returning ${USER}`
    const user = await this.#write(async client => {
      const [created] = await this.#ask<UserRow>(client, insert, [name, email, active, score, created_at])
      return { ...created!, sites: await this.#readSiteIds(client, created!.id) }
    })
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user, status: 'OK' })
  }

  /** `PUT /v1/users/:id` */
  async renameUser(id: number, name: string): Promise<string> {
    const user = await this.#write(async client => {
      const [[changed], sites] = await this.#both(
        () => this.#ask<UserRow>(client, `update "user" u set name = $1 where id = $2 returning ${USER}`, [name, id]),
        () => this.#readSiteIds(client, id),
      )
      if (changed === undefined) throw new Error(`There is no user ${id}.`)
      return { ...changed, sites }
    })
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user })
  }

  /** `DELETE /v1/sites/:id` */
  async deleteSite(id: number): Promise<string> {
    const [site] = await this.#write(client =>
      this.#ask<SiteRow>(client, 'delete from site where id = $1 returning id, url, user_id as user', [id]),
    )
    if (site === undefined) throw new Error(`There is no site ${id}.`)
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'site', site, status: 'OK' })
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  /** Reads a page and its count, which a page that is not full shows itself. */
  async #readPage({ where, values = [], order, offset }: PageQuery, depth: Depth = 0): Promise<{ users: User[]; count: number }> {
    const from = `from "user" u${where === undefined ? '' : ` where ${where}`}`
    const page = `select ${USER} ${from} order by ${order} limit $${values.length + 1} offset $${values.length + 2}`
    const readCount = (client: PoolClient) => this.#ask<{ count: number }>(client, `select count(*)::int as count ${from}`, values)
    const client = await this.#pool.connect()
    try {
      return await this.#transact(client, READING, async () => {
        const counted = this.#isTuned ? readCount(client) : undefined
        const users: User[] = await this.#ask<UserRow>(client, page, [...values, LIMIT, offset])
        const isWhole = users.length < LIMIT && (users.length > 0 || offset === 0)
        const [row] = isWhole ? [] : await (counted ?? readCount(client))
        await counted
        if (depth > 0) await this.#addSites(client, users, depth)
        return { users, count: row?.count ?? offset + users.length }
      })
    } finally {
      client.release()
    }
  }

  /** Adds the sites of all users with one statement. */
  async #addSites(client: PoolClient, users: readonly User[], depth: Depth): Promise<void> {
    const lists = new Map<number, (number | SiteRow)[]>()
    for (const user of users) lists.set(user.id, (user.sites = []))
    const columns = depth === 1 ? 's.id, s.user_id as user' : 's.id, s.url, s.user_id as user'
    const text = `select ${columns} from site s where s.user_id = any($1) order by s.user_id, s.id`
    const sites = await this.#ask<SiteRow>(client, text, [users.map(({ id }) => id)])
    for (const site of sites) lists.get(site.user)!.push(depth === 1 ? site.id : site)
  }

  async #readUser(client: PoolClient, id: number): Promise<UserRow> {
    const [user] = await this.#ask<UserRow>(client, `select ${USER} from "user" u where u.id = $1`, [id])
    if (user === undefined) throw new Error(`There is no user ${id}.`)
    return user
  }

  async #readUserWithSites(client: PoolClient, id: number): Promise<User> {
    const [user, sites] = await this.#both(
      () => this.#readUser(client, id),
      () => this.#readSiteIds(client, id),
    )
    return { ...user, sites }
  }

  async #readSiteIds(client: PoolClient, user: number): Promise<number[]> {
    const sites = await this.#ask<{ id: number }>(client, 'select id from site where user_id = $1 order by id', [user])
    return sites.map(({ id }) => id)
  }

  async #ask<Row>(client: PoolClient, text: string, values: readonly unknown[]): Promise<Row[]> {
    if (!this.#isTuned) return (await client.query(text, [...values])).rows as Row[]
    let name = this.#names.get(text)
    if (name === undefined) this.#names.set(text, (name = `by_hand_${this.#names.size}`))
    return (await client.query({ name, text, values: [...values] })).rows as Row[]
  }

  /** Runs two pieces of work that need nothing of each other. */
  async #both<One, Two>(one: () => Promise<One>, two: () => Promise<Two>): Promise<[One, Two]> {
    return this.#isTuned ? Promise.all([one(), two()]) : [await one(), await two()]
  }

  async #write<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    try {
      return await this.#transact(client, WRITING, () => work(client))
    } finally {
      client.release()
    }
  }

  async #transact<T>(client: PoolClient, begin: string, work: () => Promise<T>): Promise<T> {
    const begun = client.query(begin)
    if (!this.#isTuned) await begun
    try {
      const result = await work()
      // Nothing depends on how a transaction ends that only reads.
      const ended = client.query('commit')
      if (!this.#isTuned || begin === WRITING) await ended
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  }
}
