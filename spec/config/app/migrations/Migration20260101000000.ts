/** The first migration of the application. Its statements are those of SQLite and of PostgreSQL. */
import { Migration } from '@mikro-orm/migrations'

export class Migration20260101000000 extends Migration {
  override async up(): Promise<void> {
    const isServer = this.config.getPlatform().getDefaultSchemaName() === 'public'
    const key = isServer ? 'serial' : 'integer'
    const time = isServer ? 'timestamptz' : 'datetime'
    this.addSql(`create table "author" ("id" ${key} not null primary key, "full_name" varchar(255) not null, "removed_at" ${time} null)`)
    this.addSql(
      `create table "book" ("id" ${key} not null primary key, "title" varchar(255) not null, ` +
        `"language" text not null default 'EN', "author_id" int not null references "author" ("id"))`,
    )
    this.addSql(`create table "tag" ("id" ${key} not null primary key, "label" varchar(255) not null)`)
    this.addSql(
      'create table "author_tags" ("author_id" int not null references "author" ("id"), ' +
        '"tag_id" int not null references "tag" ("id"), primary key ("author_id", "tag_id"))',
    )
  }
}
