/** `--watch`: a model that is refused leaves the former model served, and is tried again when anything changes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { Command, COMMAND, send } from '../helpers/command.ts'
import { copyNewPglite } from '../helpers/new-pglite.ts'
import { NO_SERVER, WITH_POSTGRES } from '../helpers/stores.ts'
import { ownDatabase } from '../postgres/server-database.ts'

const ORM = import.meta.resolve('@mikro-orm/core')
const PGLITE: string = '@electric-sql/pglite'
const NO_PGLITE = await import(PGLITE).then(
  () => false as const,
  () => 'no PGlite: npm install @electric-sql/pglite',
)

const model = (properties: string, options = ''): string => `import { defineEntity, p } from '${ORM}'
  const Trip = defineEntity({ name: 'Trip', properties: { id: p.integer().primary(), title: p.string(), ${properties} } })
  export default { entities: [Trip] ${options} }`

/** Runs one command in a folder of its own. */
class Watched extends Command {
  readonly folder: string

  constructor(folder: string, ...args: string[]) {
    super(folder, ...args, '--watch', '--port', '0')
    this.folder = folder
  }

  write(text: string, name = 'model.mjs'): void {
    writeFileSync(join(this.folder, name), text)
  }

  async refused(form: RegExp): Promise<string> {
    return this.until(String(form), () => this.stderr.split('\n').find(line => form.test(line)))
  }
}

/**
 * Compiles WebAssembly plainly, in the processes that a watching one starts, too: to optimise PGlite costs each a second of a processor,
 * which so few requests never give back.
 */
class WatchedPglite extends Watched {
  protected static override script = ['--liftoff-only', COMMAND]
}

/** Why a model is refused, as the page of the workbench reads it. */
async function outlined(origin: string): Promise<string | undefined> {
  return ((await (await fetch(`${origin}/_ui/outline.json`)).json()) as { refused?: string }).refused
}

describe('--watch', () => {
  let folder: string
  let count = 0
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-watching-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Makes a folder that holds a model.mjs alone. */
  function makeProject(text: string): string {
    const own = join(folder, String(++count))
    mkdirSync(own)
    writeFileSync(join(own, 'model.mjs'), text)
    return own
  }

  /** @param text of model.mjs */
  function begin(text: string, ...args: string[]): Watched {
    return new Watched(makeProject(text), ...args)
  }

  it('serves the former model while the module has a syntax error, and says why on the page of the workbench and in its events', async () => {
    await using command = begin(model(''), 'app.sqlite', '--config', 'model.mjs')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/trips', { title: 'One' })
    const events = await fetch(`${origin}/_test/events`)
    command.write(`${model('')}\nexport const x = {`)
    const line = await command.refused(/the model of before is served\.$/)
    assert.match(line, /model\.mjs cannot be loaded: .*model\.mjs:4\): the model of before is served\.$/)
    assert.equal((await send(origin, 'GET', '/v1/trips')).body['count'], 1)
    assert.equal(`mikro-rest: ${await outlined(origin)}`, line)
    let heard = ''
    for await (const chunk of events.body!.pipeThrough(new TextDecoderStream()))
      if (/event: refused\n.*\n.*\n/.test((heard += chunk))) break
    assert.match(heard, /event: refused\ndata: \{.*"reason":"[^"]*the model of before is served\."\}/)
    assert.doesNotMatch(command.stdout, /starting again/)
    command.write(model('days: p.integer().nullable()'))
    assert.equal(await command.origin(2), origin)
    assert.equal(await outlined(origin), undefined)
    assert.equal(await command.stop(), 0)
  })

  it('serves the former model while rows stand in the way, and tries again when the API or another program changes them', async () => {
    await using command = begin(model('days: p.integer().nullable()'), 'app.sqlite', '--config', 'model.mjs', '--evolve')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/trips', { title: 'One' })
    await send(origin, 'POST', '/v1/trips', { title: 'Two' })
    command.write(model('days: p.integer()'))
    await command.refused(/trip\.days .* in 2 rows \(id 1, 2\).*: the model of before is served\.$/)
    assert.equal((await send(origin, 'PATCH', '/v1/trips/1', { days: 1 })).status, 200)
    await command.refused(/trip\.days .* in 1 row \(id 2\)/)
    await command.until('the new reason', async () => /in 1 row \(id 2\)/.test((await outlined(origin)) ?? ''))
    const db = new Database(join(command.folder, 'app.sqlite'))
    db.exec('update trip set days = 2')
    db.close()
    await command.origin(2)
    assert.equal((await send(origin, 'POST', '/v1/trips', { title: 'Three' })).status, 422)
    assert.equal(await command.stop(), 0)
  })

  it('sees files in other folders that the module imports, from the first start that fails on', async () => {
    const own = join(folder, 'imports')
    mkdirSync(join(own, 'model', 'entities'), { recursive: true })
    mkdirSync(join(own, 'shared'))
    writeFileSync(join(own, 'model', 'model.mjs'), "export { default } from './entities/trip.mjs'")
    writeFileSync(join(own, 'shared', 'names.json'), '{ "seed": "One" }')
    const trip = (properties: string): string =>
      `import names from '../../shared/names.json' with { type: 'json' }\n${model(properties, ', seed: { trips: [{ title: names.seed }] }')}`
    writeFileSync(join(own, 'model', 'entities', 'trip.mjs'), `${trip('')} {`)
    await using command = new Watched(own, 'model/model.mjs')
    await command.refused(/trip\.mjs/)
    await command.refused(/waiting for a change/)
    command.write(trip(''), 'model/entities/trip.mjs')
    const origin = await command.origin()
    command.write(trip('days: p.integer().default(3)'), 'model/entities/trip.mjs')
    assert.equal(await command.origin(2), origin)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One', days: 3 })
    command.write(`${trip('')} {`, 'model/entities/trip.mjs')
    await command.refused(/trip\.mjs.*: the model of before is served\.$/)
    command.write(trip('days: p.integer().default(3)'), 'model/entities/trip.mjs')
    await command.origin(3)
    command.write('{ "seed": "Two" }', 'shared/names.json')
    await command.until('the other seed', async () =>
      JSON.stringify(await send(origin, 'GET', '/v1/trips/1').catch(() => '')).includes('Two'),
    )
    assert.equal(await command.stop(), 0)
  })

  it("refuses a module with drop: 'all', which would take values with each edit", async () => {
    await using command = begin(model('days: p.integer()'), 'app.sqlite', '--config', 'model.mjs', '--evolve')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/trips', { title: 'One', days: 5 })
    command.write(model('', ", schema: 'evolve', drop: 'all'"))
    await command.refused(/^mikro-rest: drop: 'all' would take .* drop: \['trip\.days'\], .*: the model of before is served\.$/)
    command.write(model('', ", drop: 'all'"))
    await command.refused(/drop/)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One', days: 5 })
    command.write(model('', ", schema: 'evolve', drop: ['trip.days']"))
    await command.origin(2)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One' })
  })

  it('leaves no copy of a try that a further edit has ended', async () => {
    const name = `copied-${process.pid}.sqlite`
    await using command = begin(model('days: p.integer().nullable()'), name, '--config', 'model.mjs', '--evolve')
    const origin = await command.origin()
    const many = Array.from({ length: 500 }, () => ({ title: 'x'.repeat(500) }))
    for (let count = 0; count < 10; count++) await send(origin, 'POST', '/v1/trips', many)
    for (let count = 0; count < 8; count++) {
      command.write(model(`days: p.integer().nullable(), more${count}: p.string().nullable()`))
      await wait(500 + count * 150)
    }
    await command.until('the last model', async () =>
      JSON.stringify(await send(origin, 'GET', '/v1/trips/1').catch(() => '')).includes('more7'),
    )
    assert.equal(await command.stop(), 0)
    const left = readdirSync(tmpdir())
      .filter(each => each.startsWith('mikro-rest-trial-'))
      .filter(each => readdirSync(join(tmpdir(), each)).includes(name))
    assert.deepEqual(left, [])
  })

  it('serves the former model and the data in memory while options are refused or the module ends the process', async () => {
    await using command = begin(model(''), 'model.mjs')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/trips', { title: 'One' })
    command.write(model('', ', limits: { maxLimitt: 5 }'))
    await command.refused(/maxLimitt.*: the model of before is served\.$/)
    command.write('process.exit(3)')
    await command.refused(/ended by itself \(exit code 3\): the model of before is served\.$/)
    assert.equal((await send(origin, 'GET', '/v1/trips')).body['count'], 1)
    command.write(model('days: p.integer().default(2)'))
    await command.origin(2)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One', days: 2 })
  })

  it('tries a file where none is served again when its rows change', async () => {
    const own = join(folder, 'late')
    mkdirSync(own)
    writeFileSync(join(own, 'model.mjs'), model('days: p.integer()'))
    const db = new Database(join(own, 'app.sqlite'))
    db.exec("create table trip (id integer primary key, title text not null, days integer); insert into trip values (1, 'One', null)")
    await using command = new Watched(own, 'app.sqlite', '--config', 'model.mjs', '--evolve')
    await command.refused(/waiting for a change/)
    db.exec('update trip set days = 1')
    db.close()
    assert.equal((await send(await command.origin(), 'GET', '/v1/trips')).body['count'], 1)
  })

  it('says that a broken JSON file is not served until it is as it was saved last', async () => {
    const own = join(folder, 'json')
    mkdirSync(own)
    writeFileSync(join(own, 'db.json'), '{"a":[{"id":1}]}')
    await using command = new Watched(own, 'db.json', '--save')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/a', {})
    const saved = '{"a":[{"id":1},{"id":2}]}'
    await command.until('the save', () => readFileSync(join(own, 'db.json'), 'utf8') === saved)
    command.write('{"a":[{"id":1},{"id":2}', 'db.json')
    await command.refused(/db\.json is not JSON: .*: the data of before is served\.$/)
    // The process that serves hears of the refusal a moment later.
    await command.until('the refusal on the page', async () => (await outlined(origin))?.endsWith('the data of before is served.') === true)
    command.write(saved, 'db.json')
    await command.until('the end of the refusal', async () => (await outlined(origin)) === undefined)
    assert.doesNotMatch(command.stdout, /starting again/)
  })

  it('restarts after no own save, however close one follows another', async () => {
    const own = join(folder, 'saves')
    mkdirSync(own)
    writeFileSync(join(own, 'db.json'), '{"a":[]}')
    await using command = new Watched(own, 'db.json', '--save')
    const origin = await command.origin()
    for (let round = 0; round < 40; round++) {
      await send(origin, 'POST', '/v1/a', { n: round })
      await wait(80 + round)
    }
    await command.until('the saves', () => readFileSync(join(own, 'db.json'), 'utf8').includes('"n":39'))
    await wait(500)
    assert.doesNotMatch(command.stdout, /starting again/)
  })

  it('serves the former model of a PostgreSQL database, which no try changes', { skip: !WITH_POSTGRES || NO_SERVER }, async () => {
    await using own = await ownDatabase()
    await using command = begin(model('days: p.integer().nullable()'), own.database.url, '--config', 'model.mjs', '--evolve')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/trips', { title: 'One' })
    command.write(model('days: p.integer(), place: p.string().nullable()'))
    await command.refused(/trip\.days .*: the model of before is served\.$/)
    command.write(model('days: p.integer().nullable(), place: p.string().nullable()', ', limits: { maxLimitt: 5 }'))
    await command.refused(/maxLimitt.*: the model of before is served\.$/)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One', days: null })
    command.write(model('days: p.integer()'))
    await command.until('the second refusal', () => command.stderr.match(/trip\.days/g)?.length === 2)
    await send(origin, 'PATCH', '/v1/trips/1', { days: 4 })
    await command.origin(2)
    assert.equal((await send(origin, 'POST', '/v1/trips', { title: 'Two' })).status, 422)
  })

  it('serves the former model from a folder of PGlite, of which a try opens a copy', { skip: NO_PGLITE }, async () => {
    const own = makeProject(model('days: p.integer().nullable()'))
    await copyNewPglite(join(own, 'data'))
    await using command = new WatchedPglite(own, 'pglite:data', '--config', 'model.mjs', '--evolve')
    const origin = await command.origin()
    await send(origin, 'POST', '/v1/trips', { title: 'One' })
    command.write(model('days: p.integer(), place: p.string().nullable()'))
    await command.refused(/trip\.days .*: the model of before is served\.$/)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One', days: null })
    await send(origin, 'PATCH', '/v1/trips/1', { days: 4 })
    await command.origin(2)
    assert.deepEqual((await send(origin, 'GET', '/v1/trips/1')).body['trip'], { id: 1, title: 'One', days: 4, place: null })
    assert.equal(await command.stop(), 0)
  })
})
