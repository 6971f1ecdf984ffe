/**
 * Recent: a bounded cache that keeps what was used recently. Two generations: when the younger one is full it becomes the older one, whose entries are
 * forgotten unless they are used once more. So a hit costs one look-up, and what is asked all the time stays, however much else comes by.
 * It is bounded by number and, where entries may be large, by weight: what a client sends decides how large they are.
 */

/** How heavy the entries may be together, and how heavy one is. */
export interface Weights<T> {
  /** Bytes that are kept for certain; at most twice as many are. A single entry that is heavier is not kept. */
  readonly bytes: number
  /** About how many bytes an entry holds. It is asked again when an entry is used for the first time in long, so it should cost little. */
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
   * @param size how many entries are kept for certain; at most twice as many are
   * @param weights their weight is not bounded without
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
