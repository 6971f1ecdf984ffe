/** Tokens of SQL: joined they give any text again; quotes, comments and parameters of each database end where they end there. */
import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { formatTokens, tokenize, unquote, type SqlDialect, type SqlToken } from '../../lib/databases/sql/sql-tokens.ts'
import { parseCreate } from '../../lib/databases/sqlite/evolve/create-text.ts'
import { FILE_SCHEMAS, SERVER_SCHEMAS } from '../evolve/public-schemas.ts'
import { check } from '../helpers/check.ts'

const DIALECTS: readonly SqlDialect[] = ['sqlite', 'postgres']

/** What stands behind the last token. */
const REST = { sqlite: /^(?:[ \t\r\n\f\v]|--[^\n]*|\/\*[^]*?(?:\*\/|$))*$/, postgres: /^(?:[ \t\r\n\f\v]|--[^\r\n]*|\/\*[^]*?\*\/)*$/ }

const inside = (...left: readonly string[]): fc.Arbitrary<string> =>
  fc
    .string({ unit: fc.constantFrom(...'\'"`$\\-/*?[ \n;,()aé', '😀', "''", '--', '/*', '*/'), maxLength: 8 })
    .map(text => left.reduce((rest, each) => rest.replaceAll(each, ''), text))
const quotedBy = (quote: string): fc.Arbitrary<string> => inside().map(text => quote + text.replaceAll(quote, quote + quote) + quote)

const wordArb = fc.constantFrom('select', 'a', 'é1', '_x$y', 'CHECK', 'größe', 'E', '表')
const numberArb = fc.constantFrom('0', '12', '1.5', '1e-3', '0x1F', '2.')
const markArb = fc.constantFrom('(', ')', ',', ';', '.', '=', '->>', '||', '<=', '<>', '*')

/** Tokens that a database knows, by their kind. */
const KINDS: Readonly<Record<SqlDialect, Readonly<Record<SqlToken['kind'], fc.Arbitrary<string>>>>> = {
  sqlite: {
    word: wordArb,
    name: fc.oneof(
      quotedBy('"'),
      quotedBy('`'),
      inside(']').map(text => `[${text}]`),
    ),
    text: fc.oneof(quotedBy("'"), fc.constantFrom("x'0aFF'", "X''")),
    number: numberArb,
    parameter: fc.constantFrom('?', '?12', ':name', '@name', '$name', '$1'),
    mark: markArb,
  },
  postgres: {
    word: wordArb,
    name: quotedBy('"'),
    text: fc.oneof(
      quotedBy("'"),
      quotedBy("'").map(text => `N${text}`),
      inside().map(text => `e'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`),
      inside().map(text => `$tag$${text}$tag$`),
      inside('$').map(text => `$$${text}$$`),
    ),
    number: numberArb,
    parameter: fc.constantFrom('?', '??', String.raw`\?`, '$12'),
    mark: fc.oneof(markArb, fc.constantFrom('::', '#>>', '@>', '[', ']', '!~*')),
  },
}

const gapArb = fc
  .array(
    fc.oneof(
      fc.constantFrom(' ', '\n\t', '\r\n'),
      inside('\n').map(text => ` --${text}\n`),
      inside('*', '/').map(text => ` /*${text}*/`),
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map(parts => parts.join(''))

const listArb = (dialect: SqlDialect): fc.Arbitrary<SqlToken[]> =>
  fc.array(
    fc.oneof(
      ...Object.entries(KINDS[dialect]).map(([kind, textArb]) =>
        fc.record({ kind: fc.constant(kind as SqlToken['kind']), text: textArb, gap: gapArb }, { noNullPrototype: true }),
      ),
    ),
    { maxLength: 12 },
  )

function assertJoined(sql: string, dialect: SqlDialect): void {
  const joined = formatTokens(tokenize(sql, dialect))
  assert.ok(sql.startsWith(joined) && REST[dialect].test(sql.slice(joined.length)), `${dialect}: ${JSON.stringify([sql, joined])}`)
}

describe('Tokens of SQL', () => {
  for (const dialect of DIALECTS) {
    it(`give the text where they are joined, whatever it is: ${dialect}`, () => {
      const piece = fc.oneof(...Object.values(KINDS[dialect]), gapArb, inside(), fc.string({ unit: 'binary', maxLength: 4 }))
      return check(
        fc.property(fc.array(piece, { maxLength: 12 }), pieces => assertJoined(pieces.join(''), dialect)),
        { label: `joined tokens of ${dialect}`, runs: 1000 },
      )
    })

    it(`are those that were written, with what stands between them: ${dialect}`, () =>
      check(
        fc.property(listArb(dialect), gapArb, (list, rest) => assert.deepEqual(tokenize(formatTokens(list) + rest, dialect), list)),
        { label: `tokens of ${dialect}`, runs: 1000 },
      ))
  }

  it('of texts and names hold what SQLite reads', () => {
    const db = new Database(':memory:')
    return check(
      fc.property(quotedBy("'"), fc.oneof(KINDS.sqlite.name, wordArb), gapArb, (text, name, gap) => {
        const [, value, , alias] = tokenize(`select${gap}${text}${gap}as${gap}${name}`, 'sqlite')
        const row = db.prepare(`select${gap}${text}${gap}as${gap}${/^[a-z]+$/i.test(name) ? `"${name}"` : name}`).get()
        assert.deepEqual(row, { [unquote(alias!.text)]: unquote(value!.text) })
      }),
      { label: 'texts and names of SQLite', runs: 300 },
    )
  })

  it('of the schemas of other programs give them again, and the columns that SQLite reads', () => {
    for (const { sql } of SERVER_SCHEMAS) assertJoined(sql, 'postgres')
    let columns = 0
    for (const { sql } of FILE_SCHEMAS) {
      assertJoined(sql, 'sqlite')
      const db = new Database(':memory:')
      db.pragma('foreign_keys = off')
      db.exec(sql)
      const tables = db.prepare("select name, sql from sqlite_schema where type = 'table' and sql like 'create table%'").all()
      for (const { name, sql: text } of tables as { name: string; sql: string }[]) {
        const found = db.prepare('select name from pragma_table_xinfo(?)').pluck().all(name)
        assert.deepEqual(
          parseCreate(text).columns.map(column => column.name),
          found,
        )
        columns += found.length
      }
    }
    assert.ok(columns > 100, `${columns}`)
  })
})
