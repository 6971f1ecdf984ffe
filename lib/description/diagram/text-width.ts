/** Text width: how wide a text is in a font whose letters all have one width, without a font at hand. */

/** Width of a letter of 12 pixels' size, in pixels; that of the widest of common fonts. */
const LETTER = 7.3
/** Letters that take the place of two: East Asian scripts, and pictures. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u
/** Letters that take no place of their own. */
const MARK = /\p{Mark}|\u200d/u

/** Returns the width of a text in pixels. */
export function measureText(text: string): number {
  let letters = 0
  for (const letter of text) letters += MARK.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1
  return letters * LETTER
}

/** Returns a text of at most so many letters. */
export function shortenText(text: string, most: number): string {
  const letters = [...text]
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`
}
