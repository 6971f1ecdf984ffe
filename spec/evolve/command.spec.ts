/** `--evolve`, `--rename`, `--drop`, `--fresh` and `diff` of the command. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { formatPlan, planEvolution } from '../../lib/doors/cli/evolve.ts'
import { parseArguments } from '../../lib/doors/cli/arguments.ts'
import { defineEntity, p } from '@mikro-orm/core'
import { Command, runAll } from '../helpers/command.ts'
import type { Ended } from '../helpers/command.ts'

const ORM = import.meta.resolve('@mikro-orm/core')

describe('the command that evolves', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-evolve-'))
    const model = (properties: string, more = ''): string => `import { defineEntity, p } from '${ORM}'
      const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), ${properties} } })
      export default { entities: [Note]${more} }`
    writeFileSync(join(folder, 'one.mjs'), model('title: p.string()', ", seed: { notes: [{ title: 'Seeded' }] }"))
    writeFileSync(join(folder, 'two.mjs'), model('headline: p.string(), stars: p.integer().default(0)'))
    writeFileSync(join(folder, 'bare.mjs'), model('stars: p.integer().default(0)'))
    writeFileSync(join(folder, 'broken.mjs'), model('title: p.string()', ', seed: { notes: [{ title: 5 }] }'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function make(name: string): string {
    const path = join(folder, name)
    const db = new Database(path)
    db.exec(
      'create table note (id integer primary key, title text not null); ' +
        "insert into note values (1, 'One'); create table other (x); insert into other values (7)",
    )
    db.close()
    return path
  }

  const rows = (path: string, sql: string): unknown[] => {
    const db = new Database(path, { readonly: true })
    try {
      return db.prepare(sql).all()
    } finally {
      db.close()
    }
  }

  it('prints the plan alone by diff, and ends with 1 where there is one', () => {
    const path = make('diff.sqlite')
    const bytes = readFileSync(path)
    const [fits, differs, unsure, drops, missing, same, kept, named, filled, refused] = runAll(folder, [
      ['diff', 'one.mjs', 'diff.sqlite'],
      ['diff', 'two.mjs', 'diff.sqlite', '--rename', 'notes.title=headline'],
      ['diff', 'two.mjs', 'diff.sqlite'],
      ['diff', 'bare.mjs', 'diff.sqlite', '--drop=all'],
      ['diff', 'one.mjs', 'nowhere.sqlite'],
      ['diff.sqlite', '--config', 'two.mjs', '--evolve', '--rename', 'Note.title=headline', '--get', '/v1/notes/1/headline'],
      ['diff', 'bare.mjs', 'diff.sqlite', '--drop'],
      ['diff', 'bare.mjs', 'diff.sqlite', '--drop=note.title,other'],
      ['diff', 'two.mjs', 'diff.sqlite', '--fill', 'notes.headline=New', '--drop=all'],
      ['diff', 'two.mjs', 'diff.sqlite', '--fill', 'notes.stars=many', '--fill', 'notes.headline=New'],
    ]) as [Ended, Ended, Ended, Ended, Ended, Ended, Ended, Ended, Ended, Ended]
    assert.deepEqual(
      [fits.code, fits.stdout],
      [0, 'diff.sqlite fits the model.\nWhat stays:\n  other: no entity of the model, 1 row. The table stays as it is.\n'],
    )
    assert.equal(differs.code, 1)
    assert.match(
      differs.stdout,
      /^diff\.sqlite becomes what the model says:\n {2}note\.title: the column becomes "headline", with its values\.\n {4}alter table "note" rename column "title" to "headline"\n/,
    )
    assert.match(differs.stdout, /The column "note"\."stars" is added\.\n {4}alter table/)
    assert.deepEqual([unsure.code, unsure.stdout], [1, ''])
    assert.match(unsure.stderr, /^mikro-rest: diff\.sqlite cannot be evolved.*--rename note\.title=headline/)
    assert.match(drops.stdout, /note\.title: the column is dropped, with its values\./)
    assert.match(drops.stdout, /other: the table is dropped, with 1 row\./)
    assert.deepEqual([missing.code, missing.stderr], [1, 'mikro-rest: nowhere.sqlite does not exist: there must be a file to read.\n'])
    assert.equal(same.code, 0, same.stderr)
    assert.equal(JSON.parse(same.stdout).value, 'One')
    assert.deepEqual([kept.code, kept.stdout], [1, ''])
    assert.match(kept.stderr, /"note\.title" has a value in 1 row, "other" has 1 row, .*\(--drop=note\.title,other\), or .*--drop=all/)
    assert.equal(named.stdout, drops.stdout)
    assert.match(filled.stdout, /note\.headline: 1 row gets "New"\./)
    assert.match(refused.stderr, /"fill\.notes\.stars" must be an integer, got "many"/)
    assert.ok(readFileSync(path).equals(bytes))
    assert.deepEqual(
      readdirSync(folder).filter(name => name.startsWith('diff')),
      ['diff.sqlite'],
    )
  })

  it('shows the plan, evolves and serves; the notes name the copy', async () => {
    const path = make('served.sqlite')
    await using command = new Command(
      folder,
      'served.sqlite',
      '--config',
      'two.mjs',
      '--evolve',
      '--rename',
      'note.title=headline',
      '--port',
      '0',
    )
    const origin = await command.origin()
    assert.match(command.stdout, /^served\.sqlite becomes what the model says:/)
    assert.match(command.stdout, /Note: The file as it was before it evolved: served\.sqlite\.copies\/served\.before-\d{8}-\d{6}\.sqlite/)
    const body = (await (await fetch(`${origin}/v1/notes/1`)).json()) as { note: unknown }
    assert.deepEqual(body.note, { id: 1, headline: 'One', stars: 0 })
    const [copy] = readdirSync(`${path}.copies`)
    assert.deepEqual(rows(join(`${path}.copies`, copy!), 'select * from note'), [{ id: 1, title: 'One' }])
    assert.deepEqual(rows(path, 'select x from other'), [{ x: 7 }])
  })

  it('makes the tables of the model anew by --fresh, seeds them, and leaves others', async () => {
    const path = make('fresh.sqlite')
    {
      await using command = new Command(folder, 'fresh.sqlite', '--config', 'broken.mjs', '--fresh', '--port', '0')
      assert.equal((await command.ended).code, 1)
      assert.deepEqual(rows(path, 'select title from note'), [{ title: 'One' }])
    }
    const db = new Database(path)
    db.exec('drop table other; create table other (x)')
    db.close()
    writeFileSync(
      join(folder, 'fresh.mjs'),
      readFileSync(join(folder, 'one.mjs'), 'utf8').replace('export default {', `export default { database: ${JSON.stringify(path)},`),
    )
    await using command = new Command(folder, 'fresh.mjs', '--fresh', '--port', '0')
    await command.origin()
    assert.match(command.stdout, /^note: the table is made anew; 1 row went with the old one\.\n/)
    assert.deepEqual(rows(path, 'select title from note'), [{ title: 'Seeded' }])
    assert.deepEqual(rows(path, "select name from sqlite_schema where name = 'other'"), [{ name: 'other' }])
  })

  it('asks about new names, and takes those that are confirmed', async () => {
    const path = make('asked.sqlite')
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), headline: p.string() } })
    const options = { entities: [Note], database: path }
    const asked: unknown[] = []
    const { plan, options: confirmed } = await planEvolution(options, async rename => asked.push(rename) > 0)
    assert.deepEqual(asked, [{ resource: 'note', from: 'title', to: 'headline' }])
    assert.deepEqual(confirmed.renamed, { note: { title: 'headline' } })
    assert.match(formatPlan(plan, path, 'model.ts'), /the column becomes "headline"/)
    await assert.rejects(
      planEvolution(options, async () => false),
      /may be "title" by a new name/,
    )
    await assert.rejects(planEvolution(options, undefined), /may be "title" by a new name/)
  })

  it('refuses options that do not go together', () => {
    const refused: readonly (readonly [line: string, said: RegExp])[] = [
      ['--rename note.a=b', /--rename goes with --evolve and diff/],
      ['--fill note.a=b', /--fill goes with --evolve and diff/],
      [
        'app.sqlite --evolve --fill note=1',
        /--fill takes a resource, its property and the value that rows get: trip\.days=1, or made-up, got "note=1"/,
      ],
      ['app.sqlite --evolve --drop --watch', /--drop drops columns and tables once: it does not go with --watch/],
      ['app.sqlite --evolve --drop=note.a --watch', /--drop drops columns and tables once: it does not go with --watch/],
      ['--drop', /--drop goes with --evolve and diff/],
      ['app.sqlite --evolve --read-only', /--evolve changes the tables: it does not go with --read-only/],
      [
        'app.sqlite --evolve --rename a',
        /--rename takes an old name and the new one, note\.title=headline of a property, trip=journey of an entity/,
      ],
      ['app.sqlite --evolve --fresh', /--fresh drops the rows that --evolve keeps/],
      ['app.sqlite --fresh --get /v1', /--fresh drops rows, and serves: it does not go with --get/],
      ['diff', /diff compares a model with a file/],
      ['diff a.ts b.sqlite c', /diff compares a model with a file/],
      ['diff a.ts b.sqlite --watch', /diff prints a plan and ends: it does not go with --watch/],
      ['diff a.ts b.sqlite --evolve', /choose one of them/],
    ]
    for (const [line, said] of refused) assert.throws(() => parseArguments(line.split(' ')), said, line)
  })

  it('says what is missing', () => {
    const path = make('alone.sqlite')
    const [memory, alone, fresh] = runAll(folder, [
      ['two.mjs', '--evolve'],
      [path, '--evolve'],
      ['two.mjs', '--fresh'],
    ]) as [Ended, Ended, Ended]
    assert.match(memory.stderr, /--evolve is about a database that stays, and the model is served from memory/)
    assert.match(alone.stderr, /--evolve needs the model beside the database: name its module with --config/)
    assert.match(fresh.stderr, /--fresh is about a database that stays/)
    assert.deepEqual([memory.code, alone.code, fresh.code], [2, 2, 2])
  })
})
