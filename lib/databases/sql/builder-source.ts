/** Builder source: the text of the function that makes the record of a row, while it is generated. */
import type { Builder } from '../../records/database/dialect.ts'

/** A value of a record while its function is generated: an expression over the row `r` and the helpers `h`. */
export class BuilderSource {
  readonly helpers: unknown[] = []
  readonly #shared = new Map<string, string>()
  /** Where in a row stand texts of any length. */
  readonly long = new Set<number>()

  helper(value: unknown): string {
    return `h[${this.helpers.push(value) - 1}]`
  }

  /** Adds a helper that several values of a record use. */
  shared(name: string, make: () => unknown): string {
    const known = this.#shared.get(name) ?? this.helper(make())
    this.#shared.set(name, known)
    return known
  }

  /** Literals give every record the same hidden class, and cost nothing per key. Keys come from the model and are quoted. */
  object(entries: readonly (readonly [string, string])[]): string {
    return `{${entries.map(([key, value]) => `${key === '__proto__' ? `["__proto__"]` : JSON.stringify(key)}:${value}`).join(',')}}`
  }

  finish(expression: string): Builder {
    // eslint-disable-next-line typescript/no-implied-eval -- generated from the model alone, once per plan
    return (new Function('h', `"use strict";return r=>(${expression})`) as (helpers: unknown[]) => Builder)(this.helpers)
  }
}
