/**
 * Folds a text as some databases compare texts: without capitals (`citext`, `collate nocase`), accents and blanks at the end (`char(20)`).
 * A guesser gains nothing by another spelling.
 */

/** Of a path, each segment loses blanks at the end. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/(?<! ) +(?=\/|$)/g, '')
}
