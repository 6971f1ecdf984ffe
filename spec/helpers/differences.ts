/** What cannot be on PostgreSQL as it is on SQLite: the only reasons for which a test of both may be left out there. */

/** By the names that docs/postgresql.md has for them, under "What is different". */
export const DIFFERENCES = {
  NUL: 'PostgreSQL cannot store the character NUL in a text',
  '32 bits': 'integers have 32 bits in PostgreSQL',
  '255 characters': 'a string without a length has 255 characters in PostgreSQL',
  'one host': 'a URL of PostgreSQL names one host',
  jsonb: 'jsonb orders the keys of objects',
  'long decimals': 'PostgreSQL stores decimals of more than 15 digits exactly',
  'NULL in lists': 'lists of PostgreSQL may hold NULL',
  'column types': 'a column of PostgreSQL holds values of its type only',
} as const

/** What makes a test one of SQLite alone, whatever PostgreSQL can do. */
export const OF_SQLITE = {
  SQL: 'its statements are written for SQLite',
  'unit of work': 'MikroORM’s unit of work writes it statement by statement',
  'foreign words': 'on SQLite alone types and SQL of other databases are translated',
  queue: 'writes do not wait in line',
} as const

export type Exception = keyof typeof DIFFERENCES | keyof typeof OF_SQLITE

/** Returns the reason, as the report shows it. */
export function reasonOf(exception: Exception): string {
  return `not on PostgreSQL: ${{ ...DIFFERENCES, ...OF_SQLITE }[exception]}`
}
