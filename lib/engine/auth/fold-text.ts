/**
 * Removes what a database may ignore in comparisons: capitals (`citext`, `collate nocase`), accents, blanks at the end (`char(20)`). A
 * guesser gains nothing by another spelling.
 */

/** Of a path, removes blanks at the end of each segment. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/(?<! ) +(?=\/|$)/g, '')
}
