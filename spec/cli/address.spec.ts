/** `--base` and `--no-version`: what the command serves, prints and ejects at another address. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Command, runAll, type Ended } from '../helpers/command.ts'

let folder: string

const REFUSED: readonly (readonly [string[], RegExp])[] = [
  [
    ['--base', 'api'],
    /--base: must be the path before the version, such as "\/api": "api" does not begin with "\/"\. Did you mean "\/api"\?/,
  ],
  [['--base', '/api/v1'], /"base".*ends with the version "v1"/],
  [['--no-version', '--api-version', 'v2'], /--no-version leaves the version out of paths: it does not go with --api-version/],
  [['--no-versions'], /Did you mean "--no-version"\?/],
]
const LINES = [
  ['db.json', '--base', '/api', '--api-version', 'v2', '--get', '/api/v2/users?limit=0'],
  ['db.json', '--base', '/api', '--get', '/v1/users'],
  ['db.json', '--base', '/api', '--no-version', '--eject', 'out'],
  ['db.json', '--base', '/api', '--no-version', '--openapi'],
  ...REFUSED.map(([args]) => ['db.json', '--get', '/', ...args]),
]

describe('the command at another address', () => {
  let answered: Ended
  let outside: Ended
  let ejected: Ended
  let described: Ended
  let refused: Ended[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
    await writeFile(join(folder, 'db.json'), JSON.stringify({ users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, userId: 1, title: 'x' }] }))
    ;[answered, outside, ejected, described, ...refused] = runAll(folder, LINES) as [Ended, Ended, Ended, Ended, ...Ended[]]
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('prints paths that work', async () => {
    await using command = new Command(folder, 'db.json', '--port', '0', '--base', '/api/', '--no-version', '--workbench')
    const origin = await command.origin()
    assert.match(command.stdout, /^ {2}\/api\/users$/m)
    const shown = [...command.stdout.matchAll(/curl '([^']+)'/g)].map(([, url = '']) => url)
    assert.ok(shown.length > 2)
    for (const url of shown) {
      assert.ok(url.startsWith(`${origin}/api/`), url)
      assert.equal((await fetch(url)).status, 200, url)
    }
    assert.ok(shown.includes(`${origin}/api/_test`))
    assert.equal((await fetch(`${origin}/users`)).status, 404)
    const index = (await (await fetch(`${origin}/api`)).json()) as { versions: string[]; resources: object }
    assert.deepEqual([index.versions, index.resources], [[], { users: '/api/users', posts: '/api/posts' }])
  })

  it('answers one request', () => {
    assert.deepEqual([answered.code, (JSON.parse(answered.stdout) as { count: number }).count], [0, 1])
    assert.equal(outside.code, 1)
  })

  it('ejects the address', async () => {
    assert.equal(ejected.code, 0)
    const options = await readFile(join(folder, 'out', 'index.ts'), 'utf8')
    assert.match(options, /base: '\/api',\s+versions: \[\],/)
    const document = JSON.parse(described.stdout) as { servers: [{ url: string }] }
    assert.equal(document.servers[0].url, '/api')
  })

  it('refuses what is no address', () => {
    assert.equal(refused.length, REFUSED.length)
    for (const [index, { code, stderr }] of refused.entries()) {
      assert.notEqual(code, 0)
      assert.match(stderr, REFUSED[index]![1])
    }
  })
})
