/** Loads the code of writes with the first write. An engine for reading loads none. */
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import type { Writer } from './writer.ts'

const loadCode = () => import('./preparing-writer.ts')

type WriterCode = Awaited<ReturnType<typeof loadCode>>

/** For all engines. */
let code: WriterCode | undefined

export class WriterLoader {
  writer: Writer | undefined
  readonly #make: (code: WriterCode) => Writer

  constructor(make: (code: WriterCode) => Writer) {
    this.#make = make
  }

  /** Sets the writer, at once where the code is loaded. After a failure, the next write loads again. */
  load(): Awaitable<void> {
    if (code === undefined)
      return chain(loadCode(), loaded => {
        code = loaded
        return this.load()
      })
    this.writer ??= this.#make(code)
  }
}

/** For operations: the pipeline has loaded the writer before. */
export interface LoadedWriter {
  readonly writer: Writer
}
