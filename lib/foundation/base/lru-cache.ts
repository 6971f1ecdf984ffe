/**
 * Keeps recently used values, such as compiled plans. A full young generation replaces the old, dropping unused entries. Bounded by number,
 * and by weight where clients decide about sizes.
 */

interface Weights<T> {
  /** As `size`, in bytes. A heavier entry is not kept. */
  readonly bytes: number
  /** Called again when an entry returns from the old generation: must be cheap. */
  readonly weigh: (value: T, key: string) => number
}

export class LruCache<T> {
  readonly #size: number
  readonly #weights: Weights<T> | undefined
  #young = new Map<string, T>()
  #old = new Map<string, T>()
  #bytes = 0

  /**
   * @param size entries that are always kept; the cache holds up to twice as many
   * @param weights undefined: no limit of weight
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
    const known = this.#young.get(key)
    if (known !== undefined) this.#bytes -= this.#weigh(known, key)
    const weight = this.#weigh(value, key)
    const most = this.#weights?.bytes ?? 0
    if (weight > most) {
      this.#young.delete(key)
      this.#old.delete(key)
      return
    }
    if ((known === undefined && this.#young.size >= this.#size) || this.#bytes + weight > most) {
      this.#old = this.#young
      this.#young = new Map()
      this.#bytes = 0
    }
    this.#young.set(key, value)
    this.#bytes += weight
  }

  #weigh(value: T, key: string): number {
    return this.#weights === undefined ? 0 : this.#weights.weigh(value, key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#bytes = 0
  }
}
