/**
 * Bench of files: what a write costs in each kind of database, beside code by hand on a database of the same kind. In one process, in
 * turns; CPU times of the process. The tables are those of another program, with declared types that are not MikroORM's. Takes some
 * minutes.
 *
 *     npm run bench:files
 *     npm run bench:files -- --rounds 3 update    fewer rounds, and only the cases whose name has one of the words
 *     npm run bench:files -- --docs               writes the tables into docs/benchmarks.md, too
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { RestEngine, fromJson } from '../lib/index.ts'
import { microseconds, samplesOf } from './paired.ts'
import { Report } from './report.ts'
import { byRound, figure, median } from './summary.ts'
import { wordsOf } from './words.ts'

const Author = defineEntity({
  name: 'Author',
  properties: { id: p.integer().primary(), name: p.string(), books: () => p.oneToMany(Book).mappedBy('author') },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
const Book = defineEntity({
  name: 'Book',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    sold: p.boolean(),
    printed: p.datetime(),
    author: () => p.manyToOne(Author),
    tags: () => p.manyToMany(Tag).pivotTable('book_tags'),
  },
})

const ROWS = 1000
const TABLES = `
  create table author (id integer primary key, name varchar(80) not null);
  create table tag (id integer primary key, name text not null);
  create table book (id integer primary key, title varchar(200) not null, sold boolean not null, printed datetime not null, author_id integer not null references author (id));
  create index book_author on book (author_id);
  create table book_tags (book_id integer not null references book (id) on delete cascade, tag_id integer not null references tag (id) on delete cascade, primary key (book_id, tag_id));
  insert into author select value, 'Author ' || value from generate_series;
  insert into tag select value, 'Tag ' || value from generate_series where value < 20;
  insert into book select value, 'Book ' || value, value % 2, '2026-01-01 10:00:00', value from generate_series;`
const SERIES = `(with recursive s (value) as (select 1 union all select value + 1 from s where value < ${ROWS}) select value from s)`

function makeDatabase(path: string, mode: string): Database.Database {
  const db = new Database(path)
  db.pragma(`journal_mode = ${mode}`)
  db.exec(TABLES.replaceAll('generate_series', SERIES))
  return db
}

/** The same by hand, for these tables only: the answers are those of the engine, without an envelope of its own kind. */
class ByHand {
  readonly #db: Database.Database
  readonly #read
  readonly #tags
  readonly #insert
  readonly #remove
  readonly #leave
  readonly #enter
  readonly #sets

  constructor(db: Database.Database) {
    this.#db = db
    db.pragma('foreign_keys = on')
    this.#read = db.prepare<[number], Record<string, unknown>>(
      'select id, title, sold, printed, author_id as author from book where id = ?',
    )
    this.#tags = db.prepare<[number], number>('select tag_id from book_tags where book_id = ? order by tag_id').pluck()
    this.#insert = db.prepare('insert into book (title, sold, printed, author_id) values (?, ?, ?, ?)')
    this.#remove = db.prepare<[number]>('delete from book where id = ?')
    this.#leave = db.prepare<[number]>('delete from book_tags where book_id = ?')
    this.#enter = db.prepare<[number, number]>('insert into book_tags values (?, ?)')
    this.#sets = Object.fromEntries(
      ['title', 'sold', 'printed'].map(name => [name, db.prepare(`update book set ${name} = ? where id = ?`)]),
    )
  }

  #answer(id: number): string {
    const book = this.#read.get(id)!
    const shown = { ...book, sold: book['sold'] === 1, printed: `${String(book['printed']).replace(' ', 'T')}Z`, tags: this.#tags.all(id) }
    return JSON.stringify({ success: true, timestamp: new Date().toISOString(), book: shown })
  }

  change(id: number, name: string, value: unknown): string {
    return this.#db.transaction(() => {
      this.#sets[name]!.run(value, id)
      return this.#answer(id)
    })()
  }

  createAndDelete(title: string): string {
    const id = this.#db.transaction(() => {
      const { lastInsertRowid } = this.#insert.run(title, 1, '2026-01-01 10:00:00', 1)
      this.#answer(Number(lastInsertRowid))
      return Number(lastInsertRowid)
    })()
    const answer = this.#answer(id)
    this.#remove.run(id)
    return answer
  }

  replaceTags(id: number, tags: readonly number[]): string {
    return this.#db.transaction(() => {
      this.#leave.run(id)
      for (const tag of tags) this.#enter.run(id, tag)
      return this.#answer(id)
    })()
  }
}

type Call = (call: number) => unknown

const idOf = (call: number): number => 1 + ((call * 37) % ROWS)
const dayOf = (call: number): string => `2026-01-${String(1 + (call % 28)).padStart(2, '0')}`
const tagsOf = (call: number): number[] => (call % 2 === 0 ? [1, 2, 3] : [2, 3, 4])

const byHand = (db: Database.Database): Readonly<Record<string, Call>> => {
  const hand = new ByHand(db)
  return {
    'update of a text': call => hand.change(idOf(call), 'title', `Title ${call} ${Math.random()}`),
    'update of a boolean': call => hand.change(1, 'sold', call % 2),
    'update of a date-time': call => hand.change(1, 'printed', `${dayOf(call)} 10:00:00`),
    'create and delete': call => hand.createAndDelete(`Title ${call}`),
    'replaced list of 3': call => hand.replaceTags(1, tagsOf(call)),
  }
}

const byEngine = (engine: RestEngine, plural = 'books', list = 'tags'): Readonly<Record<string, Call>> => {
  const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, { id: number }>> => {
    const answer = await engine.handle(method, `/v1/${plural}${path}`, undefined, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    JSON.stringify(answer.body)
    return answer.body as Record<string, { id: number }>
  }
  return {
    'update of a text': call => ask('PATCH', `/${idOf(call)}`, { title: `Title ${call} ${Math.random()}` }),
    'update of a boolean': call => ask('PATCH', '/1', { sold: call % 2 === 1 }),
    'update of a date-time': call => ask('PATCH', '/1', { printed: `${dayOf(call)}T10:00:00Z` }),
    'create and delete': async call => {
      const { book } = await ask('POST', '', { title: `Title ${call}`, sold: true, printed: '2026-01-01T10:00:00Z', author: 1 })
      await ask('DELETE', `/${book!.id}`)
    },
    'replaced list of 3': call => ask('PUT', `/1/${list}`, tagsOf(call)),
  }
}

const OPERATIONS = ['update of a text', 'update of a boolean', 'update of a date-time', 'create and delete', 'replaced list of 3']
/** The ratios to be reached: of a record, and of a list. */
const AIMS: Readonly<Record<string, number>> = { 'replaced list of 3': 5 }
const CALLS = 100
const WARM_UP = 20

const { rounds, docs, isWanted } = wordsOf({ rounds: 21, names: OPERATIONS })
const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-bench-files-'))
let files = 0
const newFile = (mode: string): string => {
  const path = join(folder, `${files++}.sqlite`)
  makeDatabase(path, mode).close()
  return path
}

const memory = await RestEngine.create({ entities: [Author, Tag, Book] })
for (const statement of TABLES.split(';').filter(text => text.includes('insert')))
  await memory.orm.em
    .getConnection()
    .execute(statement.replaceAll('generate_series', SERIES).replaceAll("'2026-01-01 10:00:00'", '1767261600000'))
const json = {
  authors: [{ id: 1, name: 'Author 1' }],
  tags: Array.from({ length: 19 }, (_, index) => ({ id: index + 1, name: `Tag ${index + 1}` })),
  books: Array.from({ length: ROWS }, (_, index) => ({
    id: index + 1,
    title: `Book ${index + 1}`,
    sold: true,
    printed: '2026-01-01T10:00:00Z',
    authorId: 1,
    tagIds: [1],
  })),
}
const model = fromJson(json)
const inJson = await RestEngine.create({ ...model })
const engines: RestEngine[] = [memory, inJson]

const report = new Report('bench:files', docs)
report.say(`${ROWS.toLocaleString('en')} rows a table; medians of ${rounds} rounds. Entities, introspected: files of another program.`)
const KINDS: Record<string, { hand: Readonly<Record<string, Call>>; own: Readonly<Record<string, Call>> }> = {
  memory: { hand: byHand(makeDatabase(':memory:', 'memory')), own: byEngine(memory) },
}
for (const [mode, what] of [
  ['wal', 'write-ahead log'],
  ['delete', 'rollback journal'],
] as const) {
  const hand = byHand(new Database(newFile(mode)))
  const entities = await RestEngine.create({ database: newFile(mode), entities: [Author, Tag, Book] })
  const introspected = await RestEngine.create({ database: newFile(mode) })
  engines.push(entities, introspected)
  KINDS[`entities, ${what}`] = { hand, own: byEngine(entities) }
  KINDS[`introspected, ${what}`] = { hand, own: byEngine(introspected) }
}
const { hand } = KINDS['memory']!
KINDS['JSON model'] = {
  hand,
  own: Object.fromEntries(
    Object.entries(byEngine(inJson)).filter(([name]) => name !== 'replaced list of 3' && name !== 'create and delete'),
  ),
}

/** The engine's time and ratio of each operation, by kind: the operations that the docs show. */
const SHOWN = ['update of a text', 'create and delete', 'replaced list of 3']
const shown = new Map<string, string[]>(Object.keys(KINDS).map(kind => [kind, [kind]]))

for (const operation of OPERATIONS.filter(isWanted)) {
  report.printedTable(`${operation}, microseconds of the processor`, 'by hand', 'engine', 'ratio', 'aim', '')
  for (const [kind, contenders] of Object.entries(KINDS)) {
    const { [operation]: own } = contenders.own
    if (own === undefined) {
      if (SHOWN.includes(operation)) shown.get(kind)!.push('', '')
      continue
    }
    let call = 0
    const timed = (work: Call) => () => microseconds(CALLS, async () => work(call++))
    // A change of a file with a rollback journal takes so long that V8 does not matter.
    for (let turn = 0; turn < (kind.includes('rollback') ? 1 : WARM_UP); turn++)
      for (const work of [contenders.hand[operation]!, own]) await timed(work)()
    const samples = await samplesOf({ base: timed(contenders.hand[operation]!), own: timed(own) }, { rounds })
    const ratio = byRound(samples.base, samples.own, (one, other) => other / one)
    const aim = AIMS[operation] ?? 4
    const [one, two, verdict] = [figure(median(samples.base)), figure(median(samples.own)), ratio <= aim ? 'ok' : 'over']
    report.printedRow(kind, one, two, ratio.toFixed(2), aim.toFixed(2), verdict)
    if (SHOWN.includes(operation)) shown.get(kind)!.push(two, `${ratio.toFixed(2)}${verdict === 'over' ? ', over' : ''}`)
  }
}
report.table('the engine, microseconds', ...SHOWN.filter(isWanted).flatMap(operation => [operation, 'ratio']))
for (const cells of shown.values()) report.row(...cells)
await report.end()
for (const engine of engines) await engine.close()
rmSync(folder, { recursive: true, force: true })
