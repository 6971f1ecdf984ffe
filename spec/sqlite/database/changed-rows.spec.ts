/** A change of a row in the file of another program: what is read before, and what a stray value in the row makes of the change. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { watchStatements } from '../../helpers/statements.ts'
import { serve, type Served } from '../introspect/world.ts'

const NOTES = `
  create table note (id integer primary key, title text, stars integer, price real, written date, code text);
  insert into note values (1, 'first', 3, 1.5, '2026-01-01', 'AB'), (2, x'616263', 'many', 'dear', 'one day', 'AB');
  create table log (note integer, title);
  create trigger logged after update on note begin insert into log values (new.id, new.title); end;`

/** Returns the words with which the statements of a change begin, without those of its transaction. */
async function wordsOf(served: Served, path: string, body: object): Promise<string[]> {
  const { sql } = await watchStatements(() => served.ask('PUT', path, body))
  return sql.map(text => text.split(' ', 1)[0]!).filter(word => !['begin', 'commit'].includes(word))
}

describe('a change of a row in the file of another program', () => {
  it('reads nothing before, where text, integer or float stands in a column of such values', async () => {
    await using served = await serve(NOTES)
    // The first write of an engine keeps the content of the file for `reset`.
    await served.ask('PUT', 'notes/2', { code: 'other' })
    for (const body of [{ title: 'other' }, { title: null }, { stars: 4, price: 2 }, { title: 'more', stars: null }])
      assert.deepEqual(await wordsOf(served, 'notes/1', body), ['update', 'select'], JSON.stringify(body))
  })

  it('changes nothing where the row has the values already, and no trigger hears of it', async () => {
    await using served = await serve(NOTES)
    const { sql } = await watchStatements(() => served.ask('PUT', 'notes/1', { title: 'first', stars: 3, price: 1.5 }))
    assert.equal(sql.filter(text => text.startsWith('update')).length, 1)
    assert.deepEqual(served.rows('select * from log'), [])
  })

  it('leaves a stray value as it is that the body gives as it is shown, and changes the others', async () => {
    await using served = await serve(NOTES)
    const { title, stars, price, written } = await served.get('notes/2')
    assert.deepEqual([stars, price], ['many', 'dear'])
    await served.ask('PUT', 'notes/2', { title, stars, price, written, code: 'one' })
    // A body of texts alone could be written without reading the row.
    await served.ask('PUT', 'notes/2', { title, code: 'other' })
    assert.deepEqual(served.rows('select title, stars, price, written, code from note where id = 2'), [
      { title: Buffer.from('abc'), stars: 'many', price: 'dear', written: 'one day', code: 'other' },
    ])
    await served.ask('PUT', 'notes/2', { title: 'read', stars: 5 })
    assert.deepEqual(served.rows('select title, stars, price from note where id = 2'), [{ title: 'read', stars: 5, price: 'dear' }])
  })

  it('is 404 where the row does not exist, and 422 where a value is refused', async () => {
    await using served = await serve(NOTES)
    await served.ask('PUT', 'notes/3', { title: 'other' }, 404)
    const { errors } = await served.ask('PUT', 'notes/1', { stars: 'x' }, 422)
    assert.equal(errors[0].attribute, 'stars')
  })
})
