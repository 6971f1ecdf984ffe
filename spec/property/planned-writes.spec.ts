/**
 * Planned writes against the unit of work: two engines have the same model, and get the same requests. In one of them a subscriber does
 * nothing, so that all of its writes go through MikroORM's unit of work; the other one writes by statements where it can. Answers, rows and
 * journals are the same.
 *
 * A long run by hand: `FC_RUNS=2000 node --import tsx --test spec/property/planned-writes.spec.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { UnitsOfWork } from '../../lib/databases/sqlite/units-of-work.ts'
import { check, costly, isTried, runs } from '../helpers/check.ts'
import type { Json, Row } from '../helpers/oracle.ts'
import { build, Random } from './models/build.ts'
import type { Model } from './models/build.ts'
import { pathOf, seedOf, skipUnserved } from './models/laws.ts'
import { ALL, shapeOf } from './models/shape.ts'
import type { ModelShape } from './models/shape.ts'
import { Cars, NEAR_VALUES, ODD_VALUES, carRequests, leaveOdd, oddRows } from './world/cars.ts'
import { Parcels, parcelRequests } from './world/parcels.ts'
import { CLUBS, Clubs, clubRequests, clubSeeds } from './world/clubs.ts'
import { Twins } from './world/twins.ts'
import { countWritten } from './world/ways-of-writing.ts'
import type { Request } from './world/ways-of-writing.ts'

/** How many statements the engine has written rows with, by their first word. */
const written = countWritten(UnitsOfWork.prototype)

/** How many units of work there have been. */
let units = 0
const { write } = UnitsOfWork.prototype
UnitsOfWork.prototype.write = function (work, end) {
  units++
  return write.call(this, work, end) as Promise<never>
}

/** Requests of clubs that statements write. */
const PLANNED: readonly Request[] = [
  { method: 'POST', path: '/v1/clubs', body: { name: 'x', teams: [{ name: 'p' }], tags: ['a'], sponsors: ['b'], ground: { name: 'g' } } },
  { method: 'PATCH', path: '/v1/clubs/1', body: { teams: [1, 2, 3, { name: 'new' }] } },
  { method: 'PUT', path: '/v1/clubs/1/sponsors', body: ['b', 'a'] },
  { method: 'POST', path: '/v1/clubs/1/players', body: { name: 'q', number: 9 } },
  { method: 'POST', path: '/v1/clubs/1/sponsors', body: { id: 's', name: 's' } },
  { method: 'POST', path: '/v1/clubs/2/branches', body: { name: 'y', teams: [{ name: 'z' }] } },
  { method: 'PUT', path: '/v1/clubs/2/ground', body: { name: 'new' } },
  { method: 'PUT', path: '/v1/players/1/club', body: { name: 'newer', version: 2 } },
  { method: 'DELETE', path: '/v1/events/2' },
  { method: 'DELETE', path: '/v1/clubs/1/sponsors' },
  { method: 'DELETE', path: '/v1/clubs/2/events' },
]

/** Requests of parcels that statements write. */
const PLANNED_JSON: readonly Request[] = [
  { method: 'POST', path: '/v1/parcels', body: { path: [], options: {} } },
  { method: 'POST', path: '/v1/parcels', body: { path: [{ lat: 1 }], options: { fast: true }, from: { city: 'a' }, meta: [1] } },
  { method: 'PATCH', path: '/v1/parcels/2', body: { from: { point: { lat: 2 } }, meta: { a: 1 } } },
  { method: 'PUT', path: '/v1/parcels/2/stops', body: [{ city: 'b' }] },
]

/**
 * Whether the unit of work writes what it is asked to: a record of a hierarchy with a custom type for its key it takes for changed when
 * others are written.
 */
function isWellWritten({ entities }: ModelShape): boolean {
  return entities.every(({ key, inheritance }) => inheritance === 'none' || !/^(?:slug|customPair)$/.test(key))
}

/** Values that are wrong for some attribute, or right for some other. */
const ODD: readonly Json[] = [null, 0, -1, 1.5, true, '', 'x', '5', '2024-01-01', [], {}, 'a', 2]

/** A body that is nearly right: some values left out, some replaced. */
function spoil(body: Record<string, Json>, random: Random): Record<string, Json> {
  const names = Object.keys(body)
  const result = { ...body }
  for (const name of random.some(names, 3)) {
    if (random.chance(2)) delete result[name]
    else result[name] = random.pick(ODD)!
  }
  if (random.chance(10)) result['nope'] = 1
  return result
}

function drawRequest(model: Model, random: Random): Request | undefined {
  const nodes = model.nodes.filter(({ key }) => key !== 'view')
  const node = random.pick(nodes)!
  const row = model.draw(node, random)
  if (row === undefined) return undefined
  const whole = model.body(row)
  const kind = random.below(10)
  if (kind < 4) {
    const body = random.chance(3) ? spoil(whole, random) : { ...whole }
    if (node.root.key === 'integer' && random.chance(3)) delete body['id']
    else model.rows.get(node.root)!.push(row)
    for (const [name, value] of Object.entries(body)) if (value === null && random.chance(2)) delete body[name]
    return { method: 'POST', path: `/v1/${node.resource.name}`, body }
  }
  const known = random.chance(8) ? row : random.pick([...model.world[node.resource.name]!])
  if (known === undefined) return undefined
  if (random.chance(5)) return appendRequest(model, known, random)
  // MikroORM counts two changes of a record that loses the one that it links by a one-to-one; the database, which takes the link away,
  // counts none.
  const deletes = !model.nodes.some(({ inverses }) => inverses.some(({ kind: how, of }) => how === 'one' && of.versioned))
  const lists = [...model.inversesOf(model.nodeOf(known)).filter(({ kind }) => kind !== 'one'), ...model.listsOf(model.nodeOf(known))]
  return changeRequest(known, whole, random, deletes ? lists.flatMap(({ name: list }) => (list === '' ? [] : [list])) : undefined)
}

/** A request that posts a new member to a list of a record. */
function appendRequest(model: Model, known: Row, random: Random): Request | undefined {
  const list = random.pick(model.inversesOf(model.nodeOf(known)).filter(({ kind, name }) => kind !== 'one' && name !== ''))
  const row = list === undefined ? undefined : model.draw(list.of, random)
  if (list === undefined || row === undefined) return undefined
  const { [list.by]: _, ...body } = model.body(row)
  return { method: 'POST', path: `${pathOf(known)}/${list.name}`, body: random.chance(4) ? spoil(body, random) : body }
}

/** @param lists whose records may be deleted; undefined where no records may */
function changeRequest(known: Row, whole: Record<string, Json>, random: Random, lists: readonly string[] | undefined): Request {
  const path = pathOf(known)
  if (lists !== undefined && random.chance(4)) {
    const list = random.chance(3) ? random.pick(lists) : undefined
    return { method: 'DELETE', path: list === undefined ? path : `${path}/${list}` }
  }
  const names = random.some(
    Object.keys(whole).filter(name => !known.of.key.includes(name)),
    4,
  )
  const some = Object.fromEntries(names.map(name => [name, whole[name]!]))
  const [name] = names
  if (name !== undefined && random.chance(5)) return { method: 'PUT', path: `${path}/${name}`, body: some[name] }
  const body = random.chance(4) ? spoil(some, random) : some
  if ('version' in known.values && random.chance(3)) body['version'] = random.below(3) + 1
  const headers: Record<string, string> = random.chance(8)
    ? { [random.pick(['if-match', 'if-none-match'])!]: random.pick(['*', '"1"', '"2"'])! }
    : {}
  return { method: random.chance(2) ? 'PUT' : 'PATCH', path, body, headers }
}

/**
 * Makes a file with the tables of the model.
 *
 * @param counts whether SQLite keeps the highest keys; else the engine does
 */
async function createFile(path: string, counts: boolean): Promise<void> {
  await using engine = await RestEngine.create({ entities: new Cars().entities as never })
  const statements = await engine.orm.schema.getCreateSchemaSQL({ wrap: false })
  const db = new Database(path)
  db.exec(counts ? statements : statements.replaceAll(' autoincrement', ''))
  db.close()
}

describe('planned writes', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-planned-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('answer and store as the unit of work, in random models', () =>
    check(
      fc.asyncProperty(shapeOf(ALL).filter(isWellWritten), async shape => {
        const model = build(shape)
        const random = new Random(shape.salt)
        const seed = seedOf(model)
        await using twins = await Twins.of(() => build(shape).entities, seed).catch(skipUnserved)
        await twins.compare()
        for (let count = 0; count < 40; count++) {
          const request = drawRequest(model, random)
          if (request !== undefined) await twins.ask(request)
        }
        await twins.compare()
      }),
      { label: 'random models', runs: costly(15) },
    ))

  it('answer and store as the unit of work, with all that a model can add to a value', async () => {
    await using origin = await Twins.of(() => new Cars().entities)
    await check(
      fc.asyncProperty(fc.array(carRequests, { minLength: 15, maxLength: 40, size: 'max' }), async requests => {
        await using twins = await origin.fork()
        for (const request of requests) await twins.ask(request)
        await twins.compare()
      }),
      { label: 'cars', runs: costly(40) },
    )
  })

  it('answer and store as the unit of work, in files that were there', () =>
    check(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.oneof({ weight: 6, arbitrary: carRequests }, oddRows), { minLength: 15, maxLength: 40, size: 'max' }),
        async (counts, requests) => {
          const files = ['a', 'b'].map(name => join(folder, `${name}${crypto.randomUUID()}.sqlite`))
          for (const file of files) await createFile(file, counts)
          await using twins = await Twins.of(() => new Cars().entities, {}, files)
          for (const request of requests) await (typeof request === 'string' ? twins.spoil(request) : twins.ask(request))
          await twins.compare()
        },
      ),
      { label: 'files', runs: costly(15) },
    ))

  it('take for a change what the unit of work does, where others have left values of another type', async () => {
    const files = ['c', 'd'].map(name => join(folder, `${name}.sqlite`))
    for (const file of files) await createFile(file, true)
    await using twins = await Twins.of(() => new Cars().entities, {}, files)
    for (const id of [1, 2, 5]) await twins.ask({ method: 'POST', path: '/v1/cars', body: { id, plate: `plate ${id}` } })
    for (const [name, values] of Object.entries(NEAR_VALUES)) {
      for (const [row, odd] of ODD_VALUES.entries()) {
        for (const [column, value] of values.entries()) {
          if (!isTried(row, column)) continue
          await twins.spoil(leaveOdd(name, odd, 1))
          await twins.ask({ method: 'PATCH', path: '/v1/cars/1', body: { [name]: value } })
        }
      }
    }
    await twins.compare()
  })

  it('answer and store as the unit of work, in lists and nested bodies', async () => {
    await using origin = await Twins.of(() => new Clubs().entities, CLUBS)
    await check(
      fc.asyncProperty(fc.array(clubRequests, { minLength: 10, maxLength: 30, size: 'max' }), clubSeeds, async (requests, seed) => {
        await using twins = await origin.fork()
        await twins.seed(seed)
        for (const request of requests) await twins.ask(request)
        await twins.compare()
      }),
      { label: 'clubs', runs: costly(40) },
    )
  })

  it('answer and store as the unit of work, in JSON', async () => {
    await using origin = await Twins.of(() => new Parcels().entities)
    await check(
      fc.asyncProperty(fc.array(parcelRequests, { minLength: 15, maxLength: 40, size: 'max' }), async requests => {
        await using twins = await origin.fork()
        for (const request of requests) await twins.ask(request)
        await twins.compare()
      }),
      { label: 'parcels', runs: costly(40) },
    )
  })

  it('make the objects that a new record needs, where MikroORM looks for nothing that is missing', async () => {
    for (const subscribers of [[], [{ afterFlush: () => {} }]]) {
      await using engine = await RestEngine.create({
        entities: new Parcels().entities as never,
        orm: { validateRequired: false, subscribers },
      })
      const { body } = await engine.handle('POST', '/v1/parcels', {}, { path: [] })
      assert.deepEqual((body as { parcel?: { options: unknown } }).parcel?.options, { fast: null, safe: false })
    }
  })

  it('have one row for each new member of an ordered list, from either side, as the unit of work has', async () => {
    await using twins = await Twins.of(() => new Clubs().entities, CLUBS)
    await twins.ask({ method: 'POST', path: '/v1/clubs/1/sponsors', body: { id: 'new', name: 'new' } })
    await twins.ask({ method: 'POST', path: '/v1/tags', body: { id: 'newer', name: 'newer', ranked: [1, 2] } })
    await twins.ask({ method: 'PUT', path: '/v1/tags/d/ranked', body: [3] })
    await twins.compare()
    const rows: unknown[] = await twins.flushed.orm.em.getConnection().execute('select * from club_sponsors')
    assert.equal(rows.length, 4 + 4)
  })

  it('are what the plain requests are, where nobody listens', async () => {
    await using clubs = await RestEngine.create({ entities: new Clubs().entities as never, seed: CLUBS })
    await using parcels = await RestEngine.create({ entities: new Parcels().entities as never })
    for (const [engine, requests] of [
      [clubs, PLANNED],
      [parcels, PLANNED_JSON],
    ] as const) {
      for (const { method, path, body } of requests) {
        const before = units
        const answer = await engine.handle(method, path, {}, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        assert.equal(units, before, `${method} ${path}`)
      }
    }
  })

  it('are what seeds are, where nobody listens', async () => {
    const seed = { tags: [{ id: 'x', name: 'x' }], grounds: [{ name: 'y' }, { name: 'z' }], teams: [{ name: 't', club: 1 }] }
    await using twins = await Twins.of(() => new Clubs().entities, CLUBS)
    const before = written.get('insert') ?? 0
    await twins.seed(seed)
    assert.equal(written.get('insert'), before + 3)
    await twins.seed({
      grounds: [
        { name: 'n', events: [{ club: 1 }, { club: 2 }] },
        { name: 'm', events: [{}] },
      ],
    })
    // Grounds share a statement; an event without a club has other columns.
    assert.equal(written.get('insert'), before + 3 + 3)
    await twins.compare()
  })

  it('are what most of these requests were', () => {
    console.log(`# statements: ${[...written].map(([word, count]) => `${word} ${count}`).join(', ')}`)
    assert.ok((written.get('insert') ?? 0) > runs(costly(40)))
  })
})
