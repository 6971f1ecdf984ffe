/**
 * Check items: the values that a check allows, as PostgreSQL writes `x in ('a', 'b')`: `CHECK ((x = ANY (ARRAY['a'::text, 'b'::text])))`.
 */

/** A list over one column or VALUE. */
const LIST =
  /^CHECK \(\((?:\((?:"(?:[^"]|"")+"|\w+)\)::[\w ]+|"(?:[^"]|"")+"|\w+) = ANY \(\(?ARRAY\[(.+)\]\)?(?:::[\w ]+\[\])?\)\)\)(?: NOT VALID)?$/s

const VALUE = /^(?:\()?(?:'((?:[^']|'')*)'|(-?\d+))(?:\))?(?:::[\w ]+(?:\(\d+\))?)?(?:\s*,\s*|$)/

/** `undefined` for any other check. */
export function findItems(definition: string): readonly (string | number)[] | undefined {
  let rest = LIST.exec(definition)?.[1]
  if (rest === undefined) return undefined
  const items: (string | number)[] = []
  while (rest !== '') {
    const found: RegExpExecArray | null = VALUE.exec(rest)
    if (found === null) return undefined
    const [whole, text, number] = found
    items.push(text === undefined ? Number(number) : text.replaceAll("''", "'"))
    rest = rest.slice(whole.length)
  }
  return items
}
