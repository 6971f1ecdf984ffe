/** Text stream: the body of an answer that is made while it is sent, piece by piece, each only when the one before has been taken. It can be read once. */
export class TextStream implements AsyncIterable<string> {
  readonly #pieces: AsyncGenerator<string, void, undefined>

  constructor(pieces: AsyncGenerator<string, void, undefined>) {
    this.#pieces = pieces
  }

  [Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    return this.#pieces
  }

  /** Returns the pieces as bytes, in UTF-8. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of this.#pieces) yield Buffer.from(piece)
  }

  /** Returns all of it. */
  async text(): Promise<string> {
    const pieces: string[] = []
    for await (const piece of this.#pieces) pieces.push(piece)
    return pieces.join('')
  }
}
