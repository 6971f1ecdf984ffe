/** Puts `a` or `an` before a name, by pronunciation: `a user`, `an hour`. */

/** Vowels that sound like consonants: user, unit, euro, one. */
const CONSONANT = /^(?:eu|ewe|one(?![a-z])|once|u(?:ni(?![mn])|[str][aeiou]|biq))/i
const VOWEL = /^(?:[aeiou]|hour|hono|hone(?=st)|heir)/i

export function withArticle(name: string): string {
  return `${VOWEL.test(name) && !CONSONANT.test(name) ? 'an' : 'a'} ${name}`
}

export function withCapitalArticle(name: string): string {
  const text = withArticle(name)
  return text[0]!.toUpperCase() + text.slice(1)
}
