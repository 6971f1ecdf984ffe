/** Databases and schemas of the specs: those of a process that was killed are dropped, and no others. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { Client } from 'pg'
import { dropLeft, findNoServer, newName, SERVER_URL } from './server-database.ts'

it('what a killed process has left is dropped', { skip: await findNoServer() }, async () => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const [own, left] = [newName(), newName().replace(`_${process.pid}_`, `_${pid}_`)]
  const client = new Client({ connectionString: SERVER_URL })
  await client.connect()
  try {
    for (const name of [own, left]) await client.query(`create schema ${name}`)
    await client.query(`create database ${left}`)
    await dropLeft()
    const found = await client.query('select nspname as name from pg_namespace union all select datname from pg_database')
    const names = found.rows.map(({ name }: { name: string }) => name)
    assert.deepEqual([names.includes(own), names.includes(left)], [true, false])
  } finally {
    await client.query(`drop schema ${own}`)
    await client.end()
  }
})
