/** Defaults of JSON properties: in the table, for what is inserted by other means, and in requests. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p, raw } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import { ownSchema } from '../postgres/server-database.ts'
import { NO_SERVER, WITH_POSTGRES, createEngine, testStores } from '../helpers/stores.ts'

const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    object: p.json().default({ a: [1, "it's"] } as never),
    list: p.json().default([{ a: "it's" }] as never),
    text: p.json().default('"x"'),
    word: p.json().default('x'),
    quote: p.json().default("it's"),
    empty: p.json().default(''),
    written: p.json().default('{"a":1}'),
    number: p.json().default(5 as never),
    raw: p.json().defaultRaw(`'{"b":2}'`),
    fragment: p.json().default(raw(`'[3]'`)),
    none: p.json().nullable(),
  },
})

const STORED = {
  object: { a: [1, "it's"] },
  list: [{ a: "it's" }],
  text: 'x',
  word: 'x',
  quote: "it's",
  empty: '',
  written: { a: 1 },
  number: 5,
  raw: { b: 2 },
  fragment: [3],
  none: null,
}

testStores('a JSON property may have any default, which a request and the table give', async () => {
  await using engine = await createEngine({ entities: [Note] })
  assert.deepEqual(engine.notes, [])
  // A text in the entity is the value where a request gives none, and the JSON of the column.
  const { body } = await engine.handle('POST', '/v1/notes', '', {})
  assert.deepEqual(body.note, { id: 1, ...STORED, text: '"x"', written: '{"a":1}' })
  await engine.orm.em.getConnection().execute('insert into note (id) values (10)')
  assert.deepEqual((await engine.handle('GET', '/v1/notes/10')).body.note, { id: 10, ...STORED })
})

describe('a table with JSON defaults', () => {
  it('is as it was when the next engine has started, in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
    try {
      const database = join(folder, 'notes.db')
      const read = async (): Promise<unknown> => {
        await using engine = await RestEngine.create({ entities: [Note], database })
        assert.deepEqual(engine.notes, [])
        return await engine.orm.em.getConnection().execute('select sql from sqlite_master')
      }
      const first = (await read()) as [{ sql: string }]
      // These are the texts that files hold since there are any.
      for (const text of [
        "`word` json not null default 'x'",
        '`number` json not null default 5',
        '`written` json not null default \'{"a":1}\'',
      ])
        assert.ok(first[0].sql.includes(text), first[0].sql)
      assert.deepEqual(await read(), first)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is as it was when the next engine has started, on a server', { skip: WITH_POSTGRES ? NO_SERVER : true }, async () => {
    await using schema = ownSchema()
    for (let start = 0; start < 2; start++) {
      await using engine = await RestEngine.create({ entities: [Note], database: schema.database })
      assert.deepEqual(engine.notes, [])
    }
    const found = await schema.run(
      'select column_default as text from information_schema.columns ' +
        "where table_name = 'note' and table_schema = current_schema() and column_name in ('word', 'number') order by 1",
    )
    assert.deepEqual(found, [{ text: `'"x"'::jsonb` }, { text: `'5'::jsonb` }])
  })
})
