/** How SQLite stores values in a column of a declared type. */

/** `number`: numbers get one form, and texts of numbers become numbers. `any`: values stay unchanged. */
export type Affinity = 'text' | 'number' | 'any'

/** https://www.sqlite.org/datatype3.html, section 3.1. */
export function findAffinity(type: string): Affinity {
  if (/int/i.test(type)) return 'number'
  if (/char|clob|text/i.test(type)) return 'text'
  if (type === '' || /blob|^any$/i.test(type)) return 'any'
  return 'number'
}
