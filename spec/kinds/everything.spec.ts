/**
 * One model with everything that a model can have, all together: served, listed at each depth, beside SQL for the same, made up, copied,
 * and ejected.
 */
import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'
import { Command, send } from '../helpers/command.ts'
import { ordered, toJson } from '../helpers/oracle.ts'
import { build } from '../property/models/build.ts'
import { bodyOf, KIND_NAMES, kindOf } from '../property/models/kinds.ts'
import { Asking, reads, same, shows } from '../property/models/laws.ts'
import { featuresOf, type EntityShape, type ModelShape } from '../property/models/shape.ts'
import { agree } from '../property/models/writes.ts'

const SOME = { ones: [], lists: [], extras: [], inheritance: 'none', classes: [], attributes: [], rows: 4 } as const
const attribute = (kind: (typeof KIND_NAMES)[number]) => ({ kind, nullable: true })
const [firstHalf, secondHalf] = [KIND_NAMES.slice(0, 20), KIND_NAMES.slice(20)]

/** Every kind of attribute in one entity, every key, every relation. */
const EVERYTHING: ModelShape = {
  entities: [
    {
      ...SOME,
      key: 'integer',
      attributes: KIND_NAMES.map(attribute),
      extras: ['version', 'generated', 'hidden', 'defaulted', 'view', 'virtual'],
      ones: [
        { to: 0, how: 'plain', nullable: true, inverse: true },
        { to: 4, how: 'unique', nullable: true, inverse: true },
      ],
      lists: [
        { to: 4, how: 'fixed', inverse: false },
        { to: 5, how: 'pivot', inverse: true },
      ],
    },
    {
      ...SOME,
      key: 'uuid',
      attributes: firstHalf.slice(0, 4).map(attribute),
      inheritance: 'sti',
      classes: [
        {
          attributes: firstHalf.filter(kind => kind !== 'aka').map(attribute),
          one: { to: 0, how: 'plain', nullable: false, inverse: true },
          deeper: false,
        },
        { attributes: secondHalf.map(attribute), one: { to: 6, how: 'mapToPk', nullable: true, inverse: true }, deeper: true },
      ],
      lists: [{ to: 1, how: 'plain', inverse: true }],
    },
    {
      ...SOME,
      key: 'bigint',
      attributes: secondHalf.slice(0, 4).map(attribute),
      inheritance: 'tpt',
      classes: [
        {
          attributes: firstHalf.filter(kind => kind !== 'aka').map(attribute),
          one: { to: 0, how: 'mapToPk', nullable: false, inverse: true },
          deeper: false,
        },
        { attributes: secondHalf.map(attribute), one: null, deeper: true },
      ],
      ones: [{ to: 2, how: 'plain', nullable: true, inverse: true }],
    },
    ...(['owner', 'pair', 'ownerAndNumber', 'slug'] as const).map((key): EntityShape => ({
      ...SOME,
      key,
      attributes: [attribute('string'), { kind: 'place', nullable: false }],
      ones: [{ to: 0, how: 'mapToPk', nullable: false, inverse: true }],
      lists: [{ to: 0, how: 'plain', inverse: true }],
    })),
  ].slice(0, 6) as EntityShape[],
  tenants: true,
  salt: 20260131,
}

describe('a model with everything', () => {
  // One model, one engine in memory and one file for all tests: each test leaves them as they were.
  const model = build(EVERYTHING)
  let folder: string
  let asking: Asking
  let file: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-everything-'))
    file = join(folder, 'file.sqlite')
    asking = await Asking.of(model)
    await (await Asking.of(model, file))[Symbol.asyncDispose]()
  })
  after(async () => {
    await asking?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('has everything', () => {
    const features = featuresOf(EVERYTHING)
    for (const kind of KIND_NAMES) assert.ok(features.has(kind), kind)
    assert.ok(features.size > KIND_NAMES.length + 20, [...features].join())
  })

  it('is served as plain JavaScript has it', () => reads(asking, 1, 12))

  it('holds what SQL finds', () => {
    const db = new Database(file, { readonly: true })
    for (const node of model.nodes) {
      if (node.key === 'view') continue
      const own = model.world[node.resource.name]!
      const inTable = node.root.resource.attributes['kind'] === undefined || node === node.root
      if (inTable) assert.equal((db.prepare(`select count(*) as n from "${node.table}"`).get() as { n: number }).n, own.length, node.table)
    }
    const [alpha] = model.nodes
    const stored = db.prepare('select * from alpha order by id').all() as Record<string, unknown>[]
    for (const { name, kind } of alpha!.fields.filter(
      ({ kind }) => kindOf(kind).inFile !== undefined && !['bigint', 'blob', 'bytes'].includes(kind),
    )) {
      const column = name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
      same(
        stored.map(row => row[column]),
        ordered(model.world['alphas']!).map(row => bodyOf(row.of.attributes[name]!, row.values[name]!)),
        `${name} (${kind})`,
      )
    }
    db.close()
  })

  it('is made up, by `given`, for every resource', async () => {
    await using engine = await RestEngine.create({ entities: model.entities as never })
    for (const { resource, readOnly } of model.nodes) {
      if (readOnly) continue
      const record = await engine.given(resource.singular, {}, { seed: 3 })
      assert.ok(Object.keys(record).length > 0)
      const { status, body } = await engine.handle('GET', `/v1/${resource.name}`)
      assert.equal(status, 200)
      assert.ok((body as { count: number }).count > 0, resource.name)
    }
  })

  it('is forked, and set back', async () => {
    const snapshot = await asking.engine.snapshot()
    {
      await using fork = new Asking(model, await asking.engine.fork(), [])
      await agree(fork, 'a fork')
      assert.equal((await fork.send('PUT', '/v1/tenants/99', {}, {})).status, 404)
      for (const table of ['desks', 'rooms', 'tenants']) {
        for (const row of model.world[table]!) {
          const id = row.of.key
            .map(name =>
              name === 'tenant'
                ? Object(row.values[name]).values.id
                : toJson({ kind: 'plain', type: 'integer', nullable: false }, row.values[name] as number),
            )
            .join('~')
          assert.equal((await fork.send('DELETE', `/v1/${table}/${id}`)).status, 200)
        }
      }
    }
    await agree(asking, 'what a fork has deleted')
    await asking.send('POST', '/v1/tenants', {}, { id: 99 })
    await asking.engine.restore(snapshot)
    await agree(asking, 'restoring')
    await asking.send('POST', '/v1/tenants', {}, { id: 99 })
    await asking.engine.reset()
    await shows(asking)
  })

  it('is ejected from its file', async () => {
    await copyFile(file, join(folder, 'same.sqlite'))
    await using command = new Command(folder, 'file.sqlite', '--eject', 'project')
    const { code } = await command.ended
    assert.equal(code, 0, command.stderr)
    await using engine = await RestEngine.create({ database: join(folder, 'same.sqlite') })
    await using server = new Command(folder, 'project', '--port', '0')
    const origin = await server.origin()
    for (const { plural } of internalsOf(engine).model.resources) {
      for (const depth of [0, 1, 2]) {
        const asked = `/v1/${plural}?depth=${depth}`
        const [left, right] = [await engine.handle('GET', asked), await send(origin, 'GET', asked)]
        assert.equal(left.status, 200, asked)
        same({ ...right.body, timestamp: '' }, { ...(left.body as object), timestamp: '' }, asked)
      }
    }
  })
})
