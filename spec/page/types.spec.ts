/** The types of `mikro-rest/browser` are for pages: they need no types of Node. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TSC, declaredTypes } from '../helpers/declared-types.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const PAGE = `
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, client, loadSqlite, resource, serveOn } from 'mikro-rest/browser'
import { connect, type ConnectedEngine } from 'mikro-rest/port'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
await loadSqlite(fetch(new URL('sqlite3.wasm', location.href)))
await loadSqlite(await WebAssembly.compile(new ArrayBuffer(8)))
const engine = await RestEngine.create({
  entities: [User],
  resources: [resource(User, { create: async (ctx, next) => (await ctx.engine.handle('GET', '/v1'), next()) })],
  auth: auth({ entity: User, identifier: 'name', password: 'name' }),
})
const response: Response = await engine.fetch('/v1/users')
const { items } = await client(engine, { users: User }).users.list()
const name: string = items[0]!.name
const worker: ConnectedEngine = await connect(new Worker(new URL('./worker.js', location.href), { type: 'module' }))
const shared = await connect(new SharedWorker('./shared.js').port)
const other: Response = await shared.fetch('/v1/users', { signal: AbortSignal.timeout(100) })
worker.intercept('https://api.example.test', { strict: true }).dispose()
serveOn(engine, new MessageChannel().port1)
serveOn(RestEngine.create({ entities: [User] }))
// @ts-expect-error -- a page has no servers
import { createServer } from 'mikro-rest/browser'
document.body.textContent = name + response.status + other.status
`

describe('the types of the entry for pages', () => {
  it('compile with those of the DOM, without those of Node', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-page-types-'))
    const types = join(declaredTypes(), 'lib/browser.d.ts')
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      types: [],
      strict: true,
      noEmit: true,
      paths: {
        'mikro-rest/browser': [types],
        'mikro-rest/port': [join(declaredTypes(), 'lib/doors/page/ask-port.d.ts')],
        '@mikro-orm/core': [join(root, 'node_modules/@mikro-orm/core')],
      },
    }
    await writeFile(join(folder, 'page.ts'), PAGE)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }))
    const { stdout } = spawnSync(process.execPath, [TSC, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' })
    // MikroORM speaks of Buffer.
    const faults = stdout.split('\n').filter(line => line.includes('error TS') && !line.includes('node_modules/@mikro-orm/'))
    await rm(folder, { recursive: true, force: true })
    assert.deepEqual(faults, [])
    assert.match(stdout, /@mikro-orm\/core\/.*Cannot find name 'Buffer'/, 'the compiler has looked into declarations')
  })
})
