/**
 * Random models: a few entities with random kinds of attributes, keys, relations and classes, and random rows. Whatever the model, the API
 * agrees with plain JavaScript (spec/helpers/oracle.ts), which knows nothing of lib/, on what is read, found, ordered and shown, and on
 * what is written.
 *
 * A long run by hand: `FC_SEED=7 FC_RUNS=2000 node --import tsx --test spec/property/random-models.spec.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import * as fc from 'fast-check'
import { createServer, RestEngine } from '../../lib/index.ts'
import { check, costly, runs, sample } from '../helpers/check.ts'
import { Command, send } from '../helpers/command.ts'
import { lowThresholds } from '../helpers/low-thresholds.ts'
import { idOf, keyParts, ordered } from '../helpers/oracle.ts'
import type { Json, Row } from '../helpers/oracle.ts'
import { describeStores } from '../helpers/stores.ts'
import { build, Random, type Model, type Node } from './models/build.ts'
import { bodyOf, KIND_NAMES, kindOf } from './models/kinds.ts'
import { Asking, pathOf, reads, same, shows } from './models/laws.ts'
import { ALL, featuresOf, KEYS, shapeOf, type Allowed } from './models/shape.ts'
import { allows, writes } from './models/writes.ts'

/** What `--eject` can write as code. */
const EJECTABLE: Allowed = {
  kinds: KIND_NAMES.filter(name => kindOf(name).ejects === true),
  keys: ['integer', 'string', 'bigint', 'date', 'pair'],
  lists: ['plain', 'fixed'],
  ones: ['plain', 'unique'],
  extras: ['version', 'defaulted'],
  inheritance: ['none'],
}

describeStores('random models', store => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-models-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('have everything that a model can have, together', () => {
    const shapes = fc.sample(shapeOf(ALL), { seed: 1, numRuns: 100 })
    const counts = new Map<string, number>()
    for (const shape of shapes) for (const feature of featuresOf(shape)) counts.set(feature, (counts.get(feature) ?? 0) + 1)
    console.log(`# of 100 models: ${[...counts].map(([feature, count]) => `${feature} ${count}`).join(', ')}`)
    const wanted = [
      ...KIND_NAMES,
      ...KEYS.map(key => `key ${key}`),
      ...ALL.ones.map(how => `to-one ${how}`),
      ...ALL.lists.map(how => `list ${how}`),
      ...ALL.extras,
      'sti',
      'tpt',
      'sti of three classes in a line',
      'tpt of three classes in a line',
      'foreign keys that share a column',
      'to-one required',
      'to-one with its other side',
      'list with its other side',
    ]
    for (const feature of wanted) assert.ok((counts.get(feature) ?? 0) >= 10, `${feature}: ${counts.get(feature) ?? 0} of 100`)
    const sizes = shapes.map(shape => featuresOf(shape).size).toSorted((a, b) => a - b)
    assert.ok(sizes[50]! >= 30, `half of the models have ${sizes[50]} features or fewer`)
  })

  it('are read and written as plain JavaScript reads and writes them', () =>
    check(
      fc.asyncProperty(shapeOf(ALL), async shape => {
        const model = build(shape, store.name)
        const random = new Random(shape.salt)
        const path = random.chance(3) ? join(folder, `${crypto.randomUUID()}.sqlite`) : undefined
        {
          // Half of them take the ways of large tables and long requests.
          using _ = shape.salt % 2 === 0 ? lowThresholds() : undefined
          await using asking = await Asking.of(model, path)
          await reads(asking, shape.salt, 6)
          await allows(asking)
          await writes(asking, random, 6)
          await shows(asking)
          if (random.chance(4)) await overHttp(asking)
        }
        if (path !== undefined) await introspected(model, path)
      }),
      // The same models each time: not all is known that MikroORM mistakes in models so odd, and only a long run by another seed looks for
      // more.
      { label: 'random models', runs: costly(12), usualSeed: 10 },
    ))

  // The project that is written serves SQLite.
  it('are the same when they have been ejected', store.except('SQL'), async () => {
    // Each needs two processes.
    for (let count = 0; count < Math.ceil(runs(12) / 100); count++) await ejected(count)
  })

  async function ejected(count: number): Promise<void> {
    const shape = sample(shapeOf(EJECTABLE), count)
    const [file, project] = [`model${count}.mts`, `project${count}`]
    const source = new URL('models/build.ts', import.meta.url).href
    const seed = new URL('models/laws.ts', import.meta.url).href
    await writeFile(
      join(folder, file),
      `import { build } from '${source}'\nimport { seedOf } from '${seed}'\n` +
        `const model = build(${JSON.stringify(shape)})\nexport default { entities: model.entities, seed: seedOf(model) }\n`,
    )
    {
      await using command = new Command(folder, file, '--eject', project)
      const { code } = await command.ended
      assert.equal(code, 0, `${command.stderr} ${JSON.stringify(shape)}`)
    }
    const model = build(shape)
    await using asking = await Asking.of(model)
    await using server = new Command(folder, project, '--port', '0')
    const origin = await server.origin()
    for (const node of model.nodes) {
      for (const path of [
        `/v1/${node.resource.name}?depth=2`,
        `/v1/${node.resource.name}?${Object.keys(node.resource.attributes).at(-1)}=null`,
      ]) {
        const [left, right] = [await asking.send('GET', path), await send(origin, 'GET', path)]
        same({ ...right.body, timestamp: '' }, { ...left.body, timestamp: '' }, `${path} ${JSON.stringify(shape)}`)
      }
      const [left, right] = [
        await asking.send('POST', `/v1/${node.resource.name}`, {}, { nope: 1 }),
        await send(origin, 'POST', `/v1/${node.resource.name}`, { nope: 1 }),
      ]
      same({ ...right.body, timestamp: '' }, { ...left.body, timestamp: '' }, `POST ${node.resource.name} ${JSON.stringify(shape)}`)
    }
  }
})

/** The same answers through a server. */
async function overHttp(asking: Asking): Promise<void> {
  const server = createServer(asking.engine)
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve)
  })
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const node of asking.model.nodes) {
      const [row] = asking.model.world[node.resource.name]!
      const isVirtual = node.resource.name.endsWith('_sums')
      const paths = [
        `/v1/${node.resource.name}?depth=2${isVirtual ? '&sort=key' : ''}`,
        ...(row === undefined || isVirtual ? [] : [pathOf(row, node)]),
      ]
      for (const path of paths) {
        const [left, right] = [await asking.send('GET', path), await send(origin, 'GET', path)]
        same({ ...right.body, timestamp: '' }, { ...left.body, timestamp: '' }, path)
      }
    }
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => {
      server.close(resolve)
    })
  }
}

/** Of the same file without any code: what survives it, under the names that the columns have. */
async function introspected(model: Model, path: string): Promise<void> {
  const causes: unknown[] = []
  await using engine = await RestEngine.create({ database: path, onError: error => causes.push(error) })
  // A file knows tables, and no classes.
  const isKept = (node: Node): boolean =>
    ['integer', 'string', 'uuid', 'date'].includes(node.key) && node.parent === undefined && model.classesOf(node).length === 1
  for (const node of model.nodes.filter(isKept)) {
    const { status, body } = await engine.handle('GET', `/v1/${node.resource.name}`, { limit: 1000 })
    assert.equal(status, 200, `${node.resource.name} ${JSON.stringify(body)} ${causes.join()}`)
    const records = (body as Record<string, Record<string, Json>[]>)[node.resource.name]!
    const rows = ordered(model.world[node.resource.name]!)
    assert.equal(records.length, rows.length)
    for (const { name, kind } of node.fields) {
      const { inFile, shownAs } = kindOf(kind)
      if (inFile === undefined || shownAs !== undefined) continue
      same(
        records.map(record => record[name]),
        rows.map(row => inFile(bodyOf(row.of.attributes[name]!, row.values[name]!))),
        `${node.resource.name}.${name} of the file`,
      )
    }
    for (const { name, target } of node.ones) {
      // Its column is called after the key of what it links, and loses an "id" only.
      if (target.root.key !== 'integer') continue
      same(
        records.map(record => record[name]),
        rows.map(row => (row.values[name] === null ? null : idOf(row.values[name] as Row))),
        `${node.resource.name}.${name} of the file`,
      )
    }
    for (const row of rows) {
      if (keyParts(row).length > 1) continue
      assert.equal((await engine.handle('GET', pathOf(row))).status, 200, pathOf(row))
    }
  }
}
