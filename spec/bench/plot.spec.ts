/** Plots: what is drawn is well-formed, and has a number in every place of a number. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { dots, lines } from '../../bench/plot.ts'
import { check } from '../helpers/check.ts'

/** @throws AssertionError when tags are not nested, attributes not quoted, or a text holds markup. */
function assertWellFormed(svg: string): void {
  const open: string[] = []
  const tag = /<(\/?)([a-z]+)((?: [a-zA-Z0-9:-]+="[^"<>]*")*)(\/?)>/g
  const content = svg.replaceAll(tag, (_, closing: string, name: string, _attributes: string, empty: string) => {
    if (closing !== '') assert.equal(open.pop(), name)
    else if (empty === '') open.push(name)
    return ''
  })
  assert.deepEqual(open, [])
  assert.doesNotMatch(content, /[<>]|&(?!amp;|lt;|gt;|quot;)/)
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/)
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /)
}

/** Every coordinate lies on the page. */
function assertOnPage(svg: string): void {
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!
  for (const [, axis, value] of svg.matchAll(/ (?:c?([xy])[12]?)="([^"]*)"/g)) {
    assert.ok(Number(value) >= 0 && Number(value) <= Number(axis === 'x' ? width : height), `${axis} is ${value}`)
  }
}

const positive = fc.double({ min: 1e-6, max: 1e9, noNaN: true })

describe('the plots of the benchmarks', () => {
  for (const log of [true, false]) {
    const axis = (label: string) => ({ label, log })

    it(`draw any lines, ${log ? 'logarithmic' : 'linear'}`, () => {
      const line = fc.record({
        name: fc.string(),
        points: fc.array(fc.tuple(positive, positive), { maxLength: 5 }),
        dashed: fc.boolean(),
      })
      const any = fc.record({ title: fc.string(), all: fc.array(line, { maxLength: 4 }) })
      return check(
        fc.property(any, ({ title, all }) => {
          const svg = lines({ title, x: axis('rows'), y: axis('µs'), lines: all })
          assertWellFormed(svg)
          assertOnPage(svg)
        }),
        { label: `lines, ${log ? 'logarithmic' : 'linear'}` },
      )
    })

    it(`draw one point and equal values, ${log ? 'logarithmic' : 'linear'}`, () => {
      for (const points of [
        [[5, 7]],
        [
          [1, 3],
          [2, 3],
        ],
        [
          [2, 3],
          [2, 3],
        ],
      ] as const) {
        const svg = lines({ title: 'One', x: axis('rows'), y: axis('µs'), lines: [{ name: 'engine', points }] })
        assertWellFormed(svg)
        assertOnPage(svg)
        assert.equal(svg.split('<circle').length - 1, points.length)
      }
      const svg = dots({ title: 'One', x: axis('ratio'), rows: ['a'], series: [{ name: 'measured', values: [1] }] })
      assertWellFormed(svg)
      assertOnPage(svg)
    })
  }

  it('draw a dot or a tick for every value, and name rows, series and axes', () => {
    const svg = dots({
      title: 'A & B',
      x: { label: 'ratio' },
      rows: ['one <1>', 'two'],
      series: [
        { name: 'measured', values: [1, 2] },
        { name: 'target', values: [undefined, 3], mark: 'tick' },
      ],
    })
    assertWellFormed(svg)
    // One more of each in the legend.
    assert.equal(svg.split('<circle').length - 1, 3)
    assert.equal(svg.split('class="tick"').length - 1, 2)
    for (const text of ['A &amp; B', 'one &lt;1&gt;', 'two', 'ratio', 'measured', 'target'])
      assert.ok(svg.includes(`>${text}</text>`), text)
  })

  it('refuse what an axis cannot show', () => {
    const draw = (value: number, log: boolean): string =>
      lines({ title: '', x: { label: 'rows', log }, y: { label: 'µs' }, lines: [{ name: '', points: [[value, 1]] }] })
    assert.throws(() => draw(0, true), /The axis "rows" is logarithmic and cannot show 0\./)
    assert.throws(() => draw(NaN, false), /The axis "rows" cannot show NaN\./)
  })
})
