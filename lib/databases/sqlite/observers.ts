import type { Traces } from '../../foundation/async/trace.ts'
import type { Recorder } from './recorder.ts'

export class Observers {
  /** Undefined until a request is traced. */
  traces: Traces | undefined
  recorder: Recorder | undefined
}
