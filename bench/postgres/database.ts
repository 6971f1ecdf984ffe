/**
 * The databases of the bench: on the server of the environment (PGHOST and friends), with the tables as MikroORM makes them, and the rows
 * of `seed.ts`. They are dropped at the end.
 */
import { Client } from 'pg'
import { ownDatabase } from '../../spec/postgres/server-database.ts'
import type { Size } from '../seed.ts'
import { FIRST_NAMES, TEAMS, entities } from '../seed.ts'

/** Without the log of the test kit, whose triggers slow every write: an engine adds it to an empty database alone. */
const TABLES = `
  create table "team" ("id" serial primary key, "name" varchar(60) not null);
  create table "user" ("id" serial primary key, "name" varchar(60) not null, "email" varchar(120) not null, "active" boolean not null, "score" int not null,
    "created_at" timestamptz not null);
  create table "team_users" ("team_id" int not null references "team" ("id") on update cascade on delete cascade,
    "user_id" int not null references "user" ("id") on update cascade on delete cascade, primary key ("team_id", "user_id"));
  create table "site" ("id" serial primary key, "url" varchar(200) not null, "user_id" int not null references "user" ("id"))`

/** Indexes by which a text is sorted and looked for by its beginning have the collation that compares bytes. */
const INDEXES = `
  create index if not exists "user_email_index" on "user" ("email" collate "C");
  create index if not exists "team_users_team_id_index" on "team_users" ("team_id");
  create index if not exists "team_users_user_id_index" on "team_users" ("user_id");
  create index if not exists "site_user_id_index" on "site" ("user_id")`

/** Returns what inserts the rows, the same as on SQLite. */
function rowsOf({ users, sites }: Size): string {
  return `
    insert into team (name) select 'Team ' || i from generate_series(1, ${TEAMS}) as i;
    insert into "user" (name, email, active, score, created_at)
      select substr('${FIRST_NAMES.join('')}', (1 + 3 * (i * 7919 % ${FIRST_NAMES.length}))::int, 3) || ' ' || lpad((i * 7919 % 1000003)::text, 6, '0'),
        'user' || i || '@example.test', i % 3 > 0, i * 7919 % 10007, to_timestamp((1735689600000 + i * 6311000) / 1000.0)
      from generate_series(1::bigint, ${users}) as i;
    insert into site (url, user_id)
      select 'site-' || lpad((i * 31 % 1000003)::text, 6, '0') || '.example.test', 1 + (i * 40503 + i / 7 * 977) % ${users}
      from generate_series(1::bigint, ${sites}) as i`
}

/** One process for a session: the time of helpers could not be told from that of others. */
const SETTINGS = `do $$ begin execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database()); end $$`

/** Keeps what is filled in here out of the log. */
const SILENT = "set mikro_rest.log = 'off'"

/**
 * Runs work on a database of its own.
 *
 * @param isLogged whether an engine makes the tables, and with them the log of the test kit
 */
export async function withDatabase<T>(size: Size, work: (url: string) => Promise<T>, isLogged = false): Promise<T> {
  await using own = await ownDatabase()
  const { url } = own.database
  if (isLogged) {
    const { RestEngine } = await import('../../lib/index.ts')
    const engine = await RestEngine.create({ entities, database: url })
    await engine.close()
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const text of [isLogged ? SILENT : TABLES, rowsOf(size), INDEXES, SETTINGS, 'vacuum analyze']) await client.query(text)
  await client.end()
  return await work(url)
}
