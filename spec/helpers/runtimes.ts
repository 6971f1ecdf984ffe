/**
 * Runtimes: the package where others install and run it. SPEC_RUNTIMES=1 installs pnpm, Yarn, Deno, Bun and workerd (660 MB). npm, pnpm
 * without hoisting, and Yarn's Plug'n'Play install the package by the line of docs/browser.md: Node answers there, and Chromium shows the
 * guide as Vite has built it. Deno, Bun and workerd give the answers of Node, in the same bytes, by the entries that they can load.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import * as library from '../../lib/index.ts'
import { NO_BROWSER, borrowBrowser } from './chromium.ts'
import { ROOT } from './command.ts'
import { markedBlocks } from './markdown.ts'
import { userEnvironment } from './user-environment.ts'
import { askWorkerd } from './workerd.ts'
import { servePage } from '../page/serve-page.ts'
import { askShop, makeShop, useMembers } from '../page/shop.ts'

const MINUTES = 60_000
const WANTED = process.env['SPEC_RUNTIMES'] === '1'
const USE = `import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from 'mikro-rest'
const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } })
const engine = await RestEngine.create({ entities: [User], seed: { users: [{ name: 'Ann' }] } })
console.log((await engine.handle('GET', '/v1/users')).body.users[0].name)
`
/** Answers for another program to write, and what else an engine on better-sqlite3 does: a server, a file. */
const PROGRAM = `import { readFile } from 'node:fs/promises'
import { askShop, makeShop, useMembers } from ${JSON.stringify(join(ROOT, 'spec/page/shop.ts'))}
const [entry, wasm] = process.argv.slice(2)
const library = await import(entry)
await library.loadSqlite?.(await readFile(wasm))
const found = { answers: await askShop(await makeShop(library)), members: await useMembers(await makeShop(library)) }
const shop = await makeShop(library)
try {
  const { origins } = shop.intercept('https://api.example.test')
  found.intercepted = (await fetch(origins[0] + '/v1/tags')).status
} catch (error) {
  found.intercepted = error.message
}
if (library.createServer !== undefined) {
  const server = library.createServer(shop)
  await new Promise(listening => server.listen(0, '127.0.0.1', listening))
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"served"}' }
  found.served = (await fetch('http://127.0.0.1:' + server.address().port + '/v1/tags', init)).status
  const { defineEntity, p } = await import('@mikro-orm/core')
  const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
  const open = () => library.RestEngine.create({ entities: [Note], database: 'kept.sqlite', seed: { notes: [{ text: 'kept' }] } })
  await (await open()).close()
  const again = await open()
  found.kept = (await again.handle('GET', '/v1/notes')).body.count
  await again.close()
}
console.log(JSON.stringify(found))
process.exit()
`

interface Found {
  readonly answers: string[]
  readonly members: Record<string, unknown>
  readonly intercepted: number | string
  readonly served?: number
  readonly kept?: number
}

/** @param tarball the path of the packed package, once `before` has run */
export function describeRuntimes(tarball: () => string): void {
  describe('other package managers and runtimes', { skip: WANTED ? false : 'SPEC_RUNTIMES=1 installs them', timeout: 15 * MINUTES }, () => {
    let folder: string
    let docs: string
    let mounting: string
    let vite: string
    let orm: string

    before(
      async () => {
        folder = await mkdtemp(join(tmpdir(), 'mikro-rest-runtimes-'))
        docs = await readFile(join(ROOT, 'docs/browser.md'), 'utf8')
        mounting = await readFile(join(ROOT, 'docs/mounting.md'), 'utf8')
        const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> }
        vite = manifest.devDependencies['vite']!
        orm = manifest.devDependencies['@mikro-orm/core']!
        const tools = join(folder, 'tools')
        await mkdir(tools)
        // Newer versions of npm run no other scripts of packages: these put the program of the platform in its place.
        const allowScripts = { bun: true, deno: true, pnpm: true, workerd: true }
        await writeFile(join(tools, 'package.json'), JSON.stringify({ private: true, allowScripts }))
        await run('npm', ['install', '--no-audit', '--no-fund', 'pnpm', '@yarnpkg/cli-dist', 'deno', 'bun', 'workerd'], tools)
      },
      { timeout: 10 * MINUTES },
    )
    after(() => rm(folder, { recursive: true, force: true }))

    async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
      const own = userEnvironment()
      const env = {
        ...own,
        CI: '1',
        PATH: join(folder, 'tools/node_modules/.bin') + delimiter + own['PATH'],
        // All that the programs keep goes with the folder.
        DENO_DIR: join(folder, 'deno'),
        YARN_GLOBAL_FOLDER: join(folder, 'yarn'),
        YARN_ENABLE_TELEMETRY: '0',
        YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
        YARN_NPM_REGISTRY_SERVER: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim(),
        ...(own['NODE_EXTRA_CA_CERTS'] === undefined ? {} : { YARN_HTTPS_CA_FILE_PATH: own['NODE_EXTRA_CA_CERTS'] }),
      }
      const { stdout } = await promisify(execFile)(command, args, { cwd, env, timeout: 5 * MINUTES }).catch(
        (error: Error & { readonly stdout: string }) => {
          throw new Error(`${error.message}\n${error.stdout}`)
        },
      )
      return stdout
    }

    /** Makes an application of the guide for pages, without packages. */
    async function makeApp(name: string): Promise<string> {
      const app = join(folder, name)
      await mkdir(app)
      await writeFile(join(app, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
      for (const { marker, text } of markedBlocks(docs)) if (marker.startsWith('file ')) await writeFile(join(app, marker.slice(5)), text)
      await writeFile(join(app, 'index.html'), '<!doctype html><body><script type="module" src="/main.js"></script></body>')
      await writeFile(join(app, 'use.js'), USE)
      return app
    }

    /** What the line of the docs installs, and the Vite of the specs: the newest may depend on what is not published yet. */
    function listPackages(): string[] {
      const [, others] = /^npm install --save-dev mikro-rest (.+)$/m.exec(docs)!
      return [...others!.split(' '), `vite@${vite}`]
    }

    async function assertShown(app: string): Promise<void> {
      if (NO_BROWSER !== false) return
      const served = await servePage(join(app, 'dist'))
      const borrowed = await borrowBrowser()
      const page = await borrowed.browser.newPage()
      await page.goto(served.address)
      await page.waitForFunction("document.body.textContent.includes('Ann')", undefined, { timeout: 20_000 })
      await page.close()
      await borrowed.close()
      await served.close()
    }

    it('works as npm installs it', async () => {
      const app = await makeApp('npm')
      await run('npm', ['install', '--no-audit', '--no-fund', '--save-dev', ...listPackages(), tarball()], app)
      assert.equal((await run('node', ['use.js'], app)).trim(), 'Ann')
      await run('npm', ['exec', 'vite', 'build'], app)
      await assertShown(app)
    })

    it('works as pnpm installs it, where a package finds what it declares alone', async () => {
      const app = await makeApp('pnpm')
      await writeFile(join(app, 'pnpm-workspace.yaml'), `hoist: false\nstoreDir: ${JSON.stringify(join(folder, 'store'))}\n`)
      await run('pnpm', ['add', '-D', ...listPackages(), tarball()], app)
      assert.equal((await run('node', ['use.js'], app)).trim(), 'Ann')
      await run('pnpm', ['exec', 'vite', 'build'], app)
      await assertShown(app)
    })

    it("works as Yarn's Plug'n'Play installs it, with the package that the guide names", async () => {
      const app = await makeApp('yarn')
      const [, named] = /`(@mikro-orm\/sql@[\d.]+)`/.exec(docs)!
      await writeFile(join(app, 'yarn.lock'), '')
      await run('yarn', ['add', '-D', ...listPackages(), named!, `mikro-rest@file:${tarball()}`], app)
      assert.equal((await run('yarn', ['node', 'use.js'], app)).trim(), 'Ann')
      await run('yarn', ['vite', 'build'], app)
      await assertShown(app)
    })

    /** Runs the program by an entry, in the folder that npm has installed. */
    async function ask(command: string, args: readonly string[], entry: string): Promise<Found> {
      const app = join(folder, 'npm')
      const { outputFiles } = await build({
        stdin: { contents: PROGRAM, resolveDir: app, loader: 'js' },
        bundle: true,
        format: 'esm',
        platform: 'node',
        packages: 'external',
        write: false,
      })
      await rm(join(app, 'kept.sqlite'), { force: true })
      await writeFile(join(app, 'program.mjs'), outputFiles[0]!.text)
      const output = await run(command, [...args, 'program.mjs', entry, 'node_modules/mikro-rest/dist/browser/sqlite3.wasm'], app)
      return JSON.parse(output.trim().split('\n').at(-1)!) as Found
    }

    async function askNode(): Promise<Pick<Found, 'answers' | 'members'>> {
      const [shop, other] = [await makeShop(library), await makeShop(library)]
      const answers = await askShop(shop)
      const members = JSON.parse(JSON.stringify(await useMembers(other))) as Found['members']
      await Promise.all([shop.close(), other.close()])
      return { answers, members }
    }

    /** The permissions that docs/mounting.md names. */
    const listPermissions = (): string[] => /`(--allow-net [^`]+)`/.exec(mounting)![1]!.split(/\s+/)

    for (const [runtime, argsOf] of [
      ['deno', () => ['run', ...listPermissions()]],
      ['bun', () => ['run']],
    ] as const) {
      it(`answers in ${runtime} as in Node, in the same bytes, on better-sqlite3 and on WebAssembly`, async () => {
        const { answers, members } = await askNode()
        for (const entry of ['mikro-rest', 'mikro-rest/browser']) {
          const found = await ask(runtime, argsOf(), entry)
          for (const [index, answer] of answers.entries()) assert.equal(found.answers[index], answer)
          for (const [member, value] of Object.entries(members)) assert.deepEqual([member, found.members[member]], [member, value])
          if (entry === 'mikro-rest') {
            assert.deepEqual([found.served, found.kept], [200, 1])
            assert.match(String(found.intercepted), /^intercept: (?:Deno|Bun) sends requests past the engine/)
          } else assert.equal(found.intercepted, 200)
        }
      })
    }

    it('answers in workerd as in Node, in the same bytes', async () => {
      const app = join(folder, 'npm')
      await run('npm', ['install', '--no-audit', '--no-fund', `@mikro-orm/cli@${orm}`], app)
      const workerd = join(folder, 'tools/node_modules/.bin/workerd')
      const text = await askWorkerd(app, (command, ...args) => run(command, args, app), workerd)
      assert.ok(text.startsWith('{'), text)
      const [found, wanted] = [JSON.parse(text) as Found, await askNode()]
      assert.deepEqual(found, { ...wanted, intercepted: 200 })
    })

    it('has a command for Deno; in Bun, the command asks for Node', async () => {
      const app = join(folder, 'npm')
      await writeFile(join(app, 'db.json'), '{"notes":[{"id":1,"text":"a"}]}')
      const command = ['node_modules/mikro-rest/bin/serve.js', 'db.json', '--get', '/v1/notes']
      assert.equal((JSON.parse(await run('deno', ['run', '-A', ...command], app)) as { count: number }).count, 1)
      await assert.rejects(run('bun', ['run', '--bun', ...command], app), /mikro-rest: the command needs Node/)
    })
  })
}
