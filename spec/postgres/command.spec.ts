/** The command on a PostgreSQL database. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { COMMAND, runAll } from '../helpers/command.ts'
import { SERVER_URL, findNoServer, ownDatabase } from './server-database.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), title: p.string() } })

describe('mikro-rest postgres://...', { skip: await findNoServer() }, () => {
  it('answers from the tables that are there, with a model and as it is', async () => {
    const name = `mikro_rest_command_${process.pid}`
    const url = SERVER_URL.replace(/[^/]*$/, name)
    const client = new Client({ connectionString: SERVER_URL })
    await client.connect()
    await client.query(`create database ${name}`)
    const folder = await mkdtemp(join(root, 'node_modules', '.mikro-rest-'))
    try {
      const engine = await RestEngine.create({ entities: [Book], database: url, seed: { books: [{ title: 'x' }] } })
      await engine.close()
      const module = join(folder, 'model.mjs')
      await writeFile(
        module,
        "import { defineEntity, p } from '@mikro-orm/core'\n" +
          "export const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), title: p.string() } })\n",
      )
      const [described, bare] = runAll(root, [
        [url, '--config', module, '--get', '/v1/books'],
        [`${url}?schema=public`, '--get', '/v1/books'],
      ])
      for (const each of [described!, bare!]) {
        assert.equal(each.code, 0, each.stderr)
        assert.deepEqual((JSON.parse(each.stdout) as { books: unknown[] }).books, [{ id: 1, title: 'x' }])
      }
      // Its fork is a database of its own, which is dropped before the process ends.
      const tested = spawnSync(process.execPath, [COMMAND, url, '--config', module, '--self-test', '--runs', '1'], {
        cwd: root,
        encoding: 'utf8',
      })
      assert.equal(tested.status, 0, tested.stdout + tested.stderr)
      assert.match(tested.stdout, /^Nothing failed: /m)
      const { rows } = await client.query<{ datname: string }>(
        `select datname from pg_database where shobj_description(oid, 'pg_database') like 'A copy of "${name}"%'`,
      )
      assert.deepEqual(rows, [])
    } finally {
      await rm(folder, { recursive: true })
      await client.query(`drop database ${name}`)
      await client.end()
    }
  })

  it('says how a database of others is tried, whose data cannot be copied', async () => {
    await using own = await ownDatabase()
    await own.run("create table person (id integer primary key, name text not null); insert into person values (1, 'Ann')")
    const { url } = own.database
    const folder = await mkdtemp(join(root, 'node_modules', '.mikro-rest-'))
    try {
      const project = join(folder, 'project')
      const [refused, ejected, again] = runAll(root, [
        [url, '--self-test'],
        [url, '--eject', project],
        [project, '--self-test'],
      ])
      assert.equal(refused!.code, 1)
      assert.match(refused!.stderr, /^mikro-rest: --self-test tries a copy of the data, which is not possible for this [^\n]*\n$/)
      const [, eject = '', test = ''] = /: npx mikro-rest '(.+) --eject DIR, then npx mikro-rest (.+)\n$/.exec(refused!.stderr) ?? []
      assert.deepEqual([eject, test], [`${url}'`, 'pglite: --config DIR --self-test'])
      // The way is gone as it is said.
      assert.equal(ejected!.code, 0)
      assert.ok(again!.stderr.endsWith(`: npx mikro-rest pglite: --config ${project} --self-test\n`), again!.stderr)
      // V8 compiles the WebAssembly plainly, which is quicker for so few requests.
      const args = ['--liftoff-only', COMMAND, 'pglite:', '--config', project, '--self-test', '--runs', '1']
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
      // The project keeps the tables of its own database as they are, and PGlite has none before.
      if (!stderr.includes('npm install @electric-sql/pglite')) {
        assert.equal(status, 0, stderr)
        assert.match(stdout, /^Nothing failed: /m)
      }
      assert.deepEqual(await own.run('select count(*)::int as count from person'), [{ count: 1 }])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
