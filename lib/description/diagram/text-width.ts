/** Text width: estimates the width of monospaced text without a font. */

/** Pixels per letter at 12 pixels font size, for the widest common font. */
const LETTER = 7.3
/** East Asian scripts and pictographs have double width. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u
/** Marks have no width. */
const MARK = /\p{Mark}|\u200d/u

export function measureText(text: string): number {
  let letters = 0
  for (const letter of text) letters += MARK.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1
  return letters * LETTER
}

export function shortenText(text: string, most: number): string {
  const letters = [...text]
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`
}
