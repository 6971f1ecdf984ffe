/** Notes: sentences about mapped, omitted and guessed things. */

/** A file with a million odd records must not fill the memory. */
const MAX_NOTES = 1000

export class Notes {
  readonly #texts = new Set<string>()
  #left = 0

  constructor(texts: readonly string[] = []) {
    for (const text of texts) this.add(text)
  }

  /** The sentence begins with its place: `User.tags: ...`. */
  add(text: string): void {
    if (this.#texts.has(text)) return
    if (this.#texts.size < MAX_NOTES) this.#texts.add(text)
    else this.#left++
  }

  /** The last sentence counts notes above the limit. */
  get list(): readonly string[] {
    return this.#left === 0 ? [...this.#texts] : [...this.#texts, `${this.#left} more notes were left out.`]
  }
}
