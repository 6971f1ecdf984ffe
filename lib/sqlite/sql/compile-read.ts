/**
 * Compile: a ReadPlan becomes SQLite statements, and for each node the function that makes a record of a row. Pure; done once per plan.
 * One statement for the rows, one for the count, and one for each relation that is shown: never one per row.
 */
import type { Builder, CompiledChild, CompiledNode, CompiledRead, CompiledRender, Row, Statement } from '../../database/dialect.ts'
import { putInside } from '../../base/json.ts'
import { joinKey } from '../../model/key.ts'
import { referredParts, tableColumns, targetKeyOf } from '../../model/model.ts'
import type { Attribute, EmbeddedAttribute, KeyPart, Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Condition, Field, ReadPlan, RecordNode } from '../../plan/read-plan.ts'
import type { ScalarType } from '../../values/scalar-type.ts'
import { decodeDocument, decodeOdd, decoderOf, documentAt, plainTest } from './decode.ts'
import { condition, sortTerm, valueOf } from './expressions.ts'
import { FromClause, conjunction, equal, startList, tableOf, discriminatorCondition } from './from-clause.ts'
import { mark } from './time-checks.ts'
import { Select, existing, isExact, isKey, selected } from './select.ts'
import { bind, join, literal, name, sql, text, tuple, withLiterals } from './sql.ts'
import type { Sql } from './sql.ts'

export function compileRead(plan: ReadPlan): CompiledRead {
  const rows = new Select(plan.scopeOf)
  rows.tables.watched = []
  const root = new FromClause(plan.resource, rows.tables, rows.tables.next(), rows.joins)
  const node = plan.node === undefined ? idsNode(root, rows) : compileNode(plan.node, root, rows)
  rows.from = sql`${tableOf(plan.resource)} as ${root.alias}`
  if (plan.order.length > 0 || plan.where.length > 0) rows.watch(root, plan.anchor.kind === 'collection')
  rows.where = whereOf(plan, root)
  if (!plan.paged) return { rows: rows.finish('rows'), count: undefined, deep: undefined, node, rendered: isRendered(node) }
  rows.order = orderOf(plan, root)
  rows.page = true
  return { rows: rows.finish('rows'), count: compileCount(plan), deep: deepOf(plan, root, rows), node, rendered: isRendered(node) }
}

function orderOf(plan: ReadPlan, root: FromClause): Sql[] {
  const wide = asksAll(plan, root)
  return [...plan.order.map(term => sortTerm(term, root, wide)), ...keyOrder(root.columns(plan.resource.order))]
}

/**
 * The same rows by way of their keys: SQLite then passes over an index where it would pass over rows, and sorts keys where it would sort rows. By the key
 * alone there is nothing to win; and a key of another kind may be NULL in SQLite, which no comparison finds.
 */
function deepOf(plan: ReadPlan, root: FromClause, rows: Select): (() => Statement) | undefined {
  const { resource } = plan
  const [first] = plan.order
  const isByKey = first === undefined || (first.hops.length === 0 && first.attribute?.primary === true)
  if (isByKey || !resource.generatedKey || resource.source.kind !== 'table') return undefined
  let statement: Statement | undefined
  return () => {
    if (statement !== undefined) return statement
    const joins: Sql[] = []
    const inner = new FromClause(resource, rows.tables, rows.tables.next(), joins)
    inner.origin = root.origin
    const where = whereOf(plan, inner)
    const order = orderOf(plan, inner)
    const parts = [sql`select ${tuple(inner.key)} from ${tableOf(resource)} as ${inner.alias}`, ...joins]
    const [key] = inner.key
    const isWatched = rows.mark !== '' && key !== undefined
    if (where.length > 0) parts.push(sql`where ${isWatched ? mark(key, true) : ''}${join(where, ' and ')}`)
    else if (isWatched) parts.push(text(mark(key, true, true)))
    rows.mark = ''
    parts.push(sql`order by ${join(order, ', ')} limit ${bind({ from: 'limit' })} offset ${bind({ from: 'offset' })}`)
    rows.where = [sql`${tuple(root.key)} in (${join(parts, ' ')})`]
    rows.page = false
    return (statement = rows.finish('rows'))
  }
}

function isRendered(node: CompiledNode): boolean {
  return node.source !== undefined || node.children.some(child => isRendered(child.node))
}

/** The count joins only what the filters need, and sorts nothing. */
function compileCount(plan: ReadPlan): Statement {
  const count = new Select(plan.scopeOf)
  const root = new FromClause(plan.resource, count.tables, count.tables.next(), count.joins)
  count.columns.push(text('count(*)'))
  count.from = sql`${tableOf(plan.resource)} as ${root.alias}`
  if (plan.where.length > 0) count.watch(root, plan.anchor.kind === 'collection')
  count.where = whereOf(plan, root)
  return count.finish('count')
}

function keyOrder(key: readonly string[]): Sql[] {
  return key.map(column => text(column))
}

/**
 * Whether a condition is about the records of a list. With such filters alone all records are asked. Another filter may leave few, and whether it does
 * only the data knows: then to ask each of those is the safe way.
 */
function isAboutList(part: Condition): boolean {
  switch (part.kind) {
    case 'some':
      return true
    case 'not':
      return isAboutList(part.of)
    case 'any':
      return part.of.some(isAboutList)
    case 'all':
      return part.of.length > 0 && part.of.every(isAboutList)
    default:
      return false
  }
}

/** Whether nothing but lists narrows the records. */
function asksAll({ anchor, where }: ReadPlan, { resource, tables }: FromClause): boolean {
  return anchor.kind === 'collection' && !tables.isScoped(resource) && where.every(isAboutList)
}

function whereOf(plan: ReadPlan, root: FromClause): Sql[] {
  const { anchor } = plan
  const scoped = anchor.kind === 'record' && anchor.left === true ? [] : existing(root)
  const wide = asksAll(plan, root)
  const filters = [...scoped, ...plan.where.map(part => condition(part, root, wide))]
  if (anchor.kind === 'collection') return filters
  if (anchor.kind === 'record') return [isKey(root.key, plan.resource.key), ...filters]
  const { relation, owner } = anchor
  const listed = relation.kind === 'toMany' ? root.tables.meets(relation, root.alias) : undefined
  if (listed !== undefined) filters.push(listed)
  const alias = root.tables.next()
  const own = (columns: readonly string[]): string[] => columns.map(column => `${alias}.${name(column)}`)
  if (relation.kind === 'toMany' && relation.via.kind === 'pivot') {
    const { table, ownerColumns, targetColumns, discriminator } = relation.via
    const isOwner = conjunction(
      isKey(own(ownerColumns), owner.key),
      discriminatorCondition(discriminator, column => own([column])[0]!),
    )
    const related = sql`select ${own(targetColumns).join(', ')} from ${name(table)} as ${alias} where ${isOwner}`
    return [sql`${tuple(root.key)} in (${related})`, ...filters]
  }
  if (relation.kind === 'toOne' && relation.owner) {
    const key = own(owner.key.map(part => part.column))
    const isOwner = conjunction(
      isKey(key, owner.key),
      discriminatorCondition(relation.discriminator, column => own([column])[0]!),
    )
    const held = relation.formula === undefined ? own(relation.columns) : [`(${withLiterals(relation.formula(alias, name))})`]
    const related = sql`select ${held.join(', ')} from ${tableOf(owner)} as ${alias} where ${isOwner}`
    return [sql`${tuple(root.referred(relation.targetKey))} in (${related})`, ...filters]
  }
  const { columns, targetKey, discriminator } =
    relation.kind === 'toMany' ? (relation.via as typeof relation.via & { kind: 'foreign' }) : relation
  const isMeant = discriminatorCondition(discriminator, column => root.column(column))
  if (isMeant !== undefined) filters.push(isMeant)
  if (targetKey === undefined) return [isKey(root.columns(columns), owner.key), ...filters]
  const key = own(owner.key.map(part => part.column))
  const referred = sql`select ${own([targetKey.part.column])[0]!} from ${tableOf(owner)} as ${alias} where ${isKey(key, owner.key)}`
  return [sql`${root.column(columns[0]!)} in (${referred})`, ...filters]
}

/** A value of a record while its function is generated: an expression over the row `r` and the helpers `h`. */
class BuilderSource {
  readonly helpers: unknown[] = []
  /** Where in a row stand texts of any length. */
  readonly long = new Set<number>()

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

function compileNode(node: RecordNode, scope: FromClause, select: Select): CompiledNode {
  const source = new BuilderSource()
  const children: CompiledChild[] = []
  const entries = node.fields.map(field => {
    const known = children.length
    const expression = expressionOf(field, scope, select, source, children)
    const { of } = field.attribute
    // Only the records of some classes have the attribute, and only they are given what is read for it.
    if (of !== undefined)
      for (const [index, child] of children.entries())
        if (index >= known) children[index] = { ...child, only: allow(isOf(of, scope, select), child.only) }
    return { name: field.attribute.name, expression, of }
  })
  const renders = node.fields.flatMap(field => {
    const { of } = field.attribute
    return rendersOf(field).map(render => (of === undefined ? render : { ...render, only: isOf(of, scope, select) }))
  })
  return {
    build: source.finish(recordExpression(entries, scope, select, source)),
    renders,
    source: renders.length === 0 ? undefined : stored(scope, select),
    children,
    bytes: bytesOf(node.fields),
    long: [...source.long],
    areIds: false,
  }
}

/** What is rendered of a field: of an embedded object first what is inside, and then itself. */
function rendersOf(field: Field): CompiledRender[] {
  const { name: called, render } = field.attribute
  const inside = field.kind === 'embedded' ? field.fields.flatMap(rendersOf).map(inner => ({ ...inner, ...place(called, inner) })) : []
  return render === undefined ? inside : [...inside, { name: called, render }]
}

/** The place of what is inside an embedded object, seen from outside. */
function place(embedded: string, { within = [] }: { readonly within?: readonly string[] }): { readonly within: readonly string[] } {
  return { within: [embedded, ...within] }
}

interface Entry {
  readonly name: string
  readonly expression: string
  readonly of: ReadonlySet<string> | undefined
}

/** The record; of several classes, the one that its row tells, with the attributes of that class. */
function recordExpression(entries: readonly Entry[], scope: FromClause, select: Select, source: BuilderSource): string {
  const literalOf = (of: readonly Entry[]): string => source.object(of.map(({ name: called, expression }) => [called, expression] as const))
  const { hierarchy } = scope.resource
  if (hierarchy === undefined || entries.every(({ of }) => of === undefined)) return literalOf(entries)
  const told = `r[${select.add(text(scope.column(hierarchy.column)))}]`
  let expression = literalOf(entries.filter(({ of }) => of === undefined))
  for (const value of hierarchy.byValue.keys()) {
    const own = entries.filter(({ of }) => of?.has(value) !== false)
    expression = `String(${told})===${JSON.stringify(value)}?${literalOf(own)}:${expression}`
  }
  return `(${expression})`
}

function allow(first: (row: Row) => boolean, second: ((row: Row) => boolean) | undefined): (row: Row) => boolean {
  return second === undefined ? first : row => first(row) && second(row)
}

/** Whether a row is of one of the classes. */
function isOf(of: ReadonlySet<string>, scope: FromClause, select: Select): (row: Row) => boolean {
  const at = select.add(text(scope.column(scope.resource.hierarchy!.column)))
  return row => of.has(String(row[at]))
}

function expressionOf(field: Field, scope: FromClause, select: Select, source: BuilderSource, children: CompiledChild[]): string {
  switch (field.kind) {
    case 'scalar':
      return scalarExpression(field.attribute, scope, select, source)
    case 'embedded': {
      const inside: CompiledChild[] = []
      const expression = embeddedExpression(field.attribute, field.fields, scope, select, source, inside)
      children.push(...inside.map(child => ({ ...child, ...place(field.attribute.name, child) })))
      return expression
    }
    case 'reference':
      return referenceExpression(field.attribute, scope, select, source)
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
    case 'oneOf':
      return oneOfExpression(field, scope, select, source, children)
  }
}

/** The ID of the record of one of several entities, with what tells which; or nothing yet, where each of the entities is read by a statement of its own. */
function oneOfExpression(
  { attribute, shown }: Field & { kind: 'oneOf' },
  scope: FromClause,
  select: Select,
  source: BuilderSource,
  children: CompiledChild[],
): string {
  let expression = 'null'
  for (const { branch, node } of shown) {
    const { column, value } = branch.discriminator
    const at = select.add(text(scope.column(column)))
    if (node !== undefined) {
      children.push({ ...ownedRecord(branch, node, scope, select), only: row => row[at] === value })
      continue
    }
    // The image of a row tells what stands in it, whatever has become of the record.
    const key = scope.tables.recalls ? scope.columns(branch.columns).map(text) : keyThere(branch, scope)
    const id = keyExpression(key, branch.target, select, source)
    const tagged = source.object([
      [attribute.typeName, JSON.stringify(branch.target.singular)],
      ['id', 'id'],
    ])
    expression = `r[${at}]===${JSON.stringify(value)}?(id=>id===null?null:${tagged})(${id}):${expression}`
  }
  return `(${expression})`
}

function referenceExpression(attribute: ToOneAttribute, scope: FromClause, select: Select, source: BuilderSource): string {
  const isHere = attribute.owner && attribute.targetKey === undefined
  const columns = isHere ? scope.toOne(attribute).key.map(text) : keyThere(attribute, scope)
  return keyExpression(columns, attribute.target, select, source)
}

/** All stored plain attributes of a record, private ones too: what renderers may look at. Getters are given the keys of what the record links as well. */
function stored(scope: FromClause, select: Select): Builder {
  const source = new BuilderSource()
  const { attributes } = scope.resource
  const hasGetters = attributes.some(attribute => attribute.kind === 'scalar' && attribute.source.kind === 'getter')
  const plain = attributes.filter(
    (attribute): attribute is ScalarAttribute | EmbeddedAttribute | ToOneAttribute =>
      isStored(attribute) || (hasGetters && attribute.kind === 'toOne' && attribute.owner),
  )
  return source.finish(
    source.object(plain.map(attribute => [attribute.name, expressionOf(fieldOf(attribute), scope, select, source, [])] as const)),
  )
}

function isStored(attribute: Attribute): attribute is ScalarAttribute | EmbeddedAttribute {
  if (attribute.flag !== undefined) return false
  return (
    attribute.kind === 'embedded' || (attribute.kind === 'scalar' && attribute.source.kind !== 'none' && attribute.source.kind !== 'getter')
  )
}

function fieldOf(attribute: ScalarAttribute | EmbeddedAttribute | ToOneAttribute): Field {
  if (attribute.kind === 'toOne') return { kind: 'reference', attribute }
  if (attribute.kind === 'scalar') return { kind: 'scalar', attribute }
  return { kind: 'embedded', attribute, fields: attribute.attributes.filter(isStored).map(fieldOf) }
}

/** What is read of an attribute: of a column of a file, what it holds. Integers that a JavaScript number cannot hold leave SQLite as text. */
function shownOf(attribute: ScalarAttribute, scope: FromClause): Sql {
  const { type, source } = attribute
  if (type.loose !== true || source.kind !== 'column') return valueOf(attribute, scope)
  const column = scope.column(source.column)
  // The key has shown that it is small.
  if ((type.kind !== 'integer' && type.kind !== 'any') || attribute.primary) return text(column)
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
  const other = `case typeof(${column}) when 'integer' then cast(${column} as text) else ${column} end`
  return text(`case when ${column} between ${least} and ${most} then ${column} else ${other} end`)
}

/** Kinds whose values are short whatever they are. */
const SHORT: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean', 'date', 'datetime', 'time', 'uuid'])

function isLong(type: ScalarType): boolean {
  return type.loose === true || type.codec !== undefined || !SHORT.has(type.kind)
}

/** What a record takes in an answer beside its long texts: names, punctuation, and short values. */
function bytesOf(fields: readonly Field[]): number {
  return fields.reduce((bytes, field) => {
    const own = field.attribute.name.length + 4
    return bytes + own + (field.kind === 'embedded' ? bytesOf(field.fields) : VALUE_BYTES)
  }, 2)
}

const VALUE_BYTES = 8

function scalarExpression(attribute: ScalarAttribute, scope: FromClause, select: Select, source: BuilderSource): string {
  const { type } = attribute
  // What a getter gives is put in later.
  if (attribute.source.kind === 'getter') return 'null'
  const { selectSql, exact = type.kind === 'bigint' && type.asNumber !== true } = type.codec ?? {}
  const value = shownOf(attribute, scope)
  const at = select.add(selected(selectSql === undefined ? value : { ...value, text: selectSql(value.text) }, exact))
  if (isLong(type)) source.long.add(at)
  const decoder = decoderOf(type)
  // A column may hold bytes, whatever it declares.
  if (decoder === undefined) return `(typeof r[${at}]==="object"&&r[${at}]!==null?${source.helper(decodeOdd)}(r[${at}]):r[${at}])`
  return `(${plainTest(type, `r[${at}]`)}?r[${at}]:${source.helper(decoder)}(r[${at}]))`
}

function embeddedExpression(
  attribute: EmbeddedAttribute,
  fields: readonly Field[],
  scope: FromClause,
  select: Select,
  source: BuilderSource,
  children: CompiledChild[],
): string {
  const { document } = attribute
  if (document !== undefined) {
    const at = select.add(text(scope.column(document.column)))
    source.long.add(at)
    const links = linksInside(fields)
    for (const { field, within } of links)
      if (field.kind === 'record') children.push({ ...ownedRecord(field.attribute, field.node, scope, select), within })
    const references = links.filter(({ field }) => field.kind === 'reference')
    const decode = (column: unknown, ids: readonly unknown[]): unknown => {
      const object = column === null ? null : decodeDocument(attribute, fields, documentAt(column, document.keys))
      for (const [index, { field, within }] of references.entries())
        putInside({ object }, ['object', ...within], field.attribute.name, ids[index])
      return object
    }
    const ids = references.map(({ field }) => referenceExpression(field.attribute, scope, select, source))
    return `${source.helper(decode)}(r[${at}],[${ids.join(',')}])`
  }
  const object = objectExpression(attribute, fields, scope, select, source, children)
  if (!attribute.nullable) return object
  // An embedded object with columns of its own is null when all of them are.
  const columns = tableColumns(attribute).map(column => `r[${select.add(text(scope.column(column)))}]===null`)
  return `(${columns.join('&&')}?null:${object})`
}

/** The object; of several classes, the one that the discriminator tells, with the attributes of that class. */
function objectExpression(
  { variants, byName }: EmbeddedAttribute,
  fields: readonly Field[],
  scope: FromClause,
  select: Select,
  source: BuilderSource,
  children: CompiledChild[],
): string {
  const entries = fields.map(field => [field.attribute.name, expressionOf(field, scope, select, source, children)] as const)
  if (variants === undefined) return source.object(entries)
  const told = scalarExpression(byName.get(variants.discriminator) as ScalarAttribute, scope, select, source)
  let expression = source.object(entries)
  for (const [value, attributes] of variants.byValue) {
    const own = source.object(attributes.flatMap(attribute => entries.filter(([key]) => key === attribute.name)))
    expression = `String(${told})===${JSON.stringify(value)}?${own}:${expression}`
  }
  return `(${expression})`
}

/** The fields of an embedded object that link, with the objects inside it that they are in. */
function linksInside(fields: readonly Field[], within: readonly string[] = []): { field: LinkField; within: readonly string[] }[] {
  return fields.flatMap(field => {
    if (field.kind === 'embedded') return linksInside(field.fields, [...within, field.attribute.name])
    return field.kind === 'reference' || field.kind === 'record' ? [{ field, within }] : []
  })
}

type LinkField = Field & { kind: 'reference' | 'record' }

/** The key that a to-one links where it stands in the target's table alone: on an inverse side, and where another key links. At most one row has it. */
function keyThere(attribute: ToOneAttribute, scope: FromClause): Sql[] {
  const { owner, columns, targetKey } = attribute
  const alias = scope.tables.next()
  const rows = new FromClause(attribute.target, scope.tables, alias)
  const linked = owner
    ? equal(rows.referred(targetKey), scope.foreignKey(attribute))
    : equal(rows.columns(columns), scope.referred(targetKey))
  const on = conjunction(
    linked,
    discriminatorCondition(attribute.discriminator, column => (owner ? scope : rows).column(column)),
  )
  const where = join([on, ...existing(rows)], ' and ')
  return attribute.target.key.map((part, index) => {
    const found = sql`(select ${alias}.${name(part.column)} from ${tableOf(attribute.target)} as ${alias} where ${where})`
    if (!scope.tables.recalls || targetKey === undefined || !owner) return found
    return sql`ifnull(${found}, mikro_gone(${literal(referredColumn(attribute))}, ${String(index)}, ${scope.column(columns[0]!)}))`
  })
}

/** The table and column that a link by another key than the primary one refers to, as one name. */
function referredColumn({ target, targetKey }: ToOneAttribute): string {
  return `${tableWith(target, targetKey!.part.column)}.${targetKey!.part.column}`
}

function tableWith({ table, source }: Resource, column: string): string {
  return source.kind === 'joined' ? source.tables.find(({ columns }) => columns.includes(column))!.table : table
}

/** What triggers must tell of records that go, or get another key, so that those that link them by it can still be told by ID: see `mikro_gone`. */
export interface RecalledKey {
  readonly name: string
  readonly table: string
  readonly column: string
  readonly key: readonly string[]
}

/** The keys by which the records of a node are linked otherwise than by the primary one. */
export function recalledKeys({ fields }: RecordNode): RecalledKey[] {
  return fields.flatMap(field => {
    if (field.kind !== 'reference' || field.attribute.targetKey === undefined) return []
    const { target, targetKey } = field.attribute
    const { column } = targetKey.part
    const table = tableWith(target, column)
    const key = target.source.kind === 'joined' ? target.source.tables.find(part => part.table === table)!.key : undefined
    return [{ name: referredColumn(field.attribute), table, column, key: key ?? target.key.map(part => part.column) }]
  })
}

/** An ID: a single key as it is, a composite one joined. */
function keyExpression(columns: readonly Sql[], target: Resource, select: Select, source: BuilderSource): string {
  const places = columns.map((column, index) => select.add(selected(column, isExact(target.key[index]!))))
  for (const [index, at] of places.entries()) if (isLong(target.key[index]!.type)) source.long.add(at)
  const raw = places.map(at => `r[${at}]`)
  const parts = raw.map((part, index) => {
    const decoder = decoderOf(target.key[index]!.type)
    return decoder === undefined ? part : `${source.helper(decoder)}(${part})`
  })
  if (parts.length === 1) return parts[0] === raw[0] ? raw[0]! : `(${raw[0]!}===null?null:${parts[0]!})`
  return `(${raw.map(part => `${part}===null`).join('||')}?null:${source.helper(joinKey)}([${parts.join(',')}]))`
}

function addKey(columns: readonly string[], parts: readonly KeyPart[], select: Select): number[] {
  return columns.map((column, index) => select.add(selected(text(column), isExact(parts[index]!) || parts[index]!.type.kind === 'bigint')))
}

function isNumeric(parts: readonly KeyPart[]): boolean[] {
  return parts.map(part => part.type.kind === 'integer' || part.type.kind === 'bigint' || part.type.codec?.exact === true)
}

/** `(a, b) in (the keys of the rows above)`; the keys come as one JSON text, so that the statement is the same for any number of them. */
function inLinks(columns: readonly string[]): Sql {
  const links = bind({ from: 'links' })
  if (columns.length === 1) return sql`${columns[0]!} in (select value from json_each(${links}))`
  const parts = columns.map((_, index) => `json_extract(value, '$[${index}]')`)
  return sql`${tuple(columns)} in (select ${parts.join(', ')} from json_each(${links}))`
}

/** The columns are the key of the one row above. */
function isLink(columns: readonly string[]): Sql {
  return join(
    columns.map((column, part) => sql`${column} = ${bind({ from: 'link', part })}`),
    ' and ',
  )
}

/** The statement that reads a relation of many records, and the one that reads it of one. */
function statementsOf(
  select: Select,
  about: string,
  links: readonly string[],
  where: readonly Sql[],
): { statement: Statement; single: Statement } {
  select.where = [inLinks(links), ...where]
  const statement = select.finish(about)
  select.where = [isLink(links), ...where]
  return { statement, single: select.finish(about) }
}

function ownedRecord(attribute: ToOneAttribute, node: RecordNode, scope: FromClause, above: Select): CompiledChild {
  const { target, targetKey } = attribute
  const select = above.inside()
  const there = new FromClause(target, select.tables, select.tables.next(), select.joins)
  const links = there.referred(targetKey)
  const parts = referredParts(target, targetKey)
  const to = addKey(links, parts, select)
  const compiled = compileNode(node, there, select)
  select.from = sql`${tableOf(target)} as ${there.alias}`
  return {
    name: attribute.name,
    cardinality: 'one',
    from: addKey(scope.foreignKey(attribute), parts, above),
    to,
    numericLinks: isNumeric(parts),
    isPivoted: false,
    ...statementsOf(select, attribute.name, links, existing(there)),
    node: compiled,
  }
}

function inverseRecord(attribute: ToOneAttribute, node: RecordNode, scope: FromClause, above: Select): CompiledChild {
  const { target, targetKey } = attribute
  const parts = referredParts(scope.resource, targetKey)
  const select = above.inside()
  const there = new FromClause(target, select.tables, select.tables.next(), select.joins)
  const links = there.columns(attribute.columns)
  const isMeant = discriminatorCondition(attribute.discriminator, column => there.column(column))
  const to = addKey(links, parts, select)
  const compiled = compileNode(node, there, select)
  select.from = sql`${tableOf(target)} as ${there.alias}`
  return {
    name: attribute.name,
    cardinality: 'one',
    from: addKey(scope.referred(targetKey), parts, above),
    to,
    numericLinks: isNumeric(parts),
    isPivoted: false,
    ...statementsOf(select, attribute.name, links, [...(isMeant === undefined ? [] : [isMeant]), ...existing(there)]),
    node: compiled,
  }
}

/** The records of a list (or their IDs, without a node), in the model's order of it, else by primary key. */
function listChild(field: Field & { kind: 'references' | 'records' }, scope: FromClause, above: Select): CompiledChild {
  const { attribute } = field
  const { via } = attribute
  const targetKey = targetKeyOf(attribute)
  const parts = referredParts(scope.resource, targetKey)
  const select = above.inside()
  const opened = startList(attribute, undefined, select.tables, select.joins)
  const to = addKey(opened.links, parts, select)
  const compiled = field.kind === 'references' ? idsNode(opened.scope, select) : compileNode(field.node, opened.scope, select)
  const order = field.order.map(term => sortTerm(term, opened.scope))
  const position = via.kind === 'pivot' && via.orderColumn !== undefined ? [text(`${opened.alias}.${name(via.orderColumn)}`)] : []
  select.from = opened.from
  select.mark = opened.mark
  // The links first: rows then come in the order of the index on them, and SQLite need not sort.
  select.order = [...opened.links.map(text), ...order, ...position, ...keyOrder(opened.scope.key)]
  return {
    name: attribute.name,
    cardinality: 'many',
    from: addKey(scope.referred(targetKey), parts, above),
    to,
    numericLinks: isNumeric(parts),
    isPivoted: via.kind === 'pivot',
    ...statementsOf(select, attribute.name, opened.links, opened.existing === undefined ? [] : [opened.existing]),
    node: compiled,
  }
}

function idsNode(scope: FromClause, select: Select): CompiledNode {
  const source = new BuilderSource()
  const key = keyExpression(scope.key.map(text), scope.resource, select, source)
  return {
    build: source.finish(key),
    renders: [],
    source: undefined,
    children: [],
    bytes: VALUE_BYTES,
    long: [...source.long],
    areIds: true,
  }
}

/** The columns of a row that a trigger hands over, and what makes a value of them. */
export interface CompiledImage {
  readonly columns: readonly string[]
  readonly record: Builder
  readonly id: Builder
}

/**
 * A row as a trigger sees it, under the alias `"old"` or `"new"`: its ID, and the fields that the row itself holds.
 *
 * @param node fields without lists, inverse relations and computed attributes: those are not in the row
 */
export function compileImage(node: RecordNode, alias: string): CompiledImage {
  const select = new Select()
  select.tables.recalls = true
  const scope = new FromClause(node.resource, select.tables, alias, select.joins)
  const record = compileNode(node, scope, select).build
  return { record, id: idsNode(scope, select).build, columns: select.columns.map(column => column.text) }
}

/** The ID of a record that other columns than its own hold, as a trigger sees them. */
export function compileLink(resource: Resource, alias: string, columns: readonly string[]): Omit<CompiledImage, 'record'> {
  const select = new Select()
  const source = new BuilderSource()
  const key = columns.map(column => text(`${alias}.${name(column)}`))
  return { id: source.finish(keyExpression(key, resource, select, source)), columns: select.columns.map(column => column.text) }
}
