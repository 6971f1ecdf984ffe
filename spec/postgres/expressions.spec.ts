/** Regular expressions as PostgreSQL reads them: refused and matched alike on SQLite, in the spelling for the server, and as sent. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Client } from 'pg'
import { matchExpression } from '../../lib/foundation/expressions/match-expression.ts'
import { formatExpression } from '../../lib/databases/postgres/sql/format-expression.ts'
import { parseExpression } from '../../lib/foundation/expressions/parse-expression.ts'
import { check } from '../helpers/check.ts'
import { findNoServer, SERVER_URL } from './server-database.ts'

/** In the collation "C" the classes of the server have the letters of ASCII alone. */
const ASCII = [
  '',
  'a',
  'b',
  'A',
  'ab',
  'aab',
  'abc',
  'aaaa',
  '1',
  'a1_',
  ' ',
  'a b',
  '\n',
  'a\nb',
  '.',
  '{',
  '{,2}',
  '(',
  ')',
  '[',
  ']',
  '-',
  '\\',
  '/',
  '_',
  '=',
]
const OTHERS = ['é', 'É', 'k\u212a', 'İ', 'ı', 'ſ', '😀', '😁x', '\u0660', '\u00a0', '\u2003', 'ǅ', 'ß', 'ς'] // prettier-ignore

const TOKENS = [
  'a', 'b', 'A', 'k', 'é', 'İ', 'ſ', 'ς', '1', '_', ' ', '.', '^', '$', '*', '+', '?', '*?', '{2}', '{1,2}', '{,2}', '{0,}', '{2,1}', '{', '}', '(', '(?:',
  ')', '|', '[ab]', '[^a]', '[a-c]', '[', '[^', ']', '-', '[]a]', '[a-]', '[b-a]', '[[:alpha:]]', '[^[:space:]]', '[\\d_]', '[\\s\\S]', '\\d', '\\w', '\\W',
  '\\s', '\\.', '\\(', '\\n', '\n', '\\u0041', '\\x41', '\\q', '\\A', '\\Z', '\\\\', '/', '[\\]]', '[--b]', '[[:foo:]]', '[\\d-z]', '😀', '[😀-😂]', '[à-ü]',
] // prettier-ignore
const expression = fc.array(fc.constantFrom(...TOKENS), { maxLength: 8 }).map(tokens => tokens.join(''))

/** A part that is closed or read further on: PostgreSQL sees the error of the next part first. */
const SEVERAL = /brackets \[\] not balanced|invalid escape/

describe('regular expressions', { skip: await findNoServer() }, () => {
  it('are read and matched as PostgreSQL does', async () => {
    const server = new Client({ connectionString: SERVER_URL })
    await server.connect()
    const onSqlite = (text: string, given: string, fold: boolean): boolean => matchExpression(text, given, fold, () => {})
    const ask = async (given: string, texts: readonly string[]): Promise<readonly boolean[] | string> => {
      const text = 'select array_agg(t collate "C" ~ $1 order by place) as found from unnest($2::text[]) with ordinality as x (t, place)'
      try {
        return (await server.query<{ found: boolean[] }>(text, [given, texts])).rows[0]!.found
      } catch (error) {
        return (error as Error).message.replace('invalid regular expression: ', '')
      }
    }
    try {
      await check(
        fc.asyncProperty(expression, fc.boolean(), async (given, fold) => {
          const all = [...ASCII, ...OTHERS]
          let refused: string | undefined
          parse: try {
            parseExpression(given, what => new Error(what))
          } catch (error) {
            refused = (error as Error).message
            if (refused.includes('; ')) break parse
            const own = await ask(given, ASCII)
            assert.ok(own === refused || (typeof own === 'string' && SEVERAL.test(own)), `${given}: ${refused}, and ${String(own)}`)
          }
          if (refused !== undefined) return
          const onServer = await ask(formatExpression(given, fold), all)
          assert.deepEqual(
            all.map(text => onSqlite(text, given, fold)),
            onServer,
            given,
          )
          if (!fold) assert.deepEqual((onServer as readonly boolean[]).slice(0, ASCII.length), await ask(given, ASCII), `${given} as sent`)
        }),
        { label: 'expressions of PostgreSQL', runs: 2000 },
      )
    } finally {
      await server.end()
    }
  })

  it('that are taken are read by the server in no time that a client chooses', async () => {
    const server = new Client({ connectionString: SERVER_URL, statement_timeout: 20_000 })
    await server.connect()
    const letters = ['^', '$', 'a?', 'a', 'b*', '\\w', '(^|$|a)', '(a|)', '(a?b)*']
    const nested = fc.letrec<{ readonly each: string }>(tie => ({
      each: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.constantFrom(...letters),
        fc
          .tuple(tie('each'), tie('each'), fc.constantFrom('', '|'), fc.constantFrom('', '?', '*', '+', '{2}', '{0,5}', '{3,9}', '{0,15}'))
          .map(([one, other, between, sign]) => `(${one}${between}${other})${sign}`),
      ),
    })).each
    const slow: string[] = []
    try {
      const measure = async (given: string): Promise<void> => {
        try {
          parseExpression(given, what => new Error(what))
        } catch {
          return
        }
        const start = performance.now()
        await server.query('select $1::text collate "C" ~ $2', ['ab'.repeat(300), formatExpression(given, false)])
        if (performance.now() - start > 5000) slow.push(given)
      }
      await check(fc.asyncProperty(nested, measure), { label: 'costly expressions', runs: 500 })
      for (const unit of ['(^|$|a?)', 'a?', 'a*', '(a|b|)', '((a?){4}b?)', '((^|$)a?)*', '\\w']) await measure(unit.repeat(8))
      for (const unit of ['a?', 'a*', '(a|)', '(a*b*)*', '(\\w\\W)', '((a|b)?)']) await measure(unit.repeat(100))
      assert.deepEqual(slow, [])
    } finally {
      await server.end()
    }
  })
})
