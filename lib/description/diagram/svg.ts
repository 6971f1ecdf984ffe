/** Draws a diagram as SVG, light or dark. */
import type { Diagram, DiagramRelation, RelationEnd } from './diagram-parts.ts'
import { HEAD_HEIGHT, layOut, type Box, type Line, type LineEnd, type Point } from './layout.ts'

export const DIAGRAM_STYLE = `
.diagram text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--text); }
.diagram .title { font-weight: 700; }
.diagram .type, .diagram .more { fill: var(--muted); }
.diagram .key { font-weight: 700; text-decoration: underline; }
.diagram .box { fill: var(--surface); stroke: var(--border); }
.diagram .head { fill: var(--head); }
.diagram .line { fill: none; stroke: var(--line); stroke-width: 1.4; }
.diagram .sign { fill: none; stroke: var(--line); stroke-width: 1.4; }
.diagram .ring { fill: var(--page); stroke: var(--line); stroke-width: 1.4; }
@media (forced-colors: active) {
  .diagram { --page: Canvas; --surface: Canvas; --text: CanvasText; --muted: CanvasText; }
  .diagram { --border: CanvasText; --head: Canvas; --line: CanvasText; }
}
`

export const LIGHT =
  '--page: #ffffff; --surface: #ffffff; --text: #1c2330; --muted: #586174; ' +
  '--border: #c3cad6; --head: #e7edf8; --line: #5b6f92; --accent: #1f5fbf; --code: #f3f5f9;'
export const DARK =
  '--page: #14181f; --surface: #1b212b; --text: #e6eaf2; --muted: #a3adbf; ' +
  '--border: #3d4758; --head: #263349; --line: #8ea6cf; --accent: #8db8ff; --code: #1f2631;'

interface PictureOptions {
  readonly title: string
  /** For a separate file: with style and background. */
  readonly isWhole: boolean
}

export function drawDiagram(diagram: Diagram, { title, isWhole }: PictureOptions): string {
  const { width, height, boxes, lines } = layOut(diagram)
  const style = `.diagram { ${LIGHT} } @media (prefers-color-scheme: dark) { .diagram { ${DARK} } }${DIAGRAM_STYLE}`
  const count = `${diagram.entities.length} resources, ${diagram.relations.length} relations`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(`${title}: ${count}`)}">`,
    ...(isWhole ? [`<style>${style}</style>`, `<rect width="100%" height="100%" fill="var(--page)"/>`] : []),
    ...lines.map(drawLine),
    ...boxes.map(drawBox),
    '</svg>',
    '',
  ].join('\n')
}

/** Escapes for elements and quoted attributes of XML and HTML. A character that XML forbids becomes U+FFFD. */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Control}|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** `posts.user: any number of posts to one of users`. */
export function describeRelation({ from, to }: DiagramRelation): string {
  const names = [from, to].flatMap(({ entity, attribute }) => (attribute === undefined ? [] : [`${entity}.${attribute}`]))
  return `${names.join(' and ')}: ${countEnd(from)} to ${countEnd(to)}`
}

const COUNTS = { one: 'one', zeroOrOne: 'at most one', many: 'any number' } as const

function countEnd({ entity, cardinality }: RelationEnd): string {
  return `${COUNTS[cardinality]} of ${entity}`
}

function drawBox({ entity, title, x, y, width, height, rows }: Box): string {
  const left = number(x + 12)
  const right = number(x + width - 12)
  const head =
    `M ${number(x)} ${number(y + HEAD_HEIGHT)} v ${-HEAD_HEIGHT + 6} ` +
    `q 0 -6 6 -6 h ${number(width - 12)} q 6 0 6 6 v ${HEAD_HEIGHT - 6} z`
  return [
    `<g data-resource="${escapeText(entity.name)}">`,
    `<title>${escapeText(entity.name)}</title>`,
    `<rect class="box" x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" rx="6"/>`,
    `<path class="head" d="${head}"/>`,
    `<text class="title" x="${left}" y="${number(y + HEAD_HEIGHT / 2 + 4)}">${escapeText(title)}</text>`,
    ...rows.map(({ name, type, attribute, y: middle }) => {
      const look = attribute === undefined ? ' class="more"' : attribute.isKey ? ' class="key"' : ''
      const end =
        type === '' ? '' : `<text class="type" x="${right}" y="${number(middle + 4)}" text-anchor="end">${escapeText(type)}</text>`
      return `<text${look} x="${left}" y="${number(middle + 4)}">${escapeText(name)}</text>${end}`
    }),
    '</g>',
  ].join('')
}

function drawLine({ relation, start, end, points }: Line): string {
  return [
    `<g data-from="${escapeText(relation.from.entity)}" data-to="${escapeText(relation.to.entity)}">`,
    `<title>${escapeText(describeRelation(relation))}</title>`,
    `<path class="line" d="${drawPath(start, points, end)}"/>`,
    drawSign(start),
    drawSign(end),
    '</g>',
  ].join('')
}

/** Straight at boxes and through columns, curved between columns. */
function drawPath(start: LineEnd, points: readonly Point[], end: LineEnd): string {
  const [out, ...rest] = points as [Point, ...Point[]]
  const parts = [`M ${at(start)}`, `L ${at(out)}`]
  // Beside the column: both ends are on the same side.
  if (start.side === end.side) return [...parts, `C ${rest.map(at).join(' ')}`, `L ${at(end)}`].join(' ')
  let last = out
  for (const [index, point] of rest.entries()) {
    const half = (last.x + point.x) / 2
    parts.push(
      index % 2 === 0 && last.x !== point.x
        ? `C ${at({ x: half, y: last.y })} ${at({ x: half, y: point.y })} ${at(point)}`
        : `L ${at(point)}`,
    )
    last = point
  }
  return [...parts, `L ${at(end)}`].join(' ')
}

/** A crow's foot for many, a stroke for one, a stroke with a ring for zero or one. */
function drawSign({ x, y, side, cardinality }: LineEnd): string {
  const way = side === 'right' ? 1 : -1
  const along = (distance: number): string => number(x + way * distance)
  if (cardinality === 'many')
    return `<path class="sign" d="M ${number(x)} ${number(y - 5)} L ${along(10)} ${number(y)} L ${number(x)} ${number(y + 5)}"/>`
  const stroke = `<path class="sign" d="M ${along(6)} ${number(y - 5)} V ${number(y + 5)}"/>`
  return cardinality === 'one' ? stroke : `${stroke}<circle class="ring" cx="${along(12)}" cy="${number(y)}" r="3.5"/>`
}

function at({ x, y }: Point): string {
  return `${number(x)} ${number(y)}`
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10)
}
