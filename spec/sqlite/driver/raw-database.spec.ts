/** What the engine asks of the program that runs SQLite. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isRawError, openRaw } from '../../../lib/databases/sqlite/driver/open-raw.ts'
import type { RawDatabase } from '../../../lib/databases/sqlite/driver/raw-database.ts'

function openFilled(): RawDatabase {
  const db = openRaw(':memory:')
  db.exec("create table t (id integer primary key, name text unique, data blob); insert into t values (1, 'a', x'00ff'), (2, null, null)")
  return db
}

function failureOf(work: () => unknown): { readonly code: string; readonly message: string } {
  try {
    work()
  } catch (error) {
    if (isRawError(error)) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('did not fail')
}

describe('a raw database', () => {
  test('gives rows as objects, as arrays, and as first values; all, one, and one after another', () => {
    const db = openFilled()
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
    const db = openFilled()
    const big = 9_223_372_036_854_775_807n
    assert.equal(db.prepare('select ?').pluck().safeIntegers(true).get(big), big)
    assert.deepEqual(db.prepare('select typeof(?), typeof(?)').raw().get(1, 1n), ['real', 'integer'])
    db.close()
  })

  test('counts changed rows, gives the last key, and knows which statements read', () => {
    const db = openFilled()
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
    const db = openFilled()
    const failure = failureOf(() => db.exec("insert into t (name) values ('a')"))
    assert.deepEqual(failure, { code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: t.name' })
    assert.equal(failureOf(() => db.prepare('select nothing from t')).code, 'SQLITE_ERROR')
    db.close()
  })

  test('calls functions, whose errors end the statement; triggers may not call direct ones', () => {
    const db = openFilled()
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
    assert.match(failureOf(() => db.exec('insert into t (id) values (9)')).message, /unsafe use of bytes/)
    db.close()
  })

  test('takes back the work of a transaction that throws', () => {
    const db = openFilled()
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
    const db = openFilled()
    const bytes = Uint8Array.from(db.serialize())
    db.close()
    const copy = openRaw(bytes)
    assert.ok(copy.memory)
    copy.exec('insert into t (id) values (3)')
    assert.equal(copy.prepare('select count(*) from t').pluck().get(), 3)
    assert.equal(copy.pragma('foreign_keys', { simple: true }), 1)
    copy.close()
  })
})
