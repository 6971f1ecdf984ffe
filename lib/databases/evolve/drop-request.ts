/**
 * Decides which columns without a property, and tables without an entity, the option `drop` takes. Values are dropped only by name, or by
 * `all`.
 */
import { findNearest } from '../../foundation/base/suggest.ts'
import { camelCase, defaultNames, entityName } from '../../model/resource-names.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import { countRows, type Plan } from './plan.ts'

export function listTableNames(table: string): string[] {
  const entity = entityName(table)
  return entity === undefined ? [table] : [table, entity, ...defaultNames(entity).accepted]
}

export function listColumnNames(column: string): string[] {
  return [...new Set([column, camelCase(column), ...(/_id$/i.test(column) ? [column.slice(0, -3), camelCase(column.slice(0, -3))] : [])])]
}

export class DropRequest {
  readonly #drop: Evolving['drop']
  readonly #plan: Plan
  /** By small letters. */
  readonly #asked: ReadonlyMap<string, string>
  readonly #met = new Set<string>()
  readonly #names: string[] = []

  constructor(drop: Evolving['drop'], plan: Plan) {
    this.#drop = drop
    this.#plan = plan
    this.#asked = new Map(typeof drop === 'object' ? drop.map(each => [each.toLowerCase(), each]) : [])
  }

  /** Defaults and checks are dropped, too. */
  get takesAll(): boolean {
    return this.#drop === true || this.#drop === 'all'
  }

  /** @param count rows with a value in the column */
  takesColumn(tables: readonly string[], column: string, count: number): boolean {
    const names = tables.flatMap(table => listColumnNames(column).map(each => `${table}.${each}`))
    return this.#takes(names, `a value in ${countRows(count)}`, count)
  }

  takesTable(table: string, count: number): boolean {
    return this.#takes(listTableNames(table), countRows(count), count)
  }

  /** The table stays, for queries of the model. */
  meet(table: string): void {
    for (const name of listTableNames(table)) this.#met.add(name.toLowerCase())
  }

  #takes(names: readonly string[], what: string, count: number): boolean {
    this.#names.push(names[0]!)
    const asked = names.map(each => each.toLowerCase()).filter(each => this.#asked.has(each))
    for (const each of asked) this.#met.add(each)
    if (asked.length > 0 || this.#drop === 'all') return true
    if (this.#drop !== true) return false
    if (count > 0) this.#plan.losses.push({ name: names[0]!, what })
    return count === 0
  }

  /**
   * Refuses names of the model and misspelt names. Other names without a table or column may be of an earlier start.
   *
   * @param isModelled the model has the property or the entity
   */
  finish(isModelled: (name: string) => boolean): void {
    for (const [folded, name] of this.#asked) {
      if (this.#met.has(folded)) continue
      const nearest = findNearest(name, this.#names)
      if (isModelled(folded)) this.#plan.faults.push(`"${name}" is part of the model, so it cannot be dropped`)
      else if (nearest !== undefined) this.#plan.faults.push(`there is no "${name}" to drop, and the nearest is "${nearest}"`)
      else this.#plan.stays.push(`${name}: drop names it, and the database has nothing of that name.`)
    }
  }
}
