/** Observers: who watches the statements and the rows of a database: the traces of requests, and the recorder of changed rows. */
import { Traces } from '../../foundation/base/trace.ts'
import type { Recorder } from './recorder.ts'

export class Observers {
  traces = new Traces()
  recorder: Recorder | undefined
}
