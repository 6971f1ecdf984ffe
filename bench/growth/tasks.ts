/**
 * The tasks of growth: what is not one reading request. Each is done by the engine, and by hand with the same effect. Takes a size, gives
 * something that runs again and again and says what it has left behind, which the specs compare.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine, fromJson } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import type { ContenderName } from '../contenders.ts'

/** A task of one size that is ready to run. */
export interface OpenTask {
  run(call: number): unknown
  /** What one run has left behind, in a form that both contenders have. */
  state(): unknown
  close(): unknown
}

export interface Task {
  readonly name: string
  /** The label of an axis. */
  readonly label: string
  readonly trial: string
  readonly sizes: readonly number[]
  /** What the engine's time is to be beside that by hand at the largest size. */
  readonly aim?: number
  readonly open: Readonly<Record<ContenderName, (size: number) => OpenTask | Promise<OpenTask>>>
}

/** Entities are made anew each time, because MikroORM changes the schemas that it is given. */
function entities(): NonNullable<EngineOptions['entities']> {
  const Team = defineEntity({
    name: 'Team',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      players: () => p.oneToMany(Player).mappedBy('team'),
      tags: () => p.manyToMany(Tag),
    },
  })
  const Player = defineEntity({
    name: 'Player',
    properties: { id: p.integer().primary(), name: p.string(), age: p.integer(), team: () => p.manyToOne(Team).nullable() },
  })
  const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
  return [Team, Player, Tag]
}

/** The tables as MikroORM makes them, as far as their cost goes. */
const TABLES = `
  create table team (id integer not null primary key autoincrement, name text not null);
  create table player (id integer not null primary key autoincrement, name text not null, age integer not null, team_id integer null references team (id) on delete set null);
  create index player_team_id_index on player (team_id);
  create table tag (id integer not null primary key autoincrement, name text not null);
  create table team_tags (team_id integer not null references team (id) on delete cascade on update cascade, tag_id integer not null references tag (id) on delete cascade on update cascade, primary key (team_id, tag_id));
  create index team_tags_team_id_index on team_tags (team_id);
  create index team_tags_tag_id_index on team_tags (tag_id);`

function openTables(): Database.Database {
  const db = new Database(':memory:')
  db.pragma('foreign_keys = on')
  db.exec(TABLES)
  return db
}

interface NewPlayer {
  readonly name: string
  readonly age: number
}
const newPlayers = (size: number, call: number): NewPlayer[] =>
  Array.from({ length: size }, (_each, index) => ({ name: `Player ${call} ${index}`, age: index % 50 }))

async function openEngine(options: EngineOptions = { journal: 0 }): Promise<RestEngine> {
  return RestEngine.create({ entities: entities(), ...options })
}

async function ask(engine: RestEngine, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const { status, body: answer } = await engine.handle(method, path, undefined, body)
  assert.equal(status, 200, JSON.stringify(answer))
  return answer as Record<string, unknown>
}

const countOf = (db: Database.Database, table: string): unknown => db.prepare(`select count(*) from ${table}`).pluck().get()
const countIn = async (engine: RestEngine, path: string): Promise<unknown> => (await ask(engine, 'GET', `${path}?limit=1`))['count']

const nested: Task = {
  name: 'nested',
  label: 'records nested in a body',
  trial: 'POST of a record with others',
  sizes: [1, 3, 10, 30, 100],
  open: {
    async engine(size) {
      const engine = await openEngine()
      return {
        run: async call =>
          JSON.stringify(await ask(engine, 'POST', '/v1/teams', { name: `Team ${call}`, players: newPlayers(size, call) })),
        state: () => countIn(engine, '/v1/players'),
        close: () => engine.close(),
      }
    },
    'by hand'(size) {
      const db = openTables()
      const team = db.prepare('insert into team (name) values (?)')
      const player = db.prepare('insert into player (name, age, team_id) values (?, ?, ?)')
      const create = db.transaction((name: string, players: readonly NewPlayer[]) => {
        const id = team.run(name).lastInsertRowid
        return { id, name, players: players.map(each => player.run(each.name, each.age, id).lastInsertRowid), tags: [] }
      })
      return {
        run: call => JSON.stringify({ success: true, status: 'OK', team: create(`Team ${call}`, newPlayers(size, call)) }),
        state: () => countOf(db, 'player'),
        close: () => db.close(),
      }
    },
  },
}

/** The IDs of a list, others from call to call, of twice as many. */
const listed = (size: number, call: number): number[] => Array.from({ length: size }, (_each, index) => 1 + 2 * index + (call % 2))

const lists: Task = {
  name: 'lists',
  label: 'IDs of a list',
  trial: 'PUT of a list of IDs',
  sizes: [1, 3, 10, 30, 100, 300],
  open: {
    async engine(size) {
      const engine = await openEngine()
      const tags = Array.from({ length: 2 * size }, (_each, index) => ({ name: `tag ${index}` }))
      await engine.seed({ tags, teams: [{ name: 'Team' }] })
      return {
        run: async call => JSON.stringify(await ask(engine, 'PUT', '/v1/teams/1', { tags: listed(size, call) })),
        state: async () => ((await ask(engine, 'GET', '/v1/teams/1'))['team'] as { readonly tags: unknown }).tags,
        close: () => engine.close(),
      }
    },
    'by hand'(size) {
      const db = openTables()
      for (let index = 0; index < 2 * size; index++) db.prepare('insert into tag (name) values (?)').run(`tag ${index}`)
      db.exec("insert into team (name) values ('Team')")
      const known = db.prepare('select tag_id from team_tags where team_id = 1 order by tag_id').pluck()
      const exists = db.prepare('select 1 from tag where id = ?')
      const unlink = db.prepare('delete from team_tags where team_id = 1 and tag_id = ?')
      const link = db.prepare('insert into team_tags (team_id, tag_id) values (1, ?)')
      const replace = db.transaction((tags: readonly number[]) => {
        const [before, after] = [new Set(known.all()), new Set<unknown>(tags)]
        for (const tag of tags) assert.ok(exists.get(tag) !== undefined)
        for (const tag of before) if (!after.has(tag)) unlink.run(tag)
        for (const tag of after) if (!before.has(tag)) link.run(tag)
        return { id: 1, name: 'Team', players: [], tags: known.all() }
      })
      return {
        run: call => JSON.stringify({ success: true, status: 'OK', team: replace(listed(size, call)) }),
        state: () => known.all(),
        close: () => db.close(),
      }
    },
  },
}

const seeds: Task = {
  name: 'seeds',
  label: 'records of a seed',
  trial: 'engine.seed',
  sizes: [10, 100, 1000, 10_000],
  aim: 3,
  open: {
    async engine(size) {
      const engine = await openEngine()
      return {
        run: call => engine.seed({ players: newPlayers(size, call) }),
        state: () => countIn(engine, '/v1/players'),
        close: () => engine.close(),
      }
    },
    'by hand'(size) {
      const db = openTables()
      const player = db.prepare('insert into player (name, age) values (?, ?)')
      const insert = db.transaction((players: readonly NewPlayer[]) => {
        for (const { name, age } of players) player.run(name, age)
      })
      return { run: call => insert(newPlayers(size, call)), state: () => countOf(db, 'player'), close: () => db.close() }
    },
  },
}

const json: Task = {
  name: 'json',
  label: 'records of a JSON file',
  trial: 'from text to API',
  // Fifty megabytes at last.
  sizes: [10, 1000, 10_000, 1_000_000],
  aim: 3,
  open: {
    engine(size) {
      const text = JSON.stringify({ players: newPlayers(size, 0).map((player, index) => ({ id: index + 1, ...player })) })
      let last: RestEngine | undefined
      return {
        async run() {
          await last?.close()
          last = await RestEngine.create({ ...fromJson(JSON.parse(text) as never), journal: 0 })
        },
        state: () => countIn(last!, '/v1/players'),
        close: () => last?.close(),
      }
    },
    'by hand'(size) {
      const text = JSON.stringify({ players: newPlayers(size, 0).map((player, index) => ({ id: index + 1, ...player })) })
      let last: Database.Database | undefined
      return {
        run() {
          last?.close()
          const db = (last = openTables())
          const player = db.prepare('insert into player (id, name, age) values (?, ?, ?)')
          const { players } = JSON.parse(text) as { readonly players: readonly (NewPlayer & { readonly id: number })[] }
          db.transaction(() => {
            for (const { id, name, age } of players) player.run(id, name, age)
          })()
        },
        state: () => countOf(last!, 'player'),
        close: () => last?.close(),
      }
    },
  },
}

const journal: Task = {
  name: 'journal',
  label: 'requests that the journal keeps',
  trial: 'GET of a record',
  sizes: [1, 10, 100, 1000, 10_000],
  open: {
    async engine(size) {
      const engine = await openEngine({ journal: size })
      await engine.seed({ players: newPlayers(1000, 0) })
      const get = async (call: number): Promise<string> => JSON.stringify(await ask(engine, 'GET', `/v1/players/${1 + (call % 1000)}`))
      for (let call = 0; call < size; call++) await get(call)
      return { run: get, state: () => engine.requests.length, close: () => engine.close() }
    },
    /** A ring of the last answers. */
    'by hand'(size) {
      const db = openTables()
      const player = db.prepare('insert into player (name, age) values (?, ?)')
      for (const { name, age } of newPlayers(1000, 0)) player.run(name, age)
      const read = db.prepare('select id, name, age, team_id as team from player where id = ?')
      const kept: unknown[] = []
      const get = (call: number): string => {
        const path = `/v1/players/${1 + (call % 1000)}`
        const body = { success: true, timestamp: new Date().toISOString(), resource: 'player', player: read.get(1 + (call % 1000)) }
        kept[call % size] = { method: 'GET', path, status: 200, body, time: performance.now() }
        return JSON.stringify(body)
      }
      for (let call = 0; call < size; call++) get(call)
      return { run: get, state: () => kept.length, close: () => db.close() }
    },
  },
}

const worlds: Task = {
  name: 'worlds',
  label: 'worlds that are open',
  trial: 'a fork, and a request to it',
  sizes: [1, 10, 100, 300],
  open: {
    async engine(size) {
      const engine = await openEngine()
      await engine.seed({ players: newPlayers(100, 0) })
      const open: RestEngine[] = []
      for (let index = 0; index < size; index++) open.push(await engine.fork())
      return {
        async run(call) {
          await open[call % size]!.close()
          open[call % size] = await engine.fork()
          return ask(open[call % size]!, 'GET', '/v1/players/1')
        },
        state: () => open.length,
        async close() {
          for (const each of [...open, engine]) await each.close()
        },
      }
    },
    'by hand'(size) {
      const db = openTables()
      const player = db.prepare('insert into player (name, age) values (?, ?)')
      for (const { name, age } of newPlayers(100, 0)) player.run(name, age)
      const bytes = db.serialize()
      const open = Array.from({ length: size }, () => new Database(bytes))
      return {
        run(call) {
          open[call % size]!.close()
          open[call % size] = new Database(bytes)
          return open[call % size]!.prepare('select id, name, age, team_id as team from player where id = ?').get(1)
        },
        state: () => open.length,
        close() {
          for (const each of [...open, db]) each.close()
        },
      }
    },
  },
}

export const TASKS: readonly Task[] = [nested, lists, seeds, json, journal, worlds]
