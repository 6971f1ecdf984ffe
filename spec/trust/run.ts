/**
 * Tries what must never happen, and prints the tries and failures. `npm run trust [-- --seed N] [WORD ...]`: words choose checks by name.
 * Exit code 1 for any failure. Takes less than ten minutes.
 */
import { CHECKS } from './checks.ts'
import { KNOWN } from './specs.ts'
import { listPlaces, ownFile } from './places.ts'
import { placed, tallyOf } from './tally.ts'
import type { Tally } from './tally.ts'

const args = process.argv.slice(2)
const at = args.indexOf('--seed')
const seed = at < 0 ? Math.trunc(Math.random() * 2 ** 31) : Number(args[at + 1])
if (!Number.isSafeInteger(seed)) throw new Error(`--seed takes an integer, not ${JSON.stringify(args[at + 1])}.`)
const words = at < 0 ? args : args.toSpliced(at, 2)
const { server, skip } = await listPlaces()
const chosen = placed([...CHECKS, ...KNOWN], ownFile, server).filter(
  ({ name }) => words.length === 0 || words.some(word => name.includes(word)),
)
if (chosen.length === 0) throw new Error(`No check has one of these words in its name: ${words.join(', ')}.`)

console.log(`npm run trust -- --seed ${seed}\n`)
if (skip !== false) console.log(`skip   ${CHECKS.filter(({ isOfServers }) => isOfServers).length} checks on PostgreSQL: ${skip}`)
const tallies: Tally[] = []
for (const check of chosen) {
  const tally = await tallyOf(check, { seed, scale: 1 })
  tallies.push(tally)
  console.log(`${tally.failed === 0 ? 'ok    ' : 'FAILED'} ${tally.check} (${tally.seconds.toFixed(0)} s)`)
  for (const failure of tally.failures) console.log(`       ${failure}`)
}
const rows = [
  ['check', 'tried', '', 'failed', ''],
  ...tallies.map(({ check, tried, what, failed, note }) => [check, tried.toLocaleString('en'), what, String(failed), note]),
]
const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
console.log(
  `\n${rows
    .map(row =>
      row
        .map((cell, column) => (column % 2 === 1 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}`,
)
process.exitCode = tallies.some(({ failed }) => failed > 0) ? 1 : 0
