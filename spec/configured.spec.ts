/**
 * The configured sample, served by the command in a process of its own: its documented requests as they stand in docs/customising.md, and every rule that it
 * is there to show.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { markedBlocks } from './helpers/markdown.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SHOWN = 'http://127.0.0.1:3001'
const START = 'node bin/serve.js --config fixtures/configured/index.ts --port 3001'

const page = await readFile(new URL('../docs/customising.md', import.meta.url), 'utf8')
const blocks = markedBlocks(page).filter(({ marker }) => marker.startsWith('run configured'))
const noCurl = spawnSync('curl', ['--version']).error === undefined ? false : 'there is no curl'

interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- specs read bodies freely
  readonly body: any
}

describe('the configured sample', () => {
  let server: ChildProcess
  let origin: string

  before(async () => {
    assert.ok(page.includes(START), 'the page says how to start it')
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env
    const args = START.replace('--port 3001', '--port 0').split(' ').slice(1)
    server = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
    origin = await new Promise((found, reject) => {
      let output = ''
      server.stdout!.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
        if (address !== undefined) found(address)
      })
      server.once('exit', code => reject(new Error(`bin/serve.js ended with ${code}: ${output}`)))
    })
  })
  after(async () => {
    if (server.exitCode !== null) return
    const ended = new Promise(resolve => server.once('exit', resolve))
    server.kill('SIGTERM')
    assert.equal(await ended, 0)
  })

  const tokens = new Map<string, string>()
  async function call(method: string, path: string, body?: unknown, as?: string): Promise<Answer> {
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as === undefined ? {} : { authorization: `Bearer ${await tokenOf(as)}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }
  async function tokenOf(email: string): Promise<string> {
    const known = tokens.get(email)
    if (known !== undefined) return known
    const { status, body } = await call('POST', '/v1/login', { email, password: 'sample' })
    assert.equal(status, 200, JSON.stringify(body))
    tokens.set(email, body.auth_token)
    return body.auth_token
  }

  const ADMIN = 'ann@example.com'
  const MANAGER = 'olafur.ivanova.3@example.com'
  const VIEWER = 'zoe.tanaka.4@example.net'

  it('shows the public what has been published, with its figures on demand', async () => {
    const { status, body } = await call('GET', '/v1/campaigns?quickstats&sort=quickstats.lifetime.clicks.asc&limit=1000')
    assert.deepEqual([status, body.sort, body.count], [200, 'quickstats.lifetime.clicks.asc', body.campaigns.length])
    const clicks: number[] = body.campaigns.map(
      (campaign: { quickstats: { lifetime: { clicks: number } } }) => campaign.quickstats.lifetime.clicks,
    )
    assert.deepEqual(
      clicks,
      clicks.toSorted((a, b) => a - b),
    )
    assert.ok(clicks.at(-1)! > 0)
    assert.ok(body.campaigns.every((campaign: { status: string }) => campaign.status !== 'draft'))
    assert.ok(body.campaigns.some((campaign: { quickstats: { today: { clicks: number } } }) => campaign.quickstats.today.clicks > 0))
    const { body: plain } = await call('GET', '/v1/campaigns?limit=1')
    assert.ok(!('quickstats' in plain.campaigns[0]))
    assert.equal((await call('GET', '/v1/campaigns?sort=quickstats.lifetime.clicks')).body.errors[0].code, 'flag_needed')
  })

  it('hides drafts from all but admins and those who look after their advertiser, in relations and counts too', async () => {
    const counts = await Promise.all(
      [undefined, VIEWER, MANAGER, ADMIN].map(
        async as => (await call('GET', '/v1/campaigns?status=draft', undefined, as)).body.count as number,
      ),
    )
    assert.equal(counts[0], 0)
    assert.ok(counts[3]! > 0 && counts[3]! >= counts[2]!, String(counts))
    const all = (await call('GET', '/v1/advertisers?limit=1000', undefined, ADMIN)).body.advertisers as { campaigns: number[] }[]
    const some = (await call('GET', '/v1/advertisers?limit=1000', undefined, VIEWER)).body.advertisers as { campaigns: number[] }[]
    const total = (list: { campaigns: number[] }[]): number => list.reduce((sum, { campaigns }) => sum + campaigns.length, 0)
    assert.equal(total(all) - total(some), counts[3]! - counts[1]!)
  })

  it('shows users each other’s addresses masked, and their own plain', async () => {
    const { body } = await call('GET', '/v1/users?limit=1000', undefined, VIEWER)
    for (const { id, email } of body.users) {
      if (id === 4) assert.equal(email, VIEWER)
      else assert.match(email, /^\*\*\*@/)
    }
    assert.equal((await call('GET', '/v1/users?email=ann*', undefined, ADMIN)).body.errors[0].code, 'not_filterable')
    assert.equal((await call('GET', '/v1/users/2', undefined, ADMIN)).body.user.email.startsWith('***'), false)
  })

  it('keeps balances and passwords to itself', async () => {
    for (const name of ['balance', 'password']) {
      const path = name === 'balance' ? '/v1/publishers' : '/v1/users'
      const [record] = (await call('GET', path, undefined, ADMIN)).body[path.slice(4)]
      assert.ok(!(name in record))
      assert.equal((await call('GET', `${path}?sort=${name}`, undefined, ADMIN)).body.errors[0].code, 'attribute_unknown')
    }
  })

  it('lets everybody do what his role may', async () => {
    const cases: [string, string, unknown, string | undefined, number][] = [
      ['GET', '/v1/users', undefined, undefined, 401],
      ['PUT', '/v1/users/4', { name: 'Zoe Tanaka' }, VIEWER, 200],
      ['PUT', '/v1/users/5', { name: 'Nobody' }, VIEWER, 403],
      ['PUT', '/v1/users/5', { name: 'Asa' }, ADMIN, 200],
      ['PUT', '/v1/campaigns/1', { name: 'Mine' }, VIEWER, 403],
      ['PUT', '/v1/campaigns/1', { name: 'Ours' }, MANAGER, 200],
      ['POST', '/v1/users', { name: 'New', email: 'new@example.com', password: 'new' }, MANAGER, 403],
      ['DELETE', '/v1/daily_statistics/1', undefined, ADMIN, 403],
      ['DELETE', '/v1/campaigns/1', undefined, ADMIN, 409],
    ]
    for (const [method, path, body, as, status] of cases) {
      assert.equal((await call(method, path, body, as)).status, status, `${method} ${path} as ${as}`)
    }
  })

  it('stores hashes of the passwords that it is sent', async () => {
    const created = await call('POST', '/v1/users', { name: 'New', email: 'new@example.com', password: 'first' }, ADMIN)
    assert.equal(created.status, 200, JSON.stringify(created.body))
    assert.equal((await call('POST', '/v1/login', { email: 'new@example.com', password: 'first' })).status, 200)
    await call('PUT', `/v1/users/${created.body.user.id}`, { password: 'second' }, ADMIN)
    assert.equal((await call('POST', '/v1/login', { email: 'new@example.com', password: 'first' })).status, 401)
    assert.equal((await call('POST', '/v1/login', { email: 'new@example.com', password: 'second' })).status, 200)
  })

  it('has an own route and an own parameter', async () => {
    assert.deepEqual((await call('GET', '/v3/users/me?attributes=id,email', undefined, VIEWER)).body.user, { id: 4, email: VIEWER })
    const { body } = await call('GET', '/v1/campaigns?q=sale&limit=1')
    assert.match(body.campaigns[0].name, /sale/i)
    assert.match(body.next, /q=sale/)
    const refused = await call('GET', '/v1/domains?q=x', undefined, ADMIN)
    assert.deepEqual([refused.status, refused.body.code], [400, 'not_searchable'])
  })

  it('has two versions that differ', async () => {
    const [campaign] = (await call('GET', '/v3/campaigns?limit=1')).body.campaigns
    assert.deepEqual(Object.keys(campaign.lifetime), ['clicks', 'impressions'])
    assert.ok(!('targeting' in campaign) && !('advertiser' in campaign))
    assert.equal((await call('GET', '/v3/campaigns?quickstats')).status, 400)
    assert.equal((await call('GET', '/v3/websites', undefined, ADMIN)).status, 200)
    for (const path of ['/v3/sites', '/v1/websites', '/v3/daily_statistics'])
      assert.equal((await call('GET', path, undefined, ADMIN)).status, 404)
  })

  describe('its requests in the guide', { skip: noCurl }, () => {
    it('are there', () => {
      assert.deepEqual(
        blocks.map(({ marker }) => marker),
        ['run configured', 'run configured 401'],
      )
      assert.equal(
        page.split(`${SHOWN}/`).length - 1,
        blocks.reduce((sum, { text }) => sum + text.split(`${SHOWN}/`).length - 1, 0),
      )
    })

    for (const { marker, text, line } of blocks) {
      it(`line ${line} on are answered as they say`, () => {
        // As written, but for the port; curl tells the status of each on standard error.
        const quiet = `curl() { command curl --silent --show-error --write-out '%{stderr}%{http_code}\\n' "$@"; }`
        const script = `set -e -o pipefail\n${quiet}\n${text.replaceAll(SHOWN, origin)}`
        const { status: code, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout: 60_000 })
        assert.equal(code, 0, stdout + stderr)
        const status = /\d+$/.exec(marker)?.[0] ?? '200'
        const requests = text.match(/\bcurl /g)?.length ?? 0
        assert.deepEqual(
          stderr.trim().split('\n'),
          Array.from({ length: requests }, () => status),
          stdout,
        )
        assert.ok(!stdout.includes('"count":0'), 'an example that finds nothing shows nothing')
      })
    }
  })
})
