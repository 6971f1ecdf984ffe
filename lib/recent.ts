/**
 * Recent: a bounded cache that keeps what was used recently. Two generations: when the younger one is full it becomes the older one, whose entries are
 * forgotten unless they are used once more. So a hit costs one look-up, and what is asked all the time stays, however much else comes by.
 */
export class Recent<T> {
  readonly #size: number
  #young = new Map<string, T>()
  #old = new Map<string, T>()

  /** @param size how many entries are kept for certain; at most twice as many are */
  constructor(size: number) {
    this.#size = size
  }

  get(key: string): T | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: T): void {
    if (this.#young.size >= this.#size) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
