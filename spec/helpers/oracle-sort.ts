/**
 * The oracle's order: a comparator for a `sort` parameter, by contract section 4 ("sort").
 */
import {
  endOf,
  idOf,
  isRow,
  reach,
  SOMETHING,
  type Direction,
  type PlainAttribute,
  type Resource,
  type Row,
  type Scalar,
} from './oracle-model.ts'
import { comparePlain, compareText } from './oracle-values.ts'

const COUNT: PlainAttribute = { kind: 'plain', type: 'integer', nullable: false }

/**
 * "comma-separated keys, each `path` or `path.asc` or `path.desc` (asc when omitted)." "The primary key ascending is always the last key,
 * so pages never overlap."
 */
export function comparator(sort: string, of?: Resource): (a: Row, b: Row) => number {
  const keys = sort === '' ? [] : sort.split(',').map(parseKey)
  return (a, b) => {
    for (const { path, direction } of keys) {
      const left = sortValue(a, path, direction, of)
      const right = sortValue(b, path, direction, of)
      const order = comparePlain(left.attribute, left.value, right.value)
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return comparePrimaryKey(a, b)
  }
}

function parseKey(key: string): { path: string[]; direction: Direction } {
  const path = key.split('.')
  const last = path.at(-1)
  return last === 'asc' || last === 'desc' ? { path: path.slice(0, -1), direction: last } : { path, direction: 'asc' }
}

/** What one key sorts a row by. */
export function sortValue(
  row: Row,
  path: readonly string[],
  direction: Direction,
  of: Resource = row.of,
): { attribute: PlainAttribute; value: Scalar } {
  const end = endOf(of, path)
  const endings = reach(of, row, path)
  // "A relation without an attribute sorts by the count of related items, all that the path reaches, each once (an empty to-one, or one
  // reached through an empty one, counts 0)."
  if (end.kind !== 'plain') {
    const related = new Set(endings.flatMap(ending => (ending.kind === 'related' ? ending.rows : [])))
    return { attribute: COUNT, value: related.size }
  }
  // "A path through a list sorts by its smallest value for asc, its largest for desc, NULLs among them ignored; without any it is NULL."
  // A path through no list has one value, which is both.
  const known = endings
    .flatMap(ending => (ending.kind === 'plain' && ending.value !== null && ending.value !== SOMETHING ? [ending.value] : []))
    .sort((a, b) => comparePlain(end, a, b))
  return { attribute: end, value: (direction === 'asc' ? known[0] : known.at(-1)) ?? null }
}

/** By the parts of the key, in declaration order; a part that is a relation counts as the key of its record. */
export function comparePrimaryKey(a: Row, b: Row): number {
  for (const name of a.of.key) {
    const left = a.values[name]
    const right = b.values[name]
    const attribute = a.of.attributes[name]
    const order =
      isRow(left) && isRow(right)
        ? comparePrimaryKey(left, right)
        : attribute?.kind === 'plain'
          ? comparePlain(attribute, left as Scalar, right as Scalar)
          : compareText(String(idOf(a)), String(idOf(b)))
    if (order !== 0) return order
  }
  return 0
}

/** "Related records and IDs in a list attribute come in the model's `orderBy` for it, else by primary key." */
export function ordered(rows: readonly Row[], orderBy: readonly (readonly [string, Direction])[] = []): Row[] {
  return [...rows].sort(comparator(orderBy.map(([attribute, direction]) => `${attribute}.${direction}`).join(',')))
}
