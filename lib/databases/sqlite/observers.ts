/** Observers: who watches the statements and the rows of a database: the traces of requests, and the recorder of changed rows. */
import type { Traces } from '../../foundation/work/trace.ts'
import type { Recorder } from './recorder.ts'

export class Observers {
  /** Those of the requests that run, once one has been traced. */
  traces: Traces | undefined
  recorder: Recorder | undefined
}
