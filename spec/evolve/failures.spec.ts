/**
 * What stands in the way of evolving a file: others that hold it, rights, a disk that is full. The file stays as it was, and the error says
 * why.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { LIBRARY, ROOT } from '../helpers/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-failures-'))

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), title: p.text(), stars: p.integer() } })

/** A file with some rows. */
function make(name: string, rows = 3, journal = 'delete'): string {
  const path = join(folder, name)
  const db = new Database(path)
  db.pragma(`journal_mode = ${journal}`)
  db.exec(`create table note (id integer primary key, title text not null);
    with n (i) as (values (1) union all select i + 1 from n where i < ${rows}) insert into note select i, 'title ' || i from n;`)
  db.close()
  return path
}

const evolve = async (database: string): Promise<void> =>
  (await RestEngine.create({ entities: [Note], database, schema: 'evolve', fill: { notes: { stars: 1 } } })).close()

/** The file is byte for byte as it was, and nothing is left beside it. */
async function assertUnharmed(path: string, run: () => Promise<unknown>, said: RegExp): Promise<void> {
  const before = readFileSync(path)
  await assert.rejects(run(), ({ message }: Error) => said.test(message) && !message.includes('\n'))
  assert.ok(readFileSync(path).equals(before))
  const stem = path.slice(folder.length + 1, -'.sqlite'.length)
  assert.deepEqual(
    readdirSync(folder).filter(name => name.startsWith(`${stem}.before`)),
    [],
  )
}

describe('a file that cannot be evolved now', () => {
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is held by another process that writes', { timeout: 60_000 }, async () => {
    const path = make('held.sqlite')
    const other = new Database(path)
    other.exec('begin immediate')
    await assertUnharmed(path, () => evolve(path), /^.*held\.sqlite is locked by another process\.$/)
    other.exec('rollback')
    other.close()
    await evolve(path)
  })

  it('is read by another one, which goes on reading with a write-ahead log', async () => {
    const path = make('read.sqlite', 3, 'wal')
    const other = new Database(path)
    other.exec('begin')
    assert.equal(other.prepare('select count(*) from note').pluck().get(), 3)
    await evolve(path)
    assert.deepEqual(other.prepare('select * from note where id = 1').get(), { id: 1, title: 'title 1' })
    other.exec('commit')
    assert.deepEqual(other.prepare('select * from note where id = 1').get(), { id: 1, title: 'title 1', stars: 1 })
    other.close()
  })

  it('is read-only', { skip: process.getuid?.() === 0 ? 'the superuser may write everything' : false }, async () => {
    const path = make('bare.sqlite')
    chmodSync(path, 0o400)
    await assertUnharmed(path, () => evolve(path), /bare\.sqlite is read-only/)
  })

  it('has no room beside it', { skip: process.platform === 'win32' ? 'needs a POSIX shell' : false, timeout: 120_000 }, () => {
    const path = make('full.sqlite', 5000)
    const before = readFileSync(path)
    const script = join(folder, 'evolve.mts')
    const core = import.meta.resolve('@mikro-orm/core')
    const { stdout } = spawnSync('sh', ['-c', `cat > ${script}`], {
      encoding: 'utf8',
      input: `import { defineEntity, p } from '${core}'
        import { RestEngine } from '${LIBRARY}'
        const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), title: p.text(), stars: p.integer() } })
        await RestEngine.create({ entities: [Note], database: ${JSON.stringify(path)}, schema: 'evolve', fill: { notes: { stars: 1 } } }).catch(error => console.log(error.message))`,
    })
    assert.equal(stdout, '')
    // Files of this process may have so many blocks, of 512 or 1024 bytes: as a disk that is full.
    for (const blocks of [40, 180]) {
      const { stdout: said } = spawnSync('sh', ['-c', `ulimit -f ${blocks}; exec "${process.execPath}" "${script}"`], {
        encoding: 'utf8',
        cwd: ROOT,
      })
      assert.match(said, /full\.sqlite cannot be (?:written|read or written|copied)/)
      assert.ok(readFileSync(path).equals(before))
      const db = new Database(path)
      assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
      assert.equal(db.prepare('select count(*) from note').pluck().get(), 5000)
      db.close()
    }
    assert.deepEqual(
      readdirSync(folder).filter(name => name.endsWith('.part')),
      [],
    )
  })
})

describe('what is not asked for', () => {
  it('loads nothing of evolving: the library, and the start of an engine', () => {
    const script = `import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const { defineEntity, p } = await import('@mikro-orm/core')
      const { RestEngine } = await import('${LIBRARY}')
      const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary() } })
      await (await RestEngine.create({ entities: [Note] })).close()
      console.log(JSON.stringify(loaded.map(url => url.split('/').at(-1)).filter(name => /^(?:evolve-(?:file|tables|database)|create-text|rehearse|kept-data)/.test(name))))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    })
    assert.equal(stdout, '[]\n', stderr)
  })
})
