/** A record of a file of others that links itself: what the file takes is taken. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve } from './world.ts'

const TABLES = `
  create table node (id integer primary key, parent_id int references node (id), twin_id int unique references node (id));
  create table user (id integer primary key, created_by int not null references user (id));
  create table friend (a int references node (id), b int references node (id), primary key (a, b));
  create table pair (a int, b text, peer_a int, peer_b text, primary key (a, b), foreign key (peer_a, peer_b) references pair (a, b));
  create table other (id integer primary key, next_id int references other (id), check (next_id <> id));
`

describe('a new record of a file of others', () => {
  it('may link itself', async () => {
    await using file = await serve(TABLES)
    const node = { id: 5, parent: 5, twin: 5, nodesAsParent: [5], nodeAsTwin: 5, as: [5], bs: [5] }
    const { parent, twin, as, ...lists } = node
    for (const body of [node, { id: 5, parent, twin, as }, { ...lists }]) {
      assert.deepEqual(await file.write('POST', 'nodes', body), node)
      assert.deepEqual(file.rows('select * from node'), [{ id: 5, parent_id: 5, twin_id: 5 }])
      assert.deepEqual(file.rows('select * from friend'), [{ a: 5, b: 5 }])
      await file.write('PATCH', 'nodes/5', { parent: null, twin: null, as: [] })
      await file.ask('DELETE', 'nodes/5')
    }
    await file.write('POST', 'users', { id: 5, createdBy: 5 })
    await file.write('POST', 'pairs', { a: 1, b: 'x y', peer: '1~x%20y' })
    assert.deepEqual(file.rows('select * from user'), [{ id: 5, created_by: 5 }])
    assert.deepEqual(file.rows('select * from pair'), [{ a: 1, b: 'x y', peer_a: 1, peer_b: 'x y' }])
  })

  it('is refused where a check of the file does not let it link itself', async () => {
    await using file = await serve(TABLES)
    const { code } = await file.ask('POST', 'others', { id: 5, next: 5 }, 422)
    assert.equal(code, 'validation_failed')
    assert.deepEqual(file.rows('select * from other'), [])
  })
})
