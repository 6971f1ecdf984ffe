/**
 * Decides which columns without a property, and tables without an entity, the option `drop` takes. Values are dropped only by name, or by
 * `all`.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { findNearest } from '../../foundation/base/suggest.ts'
import { compileFormula } from '../../model/metadata/read-common.ts'
import { camelCase, defaultNames, entityName } from '../../model/resource-names.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import { name } from '../sql/sql.ts'
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

/** Finds tables without an entity that the model names in a query, formula, check or function: such tables stay. Code is read as text. */
export function listMentions(orm: MikroORM, { resources }: Pick<Evolving, 'resources'>): (table: string) => boolean {
  const texts: string[] = []
  for (const meta of orm.getMetadata()) {
    collect([meta.expression, meta.checks, meta.triggers, meta.filters], texts)
    for (const prop of meta.props) collect([readFormula(meta, prop), prop.generated], texts)
  }
  for (const { config } of resources) collect(config, texts)
  const all = texts.join('\n')
  return table => new RegExp(`(?<![\\p{L}\\p{N}_$])${escapeRegExp(table)}(?![\\p{L}\\p{N}_$])`, 'iu').test(all)
}

/** MikroORM makes a function of a formula's text. */
function readFormula(meta: EntityMetadata, prop: EntityProperty): string | undefined {
  return prop.formula === undefined ? undefined : compileFormula(meta, prop)('t', name).sql
}

function collect(value: unknown, texts: string[], seen = new Set<unknown>()): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'function') texts.push(value.toString())
  else if (typeof value === 'object' && value !== null && !seen.has(value)) {
    seen.add(value)
    for (const each of Array.isArray(value) ? value : Object.values(value)) collect(each, texts, seen)
  }
}
