/** Compile start: the rows behind a cursor, in their order, and the columns of the next cursor. */
import type { ReadPlan, SortTerm, StartPlan } from '../../records/plan/read-plan.ts'
import type { FromClause } from './from-clause.ts'
import type { Select } from './select.ts'
import { sortDirection, termValue } from './sort-term.ts'
import { bind, sql, type Sql } from './sql.ts'

interface OrderKey {
  readonly value: Sql
  readonly order: Sql
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface CompiledStart {
  readonly order: readonly Sql[]
  /** Undefined: begins with the first row. */
  readonly where: Sql | undefined
  readonly places: readonly number[]
}

export function compileStart(plan: ReadPlan, start: StartPlan, root: FromClause, select: Select): CompiledStart {
  const keys = [...plan.order.map(term => sortKey(term, root)), ...start.key.map(column => keyOf(column, plan, root))]
  const { flavour } = root.tables
  return {
    order: keys.map(({ order }) => order),
    where: start.nulls === undefined ? undefined : isBehind(keys, start.nulls, 0),
    places: keys.map(({ value }) => select.add(flavour.cursor(value))),
  }
}

function sortKey(term: SortTerm, root: FromClause): OrderKey {
  const value = termValue(term, root)
  const { descending, nulls = descending ? 'last' : 'first' } = term
  return { value, order: sortDirection(term, value, root), descending, nullsFirst: nulls === 'first' }
}

function keyOf(column: string, { resource }: ReadPlan, root: FromClause): OrderKey {
  const { key, shownKey } = resource
  const part = [...key, ...(shownKey === undefined ? [] : [shownKey.part])].find(each => each.column === column)
  const value = root.tables.flavour.keyOrder(root.column(column), part?.type)
  return { value, order: value, descending: false, nullsFirst: true }
}

/** `name > 'Ann' or (name = 'Ann' and id > 7)`: each key decides where those before are equal. */
function isBehind(keys: readonly OrderKey[], nulls: readonly boolean[], index: number): Sql {
  const key = keys[index]!
  const value = bind({ from: 'cursor', index })
  const isNull = nulls[index] === true
  const behind = isNull ? compileBehindNull(key) : compileBehind(key, value)
  if (index === keys.length - 1) return behind
  const equal = isNull ? sql`${key.value} is null` : sql`${key.value} = ${value}`
  return sql`(${behind} or (${equal} and ${isBehind(keys, nulls, index + 1)}))`
}

function compileBehindNull({ value, nullsFirst }: OrderKey): Sql {
  return nullsFirst ? sql`${value} is not null` : sql`1 = 0`
}

function compileBehind({ value, descending, nullsFirst }: OrderKey, parameter: Sql): Sql {
  const behind = sql`${value} ${descending ? '<' : '>'} ${parameter}`
  return nullsFirst ? behind : sql`(${behind} or ${value} is null)`
}
