/** Observers: who watches the statements and the rows of a database: the traces of requests, and the recorder of changed rows. */
import type { Trace, Traces } from '../../foundation/base/trace.ts'
import type { Recorder } from './recorder.ts'

export class Observers {
  traces: Traces | undefined
  recorder: Recorder | undefined

  /** The trace of the request that the caller runs in, if it has one. */
  get trace(): Trace | undefined {
    return this.traces?.current
  }
}
