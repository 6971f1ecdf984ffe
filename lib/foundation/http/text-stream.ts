/** Holds bodies of answers other than JSON, such as streams, pages and files. */

const utf8 = new TextEncoder()

/** Each piece is made after the client has taken the previous. Read once. */
export class TextStream implements AsyncIterable<string> {
  readonly #pieces: AsyncGenerator<string, void, undefined>

  constructor(pieces: AsyncGenerator<string, void, undefined>) {
    this.#pieces = pieces
  }

  [Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    return this.#pieces
  }

  /** Encodes as UTF-8. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of this.#pieces) yield utf8.encode(piece)
  }

  async text(): Promise<string> {
    const pieces: string[] = []
    for await (const piece of this.#pieces) pieces.push(piece)
    return pieces.join('')
  }
}

export class WholeBytes extends TextStream {
  readonly whole: Uint8Array

  constructor(whole: Uint8Array) {
    super(givePiece(''))
    this.whole = whole
  }

  // oxlint-disable-next-line typescript/require-await -- a finished piece
  override async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    yield this.whole
  }

  override text(): Promise<string> {
    return Promise.resolve(new TextDecoder().decode(this.whole))
  }
}

export class WholeText extends TextStream {
  readonly whole: string

  constructor(whole: string) {
    super(givePiece(whole))
    this.whole = whole
  }
}

// oxlint-disable-next-line typescript/require-await -- a finished piece
async function* givePiece(text: string): AsyncGenerator<string, void, undefined> {
  yield text
}
