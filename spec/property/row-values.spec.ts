/** Row values: the text that becomes a function, and the function in its place where a policy forbids texts as code, give the same. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import * as postgres from '../../lib/databases/postgres/sql/decode.ts'
import { BuilderSource, type RowValue } from '../../lib/databases/sql/builder-source.ts'
import * as sqlite from '../../lib/databases/sqlite/sql/decode.ts'
import type { ScalarKind, ScalarType } from '../../lib/foundation/values/scalar-type.ts'
import { check } from '../helpers/check.ts'

const COLUMNS = 4
const column = fc.integer({ min: 0, max: COLUMNS - 1 })
const text = fc.constantFrom('a', 'b', '1', 'null', '__proto__', '"', '\u2028')

/** Makes a value with a source. */
type Make = (source: BuilderSource) => RowValue

const pair = (...values: unknown[]): unknown => ['called', ...values]

const { made } = fc.letrec<{ made: Make }>(tie => {
  const some = fc.array(tie('made'), { minLength: 1, maxLength: 3 })
  const named = fc.uniqueArray(fc.tuple(text, tie('made')), { maxLength: 3, selector: ([name]) => name })
  const columns = fc.array(column, { minLength: 1, maxLength: 3 })
  return {
    made: fc.oneof(
      { maxDepth: 4 },
      column.map(
        (at): Make =>
          source =>
            source.column(at),
      ),
      fc.constantFrom(null, 0, true, 'text').map(
        (value): Make =>
          source =>
            source.constant(value),
      ),
      some.map(
        (values): Make =>
          source =>
            source.call(pair, ...values.map(make => make(source))),
      ),
      some.map(
        (values): Make =>
          source =>
            source.list(values.map(make => make(source))),
      ),
      named.map(
        (entries): Make =>
          source =>
            source.object(entries.map(([name, make]) => [name, make(source)] as const)),
      ),
      fc.tuple(columns, fc.constantFrom('some' as const, 'every' as const), tie('made')).map(
        ([places, which, make]): Make =>
          source =>
            source.unlessNull(
              places.map(at => source.column(at)),
              which,
              make(source),
            ),
      ),
      fc.tuple(column, named, tie('made')).map(([at, cases, make]): Make => source => {
        const values = new Map(cases.map(([name, each]) => [name, each(source)] as const))
        return source.choose(source.column(at), values, make(source))
      }),
    ),
  }
})

const stored = fc.oneof(fc.constant(null), text, fc.constantFrom(0, 1, 1.5, -0))

const KINDS: readonly ScalarKind[] = [
  'integer',
  'bigint',
  'float',
  'decimal',
  'text',
  'boolean',
  'datetime',
  'date',
  'time',
  'uuid',
  'json',
  'blob',
  'any',
]
const types: readonly ScalarType[] = KINDS.flatMap(kind => [
  { kind },
  // A date-time of a file has a form besides.
  ...(kind === 'datetime'
    ? []
    : [
        { kind, loose: true },
        { kind, loose: true, strays: true },
      ]),
  ...(kind === 'bigint' || kind === 'decimal' ? [{ kind, asNumber: true }] : []),
])

const inFile = fc.oneof(
  stored,
  fc.constantFrom(2, 2 ** 31, 1e12, 'true', '[1]', '2020-01-31T12:13:14.000Z', '12.50', '00000000-0000-4000-8000-000000000001'),
  fc.uint8Array({ maxLength: 3 }),
)
const onServer = fc.constantFrom(null, 't', 'f', '12', '12.50', '-0', '[1]', '\\x0aff', '2020-01-31 12:13:14.123+00', 'infinity')

/** What `work` gives, or the text of its error. */
function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return String(error)
  }
}

describe('a value of a row', () => {
  it('is the same by text and by function', () =>
    check(
      fc.property(made, fc.array(stored, { minLength: COLUMNS, maxLength: COLUMNS }), (make, row) => {
        const source = new BuilderSource()
        const value = make(source)
        assert.deepEqual(value.of(row), source.finish(value)(row))
      }),
      { label: 'row values', runs: 1000 },
    ))

  for (const [name, { readValue }, values] of [
    ['SQLite', sqlite, inFile],
    ['PostgreSQL', postgres, onServer],
  ] as const)
    it(`of each type is the same by text and by function, on ${name}`, () =>
      check(
        fc.property(fc.constantFrom(...types), values, (type, value) => {
          const source = new BuilderSource()
          const read = readValue(type, source.column(0), source)
          const build = source.finish(read)
          // Answers are JSON, to which -0 is 0.
          const [composed, generated] = [read.of, build].map(run => JSON.stringify(outcome(() => run([value]))))
          assert.equal(composed, generated)
        }),
        { label: `row values of ${name}`, runs: 2000 },
      ))
})
