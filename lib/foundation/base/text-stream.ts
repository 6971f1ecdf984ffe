/**
 * Text stream: the body of an answer that is made while it is sent, piece by piece, each only when the one before has been taken. It can be
 * read once. A whole text is one that is there already, and is not JSON.
 */
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

/** The body of an answer that is a text as it stands: a page, or a file of one. */
export class WholeText extends TextStream {
  readonly whole: string

  constructor(whole: string) {
    super(givePiece(whole))
    this.whole = whole
  }
}

// oxlint-disable-next-line typescript/require-await -- a stream of one piece that is there
async function* givePiece(text: string): AsyncGenerator<string, void, undefined> {
  yield text
}
