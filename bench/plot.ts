/**
 * Plot: draws figures as SVG: lines over a numeric axis, or dots in rows. Both have labelled axes, linear or logarithmic, and a legend, and
 * follow the reader's choice of a light or a dark page.
 */

export interface Axis {
  /** What it shows, with its unit. */
  readonly label: string
  /** Whether equal distances are equal factors. Its values must then be above 0. Default false. */
  readonly log?: boolean
}

export interface Line {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
  /** Drawn dashed, in the colour of the next line, with which it makes a pair. */
  readonly dashed?: boolean
}

export interface Lines {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly lines: readonly Line[]
}

export interface Series {
  readonly name: string
  /** One for each row; undefined: none. */
  readonly values: readonly (number | undefined)[]
  /** Default `dot`. */
  readonly mark?: 'dot' | 'tick'
}

export interface Dots {
  readonly title: string
  readonly x: Axis
  readonly rows: readonly string[]
  readonly series: readonly Series[]
}

interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

/** Colours that people with any kind of colour vision tell apart, on white and on black (after Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a8a00', '#56b4e9', '#7a5cc9', '#999999']

const WIDTH = 840
const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 14px; font-weight: 600 }
.page { fill: #ffffff }
.grid { stroke: #d1d9e0; fill: none }
.tick { stroke: #1f2328; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .page { fill: #0d1117 }
  .grid { stroke: #30363d }
  .tick { stroke: #e6edf3 }
}
</style>`

/**
 * Lines through points.
 *
 * @throws RangeError when a value is not finite, or cannot be on its axis.
 */
export function lines({ title, x, y, lines: all }: Lines): string {
  const area = { left: 70, right: WIDTH - 310, top: 40, bottom: 330 }
  const points = all.flatMap(line => line.points)
  const across = scale(
    points.map(([value]) => value),
    x,
    area.left,
    area.right,
  )
  const up = scale(
    points.map(([, value]) => value),
    y,
    area.bottom,
    area.top,
  )
  const parts = [
    ...across.ticks.map(tick => grid(across.at(tick), area.top, across.at(tick), area.bottom)),
    ...across.ticks.map(tick => text(across.at(tick), area.bottom + 18, number(tick), 'middle')),
    ...up.ticks.map(tick => grid(area.left, up.at(tick), area.right, up.at(tick))),
    ...up.ticks.map(tick => text(area.left - 8, up.at(tick) + 4, number(tick), 'end')),
    text((area.left + area.right) / 2, area.bottom + 42, x.label, 'middle'),
    text(16, area.top - 12, y.label, 'start'),
  ]
  let colours = 0
  for (const [index, line] of all.entries()) {
    const colour = COLOURS[colours % COLOURS.length]!
    if (line.dashed !== true) colours++
    const dash = line.dashed === true ? ' stroke-dasharray="6 4"' : ''
    const stroke = `fill="none" stroke="${colour}" stroke-width="2"${dash}`
    const path = line.points.map(([one, other]) => `${round(across.at(one))},${round(up.at(other))}`)
    parts.push(`<polyline points="${path.join(' ')}" ${stroke}/>`)
    for (const [one, other] of line.points) parts.push(dot(across.at(one), up.at(other), colour))
    const height = area.top + 10 + index * 22
    parts.push(`<line x1="${area.right + 24}" y1="${height}" x2="${area.right + 52}" y2="${height}" ${stroke}/>`)
    parts.push(text(area.right + 60, height + 4, line.name, 'start'))
  }
  return page(title, Math.max(area.bottom, area.top + all.length * 22) + 60, parts)
}

/**
 * Rows, each with a dot or a tick for every series.
 *
 * @throws RangeError when a value is not finite, or cannot be on the axis.
 */
export function dots({ title, x, rows, series }: Dots): string {
  const step = 22
  const area = { left: 240, right: WIDTH - 180, top: 40, bottom: 50 + rows.length * step }
  const values = series.flatMap(one => one.values).filter(value => value !== undefined)
  const across = scale(values, x, area.left, area.right)
  const height = (row: number): number => area.top + 5 + (row + 0.5) * step
  const parts = [
    ...across.ticks.map(tick => grid(across.at(tick), area.top, across.at(tick), area.bottom)),
    ...across.ticks.map(tick => text(across.at(tick), area.bottom + 18, number(tick), 'middle')),
    ...rows.map((_, row) => grid(area.left, height(row), area.right, height(row))),
    ...rows.map((name, row) => text(area.left - 10, height(row) + 4, name, 'end')),
    text((area.left + area.right) / 2, area.bottom + 42, x.label, 'middle'),
  ]
  for (const [index, { name, values: own, mark = 'dot' }] of series.entries()) {
    const draw = (at: number, level: number): string =>
      mark === 'dot'
        ? dot(at, level, COLOURS[index % COLOURS.length]!)
        : `<line class="tick" x1="${round(at)}" y1="${round(level - 8)}" x2="${round(at)}" y2="${round(level + 8)}"/>`
    for (const [row, value] of own.entries()) if (value !== undefined) parts.push(draw(across.at(value), height(row)))
    const level = area.top + 16 + index * 22
    parts.push(draw(area.right + 24, level), text(area.right + 38, level + 4, name, 'start'))
  }
  return page(title, Math.max(area.bottom, area.top + series.length * 22) + 60, parts)
}

function scale(values: readonly number[], { label, log = false }: Axis, from: number, to: number): Scale {
  for (const value of values) {
    if (!Number.isFinite(value)) throw new RangeError(`The axis "${label}" cannot show ${value}.`)
    if (log && value <= 0) throw new RangeError(`The axis "${label}" is logarithmic and cannot show ${value}.`)
  }
  const [least, most] = values.length === 0 ? [1, 1] : [Math.min(...values), Math.max(...values)]
  const ticks = log ? factors(least, most) : steps(least, most)
  const [first, last] = [ticks[0]!, ticks.at(-1)!]
  const part = log
    ? (value: number) => Math.log(value / first) / Math.log(last / first)
    : (value: number) => (value - first) / (last - first)
  return { at: value => from + (to - from) * part(value), ticks }
}

/** Powers of ten around an interval, or for a short one also their doubles and halves. Two at least. */
function factors(least: number, most: number): number[] {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))]
  const powers = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
  const all = powers.length > 3 ? powers : powers.flatMap(power => [power, 2 * power, 5 * power].map(value => Number(value.toPrecision(1))))
  const [from, until] = [all.findLastIndex(tick => tick <= least), all.findIndex(tick => tick >= most)]
  const [begin, end] = [Math.max(0, from), until < 0 ? all.length - 1 : until]
  return begin < end ? all.slice(begin, end + 1) : [all[begin]! / 2, all[begin]!, all[begin]! * 2]
}

/** Round numbers around an interval, from 0 on when it comes near. Two at least. */
function steps(least: number, most: number): number[] {
  const low = least > 0 && least < most ? Math.min(least, 0) : least
  const span = most > low ? most - low : Math.abs(most) || 1
  const power = 10 ** Math.floor(Math.log10(span / 5))
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => span / size <= 7)!
  const first = Math.floor(low / step)
  const last = Math.max(first + 1, Math.ceil(most / step - 1e-9))
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6)))
}

function number(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 6 })
}

function round(value: number): string {
  return String(Number(value.toFixed(1)))
}

function grid(x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="grid" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`
}

function dot(x: number, y: number, colour: string): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="4.5" fill="${colour}"/>`
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function page(title: string, height: number, parts: readonly string[]): string {
  const size = `viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">`,
    STYLE,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="${WIDTH / 2}" y="20" text-anchor="middle">${escaped(title)}</text>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}
