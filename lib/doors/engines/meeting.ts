/**
 * Meeting: how the processes of a test run come to one list. Who gets the port is the host, the others are its guests. When the host ends,
 * one of the guests takes the port, and the others go to that one.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Guest } from './guest.ts'
import { Host } from './host.ts'
import type { ProcessState, Wish } from './state.ts'

/** What a meeting knows of its own process. */
export interface OwnProcess {
  readonly state: ProcessState
  open(id: string): Promise<string | undefined>
  letGo(id: string): void
  /** Says something to who runs the tests. */
  say(sentence: string): void
}

/** Milliseconds before the port is tried again. */
const AGAIN = 50
/** Milliseconds after which the state is told again, where it has changed: requests are counted so, which tell nobody of themselves. */
const BEAT = 300

export class Meeting {
  readonly #port: number
  readonly #own: OwnProcess
  #guest: Guest | undefined
  #told = ''

  constructor(port: number, own: OwnProcess) {
    this.#port = port
    this.#own = own
    setInterval(() => this.tell(), BEAT).unref()
  }

  /** Takes part from now on. Nothing that goes wrong fails a test. */
  async begin(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        await Host.listen(this.#port, this.#own)
        if (isFirst) this.#own.say(`The engines of these tests are shown at http://127.0.0.1:${this.#port}/`)
        return
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'EADDRINUSE') return this.#giveUp(message)
      }
      this.#told = ''
      this.#guest = new Guest(
        this.#port,
        () => this.#own.state,
        wish => this.#grant(wish),
      )
      if ((await this.#guest.end) === 'other') return this.#giveUp('something else has the port')
      await wait(AGAIN, undefined, { ref: false })
    }
  }

  #giveUp(reason: string): void {
    this.#guest = undefined
    this.#own.say(
      `The engines of this process are not shown: ${reason}. MIKRO_REST_WORKBENCH names the port ${this.#port}: choose another one.`,
    )
  }

  #grant({ wish, id }: Wish): void {
    // Where it cannot be opened, the host says so to who has asked.
    if (wish === 'open') void this.#own.open(id).catch(() => {})
    else this.#own.letGo(id)
  }

  /** Tells the host of the engines, where something has changed. */
  tell(): void {
    if (this.#guest === undefined) return
    const { state } = this.#own
    const text = JSON.stringify(state)
    if (text === this.#told) return
    this.#told = text
    this.#guest.tell(state)
  }
}
