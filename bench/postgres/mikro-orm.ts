/** The API of the trials with MikroORM by hand, as its guides write it: a fork for each request, `findAndCount`, `assign` and `flush`. */
import { MikroORM, wrap } from '@mikro-orm/postgresql'
import type { FilterQuery, QueryOrderMap } from '@mikro-orm/postgresql'
import { envelope } from '../by-hand.ts'
import type { NewUser } from '../by-hand.ts'
import { Site, User, entities } from '../seed.ts'

type UserEntity = InstanceType<typeof User.class>

const LIMIT = 100

export class ByMikroOrm {
  readonly #orm: MikroORM

  constructor(url: string) {
    this.#orm = new MikroORM({ entities, clientUrl: url, forceUtcTimezone: true })
  }

  /** See `ByHand`, also of the others. */
  async listUsers(depth: 0 | 1 | 2, offset: number): Promise<string> {
    const { users, count } = await this.#readPage({}, { id: 'asc' }, offset, depth)
    return envelope('users', 'id.asc', offset, [], count, start => `/v1/users?depth=${depth}&offset=${start}`, users)
  }

  async listActiveUsers(offset: number): Promise<string> {
    const { users, count } = await this.#readPage({ active: true }, { score: 'asc', id: 'asc' }, offset, 0)
    const link = (start: number): string => `/v1/users?active=true&sort=score&depth=0&offset=${start}`
    return envelope('users', 'score.asc', offset, [['active', 'true']], count, link, users)
  }

  async getUser(id: number, depth: 0 | 1): Promise<string> {
    const em = this.#orm.em.fork()
    const user = await em.findOneOrFail(User, id, depth === 0 ? {} : { populate: ['sites'], orderBy: { sites: { id: 'asc' } } })
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user: toRecord(user, depth) })
  }

  async createUser({ created_at, ...data }: NewUser): Promise<string> {
    const em = this.#orm.em.fork()
    const user = em.create(User, { ...data, created_at: new Date(created_at) })
    await em.flush()
    const record = toRecord(user, 1)
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user: record, status: 'OK' })
  }

  async renameUser(id: number, name: string): Promise<string> {
    const em = this.#orm.em.fork()
    const user = await em.findOneOrFail(User, id, { populate: ['sites'], orderBy: { sites: { id: 'asc' } } })
    user.name = name
    await em.flush()
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'user', user: toRecord(user, 1) })
  }

  async deleteSite(id: number): Promise<string> {
    const em = this.#orm.em.fork()
    const found = await em.findOneOrFail(Site, id)
    const site = wrap(found).toObject()
    await em.remove(found).flush()
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), resource: 'site', site, status: 'OK' })
  }

  async close(): Promise<void> {
    await this.#orm.close(true)
  }

  async #readPage(where: FilterQuery<UserEntity>, orderBy: QueryOrderMap<UserEntity>, offset: number, depth: 0 | 1 | 2) {
    const order = depth === 0 ? [orderBy] : [orderBy, { sites: { id: 'asc' } } as QueryOrderMap<UserEntity>]
    const populate = depth === 0 ? [] : (['sites'] as const)
    const em = this.#orm.em.fork()
    const [users, count] = await em.findAndCount(User, where, { limit: LIMIT, offset, orderBy: order, populate: populate as never })
    return { users: users.map(user => toRecord(user, depth)), count }
  }
}

function toRecord(user: UserEntity, depth: 0 | 1 | 2): object {
  const { sites: _, ...plain } = wrap(user).toObject() as unknown as Record<string, unknown>
  if (depth === 0) return plain
  const sites = user.sites.getItems(false)
  return { ...plain, sites: depth === 1 ? sites.map(({ id }) => id) : sites.map(({ id, url }) => ({ id, url, user: user.id })) }
}
