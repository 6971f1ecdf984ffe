/**
 * Bench of deep pages: `node bench/offset.ts`. Compares the usual statement of a list with the one from the 1,000th record on, which finds
 * the page by its keys (`compileLateLookUp` in lib/databases/sql/compile-read.ts). In turns, on a million rows in memory. Takes about a
 * minute.
 */
import assert from 'node:assert/strict'
import Database from 'better-sqlite3'

const SIZE = 1_000_000
const OFFSETS = [100, 1000, 10_000, 100_000, 450_000]
const CASES: readonly [name: string, order: string, where: string][] = [
  ['by key', 'id', ''],
  ['by an index', 'score, id', ''],
  ['by an index, desc', 'score desc, id', ''],
  ['by an index that filters', 'score, id', 'where score > 500'],
  ['by an index, filtered', 'score, id', "where email > 'e5'"],
  ['without an index', 'name, id', ''],
]

const db = new Database(':memory:')
db.exec(`
  create table users (id integer primary key, name text not null, email text not null, score integer not null, bio text);
  create index by_score on users (score);
  insert into users with recursive n(i) as (select 1 union all select i + 1 from n where i < ${SIZE})
    select i, 'name' || i, 'e' || i || '@example.test', i * 7919 % 100003, 'bio of ' || i || printf('%.40c', '.') from n;
`)

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ` +
    `${SIZE.toLocaleString('en')} rows, pages of 100, microseconds\n`,
)
console.log(`${'sorted'.padEnd(28)}${'offset'.padStart(10)}${'rows'.padStart(12)}${'by keys'.padStart(12)}${'ratio'.padStart(8)}`)
for (const [name, order, where] of CASES) {
  for (const offset of OFFSETS) {
    const page = `${where} order by ${order} limit 100 offset ?`
    const rows = db.prepare(`select * from users as t0 ${page}`).raw()
    const keys = db.prepare(`select * from users as t0 where t0.id in (select t1.id from users as t1 ${page}) order by ${order}`).raw()
    assert.deepEqual(keys.all(offset), rows.all(offset))
    const times: [number[], number[]] = [[], []]
    for (let round = 0; round < (offset < 100_000 ? 15 : 3); round++) {
      for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const begun = performance.now()
        ;(which === 0 ? rows : keys).all(offset + round)
        times[which].push((performance.now() - begun) * 1000)
      }
    }
    const [one, two] = [median(times[0]), median(times[1])]
    const cells = [offset, Math.round(one), Math.round(two)].map((value, at) => value.toLocaleString('en').padStart(at === 0 ? 10 : 12))
    console.log(`${name.padEnd(28)}${cells.join('')}${(two / one).toFixed(2).padStart(8)}`)
  }
}
