/**
 * The model of all trials, and its rows as SQL text for any connection: always the same rows, without a file to keep. A user has about
 * five sites, and the sites of one user do not lie together in their table.
 */
import { defineEntity, p } from '@mikro-orm/sqlite'

export const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(60),
    email: p.string().length(120).index(),
    active: p.boolean(),
    score: p.integer(),
    created_at: p.datetime(),
    sites: () => p.oneToMany(Site).mappedBy('user'),
  },
})

export const Site = defineEntity({
  name: 'Site',
  properties: {
    id: p.integer().primary(),
    url: p.string().length(200),
    user: () => p.manyToOne(User),
  },
})

/** A list of many-to-many, which the lists of users do not show. */
export const Team = defineEntity({
  name: 'Team',
  properties: { id: p.integer().primary(), name: p.string().length(60), users: () => p.manyToMany(User) },
})

export const entities = [User, Site, Team]

/** The tables as MikroORM makes them of the model, for a contender without MikroORM. */
export const TABLES = [
  'CREATE TABLE `team` (`id` integer not null primary key autoincrement, `name` text not null)',
  'CREATE TABLE `user` (`id` integer not null primary key autoincrement, `name` text not null, ' +
    '`email` text not null, `active` integer not null, `score` integer not null, `created_at` datetime not null)',
  'CREATE INDEX `user_email_index` on `user` (`email`)',
  'CREATE TABLE `team_users` (`team_id` integer not null, `user_id` integer not null, primary key (`team_id`, `user_id`), ' +
    'constraint `team_users_team_id_foreign` foreign key (`team_id`) references `team` (`id`) on update cascade on delete cascade, ' +
    'constraint `team_users_user_id_foreign` foreign key (`user_id`) references `user` (`id`) on update cascade on delete cascade)',
  'CREATE INDEX `team_users_team_id_index` on `team_users` (`team_id`)',
  'CREATE INDEX `team_users_user_id_index` on `team_users` (`user_id`)',
  'CREATE TABLE `site` (`id` integer not null primary key autoincrement, `url` text not null, ' +
    '`user_id` integer not null, constraint `site_user_id_foreign` foreign key (`user_id`) references `user` (`id`))',
  'CREATE INDEX `site_user_id_index` on `site` (`user_id`)',
]

/** The number of rows of each table. */
export interface Size {
  readonly users: number
  readonly sites: number
}

/** The number of teams, whatever the size. They have no users yet. */
export const TEAMS = 50

export const SIZE: Size = { users: 10_000, sites: 50_000 }

/** The size of the trials on large tables. */
export const LARGE_SIZE: Size = { users: 1_000_000, sites: 1_000_000 }

/** First names of users, for a tenth of them each. */
export const FIRST_NAMES = ['Ann', 'Bob', 'Cid', 'Dea', 'Eva', 'Fay', 'Gus', 'Hal', 'Ida', 'Joe']

/** Returns statements that insert the rows. */
export function rowsOf({ users, sites }: Size): string[] {
  return [
    `${numbers(TEAMS)} insert into team (id, name) select i, 'Team ' || i from number`,
    `${numbers(users)} insert into "user" (id, name, email, active, score, created_at)
      select i,
        substr('${FIRST_NAMES.join('')}', 1 + 3 * (i * 7919 % ${FIRST_NAMES.length}), 3) || printf(' %06d', i * 7919 % 1000003),
        printf('user%d@example.test', i), i % 3 > 0, i * 7919 % 10007, 1735689600000 + i * 6311000
      from number`,
    `${numbers(sites)} insert into site (id, url, user_id)
      select i, printf('site-%06d.example.test', i * 31 % 1000003), 1 + (i * 40503 + i / 7 * 977) % ${users} from number`,
  ]
}

function numbers(count: number): string {
  return `with recursive number(i) as (values (1) union all select i + 1 from number where i < ${count})`
}
