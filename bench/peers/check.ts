/** Checks a peer: it must answer with the records, and in the order, that SQL gives, and show the changes that it has made. */
import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { TABLES, rowsOf } from '../seed.ts'
import { PAGE_SIZE, PEERS_SIZE } from './peers.ts'
import type { Running } from './running.ts'

/** The IDs of the second page of users of each kind of list. */
function pages(): readonly (readonly ['list of 100' | 'filter' | 'sort', string[]])[] {
  const db = new Database(':memory:')
  for (const statement of [...TABLES, ...rowsOf({ users: PEERS_SIZE.users, sites: 1 })]) db.exec(statement)
  const ids = (rest: string): string[] => {
    const page = `select id from user ${rest} limit ${PAGE_SIZE} offset ${PAGE_SIZE}`
    return db.prepare<[], number>(page).pluck().all().map(String)
  }
  const found = [
    ['list of 100', ids('order by id')],
    ['filter', ids('where active = 1 order by id')],
    ['sort', ids('order by score desc')],
  ] as const
  db.close()
  return found
}

const PAGES = pages()

/**
 * Asks a peer that nobody has asked to change anything yet.
 *
 * @throws AssertionError when an answer is another one.
 */
export async function check(running: Running): Promise<void> {
  const { name, records, record: recordOf = (body: unknown) => body, createdId } = running.peer
  for (const [operation, ids] of PAGES) {
    const page = records(await running.ask(operation, 1)).map(record => String((record as { id: unknown }).id))
    assert.deepEqual(page, ids, `${name}: ${operation}`)
  }
  const one = recordOf(await running.ask('one record', 1)) as Record<string, unknown>
  assert.deepEqual([String(one['id']), one['score']], ['38', (38 * 7919) % 10_007], `${name}: one record`)
  const answer = await running.next('create')
  if (createdId === undefined) {
    const created = recordOf(answer) as Record<string, unknown>
    assert.ok(created['id'] !== undefined && created['name'] === 'New 0', `${name}: create: ${JSON.stringify(created)}`)
  } else assert.equal(createdId(answer), PEERS_SIZE.users + 1, `${name}: create: ${JSON.stringify(answer)}`)
  await running.next('update')
  const changed = recordOf(await running.ask('one record', 0)) as Record<string, unknown>
  assert.deepEqual([String(changed['id']), changed['name']], ['1', 'Name 0'], `${name}: update`)
  await running.next('delete')
  assert.equal((await running.send('delete', 0)).status, 404, `${name}: delete`)
}
