/** What is different on PostgreSQL is told to those who use it, too. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { DIFFERENCES } from './differences.ts'

it('each difference of PostgreSQL stands in its docs', () => {
  const docs = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8')
  const [, section = ''] = docs.split('## What is different')
  const named = [...section.matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, name]) => name)
  assert.deepEqual(Object.keys(DIFFERENCES), named)
})
