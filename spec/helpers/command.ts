/** Runs the command line as a process: starts it, reads its output, and ends it with the spec. */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The command from the sources. */
export const SOURCE_COMMAND = join(ROOT, 'bin', 'serve.js')
/** The command: that which the run has built of the sources, as it is published, since it starts in a third of the time. */
export const COMMAND = process.env['SPEC_COMMAND'] ?? SOURCE_COMMAND
/** What processes of specs import as `mikro-rest`: the URL of the library that belongs to the command. */
export const LIBRARY = pathToFileURL(
  COMMAND === SOURCE_COMMAND ? join(ROOT, 'lib/index.ts') : join(dirname(COMMAND), '../dist/lib/index.js'),
).href

/** Copies the library into a folder, where it finds other packages than here. Returns what a module in that folder imports. */
export async function copyLibrary(folder: string): Promise<string> {
  const [from, part, entry] =
    COMMAND === SOURCE_COMMAND ? [ROOT, 'lib', './lib/index.ts'] : [join(dirname(COMMAND), '..'), 'dist', './dist/lib/index.js']
  await cp(join(from, part), join(folder, part), { recursive: true })
  return entry
}
/** Installs the library into a folder as `mikro-rest`: as it is published, where a run has built it. */
export async function installLibrary(folder: string): Promise<void> {
  const installed = join(folder, 'node_modules', 'mikro-rest')
  if (COMMAND !== SOURCE_COMMAND) {
    await mkdir(dirname(installed), { recursive: true })
    return symlink(join(dirname(COMMAND), '..'), installed, 'junction')
  }
  await mkdir(installed, { recursive: true })
  await writeFile(join(installed, 'package.json'), JSON.stringify({ type: 'module', exports: { '.': './index.js', './*': './*.js' } }))
  await writeFile(join(installed, 'index.js'), `export * from ${JSON.stringify(LIBRARY)}\n`)
  const runner = pathToFileURL(join(ROOT, 'lib/doors/runners/node-test.ts')).href
  await writeFile(join(installed, 'node-test.js'), `export * from ${JSON.stringify(runner)}\n`)
}
// Colours are for terminals, and the environment of the specs may force them.
const { FORCE_COLOR: _, ...ENV } = process.env

/** What a run of the command has ended with. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs command lines that end by themselves, in one process, which loads MikroORM once: most of a run is that. The first refusal or answer
 * of each way has a process of its own elsewhere.
 */
export function runAll(folder: string, lines: readonly (readonly string[])[]): Ended[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, argumentsOfAll(lines), { cwd: folder, env: ENV, encoding: 'utf8' })
  if (status !== 0) throw new Error(`The process of ${lines.length} command lines has ended with ${status}: ${stderr}`)
  return JSON.parse(stdout) as Ended[]
}

/** What Node is given to run such command lines. */
export function argumentsOfAll(lines: readonly (readonly string[])[], script = 'command-lines.ts'): string[] {
  const isSource = COMMAND === SOURCE_COMMAND
  const main = isSource ? join(ROOT, 'lib/doors/cli/main.ts') : join(dirname(COMMAND), '../dist/lib/doors/cli/main.js')
  const args = ['--import', pathToFileURL(join(dirname(COMMAND), 'quick-start.js')).href, join(ROOT, 'spec/helpers', script)]
  return [...args, pathToFileURL(main).href, JSON.stringify(lines)]
}

/** One run of the command. */
export class Command implements AsyncDisposable {
  /** What Node runs, before the arguments. */
  protected static script: readonly string[] = [COMMAND]
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>

  constructor(folder: string, ...args: string[]) {
    this.child = spawn(process.execPath, [...new.target.script, ...args], {
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
    for (let waited = 0; waited < 120_000; waited += 20) {
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

/** Command lines that serve beside each other in one process, which loads MikroORM once. */
export class ServedLines extends Command {
  protected static override script = []

  constructor(folder: string, lines: readonly (readonly string[])[]) {
    super(folder, ...argumentsOfAll(lines, 'serve-lines.ts'))
  }

  /** Returns what each line has printed once it listens, in their order. */
  async printed(): Promise<string[]> {
    return this.until('the addresses', () => {
      if (this.child.exitCode !== null) throw new Error(`The process has ended: ${this.stderr}`)
      return this.stdout.endsWith('\n') && (JSON.parse(this.stdout) as string[])
    })
  }

  /** Returns the addresses, in the order of the lines. */
  async origins(): Promise<string[]> {
    return (await this.printed()).map(printed => / at (http:\S+)\n/.exec(printed)![1]!)
  }
}

/** One run of the command from the sources: for models that import the library from there, too. */
export class SourceCommand extends Command {
  protected static override script = [SOURCE_COMMAND]
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
