/** Compiles lookups before a write. Does user 7 exist for the caller? Has another user the same email? Which posts link a deleted user? */
import { idParts } from '../../model/key.ts'
import type { SeenRows, Statement } from '../../records/database/dialect.ts'
import type { Attribute, KeyPart, Resource, TargetKey, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { ScopeLookup } from '../../records/plan/read-plan.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, conjunction, equal, formatTable, discriminatorCondition } from './from-clause.ts'
import { Select, existing, isExact, isKey, selected } from './select.ts'
import { bind, join, literal, name, sql, tableName, text, type Sql } from './sql.ts'

/**
 * Finds the record of a key, in the caller's scope.
 *
 * @param list its condition in the model must hold, too
 * @param shown the key is the ID that clients know
 */
export function compileExists(
  flavour: Flavour,
  resource: Resource,
  scopeOf: ScopeLookup,
  list?: ToManyAttribute,
  shown = false,
): Statement {
  const select = new Select(flavour, scopeOf)
  const scope = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  select.columns.push(text('1'))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  const listed = list === undefined ? undefined : scope.tables.meets(list, scope.alias)
  const isRecord = shown ? isKey(scope.id, idParts(resource), flavour) : isKey(scope.key, resource.key, flavour)
  select.where = [isRecord, ...existing(scope), ...(listed === undefined ? [] : [listed])]
  return select.finish()
}

/**
 * A condition on written rows: the `columns` of a row hold the key of a record in the caller's scope.
 *
 * @param table may be called `t0`, like an alias: then another alias is taken
 */
export function compileSeen(flavour: Flavour, { resource, scopeOf }: SeenRows, table: string, columns: readonly string[]): Sql {
  const select = new Select(flavour, scopeOf)
  const alias = select.tables.next()
  const other = table.toLowerCase() === alias ? select.tables.next() : alias
  const scope = new FromClause(resource, select.tables, other, select.joins)
  const key = columns.map(column => `${tableName(table)}.${name(column)}`)
  select.columns.push(text('1'))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  select.where = [equal(scope.key, key), ...existing(scope)]
  return sql`exists (${select.body()})`
}

export function compileExisting(flavour: Flavour, resource: Resource, scopeOf: ScopeLookup): Statement | undefined {
  const [part, ...others] = resource.key
  if (part === undefined || others.length > 0 || !hasOneForm(part, flavour)) return undefined
  const select = new Select(flavour, scopeOf)
  const scope = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  select.columns.push(selected(text(scope.key[0]!), isExact(part), flavour))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  select.where = [flavour.isInLinks(scope.key, resource.key), ...existing(scope)]
  return select.finish()
}

function hasOneForm({ type }: KeyPart, flavour: Flavour): boolean {
  const [form, ...others] = flavour.keyForms(type)
  const isPlain = type.kind === 'integer' || type.kind === 'bigint' || type.kind === 'text'
  return isPlain && type.codec === undefined && type.loose !== true && form === 'value' && others.length === 0
}

export function compileColumns(flavour: Flavour, resource: Resource, columns: readonly string[]): Statement {
  const select = new Select(flavour)
  const scope = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  for (const column of columns) select.columns.push(text(scope.column(column)))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  // In a table of several classes, the key may belong to another class.
  select.where = [isKey(scope.key, resource.key, flavour), ...existing(scope)]
  return select.finish()
}

/**
 * Finds another record with equal values. For unique (tenant, email), a PATCH of `email` gives the email; the tenant is the record's own.
 */
export function compileTaken(
  flavour: Flavour,
  resource: Resource,
  attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
  excludeSelf: boolean,
): Statement | undefined {
  const select = new Select(flavour)
  const scope = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  const self = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  const where: Sql[] = []
  let index = 0
  for (const { attribute, given } of attributes) {
    const columns = columnsOfAttribute(attribute)
    if (columns === undefined) return undefined
    const ofSelf = ({ column }: ComparedColumn): Sql =>
      sql`(select ${self.column(column)} from ${formatTable(resource)} as ${self.alias} where ${isKey(self.key, resource.key, flavour)})`
    for (const column of columns) {
      const compared = scope.column(column.column)
      where.push(
        given
          ? sql`${flavour.compared(compared, column.type)} = ${givenValue(column, select, () => index++)}`
          : sql`${compared} = ${ofSelf(column)}`,
      )
    }
  }
  if (excludeSelf) where.push(sql`not (${isKey(scope.key, resource.key, flavour)})`)
  select.columns.push(text('1'))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  select.where = where
  return select.finish()
}

interface ComparedColumn {
  readonly column: string
  readonly type: ScalarType
  readonly constant?: string
  /** The link holds another key than the given primary key. */
  readonly relation?: ToOneAttribute & { readonly targetKey: TargetKey }
}

function givenValue({ type, constant, relation }: ComparedColumn, select: Select, next: () => number): Sql {
  if (constant !== undefined) return text(literal(constant))
  if (relation === undefined) return bind({ from: 'given', index: next(), type })
  const { target, targetKey } = relation
  const there = new FromClause(target, select.tables, select.tables.next(), select.joins)
  const isLinked = target.key.map(
    (part, at) =>
      sql`${select.tables.flavour.compared(there.key[at]!, part.type)} = ${bind({ from: 'given', index: next(), type: part.type })}`,
  )
  return sql`(select ${there.column(targetKey.part.column)} from ${formatTable(target)} as ${there.alias} where ${join(isLinked, ' and ')})`
}

function columnsOfAttribute(attribute: Attribute): ComparedColumn[] | undefined {
  if (attribute.kind === 'scalar')
    return attribute.source.kind === 'column' ? [{ column: attribute.source.column, type: attribute.type }] : undefined
  // Not changed: of a changed link, the caller passes the branch.
  if (attribute.kind === 'toOneOf') return attribute.columns.map(column => ({ column, type: { kind: 'text' } }))
  if (attribute.kind !== 'toOne' || !attribute.owner || attribute.document !== undefined) return undefined
  const { targetKey, discriminator } = attribute
  const keys = attribute.columns.map((column, index) => ({ column, type: attribute.target.key[index]!.type }))
  if (discriminator !== undefined) return [{ column: discriminator.column, type: { kind: 'text' }, constant: discriminator.value }, ...keys]
  if (targetKey !== undefined) return [{ column: attribute.columns[0]!, type: targetKey.part.type, relation: { ...attribute, targetKey } }]
  return keys
}

export function compileReferrers(flavour: Flavour, resource: Resource, attribute: ToOneAttribute): Statement {
  const select = new Select(flavour)
  const scope = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  for (const [index, column] of scope.key.entries()) select.columns.push(selected(text(column), isExact(resource.key[index]!), flavour))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  select.where = [refersToKey(attribute, scope)]
  return select.finish()
}

export function compileReferrersOfAll(flavour: Flavour, resource: Resource, attribute: ToOneAttribute): Statement | undefined {
  const { target, targetKey, discriminator } = attribute
  const [part, ...others] = target.key
  if (part === undefined || others.length > 0 || targetKey !== undefined || !hasOneForm(part, flavour)) return undefined
  const select = new Select(flavour)
  const scope = new FromClause(resource, select.tables, select.tables.next(), select.joins)
  for (const [index, column] of scope.key.entries()) select.columns.push(selected(text(column), isExact(resource.key[index]!), flavour))
  select.from = sql`${formatTable(resource)} as ${scope.alias}`
  const isMeant = discriminatorCondition(discriminator, column => scope.column(column))
  select.where = [conjunction(flavour.isInLinks(scope.foreignKey(attribute), target.key), isMeant)]
  return select.finish()
}

function refersToKey(attribute: ToOneAttribute, scope: FromClause): Sql {
  const { target, targetKey, discriminator } = attribute
  const { flavour } = scope.tables
  const here = scope.foreignKey(attribute)
  const isMeant = discriminatorCondition(discriminator, column => scope.column(column))
  if (targetKey === undefined) return conjunction(isKey(here, target.key, flavour), isMeant)
  const there = new FromClause(target, scope.tables, scope.tables.next())
  const isThere = isKey(there.key, target.key, flavour)
  const keys = sql`select ${there.referred(targetKey)[0]!} from ${formatTable(target)} as ${there.alias} where ${isThere}`
  return sql`${here[0]!} in (${keys})`
}
