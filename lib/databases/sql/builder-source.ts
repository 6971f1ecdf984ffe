/**
 * Generates the function from rows to records, once for each plan: `r=>({"id":r[0],"name":h[0](r[1])})`. A page without `'unsafe-eval'`
 * gets closures.
 */
import { mayGenerateCode } from '../../foundation/base/generated-code.ts'
import type { Builder } from '../../records/database/dialect.ts'

/** A value of a row `r`: as source code, and as a closure. */
export interface RowValue {
  readonly source: string
  readonly of: Builder
}

export class BuilderSource {
  readonly #helpers: unknown[] = []
  readonly #shared = new Map<string, unknown>()
  /** Places in a row of texts of any length, for the size of the answer. */
  readonly long = new Set<number>()

  column(at: number): RowValue {
    return { source: `r[${at}]`, of: row => row[at] }
  }

  constant(value: unknown): RowValue {
    return { source: JSON.stringify(value), of: () => value }
  }

  call(helper: (...values: never[]) => unknown, ...values: readonly RowValue[]): RowValue {
    const run = helper as (...given: unknown[]) => unknown
    const known = this.#helpers.indexOf(helper)
    const at = known < 0 ? this.#helpers.push(helper) - 1 : known
    const [first] = values
    return {
      source: `h[${at}](${values.map(({ source }) => source).join(',')})`,
      of: values.length === 1 ? row => run(first!.of(row)) : row => run(...values.map(({ of }) => of(row))),
    }
  }

  share<T>(name: string, make: () => T): T {
    if (!this.#shared.has(name)) this.#shared.set(name, make())
    return this.#shared.get(name) as T
  }

  list(values: readonly RowValue[]): RowValue {
    return { source: `[${values.map(({ source }) => source).join(',')}]`, of: row => values.map(({ of }) => of(row)) }
  }

  /** An object literal gives all records one hidden class. Keys come from the model. */
  object(entries: readonly (readonly [string, RowValue])[]): RowValue {
    const members = entries.map(([key, { source }]) => `${key === '__proto__' ? `["__proto__"]` : JSON.stringify(key)}:${source}`)
    return { source: `{${members.join(',')}}`, of: row => Object.fromEntries(entries.map(([key, { of }]) => [key, of(row)])) }
  }

  /** Null if `some` column is NULL, or `every` column. */
  unlessNull(columns: readonly RowValue[], which: 'some' | 'every', value: RowValue): RowValue {
    const tests = columns.map(({ source }) => `${source}===null`).join(which === 'some' ? '||' : '&&')
    return {
      source: `(${tests}?null:${value.source})`,
      of: row => (columns[which](({ of }) => of(row) === null) ? null : value.of(row)),
    }
  }

  choose(chosen: RowValue, values: ReadonlyMap<string, RowValue>, otherwise: RowValue): RowValue {
    const tests = [...values].map(([text, { source }]) => `String(${chosen.source})===${JSON.stringify(text)}?${source}:`)
    return {
      source: `(${tests.join('')}${otherwise.source})`,
      of: row => (values.get(String(chosen.of(row))) ?? otherwise).of(row),
    }
  }

  finish({ source, of }: RowValue): Builder {
    if (!mayGenerateCode()) return of
    // eslint-disable-next-line typescript/no-implied-eval -- generated from the model alone, once per plan
    return (new Function('h', `"use strict";return r=>(${source})`) as (helpers: readonly unknown[]) => Builder)(this.#helpers)
  }
}
