/**
 * Adds functions of PostgreSQL and MySQL to SQLite, for SQL of the application. Schemas avoid the functions where possible
 * (translate-sql.ts): other programs may write to the file.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import { runtime } from '../../../foundation/runtime/runtime.ts'
import { splitList } from '../sql/contains.ts'

type FunctionValue = string | number | bigint | Uint8Array | null
type Fn = (...args: FunctionValue[]) => FunctionValue

const text = (value: FunctionValue | undefined): string => (value === null || value === undefined ? '' : String(value))

function makeStrict(work: Fn): Fn {
  return (...args) => (args.includes(null) ? null : work(...args))
}

function toTsvector(...args: FunctionValue[]): FunctionValue {
  const words = new Map<string, number[]>()
  const found =
    text(args.at(-1))
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  for (const [index, word] of found.entries()) words.set(word, [...(words.get(word) ?? []), index + 1])
  const sorted = [...words].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([word, places]) => `'${word}':${places.join()}`).join(' ')
}

function pad(value: FunctionValue, length: FunctionValue, fill: FunctionValue, atEnd: boolean): string {
  const letters = [...text(value)]
  const missing = Math.max(0, Number(length) - letters.length)
  const cut = letters.slice(0, Math.max(0, Number(length))).join('')
  const filling = [...text(fill)]
  const more = filling.length === 0 ? '' : Array.from({ length: missing }, (_, index) => filling[index % filling.length]).join('')
  return atEnd ? cut + more : more + cut
}

/** Of a list column, or of `array_agg`, which is JSON here. */
function readList(value: FunctionValue): readonly unknown[] | undefined {
  const stored = text(value)
  try {
    if (/^\[.*\]$/s.test(stored)) return JSON.parse(stored) as readonly unknown[]
  } catch {
    // A list of texts with square brackets.
  }
  return splitList(stored)
}

function arrayLength(value: FunctionValue, dimension: FunctionValue): number | null {
  return Number(dimension) === 1 ? (readList(value)?.length ?? 0) || null : null
}

/** @param empty stands for NULL, which is left out otherwise */
function joinList(value: FunctionValue, by: FunctionValue, empty?: FunctionValue): string | null {
  const items = readList(value)?.flatMap(item =>
    typeof item === 'string' ? [item] : item === null ? (empty ?? []) : [JSON.stringify(item)],
  )
  return items?.join(text(by)) ?? null
}

function truncateTime(unit: FunctionValue, time: FunctionValue): FunctionValue {
  const date = new Date(Number(time))
  if (Number.isNaN(date.getTime())) return null
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  switch (text(unit).toLowerCase()) {
    case 'year':
      return Date.UTC(year, 0)
    case 'quarter':
      return Date.UTC(year, month - (month % 3))
    case 'month':
      return Date.UTC(year, month)
    case 'week':
      return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7))
    case 'day':
      return Date.UTC(year, month, day)
    case 'hour':
      return Date.UTC(year, month, day, date.getUTCHours())
    case 'minute':
      return Date.UTC(year, month, day, date.getUTCHours(), date.getUTCMinutes())
    case 'second':
      return Math.floor(date.getTime() / 1000) * 1000
    default:
      return null
  }
}

const patterns = new Map<string, RegExp>()

/** `(?i)` at the beginning ignores case. */
function compilePattern(source: string): RegExp {
  let pattern = patterns.get(source)
  if (pattern === undefined) {
    if (patterns.size > 200) patterns.clear()
    pattern = source.startsWith('(?i)') ? new RegExp(source.slice(4), 'iu') : new RegExp(source, 'u')
    patterns.set(source, pattern)
  }
  return pattern
}

function unquote(value: FunctionValue): FunctionValue {
  if (typeof value !== 'string' || !value.startsWith('"')) return value
  try {
    return String(JSON.parse(value))
  } catch {
    return value
  }
}

const same = makeStrict(value => value)

/** Deterministic, also for generated columns. */
const STABLE: Readonly<Record<string, Fn>> = {
  to_tsvector: makeStrict(toTsvector),
  to_tsquery: makeStrict((...args) => args.at(-1)!),
  plainto_tsquery: makeStrict((...args) => args.at(-1)!),
  websearch_to_tsquery: makeStrict((...args) => args.at(-1)!),
  setweight: makeStrict((vector, weight) => text(vector).replaceAll(/(\d+)(?=[, ]|$)/g, `$1${text(weight).toUpperCase()}`)),
  st_geomfromtext: same,
  st_geometryfromtext: same,
  st_geomfromewkt: same,
  st_pointfromtext: same,
  st_pointfromwkb: same,
  st_geogfromtext: same,
  st_astext: same,
  st_asewkt: same,
  st_setsrid: same,
  left: makeStrict((value, count) => [...text(value)].slice(0, Number(count)).join('')),
  right: makeStrict((value, count) => (Number(count) === 0 ? '' : [...text(value)].slice(-Number(count)).join(''))),
  lpad: makeStrict((value, length, fill = ' ') => pad(value, length, fill, false)),
  rpad: makeStrict((value, length, fill = ' ') => pad(value, length, fill, true)),
  repeat: makeStrict((value, count) => text(value).repeat(Math.max(0, Number(count)))),
  reverse: makeStrict(value => [...text(value)].toReversed().join('')),
  initcap: makeStrict(value =>
    text(value)
      .toLowerCase()
      .replaceAll(/(?<![\p{L}\p{N}])\p{L}/gu, letter => letter.toUpperCase()),
  ),
  split_part: makeStrict(
    (value, by, index) =>
      text(value)
        .split(text(by))
        .at(Number(index) - (Number(index) > 0 ? 1 : 0)) ?? '',
  ),
  substring_index: makeStrict((value, by, count) => {
    const parts = text(value).split(text(by))
    return (Number(count) < 0 ? parts.slice(Number(count)) : parts.slice(0, Number(count))).join(text(by))
  }),
  regexp: makeStrict((pattern, value) => (compilePattern(text(pattern)).test(text(value)) ? 1 : 0)),
  regexp_replace: makeStrict((value, pattern, by, flags = '') =>
    text(value).replace(new RegExp(text(pattern), `u${text(flags).replaceAll(/[^gi]/g, '')}`), text(by).replaceAll(/\\(\d)/g, '$$$1')),
  ),
  md5: makeStrict(value => runtime.hash('md5', text(value), 'hex')),
  sha1: makeStrict(value => runtime.hash('sha1', text(value), 'hex')),
  json_unquote: unquote,
  unaccent: makeStrict(value => text(value).normalize('NFD').replaceAll(/\p{M}/gu, '')),
  array_length: makeStrict(arrayLength),
  cardinality: makeStrict(value => readList(value)?.length ?? null),
  array_to_string: (value, by, empty) => (value === null || by === null ? null : joinList(value, by, empty)),
  date_trunc: makeStrict((unit, time) => truncateTime(unit, time)),
  to_timestamp: makeStrict(seconds => Math.round(Number(seconds) * 1000)),
  from_unixtime: makeStrict(seconds => Math.round(Number(seconds) * 1000)),
}

export function addForeignFunctions(db: RawDatabase, now: () => Date): void {
  for (const [name, work] of Object.entries(STABLE)) db.function(name, { deterministic: true, varargs: true }, work)
  for (const name of ['gen_random_uuid', 'uuid_generate_v4', 'uuid']) db.function(name, { varargs: true }, () => runtime.randomUUID())
  // In milliseconds. Two calls in a statement may differ slightly.
  for (const name of ['now', 'clock_timestamp', 'sysdate', 'utc_timestamp']) db.function(name, { varargs: true }, () => now().getTime())
  db.function('unix_timestamp', { varargs: true }, () => Math.floor(now().getTime() / 1000))
}
