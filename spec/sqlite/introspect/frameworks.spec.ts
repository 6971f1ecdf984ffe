/**
 * Files as the common frameworks create them, by the DDL that each emits: every row is served, and stays as it is when it is written as it
 * is shown.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { internalsOf } from '../../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../../lib/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-frameworks-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** What a framework creates; what some requests must answer; the tables that are lists of others. */
interface Framework {
  readonly sql: string
  readonly shown: Readonly<Record<string, object>>
  readonly pivots?: readonly string[]
}

const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  Django: {
    sql: `
      CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
      CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE, "date_joined" datetime NOT NULL);
      CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(150) NOT NULL UNIQUE);
      CREATE TABLE "auth_user_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED);
      CREATE UNIQUE INDEX "auth_user_groups_user_id_group_id_94350c0c_uniq" ON "auth_user_groups" ("user_id", "group_id");
      CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" datetime NOT NULL);
      CREATE TABLE "polls_choice" ("id" char(32) NOT NULL PRIMARY KEY, "votes" integer unsigned NOT NULL CHECK ("votes" >= 0), "price" decimal NOT NULL, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)), "length" bigint NOT NULL, "day" date NULL, "at" time NULL, "owner_id" integer NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO "django_migrations" VALUES (1, 'auth', '0001_initial', '2024-01-31 10:11:12.123456');
      INSERT INTO "auth_user" VALUES (1, 'pbkdf2_sha256$1', NULL, 1, 'ann', '2024-01-31 10:11:12.123456'), (2, 'x', '2024-02-01 00:00:00', 0, 'bob', '2024-01-31 10:11:12');
      INSERT INTO "auth_group" VALUES (1, 'editors');
      INSERT INTO "auth_user_groups" VALUES (1, 1, 1), (2, 2, 1);
      INSERT INTO "django_session" VALUES ('k1', 'e30:1', '2024-02-14 10:11:12.5');
      INSERT INTO "polls_choice" VALUES ('6fa459eaee8a3ca4894edb77e1603550', 3, 9.95, '{"a": [1, 2]}', 3600000000, '2024-01-31', '23:59:59', 1);`,
    shown: {
      '/v1/auth_users/1': { isSuperuser: true, dateJoined: '2024-01-31T10:11:12.123Z', lastLogin: null },
      '/v1/polls_choices/6fa459eaee8a3ca4894edb77e1603550': { owner: 1, price: 9.95, day: '2024-01-31', at: '23:59:59' },
    },
  },
  Rails: {
    sql: `
      CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
      CREATE TABLE "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
      CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar, "admin" boolean DEFAULT FALSE NOT NULL, "settings" json, "balance" decimal(8,2), "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
      CREATE TABLE "posts" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar DEFAULT '' NOT NULL, "body" text, "user_id" integer NOT NULL, "created_at" datetime(6) NOT NULL, CONSTRAINT "fk_rails_5b5ddfd518" FOREIGN KEY ("user_id") REFERENCES "users" ("id"));
      CREATE INDEX "index_posts_on_user_id" ON "posts" ("user_id");
      CREATE TABLE "comments" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "commentable_type" varchar NOT NULL, "commentable_id" integer NOT NULL, "text" text);
      CREATE TABLE "posts_tags" ("post_id" integer NOT NULL, "tag_id" integer NOT NULL, CONSTRAINT "fk_1" FOREIGN KEY ("post_id") REFERENCES "posts" ("id"), CONSTRAINT "fk_2" FOREIGN KEY ("tag_id") REFERENCES "tags" ("id"));
      CREATE TABLE "tags" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar);
      INSERT INTO "schema_migrations" VALUES ('20240131101112');
      INSERT INTO "ar_internal_metadata" VALUES ('environment', 'development', '2024-01-31 10:11:12.123456', '2024-01-31 10:11:12.123456');
      INSERT INTO "users" VALUES (1, 'Ann', 1, '{"a":1}', 12.5, '2024-01-31 10:11:12.123456', '2024-01-31 10:11:12.123456');
      INSERT INTO "posts" VALUES (1, 'Hello', NULL, 1, '2024-01-31 10:11:12');
      INSERT INTO "comments" VALUES (1, 'Post', 1, 'Nice');
      INSERT INTO "tags" VALUES (1, 'a'), (2, 'b');
      INSERT INTO "posts_tags" VALUES (1, 2), (1, 1);`,
    shown: {
      '/v1/users/1': { admin: true, settings: { a: 1 }, posts: [1] },
      '/v1/posts/1': { user: 1 },
      '/v1/comments/1': { commentableId: 1 },
    },
    // Without a key, a link may be there twice.
  },
  TypeORM: {
    sql: `
      CREATE TABLE "migrations" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "timestamp" bigint NOT NULL, "name" varchar NOT NULL);
      CREATE TABLE "user" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "firstName" varchar NOT NULL, "isActive" boolean NOT NULL DEFAULT (1), "createdAt" datetime NOT NULL DEFAULT (datetime('now')), "tags" text NOT NULL, "profileId" varchar, CONSTRAINT "REL_9466682df91534dd95e4dbaa61" UNIQUE ("profileId"), CONSTRAINT "FK_9466682df91534dd95e4dbaa616" FOREIGN KEY ("profileId") REFERENCES "profile" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION);
      CREATE TABLE "profile" ("id" varchar PRIMARY KEY NOT NULL, "role" varchar CHECK( "role" IN ('admin','user') ) NOT NULL DEFAULT ('user'));
      CREATE TABLE "role" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "name" varchar NOT NULL);
      CREATE TABLE "user_roles_role" ("userId" integer NOT NULL, "roleId" integer NOT NULL, CONSTRAINT "FK_5f9286e6c25594c6b88c108db77" FOREIGN KEY ("userId") REFERENCES "user" ("id") ON DELETE CASCADE ON UPDATE CASCADE, CONSTRAINT "FK_4be2f7adf862634f5f803d246b8" FOREIGN KEY ("roleId") REFERENCES "role" ("id") ON DELETE CASCADE ON UPDATE CASCADE, PRIMARY KEY ("userId", "roleId"));
      INSERT INTO "migrations" VALUES (1, 1706695872123, 'Init1706695872123');
      INSERT INTO "profile" VALUES ('6fa459ea-ee8a-3ca4-894e-db77e1603550', 'admin');
      INSERT INTO "user" VALUES (1, 'Ann', 1, '2024-01-31 10:11:12', 'a,b', '6fa459ea-ee8a-3ca4-894e-db77e1603550');
      INSERT INTO "role" VALUES (1, 'r'), (2, 's');
      INSERT INTO "user_roles_role" VALUES (1, 1), (1, 2);`,
    shown: {
      '/v1/users/1': {
        isActive: true,
        createdAt: '2024-01-31T10:11:12.000Z',
        profile: '6fa459ea-ee8a-3ca4-894e-db77e1603550',
        roles: [1, 2],
      },
    },
    pivots: ['user_roles_role'],
  },
  Prisma: {
    sql: `
      CREATE TABLE "_prisma_migrations" ("id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL, "finished_at" DATETIME, "migration_name" TEXT NOT NULL, "logs" TEXT, "rolled_back_at" DATETIME, "started_at" DATETIME NOT NULL DEFAULT current_timestamp, "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0);
      CREATE TABLE "User" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "email" TEXT NOT NULL, "big" BIGINT, "amount" DECIMAL, "data" BLOB, "meta" JSONB, "ok" BOOLEAN NOT NULL DEFAULT false, "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
      CREATE UNIQUE INDEX "User_email_key" ON "User"("email");
      CREATE TABLE "Post" ("id" TEXT NOT NULL PRIMARY KEY, "authorId" INTEGER, CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User" ("id") ON DELETE SET NULL ON UPDATE CASCADE);
      CREATE TABLE "Category" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL);
      CREATE TABLE "_CategoryToPost" ("A" INTEGER NOT NULL, "B" TEXT NOT NULL, CONSTRAINT "_CategoryToPost_A_fkey" FOREIGN KEY ("A") REFERENCES "Category" ("id") ON DELETE CASCADE ON UPDATE CASCADE, CONSTRAINT "_CategoryToPost_B_fkey" FOREIGN KEY ("B") REFERENCES "Post" ("id") ON DELETE CASCADE ON UPDATE CASCADE);
      CREATE UNIQUE INDEX "_CategoryToPost_AB_unique" ON "_CategoryToPost"("A", "B");
      CREATE INDEX "_CategoryToPost_B_index" ON "_CategoryToPost"("B");
      INSERT INTO "_prisma_migrations" VALUES ('5d', 'c', 1706695872123, '20240131_init', NULL, NULL, 1706695872100, 1);
      INSERT INTO "User" VALUES (1, 'a@b.c', 9007199254740993, 1.5, x'0102', '{"a":1}', 1, 1706695872123);
      INSERT INTO "Post" VALUES ('clx1', 1), ('clx2', NULL);
      INSERT INTO "Category" VALUES (1, 'c');
      INSERT INTO "_CategoryToPost" VALUES (1, 'clx1'), (1, 'clx2');`,
    shown: {
      '/v1/users/1': { big: '9007199254740993', data: 'AQI=', ok: true, createdAt: '2024-01-31T10:11:12.123Z', posts: ['clx1'] },
      '/v1/posts/clx2': { author: null },
    },
    pivots: ['_CategoryToPost'],
  },
  SQLAlchemy: {
    sql: `
      CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
      CREATE TABLE user_account (id INTEGER NOT NULL, name VARCHAR(30) NOT NULL, created DATETIME, is_ok BOOLEAN, uid CHAR(32), price NUMERIC(10, 2), day DATE, kind VARCHAR(5), CHECK (is_ok IN (0, 1)), PRIMARY KEY (id));
      CREATE TABLE address (id INTEGER NOT NULL, email_address VARCHAR NOT NULL, user_id INTEGER, PRIMARY KEY (id), FOREIGN KEY(user_id) REFERENCES user_account (id));
      CREATE TABLE "left_right" (left_id INTEGER NOT NULL, right_id INTEGER NOT NULL, PRIMARY KEY (left_id, right_id), FOREIGN KEY(left_id) REFERENCES user_account (id), FOREIGN KEY(right_id) REFERENCES address (id));
      INSERT INTO alembic_version VALUES ('ae1027a6acf');
      INSERT INTO user_account VALUES (1, 'Ann', '2024-01-31 10:11:12.000123', 1, '6fa459eaee8a3ca4894edb77e1603550', 9.99, '2024-01-31', 'GREEN'), (2, 'Bob', NULL, NULL, NULL, NULL, NULL, NULL);
      INSERT INTO address VALUES (1, 'a@b.c', 1), (2, 'd@e.f', NULL);
      INSERT INTO left_right VALUES (1, 1), (1, 2);`,
    shown: { '/v1/user_accounts/1': { isOk: true, created: '2024-01-31T10:11:12.000Z', price: 9.99 }, '/v1/addresses/2': { user: null } },
    pivots: ['left_right'],
  },
  Laravel: {
    sql: `
      CREATE TABLE "migrations" ("id" integer primary key autoincrement not null, "migration" varchar not null, "batch" integer not null);
      CREATE TABLE "users" ("id" integer primary key autoincrement not null, "name" varchar not null, "email_verified_at" datetime, "is_admin" tinyint(1) not null default '0', "balance" numeric not null default '0', "created_at" datetime, "updated_at" datetime);
      CREATE TABLE "password_reset_tokens" ("email" varchar not null, "token" varchar not null, "created_at" datetime, primary key ("email"));
      CREATE TABLE "sessions" ("id" varchar not null, "user_id" integer, "payload" text not null, "last_activity" integer not null, primary key ("id"));
      CREATE TABLE "roles" ("id" integer primary key autoincrement not null, "name" varchar check ("name" in ('a', 'b')) not null);
      CREATE TABLE "role_user" ("user_id" integer not null, "role_id" integer not null, foreign key("user_id") references "users"("id") on delete cascade, foreign key("role_id") references "roles"("id") on delete cascade, primary key ("user_id", "role_id"));
      CREATE TABLE "failed_jobs" ("id" integer primary key autoincrement not null, "uuid" varchar not null, "failed_at" datetime not null default CURRENT_TIMESTAMP);
      INSERT INTO "migrations" VALUES (1, '0001_01_01_000000_create_users_table', 1);
      INSERT INTO "users" VALUES (1, 'Ann', NULL, 1, 0.1, '2024-01-31 10:11:12', '2024-01-31 10:11:12');
      INSERT INTO "password_reset_tokens" VALUES ('a@b.c', 't', '2024-01-31 10:11:12');
      INSERT INTO "sessions" VALUES ('s', NULL, 'YTo=', 1706695872);
      INSERT INTO "roles" VALUES (1, 'a'), (2, 'b');
      INSERT INTO "role_user" VALUES (1, 2);
      INSERT INTO "failed_jobs" VALUES (1, '6fa459ea-ee8a-3ca4-894e-db77e1603550', '2024-01-31 10:11:12');`,
    shown: {
      '/v1/users/1': { isAdmin: true, roles: [2], createdAt: '2024-01-31T10:11:12.000Z' },
      '/v1/password_reset_tokens/a%40b.c': { token: 't' },
    },
    pivots: ['role_user'],
  },
  Sequelize: {
    sql: `
      CREATE TABLE \`Users\` (\`id\` INTEGER PRIMARY KEY AUTOINCREMENT, \`firstName\` VARCHAR(255), \`uid\` UUID, \`ok\` TINYINT(1) DEFAULT 0, \`meta\` JSON, \`createdAt\` DATETIME NOT NULL, \`updatedAt\` DATETIME NOT NULL);
      CREATE TABLE \`Tasks\` (\`id\` UUID PRIMARY KEY, \`title\` VARCHAR(255), \`UserId\` INTEGER REFERENCES \`Users\` (\`id\`) ON DELETE SET NULL ON UPDATE CASCADE);
      CREATE TABLE \`SequelizeMeta\` (\`name\` VARCHAR(255) NOT NULL UNIQUE PRIMARY KEY);
      INSERT INTO \`Users\` VALUES (1, 'Ann', '6fa459ea-ee8a-3ca4-894e-db77e1603550', 1, '{"a":1}', '2024-01-31 10:11:12.123 +00:00', '2024-01-31 10:11:12.123 +00:00');
      INSERT INTO \`Tasks\` VALUES ('00000000-0000-1000-8000-000000000000', 't', 1);
      INSERT INTO \`SequelizeMeta\` VALUES ('20240131-init.js');`,
    shown: { '/v1/users/1': { ok: true, meta: { a: 1 }, createdAt: '2024-01-31T10:11:12.123Z' } },
  },
  Drizzle: {
    sql: `
      CREATE TABLE \`users\` (\`id\` integer PRIMARY KEY AUTOINCREMENT NOT NULL, \`name\` text NOT NULL, \`created_at\` integer DEFAULT (unixepoch()) NOT NULL, \`ok\` integer DEFAULT false, \`meta\` text DEFAULT '{}', \`invitee\` integer, FOREIGN KEY (\`invitee\`) REFERENCES \`users\`(\`id\`) ON UPDATE no action ON DELETE no action);
      CREATE TABLE \`__drizzle_migrations\` (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
      INSERT INTO \`users\` VALUES (1, 'Ann', 1706695872, 1, '{"a":1}', NULL), (2, 'Bob', 1706695873, NULL, NULL, 1);
      INSERT INTO \`__drizzle_migrations\` VALUES (1, 'h', 1706695872123);`,
    shown: { '/v1/users/2': { name: 'Bob' } },
  },
  Knex: {
    sql: `
      CREATE TABLE \`knex_migrations\` (\`id\` integer not null primary key autoincrement, \`name\` varchar(255), \`batch\` integer, \`migration_time\` datetime);
      CREATE TABLE \`knex_migrations_lock\` (\`index\` integer not null primary key autoincrement, \`is_locked\` integer);
      CREATE TABLE \`users\` (\`id\` integer not null primary key autoincrement, \`name\` varchar(255), \`price\` float, \`ok\` boolean default '0', \`created_at\` datetime not null default CURRENT_TIMESTAMP);
      INSERT INTO \`knex_migrations\` VALUES (1, '2024_init.js', 1, 1706695872123);
      INSERT INTO \`knex_migrations_lock\` VALUES (1, 0);
      INSERT INTO \`users\` VALUES (1, 'Ann', 0.1, '1', '2024-01-31 10:11:12'), (2, 'Bob', NULL, 0, 1706695872123);`,
    shown: {
      '/v1/users/1': { ok: true, createdAt: '2024-01-31T10:11:12.000Z' },
      '/v1/users/2': { ok: false, createdAt: '2024-01-31T10:11:12.123Z' },
    },
  },
}

function rowsOf(path: string, tables: readonly string[]): Readonly<Record<string, unknown[]>> {
  const db = new Database(path, { readonly: true })
  const rows = tables.map(table => [table, db.prepare(`select * from "${table}"`).safeIntegers(true).raw().all()] as const)
  db.close()
  return Object.fromEntries(rows)
}

describe('files of frameworks', () => {
  for (const [name, { sql, shown, pivots = [] }] of Object.entries(FRAMEWORKS)) {
    it(`serves what ${name} creates, and changes nothing that is written as it is shown`, async () => {
      const path = join(folder, `${name}.sqlite`)
      const db = new Database(path)
      db.exec(sql)
      const tables = db
        .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'")
        .pluck()
        .all() as string[]
      db.close()
      const before = rowsOf(path, tables)
      await using engine = await RestEngine.create({ database: path })
      const served = internalsOf(engine).model.resources.map(({ table }) => table)
      assert.deepEqual([...served, ...pivots].toSorted(), tables.toSorted())
      for (const { plural, singular, table, keyNames } of internalsOf(engine).model.resources) {
        const list = (await engine.handle('GET', `/v1/${encodeURIComponent(plural)}`)).body as Record<string, Record<string, unknown>[]>
        assert.equal(list[plural]!.length, before[table]!.length, table)
        for (const record of list[plural]!) {
          if (keyNames.length === 0) continue
          const at = `/v1/${encodeURIComponent(plural)}/${keyNames.map(key => encodeURIComponent(String(record[key]))).join('~')}`
          const { status, body } = await engine.handle('GET', at)
          assert.equal(status, 200, at)
          assert.deepEqual((body as Record<string, unknown>)[singular], record)
          const put = await engine.handle('PUT', at, undefined, record)
          assert.equal(put.status, 200, `${at}: ${JSON.stringify(put.body)}`)
        }
      }
      assert.deepEqual(rowsOf(path, tables), before)
      for (const [at, members] of Object.entries(shown)) {
        const { status, body } = await engine.handle('GET', at)
        assert.equal(status, 200, at)
        const record = Object.values(body as object).find(value => typeof value === 'object' && value !== null) as object
        assert.deepEqual(Object.fromEntries(Object.keys(members).map(key => [key, record[key as never]])), members, at)
      }
    })
  }
})
