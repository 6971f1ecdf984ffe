/** Affinity: how SQLite stores the values of a column, by its declared type. */

/** Numbers are converted to one form, texts of numbers to numbers; `any`: values stay as they are. */
export type Affinity = 'text' | 'number' | 'any'

/** Finds how SQLite stores the values of a column: https://www.sqlite.org/datatype3.html, section 3.1. */
export function findAffinity(type: string): Affinity {
  if (/int/i.test(type)) return 'number'
  if (/char|clob|text/i.test(type)) return 'text'
  if (type === '' || /blob|^any$/i.test(type)) return 'any'
  return 'number'
}
