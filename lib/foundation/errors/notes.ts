/** Collects the sentences of `engine.notes`, on mapped, omitted and guessed parts of a model. */

/** A file with a million odd records must not fill the memory. */
const MAX_NOTES = 1000

export class Notes {
  readonly #texts = new Set<string>()
  #left = 0
  #refusal: string | undefined
  readonly refusalListeners = new Set<(refusal: string | undefined) => void>()

  constructor(texts: readonly string[] = []) {
    for (const text of texts) this.add(text)
  }

  /** @param text begins with a place: `User.tags: ...` */
  add(text: string): void {
    if (this.#texts.has(text)) return
    if (this.#texts.size < MAX_NOTES) this.#texts.add(text)
    else this.#left++
  }

  /** Why a changed model is not served; the former model still is. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  set refusal(sentence: string | undefined) {
    if (sentence === this.#refusal) return
    this.#refusal = sentence
    for (const listener of this.refusalListeners) listener(sentence)
  }

  /** The refusal first; at the end, the number of notes above the limit. */
  get list(): readonly string[] {
    const first = this.#refusal === undefined ? [] : [this.#refusal]
    const last = this.#left === 0 ? [] : [`${this.#left} more notes were left out.`]
    return [...first, ...this.#texts, ...last]
  }
}
