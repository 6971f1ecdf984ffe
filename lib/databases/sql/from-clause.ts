/**
 * A table in FROM, which left-joins its to-one relations on first use. A joined list would repeat the row: `joinList` is for subqueries of
 * a minimum or a distinct count.
 *
 * ```
 * ?author.name=Ann    from post as t0 left join user as t1 on t1.id = t0.author_id
 * ```
 */
import { referredParts, findTargetKey } from '../../model/model.ts'
import type { Discriminator, KeyPart, RelationAttribute, Resource, TargetKey, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Origin, Visit } from '../../records/database/dialect.ts'
import { parseListCondition } from '../../records/access/list-condition.ts'
import type { Condition, ScopeLookup } from '../../records/plan/read-plan.ts'
import type { ColumnScope, Flavour } from './flavour.ts'
import { join, literal, name, sql, text, withLiterals, tableName, type Sql } from './sql.ts'

export const NO_SCOPES: ScopeLookup = () => undefined

/** Shared by all tables of a statement: aliases, and the conditions for rows to exist for the caller. */
export class Tables {
  /** Set for row images. */
  recall: Recall | undefined
  readonly flavour: Flavour
  /** Undefined: the statement cannot run with time checks. */
  watched: Visit[] | undefined
  #count: { value: number }
  readonly #scopeOf: ScopeLookup
  readonly #compile: CompileCondition

  constructor(flavour: Flavour, scopeOf: ScopeLookup, compile: CompileCondition, count = { value: 0 }) {
    this.flavour = flavour
    this.#scopeOf = scopeOf
    this.#compile = compile
    this.#count = count
  }

  next(): string {
    return `t${this.#count.value++}`
  }

  forSubquery(): Tables {
    return new Tables(this.flavour, this.#scopeOf, this.#compile, this.#count)
  }

  isScoped(resource: Resource): boolean {
    return resource.hierarchy?.isShared === true || this.#scopeOf(resource) !== undefined
  }

  /** @returns undefined if all rows exist for the caller */
  existing(resource: Resource, alias: string): Sql | undefined {
    const { hierarchy } = resource
    if (hierarchy?.isShared !== true) return this.#inScope(resource, alias)
    const values = [...hierarchy.byValue.keys()].map(literal).join(', ')
    return conjunction(text(`${alias}.${name(hierarchy.column)} in (${values})`), this.#inScope(resource, alias))
  }

  /** The member exists for the caller, and meets the list's condition in the model. */
  listed(list: ToManyAttribute, alias: string): Sql | undefined {
    const { target } = list
    const [existing, meets] = [this.existing(target, alias), this.meets(list, alias)]
    return existing === undefined ? meets : conjunction(existing, meets)
  }

  meets(list: ToManyAttribute, alias: string): Sql | undefined {
    return this.#meets(list.target, alias, parseListCondition(list))
  }

  #inScope(resource: Resource, alias: string): Sql | undefined {
    return this.#meets(resource, alias, this.#scopeOf(resource))
  }

  #meets(resource: Resource, alias: string, condition: Condition | undefined): Sql | undefined {
    if (condition === undefined) return undefined
    // No scopes apply to the records that the condition reads.
    const plain = new Tables(this.flavour, NO_SCOPES, this.#compile, this.#count)
    const bare = new FromClause(resource, plain, alias)
    const direct = this.#compile(condition, bare)
    if (bare.joins.length === 0) return direct
    // A join's ON cannot use later tables.
    const inner = new FromClause(resource, plain, plain.next())
    const where = this.#compile(condition, inner)
    const same = equal(
      inner.key,
      resource.key.map(part => `${alias}.${name(part.column)}`),
    )
    const joins = join([...inner.joins, text('')], ' ')
    return sql`exists (select 1 from ${formatTable(resource)} as ${inner.alias} ${joins}where ${same} and ${where})`
  }
}

/** A table for FROM, or a subquery. */
export function formatTable({ table, source }: Resource): string {
  if (source.kind === 'table') return tableName(table)
  if (source.kind === 'query') return `(${source.sql})`
  const { tables, optional, typeColumn, classValue } = source
  const all = [...tables, ...optional].map((part, index) => ({ ...part, alias: `j${index}` }))
  const [first, ...others] = all as [(typeof all)[number], ...typeof all]
  const columns = all.flatMap(part => part.columns.map(column => `${part.alias}.${name(column)}`))
  const joins = others.map((part, index) => {
    const on = part.key.map((column, at) => `${part.alias}.${name(column)} = ${first.alias}.${name(first.key[at]!)}`).join(' and ')
    return ` ${index + 1 < tables.length ? '' : 'left '}join ${tableName(part.table)} as ${part.alias} on ${on}`
  })
  // Descendants come deepest first: the first `when` decides.
  const types = all
    .slice(tables.length)
    .flatMap((part, index) => (optional[index]!.value === undefined ? [] : [{ ...part, value: optional[index]!.value }]))
    .map(part => `when ${part.alias}.${name(part.key[0]!)} is not null then ${literal(part.value)} `)
  const type = types.length === 0 ? literal(classValue) : `case ${types.join('')}else ${literal(classValue)} end`
  return `(select ${columns.join(', ')}, ${type} as ${name(typeColumn)} from ${tableName(first.table)} as ${first.alias}${joins.join('')})`
}

/**
 * Reads a key part of a linked record, also once the record is gone.
 *
 * @param found the part while the record exists
 * @param referred table and column to which the link refers: `user.email`
 * @param column the linking column
 */
export type Recall = (found: Sql, referred: string, part: number, column: string) => Sql

type CompileCondition = (condition: Condition, scope: FromClause) => Sql

export class FromClause implements ColumnScope {
  readonly resource: Resource
  readonly tables: Tables
  readonly joins: Sql[]
  /** How often a statement meets the rows, for an estimate. */
  origin: Origin | undefined
  readonly #key: readonly string[] | undefined
  #alias: string | undefined
  readonly #attach: (() => string) | undefined
  readonly #reached = new Map<ToOneAttribute, FromClause>()

  /**
   * @param alias a function joins the table on first use
   * @param key the key, if columns of another table hold the key, and need no join
   */
  constructor(resource: Resource, tables: Tables, alias: string | (() => string), joins: Sql[] = [], key?: readonly string[]) {
    this.resource = resource
    this.tables = tables
    this.joins = joins
    this.#key = key
    if (typeof alias === 'string') this.#alias = alias
    else this.#attach = alias
  }

  get alias(): string {
    return (this.#alias ??= this.#attach!())
  }

  attach(): void {
    void this.alias
  }

  get key(): readonly string[] {
    return this.#key ?? this.resource.key.map(part => this.column(part.column))
  }

  /** The ID that clients know. */
  get id(): readonly string[] {
    const { shownKey } = this.resource
    return shownKey === undefined ? this.key : [this.column(shownKey.part.column)]
  }

  /** The columns for foreign keys: the primary key, or another. */
  referred(targetKey: TargetKey | undefined): readonly string[] {
    return targetKey === undefined ? this.key : [this.column(targetKey.part.column)]
  }

  column(column: string): string {
    return `${this.alias}.${name(column)}`
  }

  columns(columns: readonly string[]): readonly string[] {
    return columns.map(column => this.column(column))
  }

  foreignKey({ columns, document, formula, target, targetKey }: ToOneAttribute): readonly string[] {
    if (formula !== undefined) return [`(${withLiterals(formula(this.alias, name), this.tables.flavour.formatBoolean)})`]
    if (document === undefined) return this.columns(columns)
    const [{ type }] = referredParts(target, targetKey) as [KeyPart]
    return [this.tables.flavour.document(this.column(document.column), document.keys, type)]
  }

  /** Left-joins the linked record. */
  toOne(relation: ToOneAttribute): FromClause {
    const known = this.#reached.get(relation)
    if (known !== undefined) return known
    const foreign = relation.owner ? this.foreignKey(relation) : undefined
    // Not joined for the key alone: the foreign key holds it.
    const attach = (): string => {
      const alias = this.tables.next()
      const { targetKey } = relation
      const there = relation.owner ? referredParts(relation.target, targetKey).map(part => part.column) : relation.columns
      const here = foreign ?? this.referred(targetKey)
      const linked = equal(
        there.map(column => `${alias}.${name(column)}`),
        here,
      )
      const isMeant = discriminatorCondition(relation.discriminator, column =>
        relation.owner ? this.column(column) : `${alias}.${name(column)}`,
      )
      const on = conjunction(conjunction(linked, isMeant), this.tables.existing(relation.target, alias))
      this.joins.push(sql`left join ${formatTable(relation.target)} as ${alias} on ${on}`)
      return alias
    }
    // Where a linked record may be hidden or gone, only the joined key is a link, not the foreign key.
    const isKept = relation.targetKey === undefined && relation.discriminator === undefined && relation.formula === undefined
    const isSure = !this.tables.isScoped(relation.target) && isKept
    const key = isSure ? foreign : undefined
    const scope = new FromClause(relation.target, this.tables, attach, this.joins, key)
    if (this.origin !== undefined) scope.origin = { visit: this.origin.visit, isOnce: !relation.owner && this.origin.isOnce }
    this.#reached.set(relation, scope)
    return scope
  }

  through(hops: readonly ToOneAttribute[]): FromClause {
    return hops.reduce<FromClause>((scope, hop) => scope.toOne(hop), this)
  }

  joinList(relation: ToManyAttribute): FromClause {
    const list = openList(relation, this, this.tables, this.joins)
    this.joins.push(sql`join ${list.from} on ${list.on}`)
    if (mustJoin(relation, this.tables)) list.scope.attach()
    return list.scope
  }

  joinAny(relation: RelationAttribute): FromClause {
    return relation.kind === 'toOne' ? this.toOne(relation) : this.joinList(relation)
  }
}

/** `a = b and c = d` */
export function equal(left: readonly string[], right: readonly string[]): Sql {
  return text(left.map((column, index) => `${column} = ${right[index]!}`).join(' and '))
}

/** `owner_type = 'user'`, for a foreign key to several entities. */
export function discriminatorCondition(discriminator: Discriminator | undefined, column: (name: string) => string): Sql | undefined {
  return discriminator === undefined ? undefined : text(`${column(discriminator.column)} = ${literal(discriminator.value)}`)
}

interface OpenList {
  readonly scope: FromClause
  readonly from: Sql
  /** The members of one parent, and `existing`. */
  readonly on: Sql
  readonly links: readonly string[]
  /** Leaves out links of other entities, and without a pivot table hidden records. */
  readonly existing: Sql | undefined
  readonly alias: string
  readonly mark: string
}

/**
 * The list as the first table of a subquery; without a parent, the lists of all parents.
 *
 * @param isFiltered the members have further conditions
 */
export function startList(
  relation: ToManyAttribute,
  parent: FromClause | undefined,
  tables: Tables,
  joins: Sql[],
  isFiltered = false,
): OpenList {
  const list = openList(relation, parent, tables, joins, isFiltered)
  if (mustJoin(relation, tables)) list.scope.attach()
  return list
}

/** A linked record may be hidden, or gone where no foreign key keeps the record. */
function mustJoin({ target, via, where }: ToManyAttribute, tables: Tables): boolean {
  return where !== undefined || tables.isScoped(target) || (via.kind === 'pivot' && via.discriminator !== undefined)
}

interface ListStart {
  readonly tables: Tables
  readonly joins: Sql[]
  readonly parentKey: readonly string[]
  readonly alias: string
  readonly mark: string
  readonly visit: Visit
}

function openList(relation: ToManyAttribute, parent: FromClause | undefined, tables: Tables, joins: Sql[], isFiltered = false): OpenList {
  const { target, via } = relation
  const alias = tables.next()
  const isInteger = target.key.length === 1 && target.key[0]!.type.kind === 'integer'
  const key = via.kind === 'foreign' ? target.key[0]?.column : via.targetColumns[0]
  const mark = tables.watched === undefined || key === undefined ? '' : tables.flavour.mark(`${alias}.${name(key)}`, isInteger)
  const visit = compileVisit(relation, parent?.origin, isFiltered || relation.where !== undefined || tables.isScoped(target))
  if (mark !== '') tables.watched!.push(visit)
  const start: ListStart = { tables, joins, parentKey: parent?.referred(findTargetKey(relation)) ?? [], alias, mark, visit }
  return via.kind === 'foreign' ? openForeign(relation, via, start) : openPivot(relation, via, start)
}

function openForeign(
  relation: ToManyAttribute,
  via: ToManyAttribute['via'] & { readonly kind: 'foreign' },
  { tables, joins, parentKey, alias, mark, visit }: ListStart,
): OpenList {
  const { target } = relation
  const links = via.columns.map(column => `${alias}.${name(column)}`)
  const isMeant = discriminatorCondition(via.discriminator, column => `${alias}.${name(column)}`)
  const scoped = tables.listed(relation, alias)
  const existing = isMeant === undefined ? scoped : conjunction(isMeant, scoped)
  const scope = new FromClause(target, tables, alias, joins)
  scope.origin = { visit, isOnce: visit.from?.isOnce !== false }
  return {
    scope,
    from: sql`${formatTable(target)} as ${alias}`,
    on: sql`${mark}${conjunction(equal(links, parentKey), existing)}`,
    links,
    existing,
    alias,
    mark,
  }
}

function openPivot(
  relation: ToManyAttribute,
  via: ToManyAttribute['via'] & { readonly kind: 'pivot' },
  { tables, joins, parentKey, alias, mark, visit }: ListStart,
): OpenList {
  const { target } = relation
  const ofPivot = (columns: readonly string[]): string[] => columns.map(column => `${alias}.${name(column)}`)
  const links = ofPivot(via.ownerColumns)
  const keys = ofPivot(via.targetColumns)
  const attach = (): string => {
    const table = tables.next()
    const linked = equal(
      target.key.map(part => `${table}.${name(part.column)}`),
      keys,
    )
    joins.push(sql`join ${formatTable(target)} as ${table} on ${conjunction(linked, tables.listed(relation, table))}`)
    return table
  }
  // Drops another entity's links, and links without a member.
  const isOwn = discriminatorCondition(via.discriminator, column => `${alias}.${name(column)}`)
  const isLink = via.mayBeEmpty ? text(keys.map(column => `${column} is not null`).join(' and ')) : undefined
  const isMeant = isOwn === undefined ? isLink : conjunction(isOwn, isLink)
  const scope = new FromClause(target, tables, attach, joins, mustJoin(relation, tables) ? undefined : keys)
  scope.origin = { visit, isOnce: false }
  return {
    scope,
    from: sql`${tableName(via.table)} as ${alias}`,
    on: sql`${mark}${conjunction(equal(links, parentKey), isMeant)}`,
    links,
    existing: isMeant,
    alias,
    mark,
  }
}

function compileVisit(relation: ToManyAttribute, from: Origin | undefined, isFiltered: boolean): Visit {
  const { target, via } = relation
  const rows = target.source.kind === 'query' ? undefined : target.table
  const origin = from !== undefined && findTargetKey(relation) !== undefined ? { ...from, isOnce: false } : from
  const tag = via.discriminator?.column
  const filtered = isFiltered ? rows : undefined
  if (via.kind === 'pivot') return { table: via.table, from: origin, columns: via.ownerColumns, tag, filtered }
  return { table: rows, from: origin, columns: via.columns, tag, filtered }
}

export function conjunction(left: Sql, right: Sql | undefined): Sql {
  return right === undefined ? left : sql`${left} and ${right}`
}
