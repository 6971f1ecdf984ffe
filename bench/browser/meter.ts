/** Meter: measures the contender that the page holds, by the clock of the page. */
import { ask, type Operation } from './orders.ts'

export interface Meter {
  /** Milliseconds from the begin of the page to the first answer. */
  readonly start: number
  /** The answer to each question, asked once, with the list before and after a reset. */
  answers(operations: readonly Operation[]): Promise<unknown[]>
  /** Milliseconds of one call: the mean of as many as fit into the time, with a write before each reset. */
  time(operation: Operation | 'reset', milliseconds: number): Promise<number>
}

/** Makes the page ready to be measured. */
export async function offer(reset: () => unknown): Promise<void> {
  await ask('list of 100', 0)
  const start = performance.now()
  let calls = 0
  const meter: Meter = {
    start,
    async answers(operations) {
      const answers: unknown[] = []
      for (const operation of operations) answers.push(await ask(operation, 0))
      // The update before shows in the record, and no longer behind the reset.
      answers.push(await ask('one record', 0))
      await reset()
      answers.push(await ask('one record', 0), await ask('create', 0))
      await reset()
      return answers
    },
    async time(operation, milliseconds) {
      const begun = performance.now()
      let [all, done] = [0, 0]
      for (; performance.now() - begun < milliseconds; done++) {
        // A reset has something to undo.
        if (operation === 'reset') await ask('create', calls++)
        const before = performance.now()
        await (operation === 'reset' ? reset() : ask(operation, calls++))
        all += performance.now() - before
      }
      return all / done
    },
  }
  Object.assign(globalThis, { meter })
}
