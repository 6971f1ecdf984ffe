/** Counts records and bytes of an answer against the limits, while rows become records. A record shown twice counts twice. */
import { parameterError } from '../../foundation/errors/errors.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { findParameterName, findLongest, type Vocabulary } from '../request/query-string.ts'
import type { Pair } from '../request/raw-filter.ts'

/** So many IDs count as one record. */
const IDS = 10

export interface Tally {
  bytes: number
  records: number
}

export class AnswerBudget {
  /** Bytes of the largest answer. */
  readonly most: number
  readonly #limits: Limits
  readonly #vocabulary: Vocabulary
  /** Records with room left, times `IDS`. */
  #places: number
  #bytes: number
  readonly #tally: Tally | undefined
  readonly #pairs: readonly Pair[]

  /** @param pairs of the request */
  constructor(limits: Limits, vocabulary: Vocabulary, pairs: readonly Pair[], tally?: Tally) {
    this.#pairs = pairs
    this.#tally = tally
    this.#limits = limits
    this.#vocabulary = vocabulary
    this.#places = limits.maxRecords * IDS
    this.most = this.#bytes = limits.maxAnswerBytes
  }

  /**
   * Counts records, or IDs of a list.
   *
   * @param at the attribute; undefined for the records of the answer
   * @throws RestError limit_exceeded, before the caller reads more rows
   */
  take(count: number, bytes: number, areIds: boolean, at: string | undefined): void {
    this.#places -= areIds ? count : count * IDS
    this.#bytes -= bytes
    if (this.#tally !== undefined) {
      this.#tally.bytes += bytes
      this.#tally.records += areIds ? count / IDS : count
    }
    if (this.#places < 0 || this.#bytes < 0) throw this.#refusal(at)
  }

  /** Refuses rows too many even if shown once. Counts nothing. */
  check(count: number, bytes: number, areIds: boolean, at: string | undefined): void {
    if ((areIds ? count : count * IDS) > this.#places || bytes > this.#bytes) throw this.#refusal(at)
  }

  /** The parameter to blame for a too large statement; `limit` if the request has none. */
  get longest(): string {
    return findLongest(this.#pairs) || findParameterName(this.#vocabulary, 'limit')
  }

  #refusal(at: string | undefined) {
    const { maxRecords, maxAnswerBytes } = this.#limits
    const [limit, expand, depth] = (['limit', 'expand', 'depth'] as const).map(name => `"${findParameterName(this.#vocabulary, name)}"`)
    const where = at === undefined ? '' : `, reached in "${at}"`
    return parameterError({
      code: 'limit_exceeded',
      detail:
        `The answer would hold more than ${maxRecords} records or ${maxAnswerBytes} bytes${where}: ` +
        `ask for less by ${limit}, ${expand}, ${depth}, attributes or filters.`,
      parameter: findParameterName(this.#vocabulary, at === undefined ? 'limit' : 'expand'),
    })
  }
}
