/** Notes: what the engine has mapped, left out or guessed while it was created, one plain sentence each, with its place. */

/** How many notes are kept, so that a file with a million odd records costs no memory. */
const MAX_NOTES = 1000

export class Notes {
  readonly #texts = new Set<string>()
  #left = 0

  constructor(texts: readonly string[] = []) {
    for (const text of texts) this.add(text)
  }

  /** Adds a sentence that begins with its place, such as `User.tags: ...`. The same sentence is kept once. */
  add(text: string): void {
    if (this.#texts.has(text)) return
    if (this.#texts.size < MAX_NOTES) this.#texts.add(text)
    else this.#left++
  }

  /** All sentences, in the order in which they were added; the last one counts those that were too many. */
  get list(): readonly string[] {
    return this.#left === 0 ? [...this.#texts] : [...this.#texts, `${this.#left} more notes were left out.`]
  }
}
