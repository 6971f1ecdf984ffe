/**
 * Scope: one table of a SELECT with the to-one relations joined to it as they are needed. A left join of a to-one never multiplies rows.
 * Lists are never joined to rows that are shown or counted; inside a subquery that takes a minimum or a distinct count they may be (`joinList`).
 */
import type { RelationAttribute, Resource, ToManyAttribute, ToOneAttribute } from '../model.ts'
import { name, sql, text } from './sql.ts'
import type { Sql } from './sql.ts'

/** Gives every table of a statement its own alias. */
export class Aliases {
  #count = 0
  next(): string {
    return `t${this.#count++}`
  }
}

export class Scope {
  readonly resource: Resource
  readonly aliases: Aliases
  /** The tables of the FROM clause after the first one. */
  readonly joins: Sql[]
  readonly #key: readonly string[] | undefined
  #alias: string | undefined
  readonly #attach: (() => string) | undefined
  readonly #reached = new Map<ToOneAttribute, Scope>()

  /**
   * @param alias the alias of the table, or a function that joins it when it is first needed
   * @param key the expressions of its key, where another table of the statement has them already
   */
  constructor(resource: Resource, aliases: Aliases, alias: string | (() => string), joins: Sql[] = [], key?: readonly string[]) {
    this.resource = resource
    this.aliases = aliases
    this.joins = joins
    this.#key = key
    if (typeof alias === 'string') this.#alias = alias
    else this.#attach = alias
  }

  /** The alias of the table. */
  get alias(): string {
    return (this.#alias ??= this.#attach!())
  }

  /** The expressions of the primary key. */
  get key(): readonly string[] {
    return this.#key ?? this.resource.key.map(part => this.column(part.column))
  }

  column(column: string): string {
    return `${this.alias}.${name(column)}`
  }

  columns(columns: readonly string[]): readonly string[] {
    return columns.map(column => this.column(column))
  }

  /** The scope of the record that a to-one links; its columns are NULL where there is none. */
  toOne(relation: ToOneAttribute): Scope {
    const known = this.#reached.get(relation)
    if (known !== undefined) return known
    const foreign = relation.owner ? this.columns(relation.columns) : undefined
    // The table is joined only when more than the key is asked for: the foreign key is the key already.
    const attach = (): string => {
      const alias = this.aliases.next()
      const there = relation.owner ? relation.target.key.map(part => part.column) : relation.columns
      const here = foreign ?? this.key
      this.joins.push(
        sql`left join ${name(relation.target.table)} as ${alias} on ${equal(
          there.map(column => `${alias}.${name(column)}`),
          here,
        )}`,
      )
      return alias
    }
    const scope = new Scope(relation.target, this.aliases, attach, this.joins, foreign)
    this.#reached.set(relation, scope)
    return scope
  }

  through(hops: readonly ToOneAttribute[]): Scope {
    return hops.reduce<Scope>((scope, hop) => scope.toOne(hop), this)
  }

  /** Joins the records of a list, inside a subquery. */
  joinList(relation: ToManyAttribute): Scope {
    const list = openList(relation, this.key, this.aliases, this.joins)
    this.joins.push(sql`join ${list.from} on ${list.on}`)
    return list.scope
  }

  joinAny(relation: RelationAttribute): Scope {
    return relation.kind === 'toOne' ? this.toOne(relation) : this.joinList(relation)
  }
}

/** `a = b and c = d` */
export function equal(left: readonly string[], right: readonly string[]): Sql {
  return text(left.map((column, index) => `${column} = ${right[index]!}`).join(' and '))
}

/** The table that a list starts from: the target's own, or the pivot table, which knows the target's key and joins the target only when needed. */
export function openList(
  relation: ToManyAttribute,
  owner: readonly string[],
  aliases: Aliases,
  joins: Sql[],
): { readonly scope: Scope; readonly from: Sql; readonly on: Sql; readonly links: readonly string[]; readonly alias: string } {
  const { target, via } = relation
  const alias = aliases.next()
  const own = (columns: readonly string[]): string[] => columns.map(column => `${alias}.${name(column)}`)
  if (via.kind === 'foreign') {
    const links = own(via.columns)
    return {
      scope: new Scope(target, aliases, alias, joins),
      from: sql`${name(target.table)} as ${alias}`,
      on: equal(links, owner),
      links,
      alias,
    }
  }
  const links = own(via.ownerColumns)
  const keys = own(via.targetColumns)
  const attach = (): string => {
    const table = aliases.next()
    joins.push(
      sql`join ${name(target.table)} as ${table} on ${equal(
        target.key.map(part => `${table}.${name(part.column)}`),
        keys,
      )}`,
    )
    return table
  }
  return {
    scope: new Scope(target, aliases, attach, joins, keys),
    from: sql`${name(via.table)} as ${alias}`,
    on: equal(links, owner),
    links,
    alias,
  }
}
