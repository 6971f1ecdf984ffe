/** Messages between a run of specs and its workers. */

/** From a worker: it wants a file. */
export const READY = 'ready'
/** To a worker: import this file. */
export const FILE = 'file'
/** To a worker: there are no more files. */
export const ENDED = 'ended'
/** From a worker: the results of a file. */
export const RESULTS = 'results'

/** What the run tells a worker. `isFiltered`: tests are chosen by name, so that none can stand for the end of the file. */
export type Order = { readonly type: typeof FILE; readonly file: string; readonly isFiltered: boolean } | { readonly type: typeof ENDED }

/** What a worker tells the run. The file is '' for what comes behind the last one, and for all of a filtered run. */
export type Message = { readonly type: typeof READY } | Results

export interface Results {
  readonly type: typeof RESULTS
  readonly file: string
  readonly counts: Counts
  readonly failures: readonly string[]
  readonly milliseconds: number
  /** Milliseconds of a processor: of the worker, and of the processes that the file has started. */
  readonly processor: number
}

/** The counts of a run, by the words of node's test runner. */
export interface Counts {
  tests: number
  suites: number
  pass: number
  fail: number
  cancelled: number
  skipped: number
  todo: number
}

export const noCounts = (): Counts => ({ tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 })
