/**
 * Escapes a text for a regular expression, which then finds the text as it is written. It may stand beside other parts, but not in
 * brackets.
 */
export function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
