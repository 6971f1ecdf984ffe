/** Processes that answer the calls of a trial beside each other. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ContenderName } from './contenders.ts'
import type { PostgresTrial } from './trials.ts'

export const PROCESS = fileURLToPath(new URL('process.ts', import.meta.url))

/** A Node that reads TypeScript by itself starts faster without a loader. */
const loader = process.features.typescript ? [] : ['--import', import.meta.resolve('tsx')]

/** Processes of one contender. */
export class Processes implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]
  readonly #lines: readonly AsyncIterator<string>[]

  constructor(name: ContenderName, url: string, count: number) {
    this.#children = Array.from({ length: count }, () =>
      spawn(process.execPath, [...loader, PROCESS, 'answer', name, url], { stdio: ['pipe', 'pipe', 'inherit'] }),
    )
    this.#lines = this.#children.map(child => createInterface(child.stdout!)[Symbol.asyncIterator]())
  }

  /**
   * Calls a second that as many of the processes answer together.
   *
   * @throws Error when one has ended.
   */
  async answer(trial: PostgresTrial, count: number, milliseconds: number): Promise<number> {
    const answered = this.#children.slice(0, count).map(async (child, index) => {
      child.stdin!.write(`${trial.name}\t${milliseconds}\n`)
      const { done, value } = await this.#lines[index]!.next()
      if (done === true) throw new Error(`A process that answers "${trial.name}" has ended.`)
      return Number(value)
    })
    const calls = (await Promise.all(answered)).reduce((sum, each) => sum + each, 0)
    return (calls / milliseconds) * 1000
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#children.filter(child => child.exitCode === null).map(child => once(child, 'close'))
    for (const child of this.#children) child.stdin!.end()
    await Promise.all(ended)
  }
}
