/**
 * The oracle's bodies: one row as JSON, by contract sections 3 and 4 ("depth", "expand", "attributes").
 */
import { idOf, toJson, type Attribute, type EmbeddedValue, type Json, type Opaque, type Row, type Scalar } from './oracle-model.ts'
import { matches } from './oracle-filter.ts'
import { comparator, ordered } from './oracle-sort.ts'

export interface View {
  readonly depth?: 0 | 1 | 2
  /** Relation paths, as in the query: `['sites', 'sites.tags']`. */
  readonly expand?: readonly string[]
  /** Attribute paths, as in the query: `['name', '!sites.url']`. */
  readonly attributes?: readonly string[]
  /** The parentheses of `expand`. */
  readonly lists?: readonly ListView[]
}

/** "Expanded lists with a filter, order, limit and offset of their own"; a to-one relation takes filters alone. */
export interface ListView {
  readonly path: string
  readonly filters: readonly (readonly [name: string, value: string])[]
  readonly sort?: string
  readonly limit?: number
  readonly offset?: number
  /** "the number of related records in the place of the list, filters inside hold" */
  readonly count?: boolean
}

/** One row as the API shows it. "Keys come in declaration order." */
export function render(row: Row, view: View): { [name: string]: Json } {
  return renderObject(row, view.depth ?? 1, '', view)
}

function renderObject(row: Row, depth: number, prefix: string, view: View): { [name: string]: Json } {
  const shown: { [name: string]: Json } = {}
  for (const [name, attribute] of Object.entries(row.of.attributes)) {
    const path = prefix + name
    if (!isSelected(path, view.attributes ?? [])) continue
    const value = renderAttribute(row, name, attribute, depth, path, view)
    if (value !== undefined) shown[name] = value
  }
  return shown
}

function renderAttribute(row: Row, name: string, attribute: Attribute, depth: number, path: string, view: View): Json | undefined {
  const value = row.values[name] ?? null
  if (attribute.kind === 'plain') return toJson(attribute, value as Scalar)
  if (attribute.kind === 'embedded') {
    if (value === null) return null
    const shown: { [name: string]: Json } = {}
    const { variants } = attribute
    const shownOf = variants?.of[String((value as EmbeddedValue)[variants.by])]
    for (const [inner, plain] of Object.entries(attribute.attributes)) {
      if (shownOf?.includes(inner) === false) continue
      if (isSelected(`${path}.${inner}`, view.attributes ?? [])) shown[inner] = toJson(plain, (value as EmbeddedValue)[inner] ?? null)
    }
    return shown
  }
  if (attribute.kind === 'opaque') return (value as Opaque | null)?.json ?? null
  const show = showRelated(depth, path, view)
  if (!show) return undefined
  const list = view.lists?.find(each => each.path === path)
  const isShown = (related: Row): boolean => list?.filters.every(([name, text]) => matches(related, name, text)) !== false
  if (list !== undefined && attribute.kind === 'many') {
    const { sort, limit = Infinity, offset = 0, count = false } = list
    const all = ordered(value as Row[], attribute.orderBy).filter(isShown)
    if (count) return all.length
    const inOrder = sort === undefined ? all : all.sort(comparator(sort))
    return inOrder.slice(offset, offset + limit).map(show)
  }
  if (list !== undefined && value !== null && !isShown(value as Row)) return null
  if (attribute.kind === 'many') return (attribute.fixed === true ? (value as Row[]) : ordered(value as Row[], attribute.orderBy)).map(show)
  return value === null ? null : show(value as Row)
}

/**
 * How a relation's records look, or nothing when it is not shown.
 *
 * "**depth** 0: no relationship attributes; 1 (default): IDs; 2: objects, whose own relationships are rendered as at depth 1."
 * "**expand**: [...] An expanded relation is rendered at the **same** depth as its owner (an unexpanded one, at one less): so
 * `depth=2&expand=x` reaches one level deeper, and `depth=0&expand=x` shows `x` without its relations. `expand=a.b` expands `a` too, and
 * `b` inside it."
 */
function showRelated(depth: number, path: string, view: View): ((row: Row) => Json) | undefined {
  const expanded = (view.expand ?? []).some(wanted => wanted === path || wanted.startsWith(`${path}.`))
  if (expanded) return row => renderObject(row, depth, `${path}.`, view)
  if (depth === 0) return undefined
  if (depth === 1) return idOf
  return row => renderObject(row, depth - 1, `${path}.`, view)
}

/**
 * "**attributes**: `a,b` includes only those; `!c` excludes; both = included minus excluded. `a.b` selects inside a relation that is shown
 * as object(s) or an embedded object (one shown as ID stays an ID); `a,a.b` is all of `a`. `attributes` never adds a relation that
 * `depth=0` removed."
 */
export function isSelected(path: string, attributes: readonly string[]): boolean {
  const excluded = attributes.filter(name => name.startsWith('!')).map(name => name.slice(1))
  const included = attributes.filter(name => !name.startsWith('!'))
  if (excluded.includes(path)) return false
  // Itself, something that holds it, or something inside it.
  return included.length === 0 || included.some(name => name === path || path.startsWith(`${name}.`) || name.startsWith(`${path}.`))
}
