/**
 * How often a write waits for a PostgreSQL server: what is asked of it together goes to it in one turn. How many statements it asks for.
 * Counted by a proxy between the engine and the server.
 */
import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/postgresql'
import { Client } from 'pg'
import { RestEngine } from '../../lib/index.ts'
import { findNoServer, ownDatabase, ownSchema } from './server-database.ts'

const Person = defineEntity({
  name: 'Person',
  properties: { id: p.integer().primary(), name: p.string(), notes: () => p.oneToMany(Note).mappedBy('person') },
})
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), person: () => p.manyToOne(Person).nullable() },
})

const Tag = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), notes: () => p.manyToMany(Note) },
})

/** The message of the protocol that has a prepared statement run. */
const EXECUTE = 'E'.charCodeAt(0)

/** Passes on what client and server say, and counts how often the client says something again after the server has. */
class CountingProxy implements AsyncDisposable {
  turns = 0
  /** Statements with parameters, or with an answer: `begin` and `commit` are none. */
  statements = 0
  readonly #sockets = new Set<Socket>()
  readonly #server

  constructor(host: string, port: number) {
    this.#server = createServer(client => {
      const server = connect(port, host)
      let isAnswered = true
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from.setNoDelay(true))
        from.on('data', chunk => {
          if (from === client) this.#count(chunk, isAnswered)
          isAnswered = from === server
          to.write(chunk)
        })
        from.on('error', () => to.destroy())
        from.on('close', () => to.destroy())
      }
    })
  }

  #count(packet: Buffer, isTurn: boolean): void {
    if (isTurn) this.turns++
    // Those that begin a session have no type: they are not counted.
    for (let at = 0; at + 5 <= packet.length; at += 1 + packet.readUInt32BE(at + 1)) if (packet[at] === EXECUTE) this.statements++
  }

  async listen(): Promise<number> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

// Awaited before the first suite: node:test loses a suite that comes after an await.
const NO_SERVER = await findNoServer()

describe('a write on PostgreSQL', { skip: NO_SERVER }, () => {
  for (const [title, journal, lists, log] of [
    ['waits for its statements, for its answer and for the end of its transaction', 0, 3, 0],
    ['waits no longer where the journal has the rows that have changed, and asks one statement more', 100, 4, 1],
  ] as const)
    it(title, async () => {
      await using schema = ownSchema()
      const direct = new URL(schema.database.url)
      await using proxy = new CountingProxy(direct.hostname, Number(direct.port))
      direct.hostname = '127.0.0.1'
      direct.port = String(await proxy.listen())
      await using engine = await RestEngine.create({
        entities: [Person, Note, Tag],
        database: { ...schema.database, url: direct.href },
        journal,
      })
      const turnsOf = async (method: string, path: string, body?: unknown): Promise<number> => {
        proxy.turns = proxy.statements = 0
        const { status } = await engine.handle(method, path, undefined, body)
        assert.equal(status, 200)
        return proxy.turns
      }
      const statementsOf = async (method: string, path: string, body?: unknown): Promise<number> => {
        await turnsOf(method, path, body)
        return proxy.statements
      }
      for (const text of ['warm', 'up']) {
        await turnsOf('POST', '/v1/notes', { text })
        await turnsOf('PATCH', '/v1/notes/1', { text: `${text} again` })
      }
      await turnsOf('DELETE', '/v1/notes/2')
      assert.deepEqual(
        {
          create: await turnsOf('POST', '/v1/notes', { text: 'a' }),
          update: await turnsOf('PATCH', '/v1/notes/1', { text: 'b' }),
          delete: await turnsOf('DELETE', '/v1/notes/1'),
        },
        { create: 3, update: 2, delete: 2 },
      )
      assert.deepEqual(
        {
          create: await statementsOf('POST', '/v1/notes', { text: 'a' }),
          update: await statementsOf('PATCH', '/v1/notes/4', { text: 'b' }),
          delete: await statementsOf('DELETE', '/v1/notes/4'),
        },
        { create: 2 + log, update: 2 + log, delete: 2 + log },
      )
      // The lists of a record are asked for when it is there, and the record is deleted behind them.
      await turnsOf('POST', '/v1/notes', { text: 'c' })
      for (const id of [1, 2, 3]) {
        await turnsOf('POST', '/v1/tags', { notes: [5] })
        assert.equal(await turnsOf('DELETE', `/v1/tags/${id}`), lists)
      }
    })
})

describe('going back on PostgreSQL', { skip: NO_SERVER }, () => {
  it('asks two statements where no row has changed, and counts keys from where they were', async () => {
    await using schema = ownSchema()
    await using engine = await RestEngine.create({
      entities: [Tag, Note, Person],
      database: schema.database,
      seed: { notes: [{ text: 'a' }, { text: 'b' }] },
    })
    const snapshot = await engine.snapshot()
    const asked: string[] = []
    for (const back of [() => engine.reset(), () => engine.restore(snapshot)]) {
      await schema.run("select nextval('note_id_seq'), nextval('tag_id_seq')")
      const { query } = Client.prototype
      Client.prototype.query = function (this: Client, ...given: unknown[]) {
        asked.push(JSON.stringify(given[0]))
        return Reflect.apply(query, this, given) as never
      }
      await back().finally(() => void (Client.prototype.query = query))
      assert.equal(asked.splice(0).length, 2)
      assert.equal((await engine.handle('POST', '/v1/notes', undefined, { text: 'x' })).body.note.id, 3)
      assert.equal((await engine.handle('POST', '/v1/tags', undefined, {})).body.tag.id, 1)
      await back()
      assert.equal((await engine.handle('GET', '/v1/notes')).body.count, 2)
    }
  })
})

describe('the start of an engine on PostgreSQL', { skip: NO_SERVER }, () => {
  it('asks a server once for the lower case of all letters, whatever the schema and the database', async () => {
    const asked: string[] = []
    const { query } = Client.prototype
    Client.prototype.query = function (this: Client, ...given: unknown[]) {
      const [first] = given as [string | { readonly text: string }]
      asked.push(typeof first === 'string' ? first : first.text)
      return Reflect.apply(query, this, given) as never
    }
    try {
      await using own = await ownDatabase()
      await using one = ownSchema()
      await using other = ownSchema()
      for (const { database } of [one, other, own]) {
        const engine = await RestEngine.create({ entities: [Tag, Note, Person], database, seed: { people: [{ name: 'ÅSA' }] } })
        assert.equal((await engine.handle('GET', '/v1/people?name~=åsa')).body.count, 1)
        await engine.close()
      }
    } finally {
      Client.prototype.query = query
    }
    // Other files of this process may have asked before.
    assert.ok(asked.filter(text => text.startsWith('select lower(c ')).length <= 1)
    assert.equal(asked.filter(text => text.includes('pg_postmaster_start_time()')).length, 3)
  })
})
