/**
 * Arranges boxes in columns, targets of links left of the sources. A long chain fills columns from top to bottom.
 */

interface Placed {
  readonly name: string
  readonly width: number
  readonly height: number
}

interface Edge {
  readonly parent: string
  readonly child: string
}

/** Pixels below a box. */
export const BOX_GAP = 28
/** Greatest width, as a multiple of the height. */
const WIDEST = 3
/** Aimed ratio of width to height. */
const ASPECT = 1.5
/** Pixels for lines beside a box. */
const LINE_SPACE = 90
/** Passes that reorder columns. */
const SWEEPS = 6

export function arrangeColumns<B extends Placed>(boxes: readonly B[], edges: readonly Edge[]): B[][] {
  const own = edges.filter(({ parent, child }) => parent !== child)
  const linked = new Set(own.flatMap(({ parent, child }) => [parent, child]))
  const connected = boxes.filter(({ name }) => linked.has(name))
  const height = findHeight(boxes)
  const layered = splitColumns(orderColumns(groupByLayer(connected, findLayers(connected, own)), own), height)
  const chosen = isTooWide(layered) ? orderColumns(fillColumns(walk(connected, own), height), own) : orderColumns(layered, own)
  // Boxes without relations come last.
  return [
    ...chosen,
    ...fillColumns(
      boxes.filter(({ name }) => !linked.has(name)),
      height,
    ),
  ]
}

function findHeight(boxes: readonly Placed[]): number {
  const area = boxes.reduce((sum, { width, height }) => sum + (width + LINE_SPACE) * (height + BOX_GAP), 0)
  return Math.max(Math.sqrt(area / ASPECT), ...boxes.map(({ height }) => height))
}

function columnHeight(boxes: readonly Placed[]): number {
  return boxes.reduce((sum, { height }) => sum + height + BOX_GAP, -BOX_GAP)
}

function isTooWide(columns: readonly (readonly Placed[])[]): boolean {
  const width = columns.reduce((sum, boxes) => sum + Math.max(...boxes.map(box => box.width)) + LINE_SPACE, 0)
  return width > WIDEST * Math.max(...columns.map(columnHeight))
}

/** The highest layer of parents, plus 1. A cycle is cut where the walk meets a box again. */
function findLayers(boxes: readonly Placed[], edges: readonly Edge[]): Map<string, number> {
  const parents = groupBy(edges, 'child', 'parent')
  const layers = new Map<string, number>()
  const open = new Set<string>()
  // Without recursion: a chain may be as long as the model.
  for (const { name: root } of boxes) {
    const stack = [root]
    while (stack.length > 0) {
      const name = stack.at(-1)!
      if (layers.has(name)) {
        stack.pop()
        continue
      }
      open.add(name)
      const waiting = (parents.get(name) ?? []).filter(parent => !layers.has(parent) && !open.has(parent))
      if (waiting.length > 0) {
        stack.push(waiting[0]!)
        continue
      }
      const known = (parents.get(name) ?? []).map(parent => layers.get(parent) ?? -1)
      layers.set(name, Math.max(-1, ...known) + 1)
      open.delete(name)
      stack.pop()
    }
  }
  pullRoots(layers, edges)
  return layers
}

/** A box without parents moves next to its leftmost child. */
function pullRoots(layers: Map<string, number>, edges: readonly Edge[]): void {
  const children = groupBy(edges, 'parent', 'child')
  for (const [name, layer] of layers) {
    if (layer > 0) continue
    const first = Math.min(...(children.get(name) ?? []).map(child => layers.get(child)!))
    if (Number.isFinite(first) && first > 1) layers.set(name, first - 1)
  }
}

function groupByLayer<B extends Placed>(boxes: readonly B[], layers: ReadonlyMap<string, number>): B[][] {
  const columns: B[][] = []
  for (const box of boxes) (columns[layers.get(box.name)!] ??= []).push(box)
  return columns.filter(column => column.length > 0)
}

/** By the average position of neighbours: fewer lines cross. */
function orderColumns<B extends Placed>(columns: readonly (readonly B[])[], edges: readonly Edge[]): B[][] {
  const neighbours = new Map<string, string[]>()
  for (const { parent, child } of edges) {
    neighbours.set(parent, [...(neighbours.get(parent) ?? []), child])
    neighbours.set(child, [...(neighbours.get(child) ?? []), parent])
  }
  const place = new Map<string, number>()
  const settle = (column: readonly B[]): void => column.forEach(({ name }, index) => place.set(name, (index + 0.5) / column.length))
  const ordered = columns.map(column => [...column])
  ordered.forEach(settle)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of sweep % 2 === 0 ? ordered : ordered.toReversed()) {
      const wanted = new Map(
        column.map(({ name }) => [
          name,
          average(
            (neighbours.get(name) ?? []).map(other => place.get(other)!),
            place.get(name)!,
          ),
        ]),
      )
      column.sort((a, b) => wanted.get(a.name)! - wanted.get(b.name)!)
      settle(column)
    }
  }
  return ordered
}

function splitColumns<B extends Placed>(columns: readonly (readonly B[])[], height: number): B[][] {
  // A slightly high column looks better than a column with a single box.
  return columns.flatMap(column => (columnHeight(column) <= height * 1.3 ? [[...column]] : fillEvenly(column, height)))
}

function fillEvenly<B extends Placed>(boxes: readonly B[], height: number): B[][] {
  const whole = columnHeight(boxes)
  return fillColumns(boxes, whole / Math.ceil(whole / height))
}

function fillColumns<B extends Placed>(boxes: readonly B[], height: number): B[][] {
  const columns: B[][] = []
  for (const box of boxes) {
    const last = columns.at(-1)
    if (last === undefined || columnHeight(last) + BOX_GAP + box.height / 2 > height) columns.push([box])
    else last.push(box)
  }
  return columns
}

function walk<B extends Placed>(boxes: readonly B[], edges: readonly Edge[]): B[] {
  const byName = new Map(boxes.map(box => [box.name, box]))
  const children = groupBy(edges, 'parent', 'child')
  const parents = groupBy(edges, 'child', 'parent')
  const met = new Set<string>()
  for (const { name: root } of boxes) {
    const queue = [root]
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      if (met.has(name)) continue
      met.add(name)
      queue.push(...(parents.get(name) ?? []), ...(children.get(name) ?? []))
    }
  }
  return [...met].map(name => byName.get(name)!)
}

function groupBy(edges: readonly Edge[], by: keyof Edge, give: keyof Edge): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const edge of edges) {
    const group = groups.get(edge[by])
    if (group === undefined) groups.set(edge[by], [edge[give]])
    else group.push(edge[give])
  }
  return groups
}

export function average(values: readonly number[], otherwise: number): number {
  return values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length
}
