/** Faked date: another `Date` in the place of JavaScript's own, as fake timers of test runners put it there. */
import { mock } from 'node:test'

/** The ways to fake it, each with what puts the real one back. */
export const FAKES: Readonly<Record<string, (time: number) => () => void>> = {
  'a class in its place': time => {
    const real = globalThis.Date
    globalThis.Date = class extends real {
      constructor(...values: readonly number[]) {
        super(...((values.length === 0 ? [time] : values) as [number]))
      }
      static override now(): number {
        return time
      }
    } as DateConstructor
    return () => (globalThis.Date = real)
  },
  'the timers of node:test': now => {
    mock.timers.enable({ apis: ['Date'], now })
    return () => mock.timers.reset()
  },
}

/** Runs some work while the date is faked. */
export async function whileFaked<T>(fake: (time: number) => () => void, date: string, work: () => Promise<T>): Promise<T> {
  const putBack = fake(Date.parse(date))
  try {
    return await work()
  } finally {
    putBack()
  }
}
