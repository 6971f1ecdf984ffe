/** Collects the parts of a SELECT (columns, joins, conditions, order), and makes the statement. Conditions on keys. */
import type { Statement } from '../../records/database/dialect.ts'
import type { ValueForm } from '../../records/database/binding.ts'
import type { KeyPart } from '../../model/model.ts'
import type { ScopeLookup } from '../../records/plan/read-plan.ts'
import { condition } from './condition.ts'
import type { Flavour } from './flavour.ts'
import { NO_SCOPES, Tables, type FromClause } from './from-clause.ts'
import { compileIsOneOf } from './filter-value.ts'
import { bind, join, sql, text, type Sql } from './sql.ts'

export class Select {
  readonly tables: Tables
  readonly columns: Sql[] = []
  readonly joins: Sql[] = []
  from: Sql = text('')
  where: readonly Sql[] = []
  order: readonly Sql[] = []
  page = false
  group: readonly string[] = []
  /** Linking columns: limit and offset cut the rows of each owner. */
  owners: readonly string[] | undefined

  /** A time check for the front of the conditions. */
  mark = ''
  /** Without conditions. */
  wholeMark = ''

  readonly #flavour: Flavour
  readonly #scopeOf: ScopeLookup

  constructor(flavour: Flavour, scopeOf: ScopeLookup = NO_SCOPES, tables = new Tables(flavour, scopeOf, condition)) {
    this.#flavour = flavour
    this.#scopeOf = scopeOf
    this.tables = tables
  }

  /**
   * Adds time checks on the rows of a scope.
   *
   * @param all the statement may go through the whole table
   */
  watch(scope: FromClause, all: boolean): void {
    const { resource } = scope
    const [key] = scope.key
    if (key === undefined) return
    this.tables.watched ??= []
    const visit = { table: resource.source.kind === 'query' ? undefined : resource.table }
    if (all) this.tables.watched.push(visit)
    scope.origin = { visit, isOnce: true }
    const isInteger = resource.key.length === 1 && resource.key[0]!.type.kind === 'integer'
    this.mark = this.#flavour.mark(key, isInteger)
    this.wholeMark = this.#flavour.mark(key, isInteger, true)
  }

  inside(): Select {
    const inside = new Select(this.#flavour, this.#scopeOf)
    inside.tables.watched = this.tables.watched && []
    return inside
  }

  /** @returns the column's place in the rows */
  add(column: Sql): number {
    const known = this.columns.findIndex(other => other.text === column.text && other.bindings.length === 0)
    return known >= 0 && column.bindings.length === 0 ? known : this.columns.push(column) - 1
  }

  finish(about = ''): Statement {
    return this.#flavour.finish(this.body(), this.tables.watched ?? [], about)
  }

  finishBare(column: Sql, about: string): Statement {
    return { ...this.#flavour.finish(this.body([column]), this.tables.watched ?? [], about), isBare: true }
  }

  body(columns: readonly Sql[] = this.columns): Sql {
    if (this.owners !== undefined) return this.#bodyOfLists(columns, this.owners)
    const parts = [sql`select ${columns.length === 0 ? '1' : join(columns, ', ')} from ${this.from}`, ...this.joins]
    if (this.where.length > 0) parts.push(sql`where ${this.mark}${join(this.where, ' and ')}`)
    if (this.group.length > 0) parts.push(text(`group by ${this.group.join(', ')}`))
    if (this.order.length > 0) parts.push(sql`${this.where.length > 0 ? '' : this.wholeMark}order by ${join(this.order, ', ')}`)
    if (this.page) parts.push(pageClause(this.#flavour))
    return join(parts, ' ')
  }

  /** Numbers the rows of each owner, and reads the rows of the page. */
  #bodyOfLists(columns: readonly Sql[], owners: readonly string[]): Sql {
    const shown = columns.map((column, index) => sql`${column} as c${String(index)}`)
    const links = owners.map((column, index) => `${column} as o${index}`)
    const order = join(this.order.slice(owners.length), ', ')
    const place = sql`row_number() over (partition by ${owners.join(', ')} order by ${order}) as n`
    const inner = join([sql`select ${join([...shown, text(links.join(', ')), place], ', ')} from ${this.from}`, ...this.joins], ' ')
    const [limit, offset] = [bind({ from: 'limit' }), bind({ from: 'offset' })]
    const names = (all: readonly unknown[], letter: string): string => all.map((_, index) => `${letter}${index}`).join(', ')
    const rows = sql`(${inner} where ${this.mark}${join(this.where, ' and ')}) as cut`
    const isShown = sql`n > ${offset} and n - ${offset} <= ${limit}`
    return sql`select ${names(columns, 'c')} from ${rows} where ${isShown} order by ${names(owners, 'o')}, n`
  }
}

export function pageClause(flavour: Flavour): Sql {
  return sql`limit ${flavour.rowLimit(bind({ from: 'limit' }))} offset ${bind({ from: 'offset' })}`
}

/** The columns hold the key of the request. */
export function isKey(columns: readonly string[], parts: readonly KeyPart[], flavour: Flavour): Sql {
  return join(
    columns.map((column, part) => {
      const { type } = parts[part]!
      const value = (form: ValueForm): Sql => bind({ from: 'key', part, type, form })
      return compileIsOneOf(text(flavour.compared(column, type)), flavour.keyForms(type).map(value))
    }),
    ' and ',
  )
}

export function existing(scope: FromClause): Sql[] {
  const found = scope.tables.existing(scope.resource, scope.alias)
  return found === undefined ? [] : [found]
}

/** @param exact integers are read as texts, since some may be beyond 2^53 */
export function selected(value: Sql, exact: boolean, flavour: Flavour): Sql {
  return exact ? flavour.exactText(value) : value
}

export function isExact(part: KeyPart): boolean {
  return part.type.codec?.exact ?? (part.type.kind === 'bigint' && part.type.asNumber !== true)
}

export function keyOrder({ key, resource, tables }: FromClause): Sql[] {
  return key.map((column, part) => tables.flavour.keyOrder(column, resource.key[part]!.type))
}

interface ChildLinks {
  readonly columns: readonly string[]
  readonly parts: readonly KeyPart[]
  readonly isCut?: boolean
}

function isLink({ columns, parts }: ChildLinks, { compared }: Flavour): Sql {
  return join(
    columns.map((column, part) => {
      const { type } = parts[part]!
      return sql`${compared(column, type)} = ${bind({ from: 'link', part, type })}`
    }),
    ' and ',
  )
}

/**
 * Finishes two statements for a shown relation: `statement` reads the relation of many records, `single` of one record.
 *
 * @param id the only column of `single`, read as bare values; undefined: all columns
 */
export function compileStatements(
  select: Select,
  about: string,
  links: ChildLinks,
  where: readonly Sql[],
  id?: Sql,
): { statement: Statement; single: Statement } {
  const { flavour } = select.tables
  select.where = [flavour.isInLinks(links.columns, links.parts), ...where]
  if (links.isCut === true) select.owners = links.columns
  const statement = select.finish(about)
  select.owners = undefined
  select.page = links.isCut === true
  select.where = [isLink(links, flavour), ...where]
  return { statement, single: id === undefined ? select.finish(about) : select.finishBare(id, about) }
}
