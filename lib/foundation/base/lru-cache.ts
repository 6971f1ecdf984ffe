/**
 * A bounded cache of recently used entries in two generations. A full young generation becomes the old one, whose entries are dropped
 * unless they are used again. So a hit costs one look-up, and entries in constant use stay. The cache is bounded by number, and by weight
 * where clients decide how large an entry is.
 */

/** The limit of the entries' weight together, and the weight of one. */
interface Weights<T> {
  /** Bytes that are always kept; the cache holds at most twice as many. A heavier single entry is not kept. */
  readonly bytes: number
  /** Estimates the bytes of an entry. It is called again when an entry returns from the old generation, so it should cost little. */
  readonly weigh: (value: T, key: string) => number
}

export class LruCache<T> {
  readonly #size: number
  readonly #weights: Weights<T> | undefined
  #young = new Map<string, T>()
  #old = new Map<string, T>()
  /** The weight of the younger generation. */
  #bytes = 0

  /**
   * @param size number of entries that are always kept; the cache holds at most twice as many
   * @param weights undefined: the weight is not limited
   */
  constructor(size: number, weights?: Weights<T>) {
    this.#size = size
    this.#weights = weights
  }

  get(key: string): T | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: T): void {
    const weight = this.#weights === undefined ? 0 : this.#weights.weigh(value, key)
    const most = this.#weights?.bytes ?? 0
    if (weight > most) return
    if (this.#young.size >= this.#size || this.#bytes + weight > most) {
      this.#old = this.#young
      this.#young = new Map()
      this.#bytes = 0
    }
    this.#young.set(key, value)
    this.#bytes += weight
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#bytes = 0
  }
}
