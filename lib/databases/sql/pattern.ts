/** Makes parameters of searches such as `*ann*`. */

/** A LIKE pattern with `\` as escape: `50\%%` for the pieces `50%` and the empty text. */
export function formatLike(pieces: readonly string[]): string {
  return pieces.map(piece => piece.replaceAll(/[\\%_]/g, String.raw`\$&`)).join('%')
}

/** The smallest text above all texts with this prefix, by code point: `abd` for `abc`. */
export function upperBound(prefix: string): string {
  const points = [...prefix]
  const last = points.pop()!.codePointAt(0)!
  // Surrogates are no characters: U+E000 follows U+D7FF.
  return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
}
