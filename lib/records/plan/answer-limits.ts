/**
 * Answer limits: how much more an answer may hold, counted while its rows become records. A record that is shown in several places counts
 * in each, since it is written in each. Refuses with parameter_invalid (limit_exceeded) as soon as there is no room left, so before what
 * would come next is read.
 */
import { parameterError } from '../../foundation/base/errors.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { findParameterName, findLongest, type Pair, type Vocabulary } from '../request/query-string.ts'

/** So many IDs of a list count as one record. */
const IDS = 10

/** What an answer holds, as far as that is known. */
export interface Tally {
  bytes: number
  /** Records of all levels. */
  records: number
}

export class AnswerBudget {
  readonly #limits: Limits
  readonly #vocabulary: Vocabulary
  /** Records times `IDS`, so that all are whole numbers. */
  #places: number
  #bytes: number
  readonly #tally: Tally | undefined
  readonly #pairs: readonly Pair[]

  /**
   * @param pairs the query of the request
   * @param tally receives the numbers of bytes and of records that are taken
   */
  constructor(limits: Limits, vocabulary: Vocabulary, pairs: readonly Pair[], tally?: Tally) {
    this.#pairs = pairs
    this.#tally = tally
    this.#limits = limits
    this.#vocabulary = vocabulary
    this.#places = limits.maxRecords * IDS
    this.#bytes = limits.maxAnswerBytes
  }

  /** Bytes of an answer at most. */
  get most(): number {
    return this.#limits.maxAnswerBytes
  }

  /**
   * Takes room for records, or for IDs of a list.
   *
   * @param at the attribute that they are in; undefined for those of the answer itself
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

  /** Whether as many rows, of which each will be shown at least once, are too much already. */
  check(count: number, bytes: number, areIds: boolean, at: string | undefined): void {
    if ((areIds ? count : count * IDS) > this.#places || bytes > this.#bytes) throw this.#refusal(at)
  }

  /** The parameter of the request that says most; that of its page without any. */
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
