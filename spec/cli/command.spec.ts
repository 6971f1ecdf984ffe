/** The command line, as processes of its own: what is served, what is printed, how it ends. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { Command, COMMAND, ROOT, runAll, ServedLines, SOURCE_COMMAND, type Ended } from '../helpers/command.ts'

const ORM = import.meta.resolve('@mikro-orm/core')
// Colours are for terminals; whoever runs the specs may have forced them.
const { FORCE_COLOR: _, ...ENV } = process.env

/** A model in JavaScript. Its creations say that they have begun, and wait for `delay` milliseconds. */
function modelText(entity: string, delay = 0): string {
  return `
    import { defineEntity, p } from '${ORM}'
    const ${entity} = defineEntity({ name: '${entity}', properties: { id: p.integer().primary(), name: p.string() } })
    const begin = resolve => {
      if (${delay} > 0) console.log('begun')
      setTimeout(resolve, ${delay})
    }
    const subscriber = { beforeCreate: () => new Promise(begin) }
    export default { entities: [${entity}], orm: { subscribers: [subscriber] } }
  `
}

class Running {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>

  constructor(args: readonly string[], node = process.execPath, cwd = folder) {
    this.child = spawn(node, args, { cwd, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout?.on('data', chunk => (this.stdout += String(chunk)))
    this.child.stderr?.on('data', chunk => (this.stderr += String(chunk)))
    this.ended = new Promise(resolve => {
      this.child.once('close', (code, signal) => resolve({ code, signal }))
    })
    running.push(this)
  }

  /** The match of a pattern in what has been printed, as soon as there is one. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (let waited = 0; waited < 20_000; waited += 20) {
      const match = pattern.exec(this.stdout)
      if (match !== null) return match
      if (this.child.exitCode !== null) break
      await wait(20)
    }
    throw new Error(`${String(pattern)} was not printed: ${this.stdout}${this.stderr}`)
  }

  /** The address, once the command listens and has printed all of its first lines. */
  async origin(): Promise<string> {
    return (await this.printed(/ at (http:\S+)\n[^]*Try:\n(?: .*\n)+\n/))[1] ?? ''
  }
}

const running: Running[] = []
let folder: string

function serve(...args: string[]): Running {
  return new Running([COMMAND, '--port', '0', ...args])
}

async function run(...args: string[]): Promise<Ended> {
  const command = new Running([COMMAND, ...args])
  const { code } = await command.ended
  return { code, stdout: command.stdout, stderr: command.stderr }
}

/** Asserts a failure of the command line: an exit code, one line, no stack. */
function assertFails(result: Ended, code: number, message: RegExp): void {
  assert.match(result.stderr, /^mikro-rest: [^\n]+\n$/)
  assert.match(result.stderr, message)
  assert.equal(result.stdout, '')
  assert.equal(result.code, code)
}

/** Asserts that a signal ends the command well. The fetch of this process keeps a connection open: it must not keep the command. */
async function assertEndedBy(signal: NodeJS.Signals, command: Running): Promise<void> {
  command.child.kill(signal)
  assert.deepEqual(await command.ended, { code: 0, signal: null })
  assert.equal(command.stderr, '')
}

async function post(origin: string, path: string, body: unknown): Promise<Response> {
  return fetch(origin + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

describe('command', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-command-'))
    await writeFile(join(folder, 'model.mjs'), modelText('Book'))
    await writeFile(join(folder, 'seed.json'), '{ "books": [{ "name": "Emma" }] }')
  })
  afterEach(async () => {
    for (const command of running.splice(0)) {
      command.child.kill('SIGKILL')
      await command.ended
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  describe('serving', () => {
    it('serves the sample model, whose printed requests answer', async () => {
      // From the sources, as `npm start` does.
      const command = new Running([SOURCE_COMMAND, '--port', '0'])
      const origin = await command.origin()
      assert.match(command.stdout, /\/v1\/publishers\n/)
      const urls = [...command.stdout.matchAll(/curl '(.+)'/g)].map(match => match[1] ?? '')
      assert.equal(urls.length, 3)
      assert.ok(['sort=sites.desc', '*', 'expand='].every((part, index) => urls[index]?.includes(part)))
      for (const url of urls) {
        const response = await fetch(url)
        assert.equal(response.status, 200, url)
        const body = (await response.json()) as { count: number }
        assert.ok(body.count > 0, url)
      }
      assert.equal((await fetch(`${origin}/v1`)).status, 200)
      assert.ok(command.stdout.includes(`Workbench: ${origin}/_ui\n`))
      const page = await (await fetch(`${origin}/_ui`)).text()
      assert.equal((await fetch(origin + /src="([^"]+)"/.exec(page)![1]!)).status, 200)
      assert.equal(command.stderr, '')
    })

    it('keeps the code that Node has compiled for the next start', async () => {
      const { NODE_COMPILE_CACHE: _cache, ...env } = ENV
      const temporary = join(folder, 'temporary')
      await mkdir(temporary)
      const places = { TMPDIR: temporary, TEMP: temporary }
      const { status } = spawnSync(process.execPath, [COMMAND, 'model.mjs', '--get', '/v1'], { cwd: folder, env: { ...env, ...places } })
      assert.equal(status, 0)
      assert.ok(existsSync(join(temporary, 'node-compile-cache')))
    })

    it('prints requests that answer for any model', async () => {
      const models = [['model.mjs', '--seed', 'seed.json'], ['model.mjs'], [join(ROOT, 'fixtures', 'library', 'index.ts')]]
      await using served = new ServedLines(
        folder,
        models.map(args => [...args, '--api-version', 'v2', '--port', '0']),
      )
      for (const printed of await served.printed()) {
        const urls = [...printed.matchAll(/curl '(.+)'/g)].map(match => match[1] ?? '')
        assert.ok(urls.length > 0, printed)
        for (const url of urls) assert.equal((await fetch(url)).status, 200, url)
      }
    })

    it('takes options together, until SIGINT ends it: no such lines with --quiet, writes answered with 405 with --read-only, versions and origins more than once', async () => {
      const versions = ['--api-version', 'v1', '--api-version', 'v3']
      const command = serve('model.mjs', '--quiet', '--read-only', ...versions, '--cors', 'http://a.test', '--cors=http://b.test')
      const origin = await command.origin()
      for (const version of ['v1', 'v3']) {
        assert.equal((await fetch(`${origin}/${version}/books`)).status, 200)
        const refused = await post(origin, `/${version}/books`, {})
        assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, QUERY, OPTIONS'])
      }
      for (const allowed of ['http://a.test', 'http://b.test']) {
        const response = await fetch(`${origin}/v3/books`, { headers: { origin: allowed } })
        assert.equal(response.headers.get('access-control-allow-origin'), allowed)
      }
      await wait(50)
      assert.doesNotMatch(command.stdout, / (?:GET|POST) /)
      await assertEndedBy('SIGINT', command)
    })

    it('tells in one line that the port is in use, or that the host is none', async () => {
      const other = createServer().listen(0, '127.0.0.1')
      await new Promise(resolve => other.once('listening', resolve))
      const { port } = other.address() as AddressInfo
      const [inUse, noHost] = runAll(folder, [
        ['model.mjs', '--port', String(port)],
        ['model.mjs', '--port', '0', '--host', '203.0.113.1'],
      ]) as [Ended, Ended]
      other.close()
      assertFails(inUse, 1, new RegExp(`Port ${port} is in use: .*--port 0`))
      assertFails(noHost, 1, /203\.0\.113\.1 is not an address of this machine/)
    })
  })

  describe('models', () => {
    it('come from modules of every kind', async () => {
      const definition = `defineEntity({ name: 'Book', properties: { id: p.integer().primary() } })`
      const imports = `import { defineEntity, p } from '${ORM}'\n`
      const modules: [string, string][] = [
        ['options.mjs', `${imports}export default { entities: [${definition}], versions: ['v1'] }`],
        ['array.mjs', `${imports}export default [${definition}]`],
        ['named.mjs', `${imports}export const Book = ${definition}\nexport const version = 1\nexport class Helper {}`],
        ['typed.mts', `${imports}export enum Kind { A = 'a' }\nexport const Book: object = ${definition}`],
        ['typed.ts', `${imports}export default { entities: [${definition}] } satisfies object`],
        ['common.cjs', `const { defineEntity, p } = require('${fileURLToPath(ORM)}')\nmodule.exports = { Book: ${definition} }`],
        [
          'class.mjs',
          `${imports}const Schema = ${definition}\nexport class Book extends Schema.class {}\nSchema.setClass(Book)\nexport { Schema }`,
        ],
      ]
      for (const [name, text] of modules) await writeFile(join(folder, name), text)
      const results = runAll(
        folder,
        modules.map(([name]) => [name, '--get', '/v1']),
      )
      for (const [index, { code, stdout, stderr }] of results.entries()) {
        const [name] = modules[index]!
        assert.equal(code, 0, name + stderr)
        assert.deepEqual((JSON.parse(stdout) as { resources: unknown }).resources, { books: '/v1/books' }, name)
      }
    })

    it('go with a SQLite file, which is made when it is missing and keeps its records', async () => {
      const text = modelText('Book').replace('export default {', `export default { seed: { books: [{ name: 'Persuasion' }] },`)
      await writeFile(join(folder, 'seeded.mjs'), text)
      const names = (result: Ended): string[] => (JSON.parse(result.stdout) as { books: { name: string }[] }).books.map(book => book.name)
      const file = join(folder, 'books.db')
      for (const more of [[], ['--seed', 'seed.json']]) {
        await using command = new Command(folder, 'books.db', '--config', 'seeded.mjs', '--port', '0', ...more)
        await command.origin()
        await command.stop()
      }
      const bytes = await readFile(file)
      const longer = await readFile(join(folder, 'model.mjs'), 'utf8')
      await writeFile(join(folder, 'longer.mjs'), longer.replace('name: p.string()', 'name: p.string(), pages: p.integer().nullable()'))
      const plain = `export default [defineEntity({ name: 'Book', properties: { id: p.integer().primary(), name: p.string() } })]`
      await writeFile(join(folder, 'plain.mjs'), `import { defineEntity, p } from '${ORM}'\n${plain}`)
      const [unmade, seeded, read, refused, lacking, alone, ejected] = runAll(folder, [
        ['unmade.db', '--config', 'seeded.mjs', '--get', '/v1/books'],
        ['books.db', '--config', 'seeded.mjs', '--get', '/v1/books'],
        ['model.mjs', 'books.db', '--get', '/v1/books'],
        ['books.db', '--config', 'model.mjs', '--seed', 'seed.json', '--get', '/v1/books'],
        ['books.db', '--config', 'longer.mjs', '--get', '/v1/books'],
        ['books.db', '--get', '/v1/books'],
        ['books.db', '--config', 'plain.mjs', '--eject', 'ejected'],
      ]) as [Ended, Ended, Ended, Ended, Ended, Ended, Ended]
      assert.deepEqual(names(unmade), ['Persuasion'])
      assert.ok(!existsSync(join(folder, 'unmade.db')), '--get makes no file')
      assert.deepEqual(names(seeded), ['Persuasion'], 'a seed fills empty tables')
      assert.deepEqual(names(read), ['Persuasion'])
      assertFails(
        refused,
        2,
        /--seed would write to books\.db, which --get, --openapi, --diagram, --self-test, --check and --eject leave as it is\./,
      )
      assertFails(lacking, 1, /lacks what the entities need.*"book"\."pages"/)
      // The file tells its model itself.
      assert.equal(alone.code, 0, alone.stderr)
      assert.equal((JSON.parse(alone.stdout) as { resource: string }).resource, 'books')
      assert.equal(ejected.code, 0)
      assert.ok((await readFile(file)).equals(bytes), '--get and --eject leave the file as it is')
    })

    it('in a folder of CommonJS are told what to write', async () => {
      await mkdir(join(folder, 'common'))
      await writeFile(join(folder, 'common/package.json'), '{ "type": "commonjs" }')
      await writeFile(join(folder, 'common/model.js'), 'export const none = 1')
      const { stderr, code } = await run('common/model.js', '--get', '/v1')
      // Node has warned before.
      assert.match(
        stderr,
        /^mikro-rest: .*model\.js cannot be loaded: .* says "type": "commonjs": write "module" there, or call the file \.mjs or \.mts\.$/m,
      )
      assert.equal(code, 1)
    })

    it('with a mistake of syntax are told its place, and are not taken for CommonJS', async () => {
      await mkdir(join(folder, 'mistaken'))
      await writeFile(join(folder, 'mistaken/package.json'), '{ "type": "module" }')
      await writeFile(join(folder, 'mistaken/nested.js'), 'function open() {\nexport const none = 1\n')
      await writeFile(join(folder, 'mistaken/entities.mjs'), 'export const none = 1\nexport const one = (1\n')
      await writeFile(join(folder, 'mistaken/index.mjs'), `export * from './entities.mjs'\n`)
      await writeFile(join(folder, 'mistaken/through.mjs'), `export * from '../common/other.js'\n`)
      await writeFile(join(folder, 'common/other.js'), `import 'node:fs'\n`)
      // Last: from then on all goes through tsx.
      await writeFile(join(folder, 'mistaken/typed.mts'), 'export const one: number = 1\nexport const two: = 2\n')
      await writeFile(join(folder, 'mistaken/whole.mts'), `export * from './typed.mts'\n`)
      const cases = [
        ['nested.js', /nested\.js cannot be loaded: Unexpected token 'export' \(\S+nested\.js:2\)\.$/],
        ['index.mjs', /index\.mjs cannot be loaded: .+ \(\S+entities\.mjs:\d\)\.$/],
        ['through.mjs', /outside a module \(\S+other\.js:1\)\. \S+common\/package\.json says "type": "commonjs"/],
        ['whole.mts', /whole\.mts cannot be loaded: .+ \(\S+typed\.mts:2\)\.$/],
      ] as const
      const results = runAll(
        folder,
        cases.map(([file]) => [`mistaken/${file}`, '--get', '/v1']),
      )
      for (const [index, { stderr }] of results.entries()) assert.match(stderr.trimEnd().split('\n').at(-1)!, cases[index]![1])
    })

    it('that cannot be served are told in one line', async () => {
      await mkdir(join(folder, 'directory.db'))
      const files: [string, string][] = [
        ['empty.mjs', ''],
        ['throws.mjs', `throw new TypeError('first line\\nsecond line')`],
        ['syntax.ts', 'export default ['],
        ['lost.mjs', `import './nowhere.js'`],
        ['typo.mjs', modelText('Book').replace('entities:', `version: ['v1'], entities:`)],
        ['data.json', '{ "books": [1] }'],
        ['books.json', '{ "books": [] }'],
        ['text.txt', 'Some text'],
        ['bad-seed.json', '{ "books": [{ "nmae": "Emma" }] }'],
        ['broken-seed.json', '{ "books": ['],
        ['list-seed.json', '[]'],
      ]
      for (const [name, text] of files) await writeFile(join(folder, name), text)
      const cases: [string[], RegExp][] = [
        [['nowhere.mjs'], /nowhere\.mjs does not exist/],
        [['nowhere.db'], /nowhere\.db does not exist/],
        [['model.mjs/nowhere.db'], /does not exist/],
        [['directory.db'], /directory\.db is a folder without a module of its own: none of index\.ts, /],
        [['empty.mjs'], /empty\.mjs exports no model/],
        [['throws.mjs'], /throws\.mjs cannot be loaded: first line second line \(.*throws\.mjs:1\)/],
        [['syntax.ts'], /syntax\.ts cannot be loaded/],
        [['lost.mjs'], /lost\.mjs cannot be loaded: .*nowhere\.js/],
        [['typo.mjs'], /unknown option "version"\. Did you mean "versions"\?/],
        [['data.json', '--strict'], /data\.json: books\[0\] is a number; a collection is an array of objects/],
        [['text.txt'], /neither a module, nor a SQLite file, nor a JSON file/],
        [['new.db', '--config', 'text.txt'], /text\.txt is not a module/],
        [['new.db', '--config', 'nowhere.mjs'], /nowhere\.mjs does not exist/],
        [
          ['postgres://ann:secret@127.0.0.1:1/shop'],
          /^mikro-rest: The PostgreSQL database postgres:\/\/ann@127\.0\.0\.1:1\/shop cannot be opened/,
        ],
        [['model.mjs', '--seed', 'nowhere.json'], /nowhere\.json does not exist/],
        [['model.mjs', '--seed', 'bad-seed.json'], /"nmae".*"name"/],
        [['model.mjs', '--seed', 'broken-seed.json'], /broken-seed\.json is not JSON/],
        [['model.mjs', '--seed', 'list-seed.json'], /list-seed\.json is not a seed/],
        [['books.jso'], /books\.jso does not exist\. Did you mean "books\.json"\?/],
        [['help'], /help does not exist\. The first word is the FILE that is served: mikro-rest --help lists what it may be\.\n$/],
      ]
      const results = runAll(
        folder,
        cases.map(([args]) => [...args, '--get', '/v1']),
      )
      for (const [index, [, message]] of cases.entries()) assertFails(results[index]!, 1, message)
      // And by itself.
      assertFails(await run('nowhere.mjs', '--get', '/v1'), 1, /nowhere\.mjs does not exist/)
    })

    it(
      'that may not be read are told in one line',
      { skip: process.getuid?.() === 0 ? 'the superuser may read everything' : false },
      async () => {
        await writeFile(join(folder, 'secret.db'), '')
        await chmod(join(folder, 'secret.db'), 0)
        assertFails(await run('secret.db'), 1, /secret\.db may not be read/)
      },
    )
  })

  describe('options', () => {
    it('that are wrong are told in one line, with exit code 2', async () => {
      const cases: [string[], RegExp][] = [
        [['--prot', '1'], /Unknown option --prot\. Did you mean "--port"\?/],
        [['--readonly'], /Did you mean "--read-only"\?/],
        [['-x'], /Unknown option -x/],
        [['--delay', '2s'], /--delay takes a number of milliseconds from 0 to 2147483647, got "2s"/],
        [['--delay=-1'], /got "-1"/],
        [['--delay', '2147483648'], /got "2147483648"/],
        [['--timeout', '0'], /--timeout takes a number of milliseconds from 1 to 2147483647, got "0"/],
        [['--delai', '100'], /Did you mean "--delay"\?/],
        [['--port', '65536'], /--port takes a number from 0 to 65535, got "65536"/],
        [['--port', '-1'], /--port takes a number from 0 to 65535, got "-1"/],
        [['--delay', '-1'], /--delay takes a number of milliseconds from 0 to 2147483647, got "-1"/],
        [['--host', 'localhost:3000'], /--host takes an address without a port: --host localhost --port 3000\.\n$/],
        [['--api-version', 'v/1'], /--api-version takes a segment of a path, such as v1, got "v\/1"\.\n$/],
        [['-d', '300'], /Unknown option -d\. These begin so: .*--delay.*\. See --help\.\n$/],
        [['serve', 'db.json'], /got 2: serve, db\.json\. The command has no word for serving: mikro-rest db\.json\.\n$/],
        [
          ['mysql://ann:secret@localhost/shop'],
          /^mikro-rest: mysql:\/\/\.\.\. is the address of MySQL, which cannot be served: .*: mikro-rest :memory: --config mikro-orm\.config\.ts\.\n$/,
        ],
        [['sqlite://a.db'], /sqlite:\/\/\.\.\. is a URL: give the path of the SQLite file alone\.\n$/],
        [['postgresql:shop'], /A URL of PostgreSQL has slashes: postgres:\/\/user@host\/database\.\n$/],
        [['https://a.test/db.json'], /https:\/\/\.\.\. is an address, and FILE is a file of this machine\. --check URL /],
        [['--port=-1'], /got "-1"/],
        [['--port=1e3'], /got "1e3"/],
        [['--port'], /--port needs a value: --port PORT/],
        [['--config', '--quiet'], /--config needs a value/],
        [['--read-only=yes'], /--read-only takes no value, got "yes"/],
        [['--get', 'v1'], /begins with "\/"/],
        [['--get', '/v1', '--watch', 'model.mjs'], /does not go with --watch/],
        [['--watch'], /--watch needs a module, a JSON file or a seed file/],
        [
          ['model.mjs', 'b.db', '--config', 'model.mjs'],
          /The model of b\.db is model\.mjs or model\.mjs, not both: leave --config out\.\n$/,
        ],
        [['a.db', 'model.mjs'], /One FILE can be served, got 2/],
        [['--copies', '3'], /--copies goes with --evolve\.\n$/],
        [['model.mjs', 'b.db', '--evolve', '--copies', 'all'], /--copies takes a number of copies, got "all"\.\n$/],
        [['a.db', 'b.db'], /One FILE can be served, got 2/],
        [['model.mjs', '--config', 'model.mjs'], /--config goes with a SQLite file/],
      ]
      const results = runAll(
        folder,
        cases.map(([args]) => args),
      )
      for (const [index, [, message]] of cases.entries()) assertFails(results[index]!, 2, message)
      // And by itself.
      assertFails(await run('--prot', '1'), 2, /Unknown option --prot\. Did you mean "--port"\?/)
    })

    it('are listed by --help', async () => {
      const long = await run('--help')
      assert.deepEqual([long.code, long.stderr], [0, ''])
      for (const name of ['port', 'host', 'config', 'seed', 'version', 'read-only', 'cors', 'watch', 'quiet', 'get'])
        assert.ok(long.stdout.includes(`--${name}`))
      assert.deepEqual(runAll(folder, [['-h']]), [long])
    })
  })

  describe('--get', () => {
    // In one process, but for the first that takes too long: what is stopped there must not keep the command.
    it('prints the body as JSON and tells by its exit code whether all was well; takes a seed; --timeout ends what takes longer', async () => {
      await writeFile(join(folder, 'seed.mjs'), `export default { books: [{ name: 'Emma' }] }`)
      const db = new Database(join(folder, 'many.sqlite'))
      db.exec(`create table line (id integer primary key, text text);
        insert into line (text) with recursive s (n) as (select 1 union all select n + 1 from s where n < 100000) select 'line ' || n from s`)
      db.close()
      const long = ['many.sqlite', '--get', '/v1/lines?text=*9*9*9*9*9*&sort=text']
      const [found, missing, inTime, ...seeded] = runAll(folder, [
        ['--get', '/v1/publishers?sort=sites.desc&limit=5'],
        ['model.mjs', '--get', '/v1/nobody'],
        long,
        ...['seed.json', 'seed.mjs'].map(seed => ['model.mjs', '--seed', seed, '--get', '/v1/books?attributes=name']),
      ]) as [Ended, Ended, Ended, Ended, Ended]
      assert.deepEqual([found.code, found.stderr], [0, ''])
      const body = JSON.parse(found.stdout) as { publishers: { sites: unknown[] }[] }
      assert.equal(found.stdout, `${JSON.stringify(body, undefined, 2)}\n`)
      const counts = body.publishers.map(publisher => publisher.sites.length)
      assert.equal(counts.length, 5)
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => b - a),
      )
      assert.equal(missing.code, 1)
      assert.equal((JSON.parse(missing.stdout) as { code: string }).code, 'resource_unknown')
      for (const { stdout } of seeded) assert.deepEqual((JSON.parse(stdout) as { books: unknown }).books, [{ name: 'Emma' }])
      assert.equal(inTime.code, 0)
      const ended = await run(...long, '--timeout', '1')
      assert.equal(ended.code, 1)
      assert.match(ended.stdout, /"code": "timeout".*The request took longer than the 1 ms that it may take/s)
    })
  })

  describe('--delay', () => {
    it('slows every request down, but not the start, and each has a line, plain where there is no terminal, until SIGTERM ends it with exit code 0', async () => {
      const command = serve('model.mjs', '--seed', 'seed.json', '--delay', '400')
      const origin = await command.origin()
      for (const path of ['/v1/books?limit=1', '/v1/nobody']) {
        const started = performance.now()
        await (await fetch(origin + path)).text()
        const took = performance.now() - started
        assert.ok(took >= 300, `${path} took ${took} ms`)
      }
      const [, ...times] = await command.printed(
        /^\d\d:\d\d:\d\d GET \/v1\/books\?limit=1 200 (\d+)\.\d ms\n\S+ GET \/v1\/nobody 404 (\d+)\.\d ms\n/m,
      )
      for (const time of times) assert.ok(Number(time) >= 300, `${time} ms`)
      assert.ok(!command.stdout.includes('\u001b'))
      // What is delayed is in flight, and is answered.
      const answer = fetch(`${origin}/v1/books`)
      await wait(100)
      command.child.kill('SIGTERM')
      assert.equal((await answer).status, 200)
      assert.deepEqual(await command.ended, { code: 0, signal: null })
      assert.equal(command.stderr, '')
    })

    it('holds for --get, too', async () => {
      const answered = async (delay: string): Promise<number> => {
        const started = performance.now()
        assert.equal((await run('model.mjs', '--get', '/v1/books', '--delay', delay)).code, 0)
        return performance.now() - started
      }
      const took = await answered('3000')
      assert.ok(took >= 2995, `${took} ms`)
    })
  })

  describe('signals', () => {
    it('let what is in flight finish first', async () => {
      await writeFile(join(folder, 'slow.mjs'), modelText('Book', 500))
      const command = serve('slow.mjs')
      const answer = post(await command.origin(), '/v1/books', { name: 'Emma' })
      await command.printed(/begun/)
      command.child.kill('SIGTERM')
      assert.equal((await answer).status, 200)
      assert.deepEqual(await command.ended, { code: 0, signal: null })
    })

    it('end it at once the second time, but not when both are one', async () => {
      await writeFile(join(folder, 'stuck.mjs'), modelText('Book', 60_000))
      const command = serve('stuck.mjs')
      const answer = post(await command.origin(), '/v1/books', { name: 'Emma' }).catch(() => 'lost')
      await command.printed(/begun/)
      command.child.kill('SIGINT')
      command.child.kill('SIGTERM')
      await wait(300)
      assert.equal(command.child.exitCode, null)
      command.child.kill('SIGTERM')
      assert.deepEqual(await command.ended, { code: 143, signal: null })
      assert.equal(await answer, 'lost')
    })
  })

  describe('--watch', () => {
    it('starts again when the module changes, keeps the data where the model allows it, else says why it began anew, and survives a broken module', async () => {
      await mkdir(join(folder, 'kept'))
      const file = join(folder, 'kept', 'model.mjs')
      const model = (properties: string, seed = '[{ name: "Seeded" }]'): string => `import { defineEntity, p } from '${ORM}'
        const Book = defineEntity({ name: 'Book', properties: { id: p.integer().primary(), name: p.string(), ${properties} } })
        export default { entities: [Book], seed: { books: ${seed} } }`
      await writeFile(file, model('rank: p.string().nullable()'))
      const command = serve('kept/model.mjs', '--watch')
      const ask = async (path: string, init?: RequestInit): Promise<Record<string, unknown>> =>
        (await (await fetch(`${await command.origin()}/v1/books${path}`, init)).json()) as Record<string, unknown>
      const change = async (text: string): Promise<void> => {
        await command.origin()
        command.stdout = ''
        await writeFile(file, text)
        await command.origin()
      }
      await ask('', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Mine","rank":"x"}' })
      await change(model('rank: p.string().nullable(), stars: p.integer().default(3)'))
      assert.deepEqual((await ask('?name=Mine'))['books'], [{ id: 2, name: 'Mine', rank: 'x', stars: 3 }])
      await change(model('rank: p.integer().nullable(), stars: p.integer().default(3)'))
      assert.match(command.stdout, /the data begins anew: book\.rank cannot become "integer" in 1 row: id 2 \("x"\)\.\n/)
      assert.deepEqual((await ask(''))['books'], [{ id: 1, name: 'Seeded', rank: null, stars: 3 }])
      await change(model('rank: p.integer().nullable()', '[{ name: "Other" }]'))
      assert.match(command.stdout, /the data begins anew: the seed has changed\.\n/)
      assert.deepEqual((await ask(''))['books'], [{ id: 1, name: 'Other', rank: null }])
      await writeFile(file, 'export default [')
      for (let waited = 0; !command.stderr.includes('of before is served') && waited < 10_000; waited += 20) await wait(20)
      assert.match(command.stderr, /cannot be loaded/)
      assert.deepEqual((await ask(''))['books'], [{ id: 1, name: 'Other', rank: null }])
      command.stdout = ''
      await writeFile(file, modelText('Author'))
      assert.equal((await fetch(`${await command.origin()}/v1/authors`)).status, 200)
      command.child.kill('SIGTERM')
      assert.deepEqual(await command.ended, { code: 0, signal: null })
    })
  })

  describe('on a Node that is too old', () => {
    const old = oldNode()

    it('runs itself on the installed one', { skip: old === undefined ? 'no Node before 22.17 is on the PATH' : false }, async () => {
      const command = new Running([COMMAND, '--port', '0'], old)
      assert.equal((await fetch(`${await command.origin()}/v1/users`)).status, 200)
      command.child.kill('SIGTERM')
      assert.deepEqual(await command.ended, { code: 0, signal: null })
      const failed = new Running([SOURCE_COMMAND, '--prot', '1'], old)
      assert.equal((await failed.ended).code, 2)
      assert.match(failed.stderr, /Unknown option --prot/)
    })

    // The same file with other demands: every Node is too old for it.
    async function demanding(installed?: string): Promise<string> {
      const root = await mkdtemp(join(folder, 'demanding-'))
      await mkdir(join(root, 'bin'))
      for (const file of ['serve.js', 'quick-start.js']) await copyFile(join(ROOT, 'bin', file), join(root, 'bin', file))
      await writeFile(join(root, 'package.json'), JSON.stringify({ type: 'module', engines: { node: '>=99.1.0' } }))
      if (installed !== undefined) {
        const bin = join(root, 'node_modules', 'node', 'bin')
        await mkdir(bin, { recursive: true })
        await writeFile(join(root, 'node_modules', 'node', 'package.json'), '{}')
        await writeFile(join(bin, 'node'), installed)
        await chmod(join(bin, 'node'), 0o755)
      }
      return join(root, 'bin', 'serve.js')
    }

    it('says what to do where none is installed', async () => {
      const command = new Running([await demanding()])
      assert.equal((await command.ended).code, 1)
      assert.match(command.stderr, /^mikro-rest: Node 99\.1\.0 or newer is needed and this is \S+: update Node, or .*\n$/)
    })

    it('says what to do in a repository whose packages are not installed', async () => {
      const script = await demanding()
      await mkdir(join(script, '..', '..', 'lib', 'doors', 'cli'), { recursive: true })
      await writeFile(join(script, '..', '..', 'lib', 'doors', 'cli', 'main.ts'), `import 'no-such-package'`)
      const tooOld = new Running([script])
      assert.equal((await tooOld.ended).code, 1)
      assert.match(tooOld.stderr, /^mikro-rest: Node .* is needed.*npm ci.*\n$/)
      await writeFile(join(script, '..', '..', 'package.json'), JSON.stringify({ type: 'module', engines: { node: '>=16.0.0' } }))
      const lacking = new Running([script])
      assert.equal((await lacking.ended).code, 1)
      assert.match(lacking.stderr, /^mikro-rest: the packages are not installed: run "npm ci" first\.\n$/)
    })

    it('says so too where the installed one is too old', { skip: noShell() }, async () => {
      const command = new Running([await demanding(`#!/bin/sh\nexec "${process.execPath}" "$@"\n`)])
      assert.equal((await command.ended).code, 1)
      assert.match(command.stderr, /^mikro-rest: Node 99\.1\.0 or newer is needed.*\n$/)
    })

    it('passes arguments, output, exit code and signals through', { skip: noShell() }, async () => {
      const echo = new Running([await demanding('#!/bin/sh\nshift\necho "$@"\necho fault >&2\nexit 7\n'), 'a b', '--quiet'])
      assert.equal((await echo.ended).code, 7)
      assert.deepEqual([echo.stdout, echo.stderr], ['a b --quiet\n', 'fault\n'])
      const script = await demanding(
        `#!/bin/sh\nexec "${process.execPath}" -e "process.on('SIGTERM', () => process.exit(5)); ` +
          `setInterval(() => {}, 1000); console.log('ready')"\n`,
      )
      const listening = new Running([script])
      await listening.printed(/ready/)
      listening.child.kill('SIGTERM')
      assert.deepEqual(await listening.ended, { code: 5, signal: null })
      const dying = new Running([await demanding('#!/bin/sh\nkill -9 $$\n')])
      assert.deepEqual(await dying.ended, { code: null, signal: 'SIGKILL' })
    })
  })
})

function noShell(): string | false {
  return process.platform === 'win32' ? 'needs a POSIX shell' : false
}

/** A Node on this machine that is older than the package asks for: `npm` puts the installed one before it on the PATH. */
function oldNode(): string | undefined {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    if (directory.includes('node_modules')) continue
    const file = join(directory, process.platform === 'win32' ? 'node.exe' : 'node')
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
    if (major !== undefined && (Number(major) < 22 || (major === '22' && Number(minor) < 17))) return file
  }
  return undefined
}
