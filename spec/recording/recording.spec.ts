/** Recordings of failed tests: what a file holds, what it does not, and what is served of it. Real files, real databases. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { defineEntity, p } from '@mikro-orm/core'
import Database from 'better-sqlite3'
import { RestEngine, auth, fromJson, resource } from '../../lib/index.ts'
import { openRecording } from '../../lib/open-recording.ts'
import type { OpenedRecording } from '../../lib/open-recording.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { Command, send } from '../helpers/command.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Size = defineEntity({ name: 'Size', embeddable: true, properties: { width: p.integer(), height: p.integer() } })
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), label: p.string().unique() } })
const Owner = defineEntity({
  name: 'Owner',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    password: p.string().hidden().nullable(),
    api_token: p.string().unique().nullable(),
    notes: p.json().nullable(),
    things: () => p.oneToMany(Thing).mappedBy('owner'),
  },
})
const Thing = defineEntity({
  name: 'Thing',
  properties: {
    id: p.uuid().primary(),
    title: p.string().length(40),
    price: p.decimal().precision(10).scale(2).default('1.50'),
    status: p.enum(['draft', 'open']).default('draft'),
    isGood: p.boolean().default(true),
    createdAt: p.datetime().onCreate(() => new Date()),
    day: p.date().nullable(),
    image: p.blob().nullable(),
    size: () => p.embedded(Size).nullable(),
    box: () => p.embedded(Size).object().nullable(),
    owner: () => p.manyToOne(Owner).nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const THING = '00000000-0000-4000-8000-000000000001'
const seed = {
  tags: [
    { id: 1, label: 'red' },
    { id: 2, label: 'blue' },
  ],
  owners: [{ id: 1, name: 'Ann', password: 'hush-hush', api_token: 'key-of-ann', notes: { access_token: 'hidden-in-json', plain: 1 } }],
  things: [
    {
      id: THING,
      title: 'Lamp',
      day: '2026-01-02',
      image: 'AQID',
      size: { width: 1, height: 2 },
      box: { width: 3, height: 4 },
      owner: 1,
      tags: [1, 2],
      createdAt: '2026-01-01T00:00:00.000Z',
    },
  ],
}
const TOKEN = `eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.${Buffer.from('{"sub":"1"}').toString('base64url')}.c2lnbmF0dXJl`

let folder: string
let count = 0
const free = (): string => join(folder, `${++count}`, 'failed.mikro')
const open = (path: string): Promise<OpenedRecording> => openRecording(path, options => RestEngine.create(options))

/** The facts and the data of a recording, unpacked. */
async function unpack(path: string): Promise<{ facts: string; data: Buffer }> {
  const file = await readFile(path)
  const start = file.indexOf('\n') + 1
  const end = file.indexOf('\n', start)
  const lengths = JSON.parse(file.subarray(start, end).toString()) as { facts: number; data: number }
  const body = file.subarray(end + 1)
  const data = lengths.data === 0 ? Buffer.alloc(0) : gunzipSync(body.subarray(lengths.facts))
  return { facts: gunzipSync(body.subarray(0, lengths.facts)).toString(), data }
}

function pack(facts: object, data: Buffer = Buffer.alloc(0)): Buffer {
  const parts = [gzipSync(JSON.stringify(facts)), data.length === 0 ? data : gzipSync(data)]
  return Buffer.concat([
    Buffer.from(`mikro-rest recording 1\n${JSON.stringify({ facts: parts[0]!.length, data: parts[1]!.length })}\n`),
    ...parts,
  ])
}

describe('a recording', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-recording-spec-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('is served as the engine was before the test, with its journal', async () => {
    await using engine = await RestEngine.create({ entities: [Tag, Owner, Thing], seed, versions: ['v2'], createdStatus: 201 })
    internalsOf(engine).keepStatements()
    engine.clock.set('2030-01-01T00:00:00Z')
    const before = JSON.stringify((await engine.send('GET /v2/things?expand=tags,owner')).body).replace('hidden-in-json', '[secret]')
    engine.fail('GET /v2/tags', { status: 503 })
    engine.mark('here')
    engine.mark('with password=hush-hush')
    await engine.send('GET /v2/tags')
    await engine.send(`PATCH /v2/things/${THING}`, { body: { title: 'Changed' } })
    const path = free()
    const recorded = await engine.record(path, { test: 'changes a thing', failure: 'AssertionError: no' })
    assert.deepEqual([recorded.path, recorded.notes], [path, []])
    assert.equal(recorded.bytes, (await readFile(path)).length)

    const { engine: opened, facts } = await open(path)
    await using again = opened
    assert.deepEqual([facts.test, facts.failure], ['changes a thing', 'AssertionError: no'])
    const marks = facts.marks.flatMap(mark => (mark.type === 'mark' ? [mark.text] : []))
    assert.deepEqual(marks, ['here', 'with password=[secret]'])
    assert.deepEqual(
      again.requests.map(({ id, method, path: target, status, fault, changes }) => [id, method, target, status, fault, changes?.length]),
      [
        [1, 'GET', '/v2/things', 200, undefined, 0],
        [2, 'GET', '/v2/tags', 503, 'f1', 0],
        [3, 'PATCH', `/v2/things/${THING}`, 200, undefined, 1],
      ],
    )
    const record = internalsOf(again).parts.journal!.find(3)!
    const { statements } = (await internalsOf(again).showRequest(record)) as { readonly statements?: readonly { readonly sql: string }[] }
    assert.ok(statements!.some(({ sql }) => sql.startsWith('update')))
    assert.equal(again.clock.now().toISOString(), '2030-01-01T00:00:00.000Z')
    assert.deepEqual(facts.faults[0]!.options, { status: 503 })
    assert.deepEqual((await again.send('GET /v2/things?expand=tags,owner')).body, JSON.parse(before), 'the data are those before the test')
    // Sent again.
    const { status, body } = await again.send('POST /v2/things', {
      body: { id: THING.replace(/1$/, '2'), title: 'New', owner: { name: 'Bob' } },
    })
    assert.equal(status, 201, JSON.stringify(body))
    assert.equal((body as { thing: { price: string } }).thing.price, '1.50')
    assert.deepEqual(again.requests.at(-1)!.id, 5)
  })

  it('begins with what was restored last, else with what reset goes back to', async () => {
    await using engine = await RestEngine.create({ entities: [Tag], seed: { tags: seed.tags } })
    const labels = async (): Promise<string[]> => {
      const path = free()
      await engine.record(path)
      const { engine: opened, facts } = await open(path)
      await using again = opened
      const { tags } = (await again.send('GET /v1/tags')).body as { tags: { label: string }[] }
      return [...tags.map(({ label }) => label), String(facts.begun)]
    }
    await engine.send('POST /v1/tags', { body: { label: 'green' } })
    assert.deepEqual(await labels(), ['red', 'blue', '0'])
    const green = await engine.snapshot()
    await engine.send('DELETE /v1/tags/1')
    assert.deepEqual(await labels(), ['red', 'blue', '0'], 'taking a snapshot begins nothing')
    await engine.restore(green)
    await engine.send('DELETE /v1/tags/2')
    assert.deepEqual(await labels(), ['red', 'blue', 'green', '2'])
    await engine.reset()
    assert.deepEqual(await labels(), ['red', 'blue', '0'])
    await engine.send('DELETE /v1/tags/1')
    await using world = await engine.fork()
    await world.send('DELETE /v1/tags/2')
    const path = free()
    await world.record(path)
    const { engine: opened } = await open(path)
    await using again = opened
    assert.equal(((await again.send('GET /v1/tags')).body as { count: number }).count, 1)
  })

  it('has no secrets, neither in what it says nor in the pages of its data', async () => {
    await using engine = await RestEngine.create({
      entities: [Tag, Owner, Thing],
      auth: auth({ entity: Owner, identifier: 'name', public: ['GET /v1/*', 'POST /v1/*'] }),
      seed: { ...seed, tags: [...seed.tags, { id: 3, label: TOKEN }] },
    })
    internalsOf(engine).keepStatements()
    await engine.send('POST /v1/login', { body: { name: 'Ann', password: 'hush-hush' } })
    await engine.send('POST /v1/owners', { body: { name: 'Bob', password: 'also-secret', api_token: 'key-of-bob' } })
    await engine.send('GET /v1/owners', { headers: { authorization: `Bearer ${engine.token(1)}` } })
    const path = free()
    await engine.record(path, { failure: `expected ${TOKEN}` })
    const { facts, data } = await unpack(path)
    assert.ok(data.length > 0)
    for (const secret of ['hush-hush', 'also-secret', 'hidden-in-json', TOKEN.slice(0, 40), '$scrypt', 'Bearer ey']) {
      assert.equal(facts.includes(secret), false, secret)
      assert.equal(data.includes(secret), false, secret)
    }
    const { engine: opened } = await open(path)
    await using again = opened
    const { owners } = (await again.send('GET /v1/owners')).body as { owners: Record<string, unknown>[] }
    assert.deepEqual(owners[0]!['notes'], { access_token: '[secret]', plain: 1 })
    assert.equal('password' in owners[0]!, false)
    assert.match(again.notes.join(), /Code of the application is not in a recording: the log-in/)
  })

  it('is one of a JSON file, of a SQLite file as it is, and of an engine without a journal, too', async () => {
    await using json = await RestEngine.create(fromJson({ posts: [{ id: 1, title: 'A', userId: 1 }], users: [{ id: 1, name: 'Ann' }] }))
    const file = join(folder, 'shop.sqlite')
    const db = new Database(file)
    db.exec(`create table customers (customer_id integer primary key, full_name text not null, pass_word text);
      create table orders (id integer primary key, customer_id integer references customers, total numeric(10, 2));
      create trigger no_zero before insert on orders when new.total = 0 begin select raise(abort, 'zero'); end;
      insert into customers values (1, 'Ann', 'hush-hush'); insert into orders values (1, 1, 12.5)`)
    db.close()
    await using sqlite = await RestEngine.create({
      database: file,
      journal: 0,
      resources: [resource('customers', { attributes: { passWord: { private: true } } })],
    })
    for (const [engine, query, written] of [
      [json, '/v1/posts?expand=user', '/v1/posts'],
      [sqlite, '/v1/orders?expand=customer', '/v1/orders'],
    ] as const) {
      const answer = (await engine.send(`GET ${query}`)).body as Record<string, unknown>
      await engine.send(`DELETE ${written}/1`)
      const path = free()
      await engine.record(path)
      const { engine: opened } = await open(path)
      await using again = opened
      const { timestamp: _, ...same } = (await again.send(`GET ${query}`)).body as Record<string, unknown>
      const { timestamp: __, ...was } = answer
      assert.deepEqual(same, was)
      assert.equal((await unpack(path)).data.includes('hush-hush'), false)
      assert.equal(again.requests.length, engine === json ? 3 : 1)
    }
  })

  it('refuses what is not a recording, or a hostile one, in one line', async () => {
    await using engine = await RestEngine.create({ entities: [Tag], seed: { tags: seed.tags } })
    const path = free()
    await engine.record(path)
    const good = await readFile(path)
    const { facts: text, data } = await unpack(path)
    const facts = JSON.parse(text) as Record<string, never> & { entities: Record<string, unknown>[] }
    const [entity] = facts.entities as unknown as [Record<string, unknown> & { properties: Record<string, unknown>[] }]
    const property = entity.properties[1]!
    const changed = (change: object): Buffer => pack({ ...facts, ...change }, data)
    const withProperty = (change: object): Buffer =>
      changed({ entities: [{ ...entity, properties: [entity.properties[0], { ...property, ...change }] }] })
    const cases: readonly (readonly [Buffer, RegExp])[] = [
      [Buffer.from(''), /does not begin as a recording does/],
      [Buffer.from('mikro-rest recording x\n'), /version cannot be read/],
      [Buffer.from('mikro-rest recording 2\n{}\n'), /has version 2 of the form, and this mikro-rest reads version 1/],
      [good.subarray(0, good.length - 5), /cut short, or damaged/],
      [Buffer.concat([good, Buffer.from('x')]), /cut short, or damaged/],
      [Buffer.from('mikro-rest recording 1\n{"facts":-1,"data":9}\n12345678'), /cut short, or damaged/],
      [Buffer.from('mikro-rest recording 1\n{"facts":8,"data":0}\n12345678'), /it is damaged/],
      [pack([]), /says nothing/],
      [pack({}), /"at" are not of their form/],
      [changed({ requests: [{ id: 'x' }] }), /"requests" are not of their form/],
      [changed({ clock: { ahead: 'x' } }), /"clock" are not of their form/],
      [changed({ entities: [{ ...entity, name: "x'); process.exit(3); ('" }] }), /has no name, or one that is not taken/],
      [changed({ entities: [{ ...entity, table: 'a"b' }] }), /has no table, or one that is not taken/],
      [withProperty({ name: '__proto__' }), /property without a name of its own/],
      [withProperty({ fieldNames: ['a"; drop table x'] }), /columns that are not taken/],
      [withProperty({ type: 'function' }), /type that is not taken/],
      [withProperty({ defaultRaw: 'a`b' }), /member that is not taken/],
      [withProperty({ kind: 'm:1', entity: 'Nobody' }), /leads to no entity/],
      [changed({ entities: [] }), /no list of entities/],
      [pack(facts, Buffer.from('no database')), /not a (SQLite )?database|SQLite/i],
      [pack({ ...facts, entities: undefined }), /neither entities nor data/],
      // 200 MiB of nothing, in 200 KB.
      [
        (() => {
          const bomb = gzipSync(Buffer.alloc(200 << 20))
          return Buffer.concat([Buffer.from(`mikro-rest recording 1\n{"facts":${bomb.length},"data":0}\n`), bomb])
        })(),
        /unpacks to more than a recording may have/,
      ],
    ]
    await assert.rejects(open(join(folder, 'none.mikro')), /none\.mikro does not exist\.$/)
    for (const [file, reason] of cases) {
      const bad = join(folder, 'bad.mikro')
      await writeFile(bad, file)
      await assert.rejects(
        open(bad).then(({ engine: opened }) => opened.close()),
        (error: Error) => {
          assert.match(error.message, reason)
          assert.match(error.message, /bad\.mikro is not a recording that can be opened: .*\.$/)
          assert.doesNotMatch(error.message, /\n/)
          return true
        },
        String(reason),
      )
    }
  })

  it('reads no device, which has no end', { skip: process.platform === 'win32' && 'Windows has no such devices' }, async () => {
    const path = free()
    await mkdir(dirname(path), { recursive: true })
    await symlink('/dev/zero', path)
    await assert.rejects(open(path), /is not a recording that can be opened: it is no file\.$/)
    await assert.rejects(open(folder), /it is no file\.$/)
  })

  it('refuses arguments that are not of their form', async () => {
    const engine = await RestEngine.create({ entities: [Tag] })
    await assert.rejects(engine.record(''), /path must be that of a file/)
    await assert.rejects(engine.record('x', { tset: 'x' } as never), /"tset".*"test"/)
    await assert.rejects(engine.record('x', { test: 7 } as never), /"test" must be a string/)
    await engine.close()
    await assert.rejects(engine.record('x'), /closed/)
  })

  it('says what it leaves out, where the data are too large', async () => {
    const text = 'x'.repeat(1 << 20)
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })
    await using large = await RestEngine.create({ entities: [Note], seed: { notes: Array.from({ length: 66 }, () => ({ text })) } })
    const path = free()
    const { notes, bytes } = await large.record(path)
    assert.match(notes.join(), /The data are not in the recording\. The data has \d+ bytes, and 67108864 is the most/)
    assert.ok(bytes < 10_000)
    const { engine: opened } = await open(path)
    await using again = opened
    assert.equal((await again.send('GET /v1/notes')).status, 200)
  })

  it('is served by the command, with its requests, and again', async () => {
    await using engine = await RestEngine.create({ entities: [Tag], seed: { tags: seed.tags } })
    await engine.send('POST /v1/tags', { body: { label: 'green' } })
    await engine.record(join(folder, 'command', 'failed.mikro'), { test: 'adds \u001b[31m a tag', failure: 'no' })
    await using command = new Command(join(folder, 'command'), 'failed.mikro', '--port', '0')
    const origin = await command.origin()
    assert.match(command.stdout, /the recording failed\.mikro of the test/)
    assert.equal(command.stdout.includes('\u001b[31m a tag'), false)
    const { body } = await send(origin, 'GET', '/_test/requests')
    const [{ id, method, path, body: sent } = {}] = body['requests'] as unknown as {
      id: number
      method: string
      path: string
      body: object
    }[]
    assert.deepEqual([id, method, path], [1, 'POST', '/v1/tags'])
    const again = await send(origin, method!, path!, sent)
    assert.equal(again.status, 200)
    assert.equal((await send(origin, method!, path!, sent)).status, 409)
    await send(origin, 'POST', '/_test/snapshots/before/restore')
    assert.equal((await send(origin, method!, path!, sent)).status, 200, 'the state before the test is a snapshot')
    assert.deepEqual(
      (
        (await send(origin, 'GET', '/_test/requests?bodies=false')).body['requests'] as unknown as { method: string; status: number }[]
      ).flatMap(each => (each.method === 'POST' ? [each.status] : [])),
      [200, 200, 409, 200],
    )
    const { recording } = (await send(origin, 'GET', '/_test')).body as unknown as { recording: { test: string; failure: string } }
    assert.deepEqual([recording.test, recording.failure], ['adds \u001b[31m a tag', 'no'])
    assert.equal(await command.stop(), 0)
    await using refused = new Command(join(folder, 'command'), 'failed.mikro', '--seed', 'x.json')
    assert.equal((await refused.ended).code, 2)
    assert.match(refused.stderr, /^mikro-rest: --seed does not go with a recording[^\n]*\n$/)
  })
})

const Person = defineEntity({
  name: 'Person',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    password: p.string().hidden(),
    pin: p.integer().hidden(),
    access_token: p.string().unique().nullable(),
    version: p.integer().version(),
    boss: () => p.manyToOne(Person).nullable(),
    friends: () => p.manyToMany(Person),
    tags: p.array().nullable(),
    big: p.bigint('string').nullable(),
    meta: p.json().nullable(),
    fixed: p.string().default('x'),
  },
})
const Rank = defineEntity({
  name: 'Rank',
  properties: { person: () => p.manyToOne(Person).primary(), place: p.string().primary(), points: p.integer() },
})
const people = [
  {
    id: 1,
    name: 'Ann',
    password: 'hush-hush',
    pin: 4711,
    access_token: 'key-of-a-person',
    boss: 2,
    friends: [2, 1],
    tags: ['a', 'b'],
    big: '9007199254740993',
    meta: { a: [1], access_token: 'hidden-in-json' },
  },
  { id: 2, name: TOKEN, password: 'also-secret', pin: 4712, boss: 1 },
]

describeStores('a recording of any database', () => {
  const record = async (engine: RestEngine): Promise<{ path: string; notes: readonly string[] }> => {
    const own = await mkdtemp(join(tmpdir(), 'mikro-rest-recording-spec-'))
    after(() => rm(own, { recursive: true, force: true }))
    return engine.record(join(own, 'failed.mikro'))
  }
  const read = async (engine: RestEngine, target: string): Promise<unknown> => {
    const { timestamp: _, ...body } = (await engine.send(`GET ${target}`)).body as Record<string, unknown>
    return body
  }

  it('has model and journal, and the data before the test, without secrets', async () => {
    await using engine = await createEngine({
      entities: [Tag, Owner, Thing, Person, Rank],
      resources: [resource(Person, { attributes: { fixed: { readOnly: true } } })],
      seed: { ...seed, people, ranks: [{ person: 1, place: 'x~y', points: 3 }] },
    })
    const targets = ['/v1/things?expand=tags', '/v1/people?attributes=!access_token,!meta,!name', '/v1/ranks', '/v1/tags']
    const was = []
    for (const target of targets) was.push(await read(engine, target))
    await engine.send(`DELETE /v1/things/${THING}`)
    await engine.send('PATCH /v1/people/1', { body: { boss: null, tags: [] } })
    const { path, notes } = await record(engine)
    assert.ok(
      notes.every(note => note.startsWith('Code of the application')),
      notes.join(),
    )
    const { engine: opened } = await open(path)
    await using again = opened
    assert.equal(again.requests.length, targets.length + 2)
    for (const [index, target] of targets.entries()) assert.deepEqual(await read(again, target), was[index], target)
    const { people: shown } = (await again.send('GET /v1/people')).body as { people: Record<string, unknown>[] }
    assert.deepEqual(shown[0]!['meta'], { a: [1], access_token: '[secret]' })
    assert.equal((await again.send('PATCH /v1/people/1', { body: { name: 'Eve' } })).status, 200)
    const { facts, data } = await unpack(path)
    for (const secret of ['hush-hush', 'also-secret', 'key-of-a-person', 'hidden-in-json', TOKEN.slice(0, 40)]) {
      // What the model shows is no secret of the journal; in the data the name of a column decides.
      assert.equal(facts.includes(secret) && secret !== 'key-of-a-person', false, secret)
      assert.equal(data.includes(secret), false, secret)
    }
  })

  it('has other values for those that are hidden, of every type', async () => {
    const Size = defineEntity({ name: 'Size', embeddable: true, properties: { width: p.integer().hidden(), height: p.integer() } })
    const size = { width: 1, height: 2 }
    const Kept = defineEntity({
      name: 'Kept',
      properties: {
        id: p.integer().primary(),
        name: p.string(),
        ratio: p.float().hidden().unique(),
        twice: p.double().hidden(),
        price: p.decimal().precision(4).scale(2).hidden().unique(),
        whole: p.decimal('number').precision(3).scale(0).hidden(),
        big: p.bigint().hidden(),
        code: p.string().length(3).hidden().unique(),
        isGood: p.boolean().hidden(),
        day: p.date().hidden().unique(),
        hour: p.time().hidden().unique(),
        since: p.datetime().hidden().unique(),
        key: p.uuid().hidden().unique(),
        bytes: p.blob().hidden(),
        meta: p.json().hidden(),
        tags: p.array().hidden(),
        size: () => p.embedded(Size),
        box: () => p.embedded(Size).hidden(),
        file: () => p.embedded(Size).object().hidden(),
        kind: p.enum(['a', 'b']).hidden(),
        kinds: p.enum(['a', 'b']).array().hidden(),
      },
    })
    const hidden = { twice: 2.5, whole: 7, big: '1', isGood: true, bytes: 'AQID', meta: [1], tags: ['x'], kind: 'b', kinds: ['a'] }
    const kept = Array.from({ length: 12 }, (_, at) => {
      const [second, key] = [String(10 + at), `${THING.slice(0, -2)}${10 + at}`]
      const unique = { name: `n${at}`, ratio: at + 0.5, price: `${at}.25`, code: `x${at}`, key }
      const times = { day: `2026-01-${second}`, hour: `10:00:${second}`, since: `2026-01-01T00:00:${second}.000Z` }
      return { id: at + 1, ...unique, ...times, size, box: size, file: size, ...hidden }
    })
    await using engine = await createEngine({ entities: [Kept], seed: { kepts: kept } })
    const was = await read(engine, '/v1/kepts')
    const { path, notes } = await record(engine)
    assert.deepEqual(notes, [])
    await using again = (await open(path)).engine
    assert.deepEqual(await read(again, '/v1/kepts'), was)
  })

  it('says why it has no data, where they cannot be copied', async () => {
    const rows = Array.from({ length: 50_001 }, (_, index) => ({ id: index + 1, label: `tag ${index}` }))
    await using engine = await createEngine({ entities: [Tag] })
    const em = engine.orm.em.fork()
    for (let at = 0; at < rows.length; at += 5000) await em.insertMany(Tag, rows.slice(at, at + 5000))
    await engine.restore(await engine.snapshot())
    const { path, notes } = await record(engine)
    const { engine: opened, facts } = await open(path)
    await using again = opened
    const { count: found } = (await again.send('GET /v1/tags')).body as { count: number }
    const reason = 'The data are not in the recording. The database has 50,001 rows, and 50,000 are copied at most.'
    assert.deepEqual([found, notes], found === 0 ? [0, [reason]] : [50_001, []])
    assert.deepEqual(facts.notes, notes)
  })
})
