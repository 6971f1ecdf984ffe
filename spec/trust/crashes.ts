/**
 * Kills a server on a file, or on a PostgreSQL database, with SIGKILL amid writes, and checks that every acknowledged write is complete
 * after the restart.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LIBRARY } from '../helpers/command.ts'
import { random } from './tally.ts'
import type { Check, Counter, Plan } from './tally.ts'

interface Served {
  readonly child: ChildProcess
  readonly origin: string
}

interface Note {
  readonly id: number
  readonly text: string
  readonly parts: readonly { readonly text: string }[]
}

const WRITERS = 4
/** Milliseconds after which no round begins, because starting a process takes long on a busy machine. */
const LONGEST = 90_000

async function start(database: string): Promise<Served> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('crash-server.ts', import.meta.url)), LIBRARY, database], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('The server has ended by itself.'))),
  ])) as [Buffer]
  return { child, origin: `http://127.0.0.1:${String(port).trim()}` }
}

async function kill({ child }: Served): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** Writes until the server is gone. Returns the acknowledged texts by ID. */
async function write(origin: string, name: string, acknowledged: Map<number, string>): Promise<void> {
  for (let turn = 0; ; turn++) {
    const text = `${name} ${turn}`
    const known = [...acknowledged].findLast(([, old]) => old.startsWith(`${name} `))
    // Every fourth write changes a record of the same writer.
    const changes = turn % 4 === 3 && known !== undefined
    try {
      const response = await fetch(`${origin}/v1/notes${changes ? `/${known[0]}` : ''}?depth=0`, {
        method: changes ? 'PUT' : 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text, parts: [{ text }, { text }] }),
      })
      const body = (await response.json()) as { note: { id: number } }
      if (response.status !== 200) throw new Error(`${response.status}`)
      acknowledged.set(body.note.id, text)
    } catch {
      return
    }
  }
}

async function rounds(counter: Counter, { seed, scale, place }: Plan): Promise<void> {
  await using own = await place()
  const next = random(seed)
  const acknowledged = new Map<number, string>()
  const count = Math.max(1, Math.round(40 * scale))
  const until = performance.now() + LONGEST
  let round = 0
  let server = await start(own.lasting)
  for (; round < count && performance.now() < until; round++) {
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(server.origin, `${round}.${writer}`, acknowledged))
    // On a machine that does much else the first answer takes its time.
    for (const before = acknowledged.size; acknowledged.size === before && performance.now() < until;) await wait(10)
    await wait(50 + next() * 300)
    await kill(server)
    await Promise.all(writers)
    server = await start(own.lasting)
  }
  const found = new Map<number, Note>()
  for (let offset = 0, more = true; more; offset += 1000) {
    const response = await fetch(`${server.origin}/v1/notes?expand=parts&limit=1000&offset=${offset}`)
    const body = (await response.json()) as { notes: Note[]; next: string | null }
    for (const note of body.notes) found.set(note.id, note)
    more = body.next !== null
  }
  await kill(server)
  for (const [id, text] of acknowledged) {
    const note = found.get(id)
    // A change after the last acknowledged one may be missing, but never partial.
    const writer = text.slice(0, text.indexOf(' ') + 1)
    counter.ok(note !== undefined && note.text.startsWith(writer), () => `${id} "${text}" is lost: ${JSON.stringify(note)}`)
  }
  for (const note of found.values())
    counter.ok(note.parts.length === 2 && note.parts.every(part => part.text === note.text), () => `half a write: ${JSON.stringify(note)}`)
  counter.note = `${round} times kill -9, ${acknowledged.size} acknowledged writes`
}

export const crashes: Check = { name: 'kill -9 amid writes', what: 'records', isOfServers: true, run: rounds }
