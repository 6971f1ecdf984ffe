/** Article: `a` or `an` before a name of the model, as it is spoken. */

/** Written with a vowel and spoken with a consonant: user, unit, euro, one. */
const CONSONANT = /^(?:eu|ewe|one(?![a-z])|once|u(?:ni(?![mn])|[str][aeiou]|biq))/i
/** The other way round. */
const VOWEL = /^(?:[aeiou]|hour|hono|hone(?=st)|heir)/i

/** The name with its article: `an artist`, `a user`. */
export function withArticle(name: string): string {
  return `${VOWEL.test(name) && !CONSONANT.test(name) ? 'an' : 'a'} ${name}`
}

/** The same at the beginning of a sentence: `An artist`. */
export function withCapitalArticle(name: string): string {
  const text = withArticle(name)
  return text[0]!.toUpperCase() + text.slice(1)
}
