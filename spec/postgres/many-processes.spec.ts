/**
 * Several processes on one PostgreSQL database, behind a round-robin: what one of them has answered holds for all, also when one is killed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { hashPassword } from '../../lib/index.ts'
import { LIBRARY } from '../helpers/command.ts'
import { findNoServer, ownSchema } from './server-database.ts'

const SCRIPT = fileURLToPath(new URL('served-process.ts', import.meta.url))
const PROCESSES = 3
const CLIENTS = 60
const PASSWORD = 'correct horse'

interface Answer {
  readonly status: number
  readonly etag: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** A process that serves the database. */
class Served {
  readonly child: ChildProcess
  readonly port: Promise<string>

  constructor(database: object) {
    this.child = spawn(process.execPath, ['--no-warnings', SCRIPT], {
      env: { ...process.env, LIBRARY, DATABASE: JSON.stringify(database) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.port = once(this.child.stdout!, 'data').then(([text]) => String(text).trim())
  }

  async kill(): Promise<void> {
    const ended = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await ended
  }
}

describe('several processes on one database', { skip: await findNoServer() }, () => {
  const schema = ownSchema()
  const database = { ...schema.database, poolSize: 5 }
  const served: Served[] = []
  const agent = new Agent({ connections: 64 })
  let sent = 0

  /** Sends a request to one process; by default to the next one of the round. */
  async function send(
    method: string,
    path: string,
    { body, headers, to = sent++ }: { body?: unknown; headers?: Record<string, string>; to?: number } = {},
  ): Promise<Answer> {
    const port = await served[to % PROCESSES]!.port
    const response = await request(`http://127.0.0.1:${port}${path}`, {
      method: method as 'GET',
      dispatcher: agent,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const { etag } = response.headers
    return { status: response.statusCode, etag: String(etag), body: await response.body.json() }
  }

  /** Sends a request again where no connection was free for it: it has done nothing then. */
  async function sendUntilServed(...request: Parameters<typeof send>): Promise<Answer> {
    for (;;) {
      const answer = await send(...request)
      if (answer.status !== 503) return answer
    }
  }

  const allClients = <T>(work: (client: number) => Promise<T>, count = CLIENTS): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, client) => work(client)))

  const count = (answers: readonly { readonly status: number }[], status: number): number =>
    answers.filter(answer => answer.status === status).length

  before(async () => {
    // All begin at once, with a schema that is not there yet.
    for (let index = 0; index < PROCESSES; index++) served.push(new Served(database))
    await Promise.all(served.map(({ port }) => port))
    await schema.run('insert into "user" (email, password) values ($1, $2)', ['ann@example.test', await hashPassword(PASSWORD)])
  })
  after(async () => {
    await agent.close()
    for (const each of served) await each.kill()
    await schema[Symbol.asyncDispose]()
  })

  it('loses no update: of those who saw one version one has its way, and counters count all', async () => {
    const created = await allClients(client => sendUntilServed('POST', '/v1/accounts', { body: { name: `shared ${client}` } }), 40)
    assert.equal(count(created, 201), 40)
    const refused = new Map<number, number>()
    await allClients(async client => {
      const path = `/v1/accounts/${created[client % 40]!.body.account.id}`
      for (;;) {
        const { body, etag } = await sendUntilServed('GET', path)
        const changed = await send('PUT', path, { body: { amount: body.account.amount + 1 }, headers: { 'if-match': etag } })
        if (changed.status === 200) return
        assert.ok([412, 503].includes(changed.status), JSON.stringify(changed))
        refused.set(changed.status, (refused.get(changed.status) ?? 0) + 1)
      }
    })
    assert.ok(refused.get(412)! > 0, 'nobody has met another one')
    const hits = await allClients(client => sendUntilServed('POST', `/v1/hits/${created[client % 40]!.body.account.id}`))
    assert.equal(count(hits, 200), CLIENTS)
    const [sums] = await schema.run("select sum(amount)::int as amount, sum(hits)::int as hits from account where name like 'shared %'")
    assert.deepEqual(sums, { amount: CLIENTS, hits: CLIENTS })
  })

  it('keeps unique values unique: one is created, all others are refused', async () => {
    const answers = await allClients(client => sendUntilServed('POST', '/v1/accounts', { body: { name: `wanted ${client % 20}` } }))
    assert.deepEqual([count(answers, 201), count(answers, 409)], [20, CLIENTS - 20])
    const names = answers.filter(({ status }) => status === 201).map(({ body }) => body.account.name)
    assert.equal(new Set(names).size, 20)
  })

  it('ends a token everywhere at once', async () => {
    const credentials = { body: { email: 'ann@example.test', password: PASSWORD } }
    for (let round = 0; round < PROCESSES; round++) {
      const { body } = await send('POST', '/v1/login', { ...credentials, to: round })
      const headers = { authorization: `Bearer ${body.auth_token}` }
      const everywhere = (): Promise<Answer[]> => allClients(to => send('GET', '/v1/users', { headers, to }), PROCESSES)
      assert.equal(count(await everywhere(), 200), PROCESSES)
      assert.equal((await send('POST', '/v1/logout', { headers, to: round + 1 })).status, 200)
      const refused = await everywhere()
      assert.deepEqual(new Set(refused.map(answer => answer.body.code)), new Set(['token_revoked']))
    }
  })

  it('counts failed log-ins over all', async () => {
    const wrong = await allClients(() => send('POST', '/v1/login', { body: { email: 'bob@example.test', password: 'x' } }), 16)
    assert.deepEqual([count(wrong, 401), count(wrong, 429)], [5, 11])
    const credentials = { email: 'ann@example.test', password: PASSWORD }
    const right = await allClients(() => send('POST', '/v1/login', { body: credentials }), 8)
    assert.equal(count(right, 200), 8)
  })

  it('loses no write that was acknowledged when one is killed, which serves again when it is started again', async () => {
    const acknowledged: string[] = []
    let lost = 0
    const state = { isOver: false }
    const load = allClients(async client => {
      for (let turn = 0; !state.isOver; turn++) {
        const name = `kept ${client} ${turn}`
        try {
          const { status } = await send('POST', '/v1/accounts', { body: { name } })
          if (status === 201) acknowledged.push(name)
          else assert.equal(status, 503)
        } catch {
          lost++
          await sleep(20)
        }
      }
    }, 40)
    const more = async (count: number): Promise<void> => {
      for (const goal = acknowledged.length + count; acknowledged.length < goal;) await sleep(10)
    }
    await more(100)
    await served[1]!.kill()
    await more(50)
    const before = acknowledged.length
    served[1] = new Served(database)
    await served[1].port
    await more(50)
    state.isOver = true
    await load
    assert.ok(lost > 0 && before > 0 && acknowledged.length > before, `${lost} lost, ${before} before, ${acknowledged.length} in all`)
    const kept = new Set((await schema.run("select name from account where name like 'kept %'")).map(({ name }) => name as string))
    assert.deepEqual(
      acknowledged.filter(name => !kept.has(name)),
      [],
    )
    const [{ doubled } = {}] = await schema.run('select count(*) - count(distinct name) as doubled from account')
    assert.equal(Number(doubled), 0)
    assert.equal((await send('GET', '/v1/accounts?limit=1', { to: 1 })).status, 200)
  })
})
