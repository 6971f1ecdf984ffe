/** Listeners to the statements of a database: traces of requests, and the recorder of changed rows. */
import type { Traces } from '../../foundation/async/trace.ts'
import type { Recorder } from './recorder.ts'

export class Observers {
  /** Undefined until a request is traced. */
  traces: Traces | undefined
  recorder: Recorder | undefined
}
