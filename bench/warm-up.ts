/** Warm-up: work is repeated until it does not get faster. V8 compiles what runs often, in several steps, some of which come late. */
import { paced } from './pace.ts'

export interface WarmUp {
  /** Calls at least, and at most. */
  readonly calls: number
  readonly most: number
  /** Calls that are timed together. */
  readonly batch: number
}

/** Milliseconds of the processor, at most. */
const MOST = 4000
const WINDOW = 150
/** As many windows as this are compared with as many before them. They may differ by a part. */
const WINDOWS = 3
const DIFFERENCE = 0.04

/** Whether the last windows take as long as those before them. */
export function agree(windows: readonly number[]): boolean {
  if (windows.length < WINDOWS * 2) return false
  const sum = (part: readonly number[]): number => part.reduce((all, each) => all + each, 0)
  const [before, after] = [sum(windows.slice(-WINDOWS * 2, -WINDOWS)), sum(windows.slice(-WINDOWS))]
  return Math.abs(after / before - 1) <= DIFFERENCE
}

/** Calls `run` with a number of calls, again and again. */
export async function warmUp({ calls, most, batch }: WarmUp, run: (calls: number) => Promise<unknown>): Promise<void> {
  let [done, milliseconds] = [0, 0]
  const windows: number[] = []
  while (done + batch <= most && milliseconds < MOST) {
    // In units of the pace, which may change from batch to batch.
    let [cost, asked, inWindow] = [0, 0, 0]
    while (inWindow < WINDOW && done + batch <= most) {
      const sample = await paced(() => run(batch))
      cost += sample.microseconds / sample.pace
      inWindow += sample.microseconds / 1000
      asked += batch
      done += batch
    }
    milliseconds += inWindow
    windows.push(cost / asked)
    if (done >= calls && agree(windows)) return
  }
}
