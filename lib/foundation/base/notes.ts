/** Notes: what the engine mapped, left out or guessed at its creation, one sentence each, with its place. */

/** Limit of the notes, so that a file with a million odd records costs little memory. */
const MAX_NOTES = 1000

export class Notes {
  readonly #texts = new Set<string>()
  #left = 0

  constructor(texts: readonly string[] = []) {
    for (const text of texts) this.add(text)
  }

  /** Adds a sentence that begins with its place, such as `User.tags: ...`. A repeated sentence is kept once. */
  add(text: string): void {
    if (this.#texts.has(text)) return
    if (this.#texts.size < MAX_NOTES) this.#texts.add(text)
    else this.#left++
  }

  /** All sentences in the order of their addition. The last one counts those above the limit. */
  get list(): readonly string[] {
    return this.#left === 0 ? [...this.#texts] : [...this.#texts, `${this.#left} more notes were left out.`]
  }
}
