/** Runs the command line as a process: starts it, reads its output, and ends it with the spec. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
// Colours are for terminals, and the environment of the specs may force them.
const { FORCE_COLOR: _, ...ENV } = process.env

/** One run of the command. */
export class Command implements AsyncDisposable {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>

  constructor(folder: string, ...args: string[]) {
    this.child = spawn(process.execPath, [join(ROOT, 'bin', 'serve.js'), ...args], {
      cwd: folder,
      env: ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', chunk => (this.stdout += String(chunk)))
    this.child.stderr?.on('data', chunk => (this.stderr += String(chunk)))
    this.ended = new Promise(resolve => {
      this.child.once('close', (code, signal) => resolve({ code, signal }))
    })
  }

  /** Waits until the test gives a value, and returns it. */
  async until<T>(what: string, test: () => T | undefined | false | null | Promise<T | undefined | false | null>): Promise<T> {
    for (let waited = 0; waited < 20_000; waited += 20) {
      const found = await test()
      if (found !== undefined && found !== false && found !== null) return found
      await wait(20)
    }
    throw new Error(`${what}: waited in vain. ${this.stdout}${this.stderr}`)
  }

  /** Returns the address once the command listens. `nth` counts its starts under --watch. */
  async origin(nth = 1): Promise<string> {
    return this.until('the address', () => {
      if (this.child.exitCode !== null) throw new Error(`The command has ended: ${this.stderr}`)
      return [...this.stdout.matchAll(/ at (http:\S+)\n[^]*?Try:\n(?: .*\n)*\n/g)][nth - 1]?.[1]
    })
  }

  /** Ends the command as a user would, and returns its exit code. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM')
    return (await this.ended).code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    // Under --watch a child process would outlive a SIGKILL.
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5000)
    await this.ended
    clearTimeout(timer)
  }
}

/** Sends a request with a JSON body, and returns status and body of the answer. */
export async function send(
  origin: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, never> }> {
  const response = await fetch(origin + path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}
