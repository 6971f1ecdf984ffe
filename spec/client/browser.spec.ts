/** The entry `mikro-rest/client` alone: it needs nothing of Node, and is small. */
import assert from 'node:assert/strict'
import { dirname, resolve } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { RestEngine } from '../../lib/index.ts'
import { defineEntity, p } from '@mikro-orm/core'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
/** Bytes of the bundle, minified. */
const LIMIT = 19_500

it('the client runs where there is no Node, in a bundle of a few kilobytes', async () => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: `export * from './lib/model/client/index.ts'`, resolveDir: root },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'library',
    metafile: true,
    write: false,
  })
  const { text } = outputFiles[0]!
  assert.ok(text.length < LIMIT, `${text.length} bytes`)
  assert.ok(!Object.keys(metafile.inputs).some(file => /mikro-orm|pipeline|sqlite/.test(file)))

  const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
  await using engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
  // No process, no Buffer, no require: what a page has.
  const page = createContext({ URL, fetch: engine.fetch, btoa, found: undefined })
  const script =
    `${text}; library.client('http://api.test').users.list({ name: 'A*' }).then(({ count }) ` +
    "=> library.client('http://api.test').users.get(9).catch(error => [count, error.code]))"
  assert.deepEqual([...((await runInContext(script, page)) as unknown[])], [1, 'record_not_found'])
})
