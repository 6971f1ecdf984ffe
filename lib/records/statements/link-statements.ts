/** Binds keys for statements on links, and runs the statements. */
import { wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { keyFromText, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { Statement } from '../database/dialect.ts'
import type { Connection, RowsWritten } from '../database/connection.ts'
import { bindKey } from './row-shape.ts'

export class LinkStatements {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** For keys with a single part. */
  toParameter(key: KeyValues, resource: Resource): unknown {
    return bindKey(key, resource, resource.readStored()!, this.#connection)[0]
  }

  encodeKeys(keys: readonly KeyValues[], target: Resource): unknown {
    const distinct = new Set(keys.map(key => this.toParameter(key, target)))
    return this.#connection.dialect.encodeList([...distinct], target.key[0]!.type)
  }

  *read(statement: Statement, parameters: readonly unknown[]): Coroutine<readonly unknown[]> {
    const rows = yield* wait(
      this.#connection.read(function* () {
        const [found] = yield [{ statement, parameters }]
        return found!
      }),
    )
    return rows.map(([value]) => value)
  }

  run(statement: Statement, parameters: readonly unknown[]): Awaitable<RowsWritten> {
    return this.#connection.run(statement, parameters)
  }
}

/** In an existing file, a key of another type stays a text. */
export function toKeys(texts: readonly unknown[], target: Resource): readonly KeyValues[] {
  return texts.map(text => keyFromText(String(text), target) ?? [String(text)])
}
