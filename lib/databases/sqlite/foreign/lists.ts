/** Reads a list of PostgreSQL in SQL, such as the default `'{a,b}'`. */
import { tokenize, word } from '../../sql/sql-tokens.ts'

/** `'{a,b}'`, `ARRAY['a','b']::text[]`; undefined for another text. */
export function parseList(sql: string): (string | null)[] | undefined {
  const bare = sql
    .trim()
    .replace(/(?:::[\w\s".]+(?:\(\d+\))?(?:\[\d*\])*)+$/, '')
    .trim()
  const array = /^\(?\s*array\s*\[(.*)\]\s*\)?$/is.exec(bare)
  if (array !== null) {
    const items = tokenize(array[1]!.replaceAll(/::[\w\s".]+(?=,|$)/g, ''), 'postgres').filter(token => word(token) !== ',')
    return items.map(({ kind, text }) => (kind === 'text' ? text.slice(1, -1).replaceAll("''", "'") : text))
  }
  const text = /^'(\{.*\})'$/s.exec(bare)?.[1]
  return text === undefined ? undefined : parseItems(text.replaceAll("''", "'"))
}

/** `{a,"b c",NULL}`; undefined for another text. */
export function parseItems(text: string): (string | null)[] | undefined {
  if (!/^\{.*\}$/s.test(text) || /^\{\s*[{]/.test(text)) return undefined
  const body = text.slice(1, -1)
  if (body.trim() === '') return []
  // A JSON document, no list.
  if (/^\s*"(?:[^"\\]|\\.)*"\s*:/.test(body)) return undefined
  return [...body.matchAll(/\s*(?:"((?:[^"\\]|\\.)*)"|([^,]*))\s*(?:,|$)/g)]
    .slice(0, body.endsWith(',') ? undefined : -1)
    .map(([, quoted, plain = '']) =>
      quoted === undefined ? (plain.trim().toLowerCase() === 'null' ? null : plain.trim()) : quoted.replaceAll(/\\(.)/g, '$1'),
    )
}
