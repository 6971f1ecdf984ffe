/**
 * Processor: the time that the processor has spent on the calls of a contender, in this process and in its sessions on the server. What
 * else the machine does counts for little in that. The times of sessions stand in `/proc`, so the server must be on the same machine, and
 * that a Linux.
 */
import { readFileSync } from 'node:fs'
import { Client } from 'pg'

export class Processor implements AsyncDisposable {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Processor> {
    const client = new Client({ connectionString: url })
    await client.connect()
    return new Processor(client)
  }

  /**
   * Microseconds of the processor that work takes, garbage collection included; undefined where the sessions of the contender are on
   * another machine.
   *
   * @param name what its sessions are called: see `named`
   */
  async measure(name: string, work: () => Promise<unknown>): Promise<number | undefined> {
    const before = await this.#ofSessions(name)
    const start = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(start)
    const after = await this.#ofSessions(name)
    return before === undefined || after === undefined ? undefined : user + system + after - before
  }

  async #ofSessions(name: string): Promise<number | undefined> {
    const { rows } = await this.#client.query<{ pid: number }>('select pid from pg_stat_activity where application_name = $1', [name])
    try {
      const times = rows.map(({ pid }) => {
        if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres'))
          throw new Error('It is a process of this machine, and the server is on another.')
        return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
      })
      return times.reduce((sum, time) => sum + time, 0)
    } catch {
      return undefined
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

/** The URL of a database for a contender whose sessions have a name. */
export function named(url: string, name: string): string {
  const own = new URL(url)
  own.searchParams.set('application_name', name)
  return own.href
}
