/** Triggers and rules that drop a statement, of which the database reports no error: the request is refused, and leaves nothing behind. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, type RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores, readTables } from '../helpers/stores.ts'

const Team = defineEntity({
  name: 'Team',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    notes: () => p.oneToMany(Note).mappedBy('team'),
    tags: () => p.manyToMany(Tag).owner(),
  },
})
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    text: p.string(),
    deletedAt: p.string().nullable(),
    team: () => p.manyToOne(Team).nullable(),
  },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
/** What a trigger writes before it drops the statement. */
const Log = defineEntity({ name: 'Log', properties: { id: p.integer().primary(), text: p.string() } })

const seed = {
  teams: [{ id: 1, name: 't', tags: [1] }],
  tags: [
    { id: 1, name: 'x' },
    { id: 2, name: 'y' },
  ],
  notes: [
    { id: 1, text: 'a', team: 1 },
    { id: 2, text: 'b', team: 1 },
  ],
}

type Event = 'insert' | 'update' | 'delete'
type Write = readonly [line: string, body?: unknown]

const WRITES: Readonly<Record<Event, readonly Write[]>> = {
  insert: [
    ['POST /v1/notes', { text: 'x' }],
    ['POST /v1/notes', { id: 77, text: 'x' }],
    ['POST /v1/notes', [{ text: 'x' }, { text: 'y' }]],
    ['POST /v1/teams/1/notes', { text: 'x' }],
    ['POST /v1/teams', { name: 'n', notes: [{ text: 'x' }] }],
    ['PUT /v1/teams/1', { notes: [1, { text: 'x' }] }],
  ],
  update: [
    ['PUT /v1/notes/1', { text: 'x' }],
    ['PUT /v1/notes/1/text', 'x'],
    ['PATCH /v1/notes/1', { team: null }],
    ['PATCH /v1/notes/1', { team: { name: 'n' } }],
    ['PUT /v1/teams/1/notes', [1]],
    ['PUT /v1/teams/1', { name: 'q', notes: [1] }],
    ['PUT /v1/teams/1/notes', { disconnect: [1] }],
    ['POST /v1/teams', { name: 'n', notes: [1] }],
  ],
  delete: [['DELETE /v1/notes/1'], ['DELETE /v1/teams/1/notes'], ['DELETE /v1/teams/1/notes/2']],
}

/** Makes a trigger that does something else in the place of a statement. */
async function replace(engine: RestEngine, event: Event, table: string, instead = ''): Promise<void> {
  const run = (sql: string): Promise<unknown> => engine.orm.em.fork().getConnection().execute(sql)
  if (engine.orm.em.getPlatform().getDefaultSchemaName() === undefined)
    return void (await run(`create trigger stops_it before ${event} on ${table} begin ${instead} select raise(ignore); end`))
  await run(`create function stop_it() returns trigger language plpgsql as $$ begin ${instead} return null; end $$`)
  await run(`create trigger stops_it before ${event} on ${table} for each row execute function stop_it()`)
}

async function refuses(engine: RestEngine, [line, body]: Write): Promise<void> {
  const before = await rows(engine)
  const answer = await engine.send(line, body === undefined ? {} : { body })
  assert.deepEqual([answer.status, answer.body.code], [422, 'statement_dropped'], `${line} ${JSON.stringify(body)}`)
  assert.match(String(answer.body.detail), /"stops_it"/)
  assert.deepEqual(await rows(engine), before, line)
}

async function rows(engine: RestEngine): Promise<unknown> {
  const own = ['team', 'note', 'tag', 'team_tags', 'log']
  return (await readTables(engine)).filter(({ name }) => own.includes(name))
}

describeStores('a statement that the database drops', ({ name: store }) => {
  const make = (listens: boolean, scoped = false): Promise<RestEngine> =>
    createEngine({
      entities: [Team, Note, Tag, Log],
      seed,
      ...(scoped ? { resources: [resource(Note, { scope: () => ({ id: { $gt: 0 } }), write: () => ({ id: { $gt: 0 } }) })] } : {}),
      ...(listens ? { orm: { subscribers: [{ afterFlush() {} }] } } : {}),
    })

  for (const [way, listens, scoped] of [
    ['by statements', false, false],
    ['by statements, under rules', false, true],
    ['by the unit of work', true, false],
  ] as const)
    for (const event of ['insert', 'update', 'delete'] as const)
      it(`is refused with the name of the trigger, and nothing is left behind: ${event} ${way}`, async () => {
        await using engine = await make(listens, scoped)
        await replace(engine, event, 'note', `insert into log (text) values ('${event}');`)
        for (const write of WRITES[event]) await refuses(engine, write)
        // What changes nothing is no statement that something could drop.
        assert.equal((await engine.send('PATCH /v1/notes/1', { body: { text: 'a' } })).status, 200)
      })

  it('is refused where it is one of a seed', async () => {
    await using engine = await make(false)
    await replace(engine, 'insert', 'note')
    const before = await rows(engine)
    await assert.rejects(engine.seed({ teams: [{ name: 'n', notes: [{ text: 'x' }] }] }), { code: 'statement_dropped' })
    await assert.rejects(engine.seed({ notes: [{ id: 77, text: 'x' }, { text: 'y' }] }), { code: 'statement_dropped' })
    assert.deepEqual(await rows(engine), before)
  })

  it('is refused where it is one of a pivot table', async () => {
    for (const listens of [false, true]) {
      await using engine = await make(listens)
      await replace(engine, 'insert', 'team_tags')
      for (const write of [
        ['PUT /v1/teams/1/tags', [1, 2]],
        ['POST /v1/teams/1/tags', 2],
        ['POST /v1/teams', { name: 'n', tags: [2] }],
      ] as const)
        await refuses(engine, write)
    }
  })

  it('is a deletion where the trigger changes the record instead', async () => {
    for (const listens of [false, true]) {
      await using engine = await make(listens)
      const later = "update note set deleted_at = 'now' where id = old.id;"
      await replace(engine, 'delete', 'note', later)
      assert.equal((await engine.send('DELETE /v1/notes/1')).status, 200)
      assert.equal((await engine.send('GET /v1/notes/1')).body.note.deletedAt, 'now')
    }
  })

  it('is refused where a rule does nothing instead', { skip: store === 'memory' && 'SQLite has no rules' }, async () => {
    await using engine = await make(false)
    await engine.orm.em.fork().getConnection().execute('create rule stops_it as on update to note do instead nothing')
    for (const write of WRITES.update) await refuses(engine, write)
  })
})
