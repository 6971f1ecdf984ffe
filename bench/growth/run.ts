/**
 * Bench of growth: how the cost of a request grows with rows, the page, expanded relations, filters and the entities of the model, by the
 * engine and by hand; how the cost of nested bodies, replaced lists, seeds, JSON files, the journal and worlds grows with their size; and
 * how the cost of creating an engine grows, beside MikroORM with its schema. Takes about ten minutes.
 *
 *     npm run bench:growth
 *     npm run bench:growth -- --rounds 1 rows page    one round, and only the growths whose name has one of the words
 *     npm run bench:growth -- --docs                  writes the tables into docs/benchmarks.md and the plots beside it, too
 *
 * Answers are compared first (`spec/bench/growth.spec.ts` does as well). Each growth and contender runs in a process of its own; every
 * round begins with the other contender. The figures are medians of the rounds. Growing faster than its input, and than what is beside it,
 * is `over`.
 */
import { fileURLToPath } from 'node:url'
import { CONTENDERS } from '../contenders.ts'
import type { ContenderName } from '../contenders.ts'
import { measured, roundsOf } from '../measure.ts'
import type { Side } from '../measure.ts'
import { lines } from '../plot.ts'
import type { Line } from '../plot.ts'
import { Report } from '../report.ts'
import type { Comparison } from '../report.ts'
import { figure, median } from '../summary.ts'
import { wordsOf } from '../words.ts'
import { compareAnswers } from './compare-answers.ts'
import { exponentOf, growsTooFast } from './exponent.ts'
import { GROWTHS } from './growths.ts'
import type { Points } from './run-trial.ts'
import { TASKS } from './tasks.ts'

const { rounds, docs, isWanted } = wordsOf({ rounds: 3, names: [...GROWTHS, ...TASKS].map(({ name }) => name).concat('create') })
const script = fileURLToPath(new URL('run-trial.ts', import.meta.url))
const sideOf = (contender: ContenderName): Side => ({ script, contender })
const SIDES = [sideOf(CONTENDERS[0]), sideOf(CONTENDERS[1])] as const

type Aims = Readonly<Record<string, number | undefined>>

const report = new Report('bench:growth', docs)
report.say(`Medians of ${rounds} rounds; microseconds of the processor for one call.`)

/** The medians of some rounds. */
function middle(all: readonly Points[], trial: string): (readonly [number, number])[] {
  return all[0]![trial]!.map(([size], index) => [size, median(all.map(points => points[trial]![index]![1]))] as const)
}

/** Trials that cost what another one of the same plot costs. */
const PRINTED_ONLY = new Set(['a page at depth 0', 'filters of one shape', 'a list of one entity'])

/** All trials at their largest size, for a table at the end. */
const largest: Comparison[] = []

interface Measured {
  readonly name: string
  readonly label: string
  readonly beside?: string
  readonly aims?: Aims
  /** Whether the docs show a plot. */
  readonly plot?: boolean
}

/** Prints a table with all sizes and exponents. */
async function measure({ name, label, beside = 'by hand', aims = {}, plot = false }: Measured): Promise<void> {
  const [base, own] = await roundsOf(SIDES, rounds, side => measured<Points>(side, name, side.contender))
  const drawn: Line[] = []
  const trials = Object.keys(own[0]!)
  const sizes = own[0]![trials[0]!]!.map(([size]) => size)
  report.printedTable(label, ...sizes.map(size => size.toLocaleString('en')), 'exponent', '')
  for (const trial of trials) {
    const [besidePoints, ownPoints] = [middle(base, trial), middle(own, trial)]
    const [besideExponent, exponent] = [exponentOf(besidePoints), exponentOf(ownPoints)]
    const aim = aims[trial]
    const last = (all: readonly Points[]): number[] => all.map(points => points[trial]!.at(-1)![1])
    const verdict = growsTooFast(exponent, besideExponent) ? 'over' : 'ok'
    largest.push({
      name: `${trial}${beside === 'by hand' ? '' : `, beside ${beside}`}: ${sizes.at(-1)!.toLocaleString('en')} ${label}`,
      base: last(base),
      own: last(own),
      printedOnly: PRINTED_ONLY.has(trial),
      more: [`${exponent.toFixed(2)}${verdict === 'over' ? ', over' : ''}`],
      aim,
    })
    for (const [who, points, slope, said] of [
      [beside, besidePoints, besideExponent, ''],
      ['engine', ownPoints, exponent, verdict],
    ] as const) {
      const cells = sizes.map(size => points.find(([known]) => known === size)).map(point => (point === undefined ? '' : figure(point[1])))
      report.row(`${trial}: ${who}`, ...cells, slope.toFixed(2), said)
      drawn.push({ name: `${trial}: ${who}`, points, dashed: who !== 'engine' })
    }
  }
  if (!plot) return
  const title = `Cost of a request, by ${label}`
  const log = sizes[0]! > 0
  report.plot(`growth-${name}`, label, lines({ title, x: { label, log }, y: { label: 'microseconds', log: true }, lines: drawn }))
}

for (const growth of GROWTHS.filter(({ name }) => isWanted(name))) {
  await compareAnswers(growth)
  const aims = Object.fromEntries(growth.trials.map(({ name, aim }) => [name, aim]))
  await measure({ ...growth, aims, plot: true })
}
for (const { name, label, trial, aim } of TASKS.filter(task => isWanted(task.name))) {
  await measure({ name, label, aims: { [trial]: aim } })
}
if (isWanted('create')) await measure({ name: 'create', label: 'entities of the model', beside: 'MikroORM' })
report.versus({ what: 'microseconds at the largest size', base: 'by hand', own: 'engine', more: ['exponent'] })
for (const comparison of largest) report.compare(comparison)
await report.end()
