/** Processor time of this process and of those that it has started, as far as they have ended. */
import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever the clock of the kernel. */
const MILLISECONDS_A_TICK = 10

/** Returns milliseconds. Those of processes that were started are known on Linux alone. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + timeOfChildren()
}

function timeOfChildren(): number {
  if (process.platform !== 'linux') return 0
  const text = readFileSync('/proc/self/stat', 'utf8')
  // The name of the process, in parentheses, may hold anything: fields are counted behind it. cutime and cstime are the 16th and 17th of
  // all.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * MILLISECONDS_A_TICK
}
