/** What helpers of specs ask of the process, in a page: seed and target of the run, and the time instead of a processor's. */
import { LeftOut } from './test.ts'

const usage = (before?: { readonly user: number }): { user: number; system: number } => ({
  user: performance.now() * 1000 - (before?.user ?? 0),
  system: 0,
})

export function standInForProcess(): void {
  const process = {
    env: { FC_SEED: 'usual', FC_SHRINK: '0', SPEC_TARGETS: 'memory', SPEC_CONFORMS: '0' },
    cpuUsage: usage,
    threadCpuUsage: usage,
    once: () => {},
    on: () => {
      throw new LeftOut('a page has no warnings of a process')
    },
  }
  Object.assign(globalThis, { process })
}
