/**
 * The oracle: what the contract says a query answers, computed on plain objects. `reach` follows paths, `matches` filters, `comparator`
 * sorts, `render` shows; `select` puts them together. Property specs compare the engine with it, so nothing here may learn from the engine.
 */
import { type Resource, type Row } from './oracle-model.ts'
import { matches } from './oracle-filter.ts'
import { comparator } from './oracle-sort.ts'

export * from './oracle-model.ts'
export * from './oracle-values.ts'
export * from './oracle-filter.ts'
export * from './oracle-group.ts'
export * from './oracle-sort.ts'
export * from './oracle-render.ts'

/** A filter parameter: its name with operator, as a key of an object query, and its value. */
export type FilterPair = readonly [name: string, value: string]

/** "Each parameter narrows on its own: the result of two filters is the intersection of each one's result." */
export function select(rows: readonly Row[], filters: readonly FilterPair[], sort = '', of?: Resource): Row[] {
  return rows.filter(row => filters.every(([name, value]) => matches(row, name, value, of))).sort(comparator(sort, of))
}
