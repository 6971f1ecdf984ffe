/**
 * The quick start: Kysely in one file, for the command and for `node --import mikro-rest/quick-start`. Every case is a process of its own.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { packKysely } from '../../scripts/pack-kysely.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The package as it is published, as far as a quick start needs it. */
let folder = ''

/** Counts the modules of Kysely that a process loads. */
const COUNT = `
  import { createRequire, registerHooks } from 'node:module'
  const seen = new Set()
  const loaded = { packed: 0, kysely: 0 }
  registerHooks({ load: (url, context, next) => {
    if (seen.has(url)) return next(url, context)
    seen.add(url)
    if (url.includes('/dist/packed/')) loaded.packed++
    if (url.includes('/node_modules/kysely/')) loaded.kysely++
    return next(url, context)
  } })`

async function run(script: string, quick = true, first: readonly string[] = []): Promise<unknown> {
  const words = [
    ...first,
    ...(quick ? ['--import', pathToFileURL(join(folder, 'bin/quick-start.js')).href] : []),
    '--input-type=module',
    '--eval',
  ]
  const env = { ...process.env, NODE_OPTIONS: '', NODE_DISABLE_COMPILE_CACHE: '1' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...words, `${COUNT}\n${script}`], { cwd: ROOT, env })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

describe('a quick start', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-quick-'))
    await mkdir(join(folder, 'bin'))
    await copyFile(join(ROOT, 'bin/quick-start.js'), join(folder, 'bin/quick-start.js'))
    await packKysely(ROOT, join(folder, 'dist/packed'), 'node22.17.0')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('loads Kysely as one module, which is the only one of the process', async () => {
    const found = await run(`
      const orm = await import('@mikro-orm/sqlite')
      const kysely = await import('kysely')
      const required = createRequire(process.cwd() + '/')('kysely')
      console.log(JSON.stringify({ ...loaded, one: [orm.Kysely, required.Kysely].every(each => each === kysely.Kysely) }))`)
    assert.deepEqual(found, { packed: 1, kysely: 0, one: true })
  })

  it('does not look for the files of MikroORM that import each other, and loads each once', async () => {
    // The hook that is there first is asked last.
    const asked = `import { registerHooks } from 'node:module'
      globalThis.asked = 0
      registerHooks({ resolve: (specifier, context, next) => {
        if (specifier.startsWith('.') && context.parentURL?.includes('/@mikro-orm/')) globalThis.asked++
        return next(specifier, context)
      } })`
    const script = `
      const { MikroORM } = await import('@mikro-orm/core')
      const file = await import(import.meta.resolve('@mikro-orm/core').replace(/index\\.js$/, 'MikroORM.js'))
      console.log(JSON.stringify({ asked: globalThis.asked, one: file.MikroORM === MikroORM }))`
    const first = ['--import', `data:text/javascript,${encodeURIComponent(asked)}`]
    assert.deepEqual(await run(script, true, first), { asked: 0, one: true })
    const usual = (await run(script, false, first)) as { asked: number; one: boolean }
    assert.ok(usual.asked > 50 && usual.one, JSON.stringify(usual))
  })

  it('looks for a package once for each of those of MikroORM that import it', async () => {
    const asked = `import { registerHooks } from 'node:module'
      globalThis.asked = {}
      registerHooks({ resolve: (specifier, context, next) => {
        const [, from] = /.*\\/node_modules\\/@mikro-orm\\/([^/]+)/.exec(context.parentURL) ?? []
        if (from !== undefined && !/^[.]|^node:|^[a-z_]+$/.test(specifier)) globalThis.asked[from + ' ' + specifier] = (globalThis.asked[from + ' ' + specifier] ?? 0) + 1
        return next(specifier, context)
      } })`
    const script = `
      const { MikroORM, Utils } = await import('@mikro-orm/sqlite')
      const core = await import('@mikro-orm/core')
      const most = Math.max(...Object.values(globalThis.asked))
      console.log(JSON.stringify({ most, found: Object.keys(globalThis.asked).length > 3, one: Utils === core.Utils }))`
    const first = ['--import', `data:text/javascript,${encodeURIComponent(asked)}`]
    assert.deepEqual(await run(script, true, first), { most: 1, found: true, one: true })
    const usual = (await run(script, false, first)) as { most: number }
    assert.ok(usual.most > 10, JSON.stringify(usual))
  })

  it('gives the exports of Kysely under their names', async () => {
    const list = `const kysely = await import('kysely')
      console.log(JSON.stringify(Object.entries(kysely).map(([name, value]) => [name, typeof value, value?.name ?? '']).sort()))`
    assert.deepEqual(await run(list), await run(list, false))
  })

  it('serves, writes and works with the entity manager as ever', async () => {
    const script = `
      const { defineEntity, p } = await import('@mikro-orm/core')
      const { RestEngine } = await import('./lib/index.ts')
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
      await using engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
      await engine.handle('POST', '/v1/users', undefined, { name: 'Bob' })
      const em = engine.orm.em.fork()
      em.create(User, { name: 'Cyd' })
      await em.flush()
      const rows = await em.getKysely().selectFrom('user').select('name').orderBy('id').execute()
      const { body } = await engine.handle('GET', '/v1/users')
      console.log(JSON.stringify({ ...loaded, rows: rows.map(row => row.name), users: body.users.map(user => user.name) }))`
    const names = ['Ann', 'Bob', 'Cyd']
    assert.deepEqual(await run(script), { packed: 1, kysely: 0, rows: names, users: names })
  })

  it('loads Kysely as usual where another version is installed', async () => {
    const packed = join(folder, 'dist/packed')
    const [file] = (await readdir(packed)) as [string]
    await rename(join(packed, file), join(packed, 'kysely-0.0.1.js'))
    try {
      const found = await run(`await import('kysely')\nconsole.log(JSON.stringify({ ...loaded, many: loaded.kysely > 200 }))`)
      assert.deepEqual({ ...(found as object), kysely: undefined }, { packed: 0, kysely: undefined, many: true })
    } finally {
      await rename(join(packed, 'kysely-0.0.1.js'), join(packed, file))
    }
  })
})
