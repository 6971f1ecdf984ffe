/**
 * The API of the trials, written by hand with better-sqlite3 for these resources only: prepared statements, plain loops, JSON.stringify.
 * It knows the paths and queries of the trials, so it neither parses nor validates. Its answers equal those of the engine byte for byte,
 * except for the timestamp.
 */
import type Database from 'better-sqlite3'

/** The data of a new user. */
export interface NewUser {
  readonly name: string
  readonly email: string
  readonly active: boolean
  readonly score: number
  readonly created_at: string
}

/** The data of a new user with sites. */
export interface NewUserWithSites extends NewUser {
  readonly sites: readonly { readonly url: string }[]
}

export interface UserRow {
  id: number
  name: string
  email: string
  active: number
  score: number
  created_at: number
}

interface SiteRow {
  id: number
  url: string
  user: number
}

interface User extends Omit<UserRow, 'active' | 'created_at'> {
  active: boolean
  created_at: string
  sites?: (number | SiteRow)[]
}

type Depth = 0 | 1 | 2

const USER = 'u.id, u.name, u.email, u.active, u.score, u.created_at'
const SITE = 's.id, s.url, s.user_id as user'
const PAGE = 'limit ? offset ?'
const LIMIT = 100

export class ByHand {
  readonly db: Database.Database
  readonly #users
  readonly #userCount
  readonly #named
  readonly #namedCount
  readonly #withEmail
  readonly #withEmailCount
  readonly #scoredWithSite
  readonly #scoredWithSiteCount
  readonly #withSite
  readonly #withSiteCount
  readonly #bySiteCount
  readonly #scored
  readonly #scoredCount
  readonly #active
  readonly #activeCount
  readonly #between
  readonly #betweenCount
  readonly #scoreCount
  readonly #sitesByUser
  readonly #siteCount
  readonly #sitesOf
  readonly #siteIdsOf
  readonly #user
  readonly #siteIds
  readonly #insert
  readonly #insertSite
  readonly #createWithSites
  readonly #team
  readonly #teamUsers
  readonly #replaceUsers
  readonly #rename
  readonly #removeSite

  constructor(db: Database.Database) {
    this.db = db
    db.pragma('foreign_keys = on')
    const count = (sql: string) => db.prepare<unknown[], number>(`select count(*) ${sql}`).pluck()
    const users = (sql: string) => db.prepare<unknown[], UserRow>(`select ${USER} from user u ${sql} ${PAGE}`)
    const named = 'where u.name glob ?'
    const withSite = 'where u.id in (select s.user_id from site s where s.url glob ?)'
    const scoredWithSite = 'where u.score = ? and exists (select 1 from site s where s.user_id = u.id and s.url glob ?)'
    const between = 'where u.id >= ? and u.id < ?'
    this.#users = users('order by u.id')
    this.#userCount = count('from user')
    this.#named = users(`${named} order by u.score desc, u.id`)
    this.#namedCount = count(`from user u ${named}`)
    this.#withEmail = users('where u.email glob ? order by u.id')
    this.#withEmailCount = count('from user u where u.email glob ?')
    this.#scoredWithSite = users(`${scoredWithSite} order by u.id`)
    this.#scoredWithSiteCount = count(`from user u ${scoredWithSite}`)
    this.#withSite = users(`${withSite} order by u.id`)
    this.#withSiteCount = count(`from user u ${withSite}`)
    this.#bySiteCount = users('order by (select count(*) from site s where s.user_id = u.id) desc, u.id')
    const scored = 'where u.score >= ? and u.score < ?'
    this.#scored = users(`${scored} order by u.created_at desc, u.id`)
    this.#scoredCount = count(`from user u ${scored}`)
    this.#active = users('where u.active = ? order by u.score, u.id')
    this.#activeCount = count('from user u where u.active = ?')
    this.#between = users(`${between} order by u.id`)
    this.#betweenCount = count(`from user u ${between}`)
    this.#scoreCount = count('from user where score >= ?')
    this.#sitesByUser = db.prepare<unknown[], SiteRow>(
      `select ${SITE} from site s join user u on u.id = s.user_id order by u.name, s.id ${PAGE}`,
    )
    this.#siteCount = count('from site')
    const among = 'where s.user_id in (select value from json_each(?)) order by s.user_id, s.id'
    this.#sitesOf = db.prepare<[string], SiteRow>(`select ${SITE} from site s ${among}`)
    this.#siteIdsOf = db.prepare<[string], Omit<SiteRow, 'url'>>(`select s.id, s.user_id as user from site s ${among}`)
    this.#user = db.prepare<[number], UserRow>(`select ${USER} from user u where u.id = ?`)
    this.#siteIds = db.prepare<[number], number>('select id from site where user_id = ? order by id').pluck()
    this.#insert = db.prepare('insert into user (name, email, active, score, created_at) values (?, ?, ?, ?, ?)')
    this.#insertSite = db.prepare<[string, number | bigint]>('insert into site (url, user_id) values (?, ?)')
    this.#createWithSites = db.transaction(({ name, email, active, score, created_at, sites }: NewUserWithSites) => {
      const { lastInsertRowid } = this.#insert.run(name, email, active ? 1 : 0, score, Date.parse(created_at))
      for (const { url } of sites) this.#insertSite.run(url, lastInsertRowid)
      return this.#read(Number(lastInsertRowid), 1)
    })
    this.#team = db.prepare<[number], { id: number; name: string }>('select id, name from team where id = ?')
    this.#teamUsers = db.prepare<[number], number>('select user_id from team_users where team_id = ? order by user_id').pluck()
    const exists = db.prepare<[number], number>('select 1 from user where id = ?').pluck()
    const leave = db.prepare<[number, number]>('delete from team_users where team_id = ? and user_id = ?')
    const enter = db.prepare<[number, number]>('insert into team_users (team_id, user_id) values (?, ?)')
    this.#replaceUsers = db.transaction((id: number, users: readonly number[]) => {
      const team = this.#team.get(id)
      if (team === undefined) throw new Error(`There is no team ${id}.`)
      const [before, after] = [new Set(this.#teamUsers.all(id)), new Set(users)]
      for (const user of after) if (exists.get(user) === undefined) throw new Error(`There is no user ${user}.`)
      for (const user of before) if (!after.has(user)) leave.run(id, user)
      for (const user of after) if (!before.has(user)) enter.run(id, user)
      return { ...team, users: this.#teamUsers.all(id) }
    })
    this.#rename = db.prepare<[string, number]>('update user set name = ? where id = ?')
    this.#removeSite = db.prepare<[number], SiteRow>('delete from site where id = ? returning id, url, user_id as user')
  }

  /** `GET /v1/users?depth=:depth&offset=:offset` */
  listUsers(depth: Depth, offset: number): string {
    return this.#listUsers(depth, offset, LIMIT, start => `/v1/users?depth=${depth}&offset=${start}`)
  }

  /** `GET /v1/users?depth=:depth&limit=:limit` */
  listUsersBy(limit: number, depth: Depth): string {
    return this.#listUsers(depth, 0, limit, start => `/v1/users?depth=${depth}&limit=${limit}&offset=${start}`)
  }

  #listUsers(depth: Depth, offset: number, limit: number, link: (start: number) => string): string {
    const users = this.#users.all(limit, offset).map(toUser)
    this.#addSites(users, depth)
    const count = countOf(users, offset, limit) ?? this.#userCount.get()!
    return envelope('users', 'id.asc', offset, [], count, link, users, limit)
  }

  /** `GET /v1/users?name=:pattern&sort=score.desc&depth=0&offset=:offset` */
  listUsersNamed(pattern: string, offset: number): string {
    const users = this.#named.all(pattern, LIMIT, offset).map(toUser)
    const count = countOf(users, offset) ?? this.#namedCount.get(pattern)!
    const link = (start: number): string => `/v1/users?name=${encodeURIComponent(pattern)}&sort=score.desc&depth=0&offset=${start}`
    return envelope('users', 'score.desc', offset, [['name', pattern]], count, link, users)
  }

  /** `GET /v1/users?sites.url=:pattern&depth=0&offset=:offset` */
  listUsersWithSite(pattern: string, offset: number): string {
    const users = this.#withSite.all(pattern, LIMIT, offset).map(toUser)
    const count = countOf(users, offset) ?? this.#withSiteCount.get(pattern)!
    const link = (start: number): string => `/v1/users?sites.url=${encodeURIComponent(pattern)}&depth=0&offset=${start}`
    return envelope('users', 'id.asc', offset, [['sites.url', pattern]], count, link, users)
  }

  /** `GET /v1/users?score=:score&sites.url=:pattern&depth=0` */
  listUsersScoredWithSite(score: number, pattern: string): string {
    const users = this.#scoredWithSite.all(score, pattern, LIMIT, 0).map(toUser)
    const count = countOf(users, 0) ?? this.#scoredWithSiteCount.get(score, pattern)!
    const link = (start: number): string => `/v1/users?score=${score}&sites.url=${encodeURIComponent(pattern)}&depth=0&offset=${start}`
    const filter = [
      ['score', String(score)],
      ['sites.url', pattern],
    ]
    return envelope('users', 'id.asc', 0, filter, count, link, users)
  }

  /** `GET /v1/users?email=:pattern&depth=0` */
  listUsersByEmail(pattern: string): string {
    const users = this.#withEmail.all(pattern, LIMIT, 0).map(toUser)
    const count = countOf(users, 0) ?? this.#withEmailCount.get(pattern)!
    const link = (start: number): string => `/v1/users?email=${encodeURIComponent(pattern)}&depth=0&offset=${start}`
    return envelope('users', 'id.asc', 0, [['email', pattern]], count, link, users)
  }

  /** `GET /v1/users?sort=sites.desc&depth=0&offset=:offset` */
  listUsersBySiteCount(offset: number): string {
    const users = this.#bySiteCount.all(LIMIT, offset).map(toUser)
    const count = countOf(users, offset) ?? this.#userCount.get()!
    return envelope('users', 'sites.desc', offset, [], count, start => `/v1/users?sort=sites.desc&depth=0&offset=${start}`, users)
  }

  /** `GET /v1/users?score>=:first&score<:end&sort=created_at.desc&depth=0` */
  listUsersScored(first: number, end: number): string {
    const users = this.#scored.all(first, end, LIMIT, 0).map(toUser)
    const count = countOf(users, 0) ?? this.#scoredCount.get(first, end)!
    const filter = [
      ['score>=', String(first)],
      ['score<', String(end)],
    ]
    const link = (start: number): string => `/v1/users?score%3E=${first}&score%3C${end}&sort=created_at.desc&depth=0&offset=${start}`
    return envelope('users', 'created_at.desc', 0, filter, count, link, users)
  }

  /** `GET /v1/users?active=true&sort=score&depth=0&offset=:offset` */
  listActiveUsers(offset: number): string {
    const users = this.#active.all(1, LIMIT, offset).map(toUser)
    const count = countOf(users, offset) ?? this.#activeCount.get(1)!
    const link = (start: number): string => `/v1/users?active=true&sort=score&depth=0&offset=${start}`
    return envelope('users', 'score.asc', offset, [['active', 'true']], count, link, users)
  }

  /** `GET /v1/users?id>=:first&id<:end&depth=1` */
  listUsersBetween(first: number, end: number): string {
    const users = this.#between.all(first, end, LIMIT, 0).map(toUser)
    this.#addSites(users, 1)
    const count = countOf(users, 0) ?? this.#betweenCount.get(first, end)!
    const filter = [
      ['id>=', String(first)],
      ['id<', String(end)],
    ]
    return envelope('users', 'id.asc', 0, filter, count, start => `/v1/users?id%3E=${first}&id%3C${end}&depth=1&offset=${start}`, users)
  }

  /** `GET /v1/users?score>=:score&limit=0` */
  countUsers(score: number): string {
    return JSON.stringify({
      success: true,
      timestamp: new Date().toISOString(),
      resource: 'users',
      sort: 'id.asc',
      offset: 0,
      limit: 0,
      filter: [['score>=', String(score)]],
      count: this.#scoreCount.get(score),
      previous: null,
      next: null,
      users: [],
    })
  }

  /** `GET /v1/sites?sort=user.name&offset=:offset` */
  listSitesByUser(offset: number): string {
    const sites = this.#sitesByUser.all(LIMIT, offset)
    const count = countOf(sites, offset) ?? this.#siteCount.get()!
    return envelope('sites', 'user.name.asc', offset, [], count, start => `/v1/sites?sort=user.name&offset=${start}`, sites)
  }

  /** `GET /v1/users/:id?depth=:depth` */
  getUser(id: number, depth: 0 | 1): string {
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user: this.#read(id, depth) })
  }

  /** `POST /v1/users` */
  createUser({ name, email, active, score, created_at }: NewUser, depth: 0 | 1 = 1): string {
    const { lastInsertRowid } = this.#insert.run(name, email, active ? 1 : 0, score, Date.parse(created_at))
    const user = this.#read(Number(lastInsertRowid), depth)
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user, status: 'OK' })
  }

  /** `POST /v1/users` with new sites in it */
  createUserWithSites(data: NewUserWithSites): string {
    const user = this.#createWithSites(data)
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user, status: 'OK' })
  }

  /** `PUT /v1/teams/:id` with the IDs of users */
  replaceUsers(id: number, users: readonly number[]): string {
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'team', team: this.#replaceUsers(id, users) })
  }

  /** `PUT /v1/users/:id` */
  renameUser(id: number, name: string, depth: 0 | 1 = 1): string {
    if (this.#rename.run(name, id).changes === 0) throw new Error(`There is no user ${id}.`)
    return this.getUser(id, depth)
  }

  /** `DELETE /v1/sites/:id` */
  deleteSite(id: number): string {
    const site = this.#removeSite.get(id)
    if (site === undefined) throw new Error(`There is no site ${id}.`)
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'site', site, status: 'OK' })
  }

  #read(id: number, depth: 0 | 1): User {
    const row = this.#user.get(id)
    if (row === undefined) throw new Error(`There is no user ${id}.`)
    const user = toUser(row)
    if (depth === 1) user.sites = this.#siteIds.all(id)
    return user
  }

  /** Adds the sites of all users with one statement. */
  #addSites(users: readonly User[], depth: Depth): void {
    if (depth === 0) return
    const ids = JSON.stringify(users.map(user => user.id))
    const lists = new Map<number, (number | SiteRow)[]>()
    for (const user of users) lists.set(user.id, (user.sites = []))
    if (depth === 1) for (const site of this.#siteIdsOf.all(ids)) lists.get(site.user)!.push(site.id)
    else for (const site of this.#sitesOf.all(ids)) lists.get(site.user)!.push(site)
  }
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    active: row.active === 1,
    score: row.score,
    created_at: new Date(row.created_at).toISOString(),
  }
}

/** Returns the count of a page that is not full and not past the end, which needs no statement. */
function countOf(page: readonly unknown[], offset: number, limit = LIMIT): number | undefined {
  return page.length < limit && (page.length > 0 || offset === 0) ? offset + page.length : undefined
}

export function envelope(
  resource: string,
  sort: string,
  offset: number,
  filter: string[][],
  count: number,
  link: (offset: number) => string,
  records: readonly unknown[],
  limit = LIMIT,
): string {
  return JSON.stringify({
    success: true,
    timestamp: new Date().toISOString(),
    resource,
    sort,
    offset,
    limit,
    filter,
    count,
    previous: offset > 0 ? link(Math.max(0, offset - limit)) : null,
    next: offset + limit < count ? link(offset + limit) : null,
    [resource]: records,
  })
}
