/** A running peer: a server in a process of its own, with its own data. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { requestsPerSecond, textOf } from '../load.ts'
import { TABLES, rowsOf } from '../seed.ts'
import { PEERS_SIZE, requestOf } from './peers.ts'
import type { OperationName, Peer } from './peers.ts'

export const CONNECTIONS = 4

/** Milliseconds. A server is warm when it has answered enough requests for its code to be compiled, or has had enough time for that. */
const WARM_UP = 500
const WARM_CALLS = 3000
const WARM_UP_MOST = 2500
const TIMED = 1000
/** How long a server may take until it answers. */
const PATIENCE = 30_000

export interface Sample {
  /** Requests. */
  readonly perSecond: number
  /** Of the processor, for one request. */
  readonly microseconds: number
}

/** Writes the rows of all peers into a folder. */
export function fill(folder: string): void {
  const db = new Database(join(folder, 'rows.sqlite'))
  for (const statement of [...TABLES, ...rowsOf(PEERS_SIZE)]) db.exec(statement)
  const users = db.prepare<[], { active: number }>('select * from user').all()
  const sites = db.prepare('select id, url, user_id as userId from site').all()
  const content = { users: users.map(user => ({ ...user, active: user.active === 1 })), sites }
  writeFileSync(join(folder, 'rows.json'), JSON.stringify(content, undefined, 2))
  // Which json-server serves, and 1.0 does not start without.
  mkdirSync(join(folder, 'public'))
  db.pragma('journal_mode = wal')
  db.close()
}

/** The file with the rows in the form that a peer has them in: a fresh one for every start. */
function dataFor(peer: Peer, folder: string): string {
  const file = join(folder, `data.${peer.data}`)
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
  copyFileSync(join(folder, `rows.${peer.data}`), file)
  return file
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export class Running {
  readonly peer: Peer
  readonly #port: number
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  /** Of each operation, how many calls there were: no site can be deleted twice. */
  readonly #calls = new Map<OperationName, number>()

  private constructor(peer: Peer, port: number, child: ChildProcess) {
    this.peer = peer
    this.#port = port
    this.#child = child
    this.#exited = once(child, 'exit')
  }

  /**
   * @param file that which starts it
   * @param folder that of `fill`
   * @throws Error when it does not answer.
   */
  static async start(peer: Peer, file: string, folder: string): Promise<Running> {
    const port = await findFreePort()
    const data = dataFor(peer, folder)
    const words = peer.words?.(port, data) ?? [String(port), data]
    const loader = process.features.typescript || !file.endsWith('.ts') ? [] : ['--import', 'tsx']
    const execArgv = ['--no-warnings', ...loader, '--import', new URL('meter.js', import.meta.url).href]
    const env = { ...process.env, NODE_ENV: 'production' }
    const child = fork(file, words, { cwd: folder, execArgv, env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    const running = new Running(peer, port, child)
    let complaints = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk.toString()).slice(-2000)
    })
    try {
      await running.#ready()
    } catch (error) {
      await running.stop()
      throw new Error(`${(error as Error).message} ${complaints}`.trim(), { cause: error })
    }
    return running
  }

  async #ready(): Promise<void> {
    const until = performance.now() + PATIENCE
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`it has ended with exit code ${this.#child.exitCode}.`)
      try {
        await this.ask('list of 100', 0)
        return
      } catch (error) {
        if (performance.now() > until) throw new Error('it does not answer.', { cause: error })
        await sleep(50)
      }
    }
  }

  send(operation: OperationName, call: number): Promise<Response> {
    const { method, target, body } = requestOf(this.peer, operation, call)!
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return fetch(`http://127.0.0.1:${this.#port}${target}`, { method, ...sent })
  }

  /**
   * The value that one call is answered with; undefined when there is none.
   *
   * @throws Error when it is not a success.
   */
  async ask(operation: OperationName, call: number): Promise<unknown> {
    const response = await this.send(operation, call)
    const text = await response.text()
    if (!response.ok) throw new Error(`${operation}: ${response.status}: ${text.slice(0, 300)}`)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }

  /** The same for the next call of an operation. */
  next(operation: OperationName): Promise<unknown> {
    return this.ask(operation, this.#nextCall(operation))
  }

  #nextCall(operation: OperationName): number {
    const call = this.#calls.get(operation) ?? 0
    this.#calls.set(operation, call + 1)
    return call
  }

  async time(operation: OperationName): Promise<Sample> {
    const load = (milliseconds: number): Promise<number> =>
      requestsPerSecond({
        port: this.#port,
        next: () => {
          const request = requestOf(this.peer, operation, this.#nextCall(operation))
          return request === undefined ? undefined : textOf(request)
        },
        connections: CONNECTIONS,
        milliseconds,
      })
    const [began, spent] = [performance.now(), await this.#spent()]
    await this.next(operation)
    const alone = performance.now() - began
    // Who takes that long is not waited for again and again.
    if (alone > TIMED) return { perSecond: 1000 / alone, microseconds: (await this.#spent()) - spent }
    const begin = performance.now()
    let warm = 0
    do warm += ((await load(WARM_UP)) * WARM_UP) / 1000
    while (warm < WARM_CALLS && performance.now() - begin < WARM_UP_MOST)
    const before = await this.#spent()
    const started = performance.now()
    const perSecond = await load(TIMED)
    const answered = (perSecond * (performance.now() - started)) / 1000
    return { perSecond, microseconds: ((await this.#spent()) - before) / answered }
  }

  /** Microseconds of the processor since its start. */
  async #spent(): Promise<number> {
    const answer = once(this.#child, 'message')
    this.#child.send('spent')
    const [microseconds] = (await answer) as [number]
    return microseconds
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill()
    await this.#exited
  }
}
