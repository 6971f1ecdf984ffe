/**
 * Places boxes in columns, and lines between boxes, in pixels. A line has a lane in each column on the way; a lane takes room like a box.
 *
 * ```
 * User ──┐          ┌── Tag
 *        │   Post   │
 *        └── lane ──┘
 * ```
 */
import { BOX_GAP, arrangeColumns, average } from './columns.ts'
import type { Diagram, DiagramRelation, DiagramEntity, DiagramAttribute, Cardinality } from './diagram-parts.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

interface BoxRow {
  readonly name: string
  readonly type: string
  /** Undefined: the row `+ 3 more`. */
  readonly attribute: DiagramAttribute | undefined
  /** The middle of the row, from the top of the `SizedBox`, or of the diagram in a `Box`. */
  readonly y: number
}

export interface Box {
  readonly entity: DiagramEntity
  readonly title: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly rows: readonly BoxRow[]
}

export interface LineEnd extends Point {
  readonly side: 'left' | 'right'
  readonly cardinality: Cardinality
}

export interface Line {
  readonly relation: DiagramRelation
  readonly start: LineEnd
  readonly end: LineEnd
  /** Points where the line leaves and enters columns. Between boxes of one column: exit, two control points of a curve, return. */
  readonly points: readonly Point[]
}

export interface Layout {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

export const HEAD_HEIGHT = 30
const ROW_HEIGHT = 20
const MARGIN = 16
const PADDING = 12
/** Above and below the rows. */
const ROWS_PADDING = 3
const BOLD_WIDTH = 1.15
/** Rows of a box, with the row `+ 3 more`. Keys and relations are always shown. */
const MOST_ROWS = 16
/** In letters. */
const LONGEST_NAME = 30
/** In letters. */
const LONGEST_TYPE = 24
const MIN_WIDTH = 130
const COLUMN_GAP = 64
const GAP_OF_LINE = 4
const MOST_GAP_OF_LINES = 60
const GAP_OF_LANES = 4
const LEAST_BULGE = 20
const LANE_HEIGHT = 10
/** Limits the work: further lines have no lanes, and pass behind boxes. */
const MOST_LANES = 6000
const SETTLING_PASSES = 6
/** Before a line bends: room for a crow's foot. */
const STUB = 16

interface RouteSlot {
  readonly height: number
  readonly neighbours: RouteSlot[]
  /** Undefined: a lane. */
  readonly box: SizedBox | undefined
  column: number
  y: number
}

interface SizedBox {
  readonly entity: DiagramEntity
  readonly name: string
  readonly title: string
  readonly width: number
  readonly height: number
  readonly rows: readonly BoxRow[]
}

interface RelationRoute {
  readonly relation: DiagramRelation
  readonly slots: readonly RouteSlot[]
}

export function layOut({ entities, relations }: Diagram): Layout {
  // The entity of `from` has the foreign key: the child.
  const edges = relations.map(({ from, to }) => ({ parent: to.entity, child: from.entity }))
  const columns = arrangeColumns(
    entities.map(entity => sizeBox(entity, relations)),
    edges,
  )
  const slots = columns.map((boxes, column) => boxes.map((box): RouteSlot => ({ height: box.height, neighbours: [], box, column, y: 0 })))
  const byName = new Map(slots.flat().map(slot => [slot.box!.name, slot]))
  const routes = findRoutes(relations, byName, slots)
  settle(slots)
  const widths = columns.map(boxes => Math.max(...boxes.map(({ width }) => width)))
  const linesInGap = columns.map((_, column) => routes.filter(route => usesGapAfter(route, column)).length)
  const lefts: number[] = []
  let right = MARGIN
  for (const [column, width] of widths.entries()) {
    lefts.push(right)
    right += width + (column < widths.length - 1 ? COLUMN_GAP + Math.min(MOST_GAP_OF_LINES, GAP_OF_LINE * linesInGap[column]!) : 0)
  }
  const places = new Map(
    slots.flat().flatMap(slot => (slot.box === undefined ? [] : [[slot.box.name, placeBox(slot, lefts, widths)] as const])),
  )
  const lines = routes.map(route => placeLine(route, places, lefts, widths))
  const boxes = entities.map(({ name }) => places.get(name)!)
  const points = lines.flatMap(({ points: all }) => all)
  return {
    width: Math.ceil(Math.max(right, ...points.map(({ x }) => x)) + MARGIN),
    height: Math.ceil(Math.max(0, ...boxes.map(({ y, height }) => y + height), ...points.map(({ y }) => y)) + MARGIN),
    boxes,
    lines,
  }
}

function sizeBox(entity: DiagramEntity, relations: readonly DiagramRelation[]): SizedBox {
  const linked = new Set(
    relations.flatMap(({ from, to }) =>
      [from, to].flatMap(end => (end.entity === entity.name && end.attribute !== undefined ? end.attribute.split('.')[0]! : [])),
    ),
  )
  const { attributes } = entity
  const least = attributes.filter(({ isKey, name }) => isKey || linked.has(name)).length
  const room = Math.max(0, (attributes.length > MOST_ROWS ? MOST_ROWS - 1 : MOST_ROWS) - least)
  let others = 0
  const shown = attributes.filter(({ isKey, name }) => isKey || linked.has(name) || others++ < room)
  const rest = attributes.length - shown.length
  const texts = [
    ...shown.map(attribute => ({
      attribute,
      name: shortenText(attribute.name, LONGEST_NAME),
      type: shortenText(attribute.type, LONGEST_TYPE),
    })),
    ...(rest === 0 ? [] : [{ attribute: undefined, name: `+ ${rest} more`, type: '' }]),
  ]
  const title = shortenText(entity.name, LONGEST_NAME)
  const rowWidth = Math.max(0, ...texts.map(({ name, type }) => measureText(name) + measureText(type) + 2 * PADDING))
  return {
    entity,
    name: entity.name,
    title,
    width: Math.ceil(Math.max(MIN_WIDTH, measureText(title) * BOLD_WIDTH + 2 * PADDING, rowWidth + PADDING)),
    height: HEAD_HEIGHT + texts.length * ROW_HEIGHT + 2 * ROWS_PADDING,
    rows: texts.map((text, index) => ({ ...text, y: HEAD_HEIGHT + (index + 0.5) * ROW_HEIGHT + ROWS_PADDING })),
  }
}

function usesGapAfter({ slots }: RelationRoute, column: number): boolean {
  const columns = slots.map(slot => slot.column)
  const [first, last] = [Math.min(...columns), Math.max(...columns)]
  return first <= column && (column < last || first === last)
}

/** Puts a lane into each column between both boxes, at the rank (0: top, 1: bottom) of a straight line. */
function findRoutes(
  relations: readonly DiagramRelation[],
  byName: ReadonlyMap<string, RouteSlot>,
  slots: readonly RouteSlot[][],
): RelationRoute[] {
  let lanes = 0
  const added = slots.map((): { slot: RouteSlot; wanted: number }[] => [])
  const rank = new Map(slots.flatMap(column => column.map((slot, index) => [slot, (index + 0.5) / column.length] as const)))
  const routes = relations.map((relation): RelationRoute => {
    const [from, to] = [byName.get(relation.from.entity)!, byName.get(relation.to.entity)!]
    const step = Math.sign(to.column - from.column)
    const passing: RouteSlot[] = []
    const distance = Math.abs(to.column - from.column)
    if (distance > 1 && lanes + distance - 1 <= MOST_LANES) {
      lanes += distance - 1
      for (let column = from.column + step; column !== to.column; column += step) {
        const slot: RouteSlot = { height: LANE_HEIGHT, neighbours: [], box: undefined, column, y: 0 }
        const part = Math.abs(column - from.column) / distance
        added[column]!.push({ slot, wanted: rank.get(from)! * (1 - part) + rank.get(to)! * part })
        passing.push(slot)
      }
    }
    const all = [from, ...passing, to]
    for (const [index, slot] of all.slice(1).entries()) {
      slot.neighbours.push(all[index]!)
      all[index]!.neighbours.push(slot)
    }
    return { relation, slots: all }
  })
  for (const [column, more] of added.entries()) {
    const ranked = [...slots[column]!.map(slot => ({ slot, wanted: rank.get(slot)! })), ...more]
    slots[column]!.splice(0, Infinity, ...ranked.toSorted((a, b) => a.wanted - b.wanted).map(({ slot }) => slot))
  }
  return routes
}

/** Moves slots close to neighbours, in the same order. */
function settle(columns: readonly RouteSlot[][]): void {
  for (const column of columns) stack(column, () => 0)
  for (let pass = 0; pass < SETTLING_PASSES; pass++) {
    for (const column of pass % 2 === 0 ? columns : columns.toReversed()) {
      stack(
        column,
        slot => average(slot.neighbours.filter(other => other.column !== slot.column).map(middle), middle(slot)) - slot.height / 2,
      )
    }
  }
  const top = Math.min(...columns.flat().map(({ y }) => y))
  for (const slot of columns.flat()) slot.y += MARGIN - top
}

function middle({ y, height }: RouteSlot): number {
  return y + height / 2
}

function gapAfter(slot: RouteSlot, next: RouteSlot | undefined): number {
  const boxes = [slot, next].filter(each => each?.box !== undefined).length
  return [GAP_OF_LANES, BOX_GAP / 2, BOX_GAP][boxes]!
}

/** As near to the wanted positions as order and gaps allow (isotonic regression). */
function stack(column: readonly RouteSlot[], want: (slot: RouteSlot) => number): void {
  let offset = 0
  const offsets = column.map((slot, index) => {
    const own = offset
    offset += slot.height + gapAfter(slot, column[index + 1])
    return own
  })
  const blocks: { sum: number; count: number }[] = []
  for (const [index, slot] of column.entries()) {
    blocks.push({ sum: want(slot) - offsets[index]!, count: 1 })
    for (;;) {
      const [before, last] = [blocks.at(-2), blocks.at(-1)!]
      if (before === undefined || before.sum / before.count <= last.sum / last.count) break
      blocks.splice(-2, 2, { sum: before.sum + last.sum, count: before.count + last.count })
    }
  }
  let index = 0
  for (const { sum, count } of blocks) {
    for (let end = index + count; index < end; index++) column[index]!.y = sum / count + offsets[index]!
  }
}

function placeBox(slot: RouteSlot, lefts: readonly number[], widths: readonly number[]): Box {
  const { entity, title, width, height, rows } = slot.box!
  const x = lefts[slot.column]! + (widths[slot.column]! - width) / 2
  return { entity, title, x, y: slot.y, width, height, rows: rows.map(row => ({ ...row, y: row.y + slot.y })) }
}

function placeLine(
  { relation, slots }: RelationRoute,
  places: ReadonlyMap<string, Box>,
  lefts: readonly number[],
  widths: readonly number[],
): Line {
  const [from, to] = [slots[0]!, slots.at(-1)!]
  const isSame = from.column === to.column
  const leaves = isSame || to.column > from.column ? 'right' : 'left'
  const arrives = isSame || to.column < from.column ? 'right' : 'left'
  const start = placeEnd(places.get(relation.from.entity)!, relation.from, leaves)
  const end = placeEnd(places.get(relation.to.entity)!, relation.to, arrives)
  const edge = (column: number, side: 'left' | 'right'): number => lefts[column]! + (side === 'right' ? widths[column]! : 0)
  const out = { x: edge(from.column, leaves) + (leaves === 'right' ? STUB : -STUB), y: start.y }
  const back = { x: edge(to.column, arrives) + (arrives === 'right' ? STUB : -STUB), y: end.y }
  if (isSame) {
    const bulge = Math.min(COLUMN_GAP - STUB, LEAST_BULGE + Math.abs(end.y - start.y) / 10)
    return { relation, start, end, points: [out, { x: out.x + bulge, y: start.y }, { x: out.x + bulge, y: end.y }, back] }
  }
  const passed = slots.slice(1, -1).flatMap(({ column, y }) => {
    const sides = [edge(column, 'left'), edge(column, 'right')].map(x => ({ x, y: y + LANE_HEIGHT / 2 }))
    return leaves === 'right' ? sides : sides.toReversed()
  })
  return { relation, start, end, points: [out, ...passed, back] }
}

function placeEnd(box: Box, { attribute, cardinality }: DiagramRelation['from'], side: 'left' | 'right'): LineEnd {
  const name = attribute?.split('.')[0]
  const row = box.rows.find(each => each.attribute !== undefined && each.attribute.name === name)
  return { x: side === 'right' ? box.x + box.width : box.x, y: row?.y ?? box.y + HEAD_HEIGHT / 2, side, cardinality }
}

/** Pixels per letter at 12 pixels font size, for the widest common font. */
const LETTER = 7.3
/** East Asian scripts and pictographs have double width. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u
/** Marks have no width. */
const MARK = /\p{Mark}|\u200d/u

function measureText(text: string): number {
  let letters = 0
  for (const letter of text) letters += MARK.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1
  return letters * LETTER
}

function shortenText(text: string, most: number): string {
  const letters = [...text]
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`
}
