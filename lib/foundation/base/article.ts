/** Puts `a` or `an` before a name, by its pronunciation. */

/** Names that begin with a vowel letter and a consonant sound: user, unit, euro, one. */
const CONSONANT = /^(?:eu|ewe|one(?![a-z])|once|u(?:ni(?![mn])|[str][aeiou]|biq))/i
/** Names that begin with a vowel sound. */
const VOWEL = /^(?:[aeiou]|hour|hono|hone(?=st)|heir)/i

/** Returns the name with its article: `an artist`, `a user`. */
export function withArticle(name: string): string {
  return `${VOWEL.test(name) && !CONSONANT.test(name) ? 'an' : 'a'} ${name}`
}

/** Returns the name with a capital article, for the beginning of a sentence: `An artist`. */
export function withCapitalArticle(name: string): string {
  const text = withArticle(name)
  return text[0]!.toUpperCase() + text.slice(1)
}
