/**
 * Compile: a ReadPlan becomes SQLite statements, and for each node the function that makes a record of a row. Pure; done once per plan.
 * One statement for the rows, one for the count, and one for each relation that is shown: never one per row.
 */
import type { Binding, Builder, CompiledChild, CompiledNode, CompiledRead, Statement } from '../dialect.ts'
import { joinKey } from '../key.ts'
import type { Attribute, EmbeddedAttribute, KeyPart, Resource, ScalarAttribute, ToOneAttribute } from '../model.ts'
import type { Field, ReadPlan, RecordNode } from '../read-plan.ts'
import type { ScalarType } from '../scalars.ts'
import { decodeDocument, decoderOf, documentAt } from './decode.ts'
import { condition, sortTerm, valueOf } from './expressions.ts'
import { Aliases, Scope, openList } from './scope.ts'
import { bind, join, name, sql, text } from './sql.ts'
import type { Sql } from './sql.ts'

export function compileRead(plan: ReadPlan): CompiledRead {
  const rows = new Select()
  const root = new Scope(plan.resource, rows.aliases, rows.aliases.next(), rows.joins)
  const node = compileNode(plan.node, root, rows)
  rows.from = sql`${name(plan.resource.table)} as ${root.alias}`
  rows.where = whereOf(plan, root)
  if (plan.paged) {
    rows.order = [...plan.order.map(term => sortTerm(term, root)), ...keyOrder(root.key)]
    rows.page = true
  }
  return { rows: rows.finish(), count: plan.paged ? compileCount(plan) : undefined, node }
}

/** The count joins only what the filters need, and sorts nothing. */
function compileCount(plan: ReadPlan): Statement {
  const count = new Select()
  const root = new Scope(plan.resource, count.aliases, count.aliases.next(), count.joins)
  count.columns.push(text('count(*)'))
  count.from = sql`${name(plan.resource.table)} as ${root.alias}`
  count.where = whereOf(plan, root)
  return count.finish()
}

/** A statement that gives one row when the record of the request's key exists. */
export function compileExists(resource: Resource): Statement {
  const select = new Select()
  const scope = new Scope(resource, select.aliases, select.aliases.next(), select.joins)
  select.columns.push(text('1'))
  select.from = sql`${name(resource.table)} as ${scope.alias}`
  select.where = [isKey(scope.key, resource.key)]
  return select.finish()
}

/** See `Dialect.taken`. */
export function compileTaken(
  resource: Resource,
  attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
  excludeSelf: boolean,
): Statement | undefined {
  const select = new Select()
  const scope = new Scope(resource, select.aliases, select.aliases.next(), select.joins)
  const self = new Scope(resource, select.aliases, select.aliases.next(), select.joins)
  const where: Sql[] = []
  let index = 0
  for (const { attribute, given } of attributes) {
    const columns = columnsOfAttribute(attribute)
    if (columns === undefined) return undefined
    for (const { column, type } of columns) {
      const own = sql`(select ${self.column(column)} from ${name(resource.table)} as ${self.alias} where ${isKey(self.key, resource.key)})`
      where.push(sql`${scope.column(column)} = ${given ? bind({ from: 'given', index: index++, type }) : own}`)
    }
  }
  if (excludeSelf) where.push(sql`not (${isKey(scope.key, resource.key)})`)
  select.columns.push(text('1'))
  select.from = sql`${name(resource.table)} as ${scope.alias}`
  select.where = where
  return select.finish()
}

function columnsOfAttribute(attribute: Attribute): { column: string; type: ScalarType }[] | undefined {
  if (attribute.kind === 'scalar')
    return attribute.source.kind === 'column' ? [{ column: attribute.source.column, type: attribute.type }] : undefined
  if (attribute.kind !== 'toOne' || !attribute.owner) return undefined
  return attribute.columns.map((column, index) => ({ column, type: attribute.target.key[index]!.type }))
}

/** See `Dialect.referrers`. */
export function compileReferrers(resource: Resource, attribute: ToOneAttribute): Statement {
  const select = new Select()
  const scope = new Scope(resource, select.aliases, select.aliases.next(), select.joins)
  for (const [index, column] of scope.key.entries()) select.columns.push(selected(text(column), isExact(resource.key[index]!)))
  select.from = sql`${name(resource.table)} as ${scope.alias}`
  select.where = [isKey(scope.columns(attribute.columns), attribute.target.key)]
  return select.finish()
}

/** SQLite names the columns in the text of its error, and nowhere else. */
export function violation(error: Error): { table: string; columns: string[] } | undefined {
  const match = /(?:UNIQUE|NOT NULL) constraint failed: (.+)$/m.exec(error.message)
  if (match === null) return undefined
  const names = match[1]!.split(', ').map(item => item.split('.'))
  return { table: names[0]![0]!, columns: names.map(([, column]) => column ?? '') }
}

/** A SELECT under construction. */
class Select {
  readonly aliases = new Aliases()
  readonly columns: Sql[] = []
  readonly joins: Sql[] = []
  from: Sql = text('')
  where: readonly Sql[] = []
  order: readonly Sql[] = []
  page = false

  /** Adds a column; gives its position in the rows. */
  add(column: Sql): number {
    const known = this.columns.findIndex(other => other.text === column.text && other.bindings.length === 0)
    return known >= 0 && column.bindings.length === 0 ? known : this.columns.push(column) - 1
  }

  finish(): Statement {
    const parts = [sql`select ${this.columns.length === 0 ? '1' : join(this.columns, ', ')} from ${this.from}`, ...this.joins]
    if (this.where.length > 0) parts.push(sql`where ${join(this.where, ' and ')}`)
    if (this.order.length > 0) parts.push(sql`order by ${join(this.order, ', ')}`)
    if (this.page) parts.push(sql`limit ${bind({ from: 'limit' })} offset ${bind({ from: 'offset' })}`)
    const whole = join(parts, ' ')
    return { sql: whole.text, bindings: whole.bindings }
  }
}

function keyOrder(key: readonly string[]): Sql[] {
  return key.map(column => text(column))
}

function isKey(columns: readonly string[], parts: readonly KeyPart[]): Sql {
  return join(
    columns.map((column, part) => {
      const { type } = parts[part]!
      const value = (form: 'value' | 'upper'): Sql => bind({ from: 'key', part, type, form } satisfies Binding)
      return type.kind === 'uuid' ? sql`${column} in (${value('value')}, ${value('upper')})` : sql`${column} = ${value('value')}`
    }),
    ' and ',
  )
}

function tuple(columns: readonly string[]): string {
  return columns.length === 1 ? columns[0]! : `(${columns.join(', ')})`
}

function whereOf(plan: ReadPlan, root: Scope): Sql[] {
  const filters = plan.where.map(part => condition(part, root))
  const { anchor } = plan
  if (anchor.kind === 'collection') return filters
  if (anchor.kind === 'record') return [isKey(root.key, plan.resource.key), ...filters]
  const { relation, owner } = anchor
  const alias = root.aliases.next()
  const own = (columns: readonly string[]): string[] => columns.map(column => `${alias}.${name(column)}`)
  if (relation.kind === 'toMany' && relation.via.kind === 'pivot') {
    const { table, ownerColumns, targetColumns } = relation.via
    const related = sql`select ${own(targetColumns).join(', ')} from ${name(table)} as ${alias} where ${isKey(own(ownerColumns), owner.key)}`
    return [sql`${tuple(root.key)} in (${related})`, ...filters]
  }
  if (relation.kind === 'toOne' && relation.owner) {
    const key = own(owner.key.map(part => part.column))
    const related = sql`select ${own(relation.columns).join(', ')} from ${name(owner.table)} as ${alias} where ${isKey(key, owner.key)}`
    return [sql`${tuple(root.key)} in (${related})`, ...filters]
  }
  const columns = relation.kind === 'toMany' ? (relation.via as { columns: readonly string[] }).columns : relation.columns
  return [isKey(root.columns(columns), owner.key), ...filters]
}

/** A value of a record while its function is generated: an expression over the row `r` and the helpers `h`. */
class BuilderSource {
  readonly helpers: unknown[] = []

  helper(value: unknown): string {
    return `h[${this.helpers.push(value) - 1}]`
  }

  /** Literals give every record the same hidden class, and cost nothing per key. Keys come from the model and are quoted. */
  object(entries: readonly (readonly [string, string])[]): string {
    return `{${entries.map(([key, value]) => `${key === '__proto__' ? `["__proto__"]` : JSON.stringify(key)}:${value}`).join(',')}}`
  }

  finish(expression: string): Builder {
    // eslint-disable-next-line typescript/no-implied-eval -- generated from the model alone, once per plan
    return (new Function('h', `"use strict";return r=>(${expression})`) as (helpers: unknown[]) => Builder)(this.helpers)
  }
}

function compileNode(node: RecordNode, scope: Scope, select: Select): CompiledNode {
  const source = new BuilderSource()
  const children: CompiledChild[] = []
  const entries = node.fields.map(field => [field.attribute.name, expressionOf(field, scope, select, source, children)] as const)
  return { build: source.finish(source.object(entries)), children }
}

function expressionOf(field: Field, scope: Scope, select: Select, source: BuilderSource, children: CompiledChild[]): string {
  switch (field.kind) {
    case 'scalar':
      return scalarExpression(field.attribute, scope, select, source)
    case 'embedded':
      return embeddedExpression(field.attribute, field.fields, scope, select, source)
    case 'reference': {
      const { attribute } = field
      const columns = attribute.owner ? scope.columns(attribute.columns).map(text) : inverseKey(attribute, scope)
      return keyExpression(columns, attribute.target, select, source)
    }
    case 'record':
      children.push(
        field.attribute.owner
          ? ownedRecord(field.attribute, field.node, scope, select)
          : inverseRecord(field.attribute, field.node, scope, select),
      )
      return 'null'
    case 'references':
    case 'records':
      children.push(listChild(field, scope, select))
      return 'null'
  }
}

/** Beyond 2^53 a JavaScript number is not exact, so 64-bit integers leave SQLite as text. */
function selected(value: Sql, exact: boolean): Sql {
  return exact ? sql`cast(${value} as text)` : value
}

function scalarExpression(attribute: ScalarAttribute, scope: Scope, select: Select, source: BuilderSource): string {
  const { type } = attribute
  const at = select.add(selected(valueOf(attribute, scope), type.kind === 'bigint' && type.asNumber !== true))
  const decoder = decoderOf(type)
  return decoder === undefined ? `r[${at}]` : `(r[${at}]===null?null:${source.helper(decoder)}(r[${at}]))`
}

function embeddedExpression(
  attribute: EmbeddedAttribute,
  fields: readonly Field[],
  scope: Scope,
  select: Select,
  source: BuilderSource,
): string {
  const { document } = attribute
  if (document !== undefined) {
    const at = select.add(text(scope.column(document.column)))
    const decode = (column: unknown): unknown => (column === null ? null : decodeDocument(fields, documentAt(column, document.keys)))
    return `${source.helper(decode)}(r[${at}])`
  }
  const object = source.object(fields.map(field => [field.attribute.name, expressionOf(field, scope, select, source, [])]))
  if (!attribute.nullable) return object
  // An embedded object with columns of its own is null when all of them are.
  const columns = columnsOf(attribute).map(column => `r[${select.add(text(scope.column(column)))}]===null`)
  return `(${columns.join('&&')}?null:${object})`
}

function columnsOf(attribute: EmbeddedAttribute): string[] {
  return attribute.attributes.flatMap(child => {
    if (child.kind === 'embedded') return child.document === undefined ? columnsOf(child) : [child.document.column]
    return child.source.kind === 'column' ? [child.source.column] : []
  })
}

function isExact(part: KeyPart): boolean {
  return part.type.kind === 'bigint' && part.type.asNumber !== true
}

/** The key that an inverse to-one links: it stands in the target's table, at most once. */
function inverseKey(attribute: ToOneAttribute, scope: Scope): Sql[] {
  const alias = scope.aliases.next()
  const on = attribute.columns.map((column, index) => `${alias}.${name(column)} = ${scope.key[index]!}`).join(' and ')
  return attribute.target.key.map(part =>
    text(`(select ${alias}.${name(part.column)} from ${name(attribute.target.table)} as ${alias} where ${on})`),
  )
}

/** An ID: a single key as it is, a composite one joined. */
function keyExpression(columns: readonly Sql[], target: Resource, select: Select, source: BuilderSource): string {
  const parts = columns.map((column, index) => `r[${select.add(selected(column, isExact(target.key[index]!)))}]`)
  if (parts.length === 1) return parts[0]!
  return `(${parts.map(part => `${part}===null`).join('||')}?null:${source.helper(joinKey)}([${parts.join(',')}]))`
}

function addKey(columns: readonly string[], parts: readonly KeyPart[], select: Select): number[] {
  return columns.map((column, index) => select.add(selected(text(column), parts[index]!.type.kind === 'bigint')))
}

function isNumeric(parts: readonly KeyPart[]): boolean[] {
  return parts.map(part => part.type.kind === 'integer' || part.type.kind === 'bigint')
}

/** `(a, b) in (the keys of the rows above)`; the keys come as one JSON text, so that the statement is the same for any number of them. */
function inLinks(columns: readonly string[]): Sql {
  const links = bind({ from: 'links' })
  if (columns.length === 1) return sql`${columns[0]!} in (select value from json_each(${links}))`
  const parts = columns.map((_, index) => `json_extract(value, '$[${index}]')`)
  return sql`${tuple(columns)} in (select ${parts.join(', ')} from json_each(${links}))`
}

function ownedRecord(attribute: ToOneAttribute, node: RecordNode, scope: Scope, above: Select): CompiledChild {
  const { target } = attribute
  const select = new Select()
  const there = new Scope(target, select.aliases, select.aliases.next(), select.joins)
  const to = addKey(there.key, target.key, select)
  const compiled = compileNode(node, there, select)
  select.from = sql`${name(target.table)} as ${there.alias}`
  select.where = [inLinks(there.key)]
  return {
    name: attribute.name,
    cardinality: 'one',
    from: addKey(scope.columns(attribute.columns), target.key, above),
    to,
    numericLinks: isNumeric(target.key),
    statement: select.finish(),
    node: compiled,
  }
}

function inverseRecord(attribute: ToOneAttribute, node: RecordNode, scope: Scope, above: Select): CompiledChild {
  const { target } = attribute
  const owner = scope.resource
  const select = new Select()
  const there = new Scope(target, select.aliases, select.aliases.next(), select.joins)
  const links = there.columns(attribute.columns)
  const to = addKey(links, owner.key, select)
  const compiled = compileNode(node, there, select)
  select.from = sql`${name(target.table)} as ${there.alias}`
  select.where = [inLinks(links)]
  return {
    name: attribute.name,
    cardinality: 'one',
    from: addKey(scope.key, owner.key, above),
    to,
    numericLinks: isNumeric(owner.key),
    statement: select.finish(),
    node: compiled,
  }
}

/** The records of a list (or their IDs, without a node), in the model's order of it, else by primary key. */
function listChild(field: Field & { kind: 'references' | 'records' }, scope: Scope, above: Select): CompiledChild {
  const { attribute } = field
  const { via } = attribute
  const owner = scope.resource
  const select = new Select()
  const opened = openList(attribute, [], select.aliases, select.joins)
  const to = addKey(opened.links, owner.key, select)
  const compiled = field.kind === 'references' ? idsNode(opened.scope, select) : compileNode(field.node, opened.scope, select)
  const order = field.order.map(term => sortTerm(term, opened.scope))
  const position = via.kind === 'pivot' && via.orderColumn !== undefined ? [text(`${opened.alias}.${name(via.orderColumn)}`)] : []
  select.from = opened.from
  select.where = [inLinks(opened.links)]
  // The links first: rows then come in the order of the index on them, and SQLite need not sort.
  select.order = [...opened.links.map(text), ...order, ...position, ...keyOrder(opened.scope.key)]
  return {
    name: attribute.name,
    cardinality: 'many',
    from: addKey(scope.key, owner.key, above),
    to,
    numericLinks: isNumeric(owner.key),
    statement: select.finish(),
    node: compiled,
  }
}

function idsNode(scope: Scope, select: Select): CompiledNode {
  const source = new BuilderSource()
  const key = keyExpression(scope.key.map(text), scope.resource, select, source)
  return { build: source.finish(key), children: [] }
}
