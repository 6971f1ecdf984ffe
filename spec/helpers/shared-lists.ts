/** A model of any size whose lists share their records, for costly requests. */
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

export const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string(), sites: () => p.oneToMany(Site).mappedBy('user') },
})
export const Site = defineEntity({
  name: 'Site',
  properties: { id: p.integer().primary(), title: p.text(), user: () => p.manyToOne(User), tags: () => p.manyToMany(Tag) },
})
export const Tag = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), name: p.string(), sites: () => p.manyToMany(Site).mappedBy('tags') },
})

/** Creates an engine with that many rows. Every site has three tags, and the sites of a user do not lie together. */
export async function sharedLists(
  users: number,
  sites: number,
  tags: number,
  options: Partial<Parameters<typeof RestEngine.create>[0]> = {},
): Promise<RestEngine> {
  const engine = await RestEngine.create({ entities: [User, Site, Tag], ...options })
  const numbers = (count: number): string =>
    `with recursive number(i) as (values (1) union all select i + 1 from number where i < ${count}) insert into`
  for (const sql of [
    `${numbers(users)} user (id, name) select i, 'user ' || i from number`,
    `${numbers(sites)} site (id, title, user_id) select i, 'site ' || i, 1 + (i * 40503 + i / 7 * 977) % ${users} from number`,
    `${numbers(tags)} tag (id, name) select i, 'tag ' || i from number`,
    `${numbers(sites * 3)} site_tags (site_id, tag_id) select 1 + (i - 1) / 3, ` +
      `1 + (i * 7919 + i / 3 * 31) % ${tags} from number where true on conflict do nothing`,
  ])
    await engine.orm.em.getConnection().execute(sql)
  return engine
}
