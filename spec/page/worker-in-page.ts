/** The page of `worker.spec.ts`, without an engine of its own. */
import { connect, type ConnectedEngine } from '../../lib/doors/page/ask-port.ts'

type WorkerEnd = Parameters<typeof connect>[0]
declare const SharedWorker: new (address: string, options: { readonly type: 'module' }) => { readonly port: WorkerEnd }
declare const Worker: new (address: string, options: { readonly type: 'module' }) => WorkerEnd

/** What `work` throws. */
async function failure(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'nothing'
  } catch (error) {
    return String(error)
  }
}

/** The time of work, and the longest time without a turn of a timer meanwhile. */
async function measurePauses(work: () => Promise<unknown>): Promise<{ whole: number; longest: number }> {
  const begun = performance.now()
  let [longest, last] = [0, begun]
  const note = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  const timer = setInterval(note, 5)
  await work()
  clearInterval(timer)
  note()
  return { whole: performance.now() - begun, longest }
}

const inPage = {
  connect,
  start: (address: string): WorkerEnd => new Worker(address, { type: 'module' }),
  startShared: (address: string): WorkerEnd => new SharedWorker(address, { type: 'module' }).port,
  failure,
  measurePauses,
  worker: undefined as WorkerEnd | undefined,
  engine: undefined as ConnectedEngine | undefined,
}

export type InPage = typeof inPage

Object.assign(globalThis, { inPage, ready: true })
