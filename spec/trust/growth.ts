/** Checks that heap and handles of a server do not grow over many requests, also when each has another shape. */
import { readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import library from '../../fixtures/library/index.ts'
import { RestEngine, createServer } from '../../lib/index.ts'
import { librarySeed } from '../helpers/library-seed.ts'
import { pick, random } from './tally.ts'
import type { Check, Counter, Plan } from './tally.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heap(): number {
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

function handles(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return process.getActiveResourcesInfo().length
  }
}

/** Allowed variation: heap in MiB, and file descriptors. */
const SLACK = 24
const FEW = 5

async function run(counter: Counter, { seed, scale }: Plan): Promise<void> {
  const next = random(seed)
  const engine = await RestEngine.create({ ...library, seed: librarySeed })
  const server = createServer(engine)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (index: number): Promise<void> => {
    const text = String(Math.floor(next() * 1e9))
    const sort = Array.from({ length: 1 + Math.floor(next() * 6) }, () =>
      pick(next, ['name', 'mentor.name', 'books', 'id.desc', 'pupils', 'books.title']),
    ).join()
    if (index % 10 === 0) await fetch(`${origin}/v1/authors?sort=${sort}&name!=${text}`).then(response => response.arrayBuffer())
    else if (index % 10 === 1) await engine.handle('POST', '/v1/authors', { depth: 0 }, { name: text, born: null })
    else await engine.handle('GET', `/v1/authors?limit=3&sort=${sort}&!name=${text},a*${text}`)
    if (index % 50 === 0) await nextTurn()
  }
  const count = Math.max(400, Math.round(10_000 * scale))
  // The journal and the caches fill first; what they take in a short run is less than what may vary.
  for (let index = 0; index < Math.max(400, count / 4); index++) await ask(index)
  const before = { heap: heap(), handles: handles() }
  for (let index = 0; index < count; index++) {
    await ask(index)
    counter.tried++
  }
  const after = { heap: heap(), handles: handles() }
  const grown = after.heap - before.heap
  if (grown > SLACK) counter.fail(`The heap has grown by ${grown.toFixed(1)} MiB.`)
  if (after.handles > before.handles + FEW) counter.fail(`There are ${after.handles} handles, ${before.handles} before.`)
  counter.note = `heap ${before.heap.toFixed(1)} to ${after.heap.toFixed(1)} MiB, handles ${before.handles} to ${after.handles}`
  await new Promise(resolve => {
    server.close(resolve)
    server.closeAllConnections()
  })
  await engine.close()
}

export const growth: Check = { name: 'heap and handles stay flat', what: 'requests', run }
