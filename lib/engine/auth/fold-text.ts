/**
 * Fold text: takes away what a database may overlook when it compares texts: capitals (`citext`, `collate nocase`), accents, blanks at the
 * end (`char(20)`). Where two texts must be told apart by nobody who guesses, their folded forms are compared.
 */

/** Returns the folded form; blanks at the end of each segment of a path are taken away, too. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/(?<! ) +(?=\/|$)/g, '')
}
