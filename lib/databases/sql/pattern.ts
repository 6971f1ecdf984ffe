/** Pattern: the pieces of a wildcard pattern, between its stars, as parameters that databases share. */

/** A LIKE pattern with `\` as escape. */
export function formatLike(pieces: readonly string[]): string {
  return pieces.map(piece => piece.replaceAll(/[\\%_]/g, String.raw`\$&`)).join('%')
}

/** The smallest text that is larger than every text with this prefix, by code point. */
export function upperBound(prefix: string): string {
  const points = [...prefix]
  const last = points.pop()!.codePointAt(0)!
  // The surrogates are not characters: what follows U+D7FF is U+E000.
  return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
}
