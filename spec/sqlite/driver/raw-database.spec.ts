/** What the engine asks of the program that runs SQLite. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as native from '../../../lib/databases/sqlite/driver/open-raw.ts'
import type { RawDatabase } from '../../../lib/databases/sqlite/driver/raw-database.ts'
import * as wasm from '../../../lib/databases/sqlite/wasm/open-wasm.ts'
import { webAssembly } from '../../../lib/databases/sqlite/wasm/web-assembly.ts'
import { shakeSqlite } from '../../../scripts/shake-sqlite.ts'
import { ROOT } from '../../helpers/command.ts'

await wasm.loadSqlite(() => webAssembly.compile(shakeSqlite(ROOT)))

/** The names that a driver has. */
type Driver = Pick<typeof native, 'isRawError'> & { readonly openRaw: (source: string | Uint8Array) => RawDatabase }

const DRIVERS: Readonly<Record<string, Driver>> = { 'better-sqlite3': native, WebAssembly: wasm }

function openFilled({ openRaw }: Driver): RawDatabase {
  const db = openRaw(':memory:')
  db.exec("create table t (id integer primary key, name text unique, data blob); insert into t values (1, 'a', x'00ff'), (2, null, null)")
  return db
}

function failureOf({ isRawError }: Driver, work: () => unknown): { readonly code: string; readonly message: string } {
  try {
    work()
  } catch (error) {
    if (isRawError(error)) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('did not fail')
}

for (const [name, driver] of Object.entries(DRIVERS))
  describe(`a raw database of ${name}`, () => {
    test('gives rows as objects, as arrays, and as first values; all, one, and one after another', () => {
      const db = openFilled(driver)
      assert.deepEqual(db.prepare('select id, name from t where id = ?').get(1), { id: 1, name: 'a' })
      assert.deepEqual(db.prepare('select id, name from t order by id').raw().all(), [
        [1, 'a'],
        [2, null],
      ])
      assert.deepEqual(db.prepare('select id from t order by id').pluck().all(), [1, 2])
      assert.deepEqual([...db.prepare('select id from t order by id desc').pluck().iterate()], [2, 1])
      assert.equal(db.prepare('select 1 where 0').get(), undefined)
      db.close()
    })

    test('keeps integers of 64 bits, and binds numbers as real numbers', () => {
      const db = openFilled(driver)
      const big = 9_223_372_036_854_775_807n
      assert.equal(db.prepare('select ?').pluck().safeIntegers(true).get(big), big)
      assert.deepEqual(db.prepare('select typeof(?), typeof(?)').raw().get(1, 1n), ['real', 'integer'])
      db.close()
    })

    test('counts changed rows, gives the last key, and knows which statements read', () => {
      const db = openFilled(driver)
      assert.deepEqual(db.prepare("insert into t (name) values ('b'), ('c')").run(), { changes: 2, lastInsertRowid: 4 })
      assert.equal(db.prepare('delete from t where id > 2').run().changes, 2)
      const returning = db.prepare("update t set name = 'd' where id = 2 returning name")
      assert.deepEqual([returning.reader, returning.readonly, db.prepare('select 1').readonly], [true, false, true])
      assert.deepEqual(
        db
          .prepare('select id as key, data from t')
          .columns()
          .map(({ name, column, type }) => [name, column, type]),
        [
          ['key', 'id', 'INTEGER'],
          ['data', 'data', 'BLOB'],
        ],
      )
      db.close()
    })

    test('fails with the extended code, and with the text of SQLite', () => {
      const db = openFilled(driver)
      const failure = failureOf(driver, () => db.exec("insert into t (name) values ('a')"))
      assert.deepEqual(failure, { code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: t.name' })
      assert.equal(failureOf(driver, () => db.prepare('select nothing from t')).code, 'SQLITE_ERROR')
      db.close()
    })

    test('calls functions, whose errors end the statement; triggers may not call direct ones', () => {
      const db = openFilled(driver)
      db.function('twice', { deterministic: true }, (value: number) => value * 2)
      db.function('bytes', { varargs: true, directOnly: true }, (...values: unknown[]) => Buffer.from(values.join()))
      db.function('fails', () => {
        throw new RangeError('from the function')
      })
      db.aggregate('longest', {
        start: () => '',
        step: (total: string, text: string | null) => ((text ?? '').length > total.length ? text! : total),
        result: total => total,
      })
      assert.equal(db.prepare('select twice(id) from t where id = 2').pluck().get(), 4)
      assert.deepEqual(new Uint8Array(db.prepare('select bytes(1, 2)').pluck().get() as Uint8Array), new TextEncoder().encode('1,2'))
      assert.equal(db.prepare('select longest(name) from t').pluck().get(), 'a')
      assert.throws(() => db.prepare('select fails()').get(), { name: 'RangeError', message: 'from the function' })
      db.exec('create trigger g after insert on t begin select bytes(1); end')
      assert.match(failureOf(driver, () => db.exec('insert into t (id) values (9)')).message, /unsafe use of bytes/)
      db.close()
    })

    test('takes back the work of a transaction that throws', () => {
      const db = openFilled(driver)
      const work = db.transaction(() => {
        db.exec('delete from t')
        assert.ok(db.inTransaction)
        throw new Error('no')
      })
      assert.throws(() => work.immediate(), /no/)
      assert.deepEqual([db.inTransaction, db.prepare('select count(*) from t').pluck().get()], [false, 2])
      db.close()
    })

    test('becomes bytes, of which another is opened, also where the bytes are no Buffer', () => {
      const db = openFilled(driver)
      const bytes = Uint8Array.from(db.serialize())
      db.close()
      const copy = driver.openRaw(bytes)
      assert.ok(copy.memory)
      copy.exec('insert into t (id) values (3)')
      assert.equal(copy.prepare('select count(*) from t').pluck().get(), 3)
      assert.equal(copy.pragma('foreign_keys', { simple: true }), 1)
      copy.close()
    })

    test('binds and gives texts and bytes of any length', () => {
      const db = openFilled(driver)
      const statement = db.prepare('select ?, ?').raw()
      for (const length of [0, 1, 48, 49, 30_000, 70_000, 9_000_000]) {
        for (const letter of ['a', 'ä', '\u0000', '😀']) {
          const [text, bytes] = [letter.repeat(length), new Uint8Array(length).fill(7)]
          const [gotText, gotBytes] = statement.get(text, bytes) as [string, Uint8Array]
          assert.ok(gotText === text && Buffer.from(bytes).equals(gotBytes), `${length} of ${letter}`)
        }
      }
      assert.deepEqual(db.prepare('select ?, ?').raw().get('\uFEFFa', null), ['\uFEFFa', null])
      db.close()
    })

    test('refuses other values, other numbers of values, and other texts than of one statement', () => {
      const db = openFilled(driver)
      assert.throws(() => db.prepare('select ?').get(true), { name: 'TypeError', message: /can only bind numbers, strings, bigints/ })
      assert.throws(() => db.prepare('select ?').get(2n ** 63n), { name: 'RangeError', message: /is too big/ })
      assert.throws(() => db.prepare('select ?').get(), { name: 'RangeError', message: 'Too few parameter values were provided' })
      assert.throws(() => db.prepare('select 1').get(1), { name: 'RangeError', message: 'Too many parameter values were provided' })
      assert.throws(() => db.prepare(' -- nothing'), { name: 'RangeError', message: /contains no statements/ })
      assert.throws(() => db.prepare('select 1; select 2'), { name: 'RangeError', message: /more than one statement/ })
      assert.equal(db.prepare('select 1; -- and no more\n').pluck().get(), 1)
      assert.throws(() => db.prepare('delete from t').all(), { name: 'TypeError', message: /does not return data/ })
      db.function('odd', () => ({}))
      assert.throws(() => db.prepare('select odd()').get(), { message: 'User-defined function odd() returned an invalid value' })
      db.close()
      assert.throws(() => db.prepare('select 1'), { name: 'TypeError', message: 'The database connection is not open' })
    })

    test('has time, local time and random numbers', () => {
      const db = openFilled(driver)
      const one = (sql: string): unknown => db.prepare(sql).pluck().get()
      assert.ok(Math.abs(Number(one("select unixepoch('subsec') * 1000")) - Date.now()) < 5000)
      for (const day of ['2024-01-15', '2024-07-15'])
        assert.equal(one(`select unixepoch('${day} 12:00:00', 'utc')`), new Date(`${day}T12:00:00`).getTime() / 1000)
      assert.notEqual(one('select hex(randomblob(16))'), one('select hex(randomblob(16))'))
      db.close()
    })

    test('forgets statements and functions that nobody refers to, and ends iteration where the reader stops', () => {
      const db = openFilled(driver)
      for (let index = 0; index < 3000; index++) {
        db.function('again', () => index)
        assert.equal(db.prepare('select again()').pluck().get(), index)
      }
      for (const id of db.prepare('select id from t').pluck().iterate()) if (id === 1) break
      db.exec('drop table t')
      db.close()
    })
  })

describe('SQLite in WebAssembly', () => {
  test('has no files', async () => {
    assert.throws(() => wasm.openRaw('data.sqlite'), { name: 'TypeError', message: /has no files: "data\.sqlite" cannot be opened/ })
    const db = wasm.openRaw(':memory:')
    await assert.rejects(db.backup('data.sqlite'), { name: 'TypeError', message: /has no files/ })
    db.close()
  })

  test('refuses bytes that are no database, and WebAssembly that is not SQLite', async () => {
    assert.equal(
      failureOf(wasm, () => wasm.openRaw(new Uint8Array(4096).fill(1)).prepare('select * from sqlite_schema')).code,
      'SQLITE_NOTADB',
    )
    const { startSqlite } = await import('../../../lib/databases/sqlite/wasm/load-sqlite.ts')
    const empty = await webAssembly.compile(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))
    await assert.rejects(startSqlite(empty), { message: /is not SQLite: give mikro-rest\/sqlite3\.wasm/ })
  })

  test('gives the same rows for the bytes of the other driver', () => {
    const filled = openFilled(native)
    const copy = wasm.openRaw(filled.serialize())
    assert.deepEqual(copy.prepare('select id, name from t').raw().all(), filled.prepare('select id, name from t').raw().all())
    const back = native.openRaw(copy.serialize())
    assert.equal(back.prepare('select count(*) from t').pluck().get(), 2)
    for (const db of [filled, copy, back]) db.close()
  })
})
