/** Builder source: generates the function that makes records from rows. */
import type { Builder } from '../../records/database/dialect.ts'

/** Collects the helpers `h`, and writes the source text of an expression over the row `r`. */
export class BuilderSource {
  readonly helpers: unknown[] = []
  readonly #shared = new Map<string, string>()
  /** Places in a row whose lengths add to the counted bytes of the answer. */
  readonly long = new Set<number>()

  helper(value: unknown): string {
    return `h[${this.helpers.push(value) - 1}]`
  }

  /** Adds a helper that several values share. */
  shared(name: string, make: () => unknown): string {
    const known = this.#shared.get(name) ?? this.helper(make())
    this.#shared.set(name, known)
    return known
  }

  /** An object literal gives every record the same hidden class. Keys come from the model. */
  object(entries: readonly (readonly [string, string])[]): string {
    return `{${entries.map(([key, value]) => `${key === '__proto__' ? `["__proto__"]` : JSON.stringify(key)}:${value}`).join(',')}}`
  }

  finish(expression: string): Builder {
    // eslint-disable-next-line typescript/no-implied-eval -- generated from the model alone, once per plan
    return (new Function('h', `"use strict";return r=>(${expression})`) as (helpers: unknown[]) => Builder)(this.helpers)
  }
}
