/**
 * Lets `now` of SQLite's date functions follow the engine's clock, for column defaults, MikroORM's versions, triggers and SQL of the
 * application.
 */
import { openRaw } from '../driver/open-raw.ts'
import type { RawDatabase, RawStatement } from '../driver/raw-database.ts'

const KEYWORDS = { current_timestamp: 'datetime', current_date: 'date', current_time: 'time' } as const

/** The position of the first time argument. */
const FUNCTIONS = { date: 0, time: 0, datetime: 0, julianday: 0, unixepoch: 0, strftime: 1, timediff: 0 } as const

let evaluator: RawDatabase | undefined
const statements = new Map<string, RawStatement>()

function evaluate(name: string, args: readonly unknown[]): unknown {
  const key = `${name}/${args.length}`
  let statement = statements.get(key)
  if (statement === undefined) {
    evaluator ??= openRaw(':memory:')
    statement = evaluator.prepare(`select ${name}(${args.map(() => '?').join()})`)
    statement.pluck().safeIntegers()
    statements.set(key, statement)
  }
  return statement.get(...args)
}

function isNow(value: unknown): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'now'
}

function withTime(name: keyof typeof FUNCTIONS, args: readonly unknown[], now: string): readonly unknown[] {
  if (name === 'timediff') return args.map(value => (isNow(value) ? now : value))
  const at = FUNCTIONS[name]
  if (args.length < at) return args
  const first = args[at]
  if (isNow(first)) return args.with(at, now)
  const isModifier = typeof first === 'string' && /^subsec(?:ond)?$/i.test(first)
  return args.length === at || isModifier ? [...args.slice(0, at), now, ...args.slice(at)] : args
}

export function followTime(db: RawDatabase, now: () => Date): void {
  // Like SQLite's own: allowed in indexes and generated columns, one value for each statement.
  const options = { deterministic: true, safeIntegers: true }
  const text = (): string => now().toISOString()
  for (const [keyword, name] of Object.entries(KEYWORDS)) db.function(keyword, options, () => evaluate(name, [text()]))
  for (const name of Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[]) {
    if (name === 'timediff') db.function(name, options, (from: unknown, to: unknown) => evaluate(name, withTime(name, [from, to], text())))
    else db.function(name, { ...options, varargs: true }, (...args: unknown[]) => evaluate(name, withTime(name, args, text())))
  }
}
