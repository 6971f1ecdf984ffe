/**
 * What benches say: words are understood or refused, verdicts hold, and the README shows the figures of docs/benchmarks.md. No time is
 * measured.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { withFigures } from '../../bench/readme-figures.ts'
import { MISSED, Report, formatted } from '../../bench/report.ts'
import { byRound, figure, inTurns, median, summary, verdictOf } from '../../bench/summary.ts'
import { read } from '../../bench/words.ts'
import { check } from '../helpers/check.ts'

const root = new URL('../../', import.meta.url)
const text = (file: string): string => readFileSync(new URL(file, root), 'utf8')
const benchmarks = text('docs/benchmarks.md')
const readme = text('README.md')
const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }
const benches = Object.keys(scripts).filter(name => name.startsWith('bench'))

describe('the figures in the documents', () => {
  it('are the same in the README and in docs/benchmarks.md', async () => {
    assert.equal(readme, await formatted(new URL('README.md', root), withFigures(readme, benchmarks)))
  })

  it('stand under the command, the date and the machine they come from', () => {
    const sections = [...benchmarks.matchAll(/<!-- (bench[:a-z]*) -->\n(.*?)<!-- end of \1 -->/gs)]
    // One compares with another commit, one counts what a spec bounds.
    const written = benches.filter(name => name !== 'bench:compare' && name !== 'bench:functions')
    assert.deepEqual(sections.map(([, name]) => name!).toSorted(), written.toSorted())
    for (const [, name, content] of sections) {
      if (content!.trim() === '') continue
      assert.match(content!, new RegExp(`^\\n\`npm run ${name}\`, \\d{4}-\\d\\d-\\d\\d, Node [\\d.]+, \\d+ cores, \\w+ \\w+\\.\\n`))
    }
  })

  it('have their plots', () => {
    const shown = [...benchmarks.matchAll(/\]\((plots\/[^)]+)\)/g)].map(([, file]) => file!)
    for (const file of shown) assert.ok(existsSync(new URL(`docs/${file}`, root)), file)
    const plots = new URL('docs/plots/', root)
    if (existsSync(plots))
      for (const file of readdirSync(plots)) assert.ok(shown.includes(`plots/${file}`), `docs/plots/${file} is not shown`)
  })

  it('have a command each that CONTRIBUTING.md names', () => {
    const contributing = text('CONTRIBUTING.md')
    for (const name of benches) assert.match(contributing, new RegExp(`npm run ${name}\\b`), name)
  })

  it('are refused when the README would show what is not there', () => {
    const empty = '<!-- bench -->\n<!-- end of bench -->\n'
    assert.match(withFigures(readme, empty), /<!-- how fast -->\s+<!-- end of how fast -->/)
    assert.throws(() => withFigures('# README', empty), /README\.md has no section "<!-- how fast -->"/)
    const [head, line] = ['| microseconds per call | by hand | engine | ratio |', '| --- | --: | --: | --: |']
    const bench = (...rows: string[]): string => ['<!-- bench -->', 'when', ...rows, '<!-- end of bench -->'].join('\n')
    assert.throws(() => withFigures(readme, bench('| other |')), /no table "microseconds per call"/)
    assert.throws(() => withFigures(readme, bench(head.replace('ratio', 'factor'), line)), /no column "ratio"/)
    assert.throws(() => withFigures(readme, bench(head, line)), /no row "list of 100, depth 1"/)
  })
})

describe('a report', () => {
  const lines: string[] = []
  const report = new Report('bench:journal', false, line => void lines.push(line))
  report.say('Medians of 3 rounds.')
  report.versus({ what: 'microseconds per call', base: 'by hand', own: 'engine', floor: true, more: ['exponent'] })
  report.compare({ name: 'a|b*', base: [9, 10, 11], own: [18, 20, 22], floor: [12, 12, 12], more: ['1.00'], aim: 1.5 })
  report.compare({ name: 'fast', base: [10, 10, 10], own: [5, 5, 5], more: ['0.50'], aim: 1.5 })
  report.compare({ name: 'for developers', base: [1, 5, 9], own: [1, 5, 9], more: ['0.00'], printedOnly: true })
  report.versus({ what: 'milliseconds', base: 'without', own: 'with it' })
  report.compare({ name: 'a token', base: [1, 1, 1], own: [3, 3, 3], excess: 5 })
  report.plot('journal', 'rows', '<svg/>')
  report.versus({ what: 'not for users', base: 'by hand', own: 'engine', printedOnly: true })
  report.compare({ name: 'hidden', base: [1, 5, 9], own: [1, 5, 9] })
  report.table('megabytes', 'engine', MISSED)
  report.row('peak', '12', '')
  report.printedTable('shapes', 'engine')
  report.row('hidden', '3')

  it('shows the docs figures, ratios and missed aims', () => {
    const [head, ...rest] = report.content().split('\n')
    assert.match(head!, /^`npm run bench:journal`, \d{4}-\d\d-\d\d, Node [\d.]+, \d+ cores, \w+ \w+\.$/)
    const expected = `
Medians of 3 rounds.

| microseconds per call | by hand | engine | ratio | exponent | missed aim |
| --- | --: | --: | --: | --: | --: |
| a\\|b\\* | 10.0 | 20.0 | 2.00 | 1.00 | 1.50 |
| fast | 10.0 | 5.00 | 0.50 | 0.50 |  |

| milliseconds | without | with it | ratio |
| --- | --: | --: | --: |
| a token | 1.00 | 3.00 | +2.00 |

![rows](plots/journal.svg)

| megabytes | engine |
| --- | --: |
| peak | 12 |

Spread: 0%, at most 5%.`
    assert.equal(rest.join('\n').replaceAll(/\n{3,}/g, '\n\n'), expected)
  })

  it('shows the terminal spreads, floors, aims and verdicts, too', () => {
    const printed = (name: string): string | undefined => lines.find(line => line.startsWith(name))?.replaceAll(/ {2,}/g, ', ')
    assert.equal(printed('microseconds per call'), 'microseconds per call, by hand, spread, engine, spread, ratio, floor, exponent, aim')
    assert.equal(printed('a|b*'), 'a|b*, 10.0, ±5%, 20.0, ±5%, 2.00, 1.20, 1.00, 1.50, over')
    assert.equal(printed('for developers'), 'for developers, 5.00, ±40%, 5.00, ±40%, 1.00, 0.00, -, -')
    assert.equal(printed('a token'), 'a token, 1.00, ±0%, 3.00, ±0%, +2.00, 5 more, ok')
    assert.equal(printed('shapes'), 'shapes, engine')
  })
})

describe('the words of a bench', () => {
  const expected = { rounds: 3, names: ['one record', 'list of 100'] }

  it('select by name, and set rounds', () => {
    const words = read(['--rounds', '2', 'list'], expected)
    assert.deepEqual([words.rounds, words.docs, words.isWanted('list of 100'), words.isWanted('one record')], [2, false, true, false])
    assert.equal(read([], expected).isWanted('one record'), true)
    assert.equal(read(['--docs'], expected).docs, true)
    assert.deepEqual(read(['HEAD', 'list'], { ...expected, before: ['REF'] }).given, ['HEAD'])
  })

  it('are refused when they mean nothing', () => {
    assert.throws(() => read(['one recrod'], expected), /No name of what is measured holds "one recrod"\. Did you mean "one record"\?/)
    assert.throws(() => read(['--rounds', '0'], expected), /--rounds must be an integer of 1 or more, got "0"/)
    assert.throws(() => read(['--round', '2'], expected), /Unknown option '--round'/)
    assert.throws(() => read(['--docs', 'list'], expected), /--docs writes all there is/)
    assert.throws(() => read(['--docs', 'HEAD'], { ...expected, before: ['REF'], docs: false }), /Unknown option '--docs'/)
    assert.throws(() => read([], { ...expected, before: ['REF'] }), /Expected: REF \[WORD\.\.\.\]/)
  })
})

describe('what samples come to', () => {
  it('has medians, spreads and figures', () => {
    assert.equal(median([3, 1, 2, 10]), 2.5)
    assert.deepEqual(summary([1, 2, 4, 5, 6]), { median: 4, spread: 37.5 })
    assert.equal(
      byRound([1, 2, 4], [2, 4, 4], (one, two) => two / one),
      2,
    )
    assert.deepEqual([0.1234, 1.234, 12.34, 1234.5].map(figure), ['0.123', '1.23', '12.3', '1,235'])
    assert.deepEqual(
      [inTurns(['a', 'b'], 0), inTurns(['a', 'b'], 1)],
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
    )
  })

  it('has a verdict only beyond the noise', () => {
    const base = [100, 101, 102, 103, 104]
    const times = (factor: number): number[] => base.map(sample => sample * factor)
    assert.equal(verdictOf(base, times(1.1)), 'slower')
    assert.equal(verdictOf(base, times(0.9)), 'faster')
    assert.equal(verdictOf(base, times(1.01)), 'the same')
    assert.equal(verdictOf(base, [90, 101, 150, 103, 160]), 'the same')
    assert.equal(verdictOf(base.slice(1), times(2).slice(1)), 'too few rounds')
  })

  it('is seldom called different for equal code', () => {
    const groups = fc.tuple(...[0, 1].map(() => fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 6, maxLength: 6 })))
    const verdicts = fc.sample(groups, { numRuns: 2000, seed: 7 }).map(([ones, twos]) => verdictOf(ones!, twos!))
    const wrong = verdicts.filter(verdict => verdict !== 'the same').length
    assert.ok(wrong <= 40, `${wrong} of 2,000`)
  })

  it('is told of the same groups the other way round', () => {
    const group = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 5, maxLength: 8 })
    const other = { faster: 'slower', slower: 'faster', 'the same': 'the same', 'too few rounds': 'too few rounds' }
    return check(
      fc.property(group, group, (ones, twos) => {
        const [there, back] = [verdictOf(ones, twos), verdictOf(twos, ones)]
        // A ratio just above 2 percent one way may be just below the other way.
        if (there !== 'the same' && back !== 'the same') assert.equal(back, other[there])
      }),
      { label: 'verdicts' },
    )
  })
})
