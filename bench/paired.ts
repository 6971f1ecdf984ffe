/** Paired: measures variants of one piece of work in turns, in one process, so that a slower machine slows all of them. */
import { setImmediate as turn } from 'node:timers/promises'
import { inTurns } from './summary.ts'

/** Milliseconds of one piece of work. */
export async function milliseconds(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/**
 * Microseconds of the processor for one call, as the mean of a batch, garbage collection included: what else the machine does counts for
 * little. The calls are numbered from 0 on.
 */
export async function microseconds(batch: number, work: (call: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let call = 0; call < batch; call++) await work(call)
  const { user, system } = process.cpuUsage(before)
  // Nothing here waits for the network, and V8 frees what weak references name only between turns of the event loop.
  await turn()
  return (user + system) / batch
}

export interface Around {
  readonly rounds: number
  /** Before and after each round; not timed. */
  readonly before?: (() => unknown) | undefined
  readonly after?: (() => unknown) | undefined
}

/** One sample of each variant a round; every round begins with another one. */
export async function samplesOf<Name extends string>(
  variants: Readonly<Record<Name, () => Promise<number>>>,
  { rounds, before, after }: Around,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(variants) as Name[]
  const samples = Object.fromEntries(names.map(name => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round < rounds; round++) {
    await before?.()
    for (const name of inTurns(names, round)) samples[name].push(await variants[name]())
    await after?.()
  }
  return samples
}
