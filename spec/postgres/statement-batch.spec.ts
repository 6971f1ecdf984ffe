/**
 * Statements that are sent in one message: their rows, their parameters, what a session keeps prepared, and what is left after an error.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Socket } from 'node:net'
import { Pool } from 'pg'
import type { PoolClient } from 'pg'
import { command } from '../../lib/databases/postgres/server/sessions.ts'
import { sendBatch } from '../../lib/databases/postgres/server/statement-batch.ts'
import type { AskedStatement } from '../../lib/databases/postgres/server/statement-batch.ts'
import type { Row } from '../../lib/records/database/dialect.ts'
import { SERVER_URL, findNoServer } from './server-database.ts'

// oxlint-disable no-underscore-dangle -- so Node calls what a stream writes by
/** A socket that counts the packets that it sends. */
class CountingSocket extends Socket {
  packets = 0

  override _write(...given: Parameters<Socket['_write']>): void {
    this.packets++
    super._write(...given)
  }

  override _writev(...given: Parameters<NonNullable<Socket['_writev']>>): void {
    this.packets++
    super._writev!(...given)
  }
}
// oxlint-enable no-underscore-dangle

async function withSession(work: (session: PoolClient) => Promise<void>): Promise<void> {
  const pool = new Pool({ connectionString: SERVER_URL, max: 1, pipeline: true, stream: () => new CountingSocket() })
  const session = await pool.connect()
  try {
    await work(session)
  } finally {
    session.release()
    await pool.end()
  }
}

const always = (): boolean => true

async function rowsOf(session: PoolClient, ...statements: readonly (string | AskedStatement)[]): Promise<readonly (readonly Row[])[]> {
  const asked = statements.map(statement => (typeof statement === 'string' ? { sql: statement, parameters: [] } : statement))
  return (await sendBatch(session, asked, always)).rows.slice(0, asked.length)
}

async function listPrepared(session: PoolClient): Promise<string[]> {
  const { rows } = await session.query<{ statement: string }>('select statement from pg_prepared_statements order by name')
  return rows.map(({ statement }) => statement)
}

describe('a batch of statements', { skip: await findNoServer() }, () => {
  it('gives the rows of each as texts, in one transaction', () =>
    withSession(async session => {
      const now = 'select pg_current_xact_id()'
      const found = await rowsOf(session, 'select 1, null, true', 'select where false', now, now)
      assert.deepEqual(found.slice(0, 2), [[['1', null, 't']], []])
      assert.deepEqual(found[2], found[3])
    }))

  it('sends parameters of any kind', () =>
    withSession(async session => {
      const parameters = ['ä', null, 5, 12n, true, new Date(0), Buffer.from([0, 255]), { a: [1] }]
      const sql = 'select $1::text, $2::text, $3::int, $4::bigint, $5::bool, $6::timestamptz at time zone $9, $7::bytea, $8::json'
      const [found] = await rowsOf(session, { sql, parameters: [...parameters, 'UTC'] })
      assert.deepEqual(found![0], ['ä', null, '5', '12', 't', '1970-01-01 00:00:00', String.raw`\x00ff`, '{"a":[1]}'])
      const texts = ['a', 'NULL', '', 'a"b', 'a\\b', '{x,y}', ' z ', null]
      const [lists] = await rowsOf(session, { sql: 'select to_json($1::text[])', parameters: [texts] })
      assert.deepEqual(JSON.parse(lists![0]![0] as string), texts)
      const nested = [[Buffer.from('a'), Buffer.from('\\')]]
      const [bytes] = await rowsOf(session, { sql: "select encode(($1::bytea[])[1][2], 'escape')", parameters: [nested] })
      assert.deepEqual(bytes, [[String.raw`\\`]])
    }))

  it('goes to the server in one packet with what is sent before and behind it at one time', () =>
    withSession(async session => {
      const socket = session.connection.stream as CountingSocket
      await rowsOf(session, 'select 1')
      socket.packets = 0
      const sent = [command(session, 'begin'), rowsOf(session, 'select 1', 'select 2'), rowsOf(session, 'select 3')]
      await Promise.all(sent)
      assert.equal(socket.packets, 1)
      await command(session, 'commit')
      assert.equal(socket.packets, 2)
    }))

  it('prepares a statement once', () =>
    withSession(async session => {
      const asked = { sql: 'select $1::int', parameters: ['1'] }
      assert.deepEqual(await rowsOf(session, asked, asked), [[['1']], [['1']]])
      // The second one is sent before the first is answered.
      const other = { sql: 'select $1::int + 1', parameters: ['1'] }
      assert.deepEqual(await Promise.all([rowsOf(session, other), rowsOf(session, other), rowsOf(session, asked)]), [
        [[['2']]],
        [[['2']]],
        [[['1']]],
      ])
      await rowsOf(session, asked, other)
      assert.deepEqual(await listPrepared(session), [asked.sql, other.sql])
    }))

  it('ends at a statement that fails, and leaves the session as it was', () =>
    withSession(async session => {
      const [fine, late] = ['select 1', 'select 2']
      const wrong = { sql: 'select 1 / $1::int', parameters: ['0'] }
      await assert.rejects(rowsOf(session, fine, wrong, late), { code: '22012' })
      assert.deepEqual(await rowsOf(session, fine, { ...wrong, parameters: ['1'] }, late), [[['1']], [['1']], [['2']]])
      const following = rowsOf(session, fine)
      await assert.rejects(rowsOf(session, 'select nonsense'), { code: '42703' })
      assert.deepEqual(await following, [[['1']]])
      // A parameter that has no text is found before anything is sent.
      const circle: unknown[] = []
      circle.push(circle)
      await assert.rejects(rowsOf(session, { sql: 'select $1::text[]', parameters: [circle] }), RangeError)
      assert.deepEqual(await rowsOf(session, fine), [[['1']]])
    }))

  it('leaves nothing prepared when it fails, also of statements that another batch asks for meanwhile', () =>
    withSession(async session => {
      const [fine, late] = ['select 1', 'select 2']
      const wrong = { sql: 'select 1 / $1::int', parameters: ['0'] }
      await assert.rejects(rowsOf(session, fine, wrong, late), { code: '22012' })
      assert.deepEqual(await listPrepared(session), [])
      await session.query('begin')
      const following = rowsOf(session, fine)
      await assert.rejects(rowsOf(session, late, 'select nonsense'), { code: '42703' })
      await following
      await session.query('rollback')
      assert.deepEqual(await listPrepared(session), [fine])
      const failing = assert.rejects(rowsOf(session, late, wrong), { code: '22012' })
      const [second] = await Promise.all([rowsOf(session, late), failing])
      assert.deepEqual(second, [[['2']]])
      assert.deepEqual(await rowsOf(session, late, fine), [[['2']], [['1']]])
      assert.deepEqual(await listPrepared(session), [fine, late])
    }))
})
