/** The same database in SQLite and in PostgreSQL: the same resources, and the same answers. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RestEngine } from '../../lib/index.ts'
import { fileOf, pathOf, rowsOf } from '../sqlite/introspect/world.ts'
import { findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

/** A shop of records, as both databases take it. */
const TABLES = `
  create table artist (artist_id integer primary key, name varchar(120) not null);
  create table album (album_id integer primary key, title varchar(160) not null, artist_id integer not null references artist (artist_id) on delete cascade);
  create table genre (genre_id integer primary key, name varchar(120) unique);
  create table track (track_id integer primary key, name varchar(200) not null, album_id integer references album (album_id), genre_id integer references genre (genre_id),
    composer varchar(220), milliseconds integer not null default 0, bytes bigint, unit_price numeric(10,2) not null, kind text check (kind in ('audio', 'video')));
  create table playlist (playlist_id integer primary key, name varchar(120));
  create table playlist_track (playlist_id integer not null references playlist (playlist_id), track_id integer not null references track (track_id), primary key (playlist_id, track_id));
  create table employee (employee_id integer primary key, last_name varchar(20) not null, reports_to integer references employee (employee_id), hired date);
  create table badge (employee_id integer primary key references employee (employee_id), code text not null unique);
  create table stock (place varchar(10) not null, track_id integer not null references track (track_id), amount integer not null, primary key (place, track_id));
  create table delivery (delivery_id integer primary key, place varchar(10), track_id integer, foreign key (place, track_id) references stock (place, track_id));
  create table "Odd Name" ("The Key" text primary key, "order" integer, "from" text);
  create table price_log (what text, price numeric(10,2));
  create view cheap_track as select track_id, name from track where unit_price < 1;
  insert into artist values (1, 'AC/DC'), (2, 'Ärzte'), (3, 'apocalyptica');
  insert into album values (1, 'For Those', 1), (2, 'Planet', 2), (3, 'Cult', 3);
  insert into genre values (1, 'Rock'), (2, 'Metal'), (3, null);
  insert into track values (1, 'One', 1, 1, 'Young', 343719, 11170334, 0.99, 'audio'), (2, 'two', 1, null, null, 1, 9007199254740993, 1.5, 'video'), (3, 'Öde', 2, 2, '', 0, null, 10, null);
  insert into playlist values (1, 'Music'), (2, null);
  insert into playlist_track values (1, 1), (1, 3), (2, 1);
  insert into employee values (1, 'Adams', null, '1962-02-18'), (2, 'Edwards', 1, null);
  insert into badge values (2, 'x');
  insert into stock values ('A', 1, 5), ('B', 2, 0);
  insert into delivery values (1, 'A', 1), (2, null, null);
  insert into "Odd Name" values ('a b', 1, 'x');
  insert into price_log values ('a', 1), ('b', 2.5)`

const READINGS = [
  '?depth=0',
  '?depth=2',
  '?sort=name.desc,id',
  '?limit=2&offset=1',
  '?name=*e*',
  '?name~=Ö*',
  '?artist.name=AC/DC&expand=artist,tracks',
  '?playlists.name=Music&sort=genre.name&expand=album.artist',
  '?unitPrice<=1.5&sort=unitPrice',
  '?bytes=9007199254740993',
  '?employees.lastName=E*',
  '?badge=!null&expand=badge',
  '?kind=video',
  '?hired<1970-01-01',
]

async function answers(engine: RestEngine, readings: readonly string[], writes: Writes): Promise<unknown> {
  const index = (await engine.handle('GET', '/v1')).body.resources as Record<string, string>
  const all: Record<string, unknown> = { index }
  for (const path of Object.values(index)) {
    const reads = readings.map(query => `${path}${query}`)
    reads.push(`${path}/1`)
    for (const read of reads) all[read] = await ask(engine, 'GET', read)
  }
  for (const [method, path, given] of writes) {
    all[`${method} ${path} ${JSON.stringify(given)}`] = await ask(engine, method, path, given)
  }
  return all
}

type Writes = readonly (readonly [string, string, unknown])[]

const WRITES: Writes = [
  ['POST', '/v1/albums', { albumId: 9, title: 'New', artist: 1, tracks: [{ trackId: 9, name: 'x', unitPrice: 1.25, playlists: [1] }] }],
  ['PATCH', '/v1/tracks/2', { genre: 2, kind: 'audio', unitPrice: 2 }],
  ['PATCH', '/v1/tracks/2', { kind: 'none' }],
  ['PATCH', '/v1/tracks/2', { name: 'x'.repeat(201) }],
  ['PUT', '/v1/playlists/1', { name: 'y', tracks: [2] }],
  ['POST', '/v1/badges', { employee: 1, code: 'x' }],
  ['POST', '/v1/badges', { employee: 1, code: 'z' }],
  ['PATCH', '/v1/stocks/B~2', { amount: 7 }],
  ['PATCH', '/v1/odd_names/a%20b', { order: 2 }],
  ['POST', '/v1/cheap_tracks', {}],
  ['POST', '/v1/price_logs', {}],
  ['DELETE', '/v1/genres/1', undefined],
  ['DELETE', '/v1/artists/3', undefined],
  ['GET', '/v1/tracks?depth=2', undefined],
]

async function ask(engine: RestEngine, method: string, path: string, given?: unknown): Promise<unknown> {
  const { status, body } = await engine.handle(method, path, undefined, given)
  const { timestamp: _, ...others } = body as Record<string, unknown>
  return { status, body: others }
}

async function compare(schema: OwnSchema, file: string, readings: readonly string[], writes: Writes): Promise<void> {
  await using ofFile = await RestEngine.create({ database: file })
  await using ofServer = await RestEngine.create({ database: schema.database })
  const [expected, actual] = [await answers(ofFile, readings, writes), await answers(ofServer, readings, writes)] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ]
  for (const [request, answer] of Object.entries(expected)) assert.deepEqual(actual[request], answer, request)
  assert.deepEqual(Object.keys(actual), Object.keys(expected))
}

const CHINOOK = fileURLToPath(new URL('../../../shared/data/chinook.sqlite', import.meta.url))

/** Makes the tables of a SQLite file in a schema, with their rows. */
async function copyFile(schema: OwnSchema, file: string): Promise<void> {
  const tables = rowsOf(file, "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite%'") as {
    name: string
    sql: string
  }[]
  const statements = tables.map(({ sql }) =>
    sql.replaceAll(/[[\]]/g, '"').replaceAll('NVARCHAR', 'varchar').replaceAll('DATETIME', 'timestamp'),
  )
  // Foreign keys may lead to tables that come later.
  const keys: string[] = []
  for (const [index, { name }] of tables.entries()) {
    const plain = statements[index]!.replaceAll(/,\s*(FOREIGN KEY \("\w+"\) REFERENCES "\w+" \("\w+"\)[\w\s]*)/g, (_, key: string) => {
      keys.push(`alter table "${name}" add ${key}`)
      return ''
    })
    await schema.run(plain)
    await schema.run(`insert into "${name}" select * from json_populate_recordset(null::"${name}", $1)`, [
      JSON.stringify(rowsOf(file, `select * from "${name}"`)),
    ])
  }
  for (const key of keys) await schema.run(key)
}

describe('the same database in SQLite and in PostgreSQL', { skip: await findNoServer() }, () => {
  it('has the same resources, and gives the same answers', async () => {
    await using schema = ownSchema()
    await schema.run(`create schema ${schema.database.schema}`)
    await schema.run(TABLES)
    await compare(schema, fileOf(TABLES), READINGS, WRITES)
  })

  it(
    'does so with the music shop Chinook',
    { skip: existsSync(CHINOOK) ? false : 'the file chinook.sqlite is not beside the repository' },
    async () => {
      await using schema = ownSchema()
      await schema.run(`create schema ${schema.database.schema}`)
      await copyFile(schema, CHINOOK)
      const file = pathOf()
      copyFileSync(CHINOOK, file)
      await compare(
        schema,
        file,
        ['?depth=0&limit=500', '?depth=2&limit=3', '?name=*e*&limit=5&sort=name.desc', '?unitPrice<1&limit=5'],
        [],
      )
    },
  )
})
