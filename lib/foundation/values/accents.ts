/** Removes accents (combining marks) for the operator `~~=`, alike in both databases. */

/** The blocks of combining diacritical marks, as a range of a regular expression in JavaScript and PostgreSQL. */
export const ACCENTS = String.raw`[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]`

const EACH = new RegExp(ACCENTS, 'g')

export function withoutAccents(text: string): string {
  return text.normalize('NFD').replaceAll(EACH, '')
}
