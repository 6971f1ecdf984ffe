/**
 * Adds the columns of shown attributes to a SELECT. Gives the function from rows to records, and a statement for each shown relation
 * (`?expand=author,tags`).
 */
import { idParts } from '../../model/key.ts'
import { putInside } from '../../foundation/json/json.ts'
import type { Builder, CompiledChild, CompiledNode, CompiledRender, Row } from '../../records/database/dialect.ts'
import {
  referredParts,
  tableColumns,
  findTargetKey,
  type Attribute,
  type EmbeddedAttribute,
  type ScalarAttribute,
  type ToOneAttribute,
} from '../../model/model.ts'
import type { Field, ShownPart, RecordNode } from '../../records/plan/read-plan.ts'
import { BuilderSource, type RowValue } from './builder-source.ts'
import { condition } from './condition.ts'
import { MemberReader, decodeDocument, documentAt } from './decode-document.ts'
import { sortTerm } from './sort-term.ts'
import { FromClause, discriminatorCondition, startList, formatTable } from './from-clause.ts'
import { addKey, isRecalled, keyValue, keyThere, VALUE_BYTES, estimateBytes, scalarValue, type NodeContext } from './row-values.ts'
import { compileStatements, existing, isExact, keyOrder, type Select } from './select.ts'
import { name, sql, text, type Sql } from './sql.ts'

export function compileNode(node: RecordNode, scope: FromClause, select: Select): CompiledNode {
  const source = new BuilderSource()
  const children: CompiledChild[] = []
  const context: NodeContext = { scope, select, source, children }
  const entries = node.fields.map(field => {
    const known = children.length
    const shown = fieldValue(field, context)
    const value = node.exact === true ? leaveOut(shown, field, context) : shown
    const { classValues } = field.attribute
    // Records of other classes need no statements for the attribute.
    if (classValues !== undefined)
      for (const [index, child] of children.entries())
        if (index >= known) children[index] = { ...child, only: allow(compileClassCheck(classValues, context), child.only) }
    return { name: field.attribute.name, value, classes: classValues }
  })
  const renders = node.fields.flatMap(field => {
    const { classValues } = field.attribute
    return compileRenders(field).map(render =>
      classValues === undefined ? render : { ...render, only: compileClassCheck(classValues, context) },
    )
  })
  return {
    build: source.finish(recordValue(entries, context)),
    renders,
    source: renders.length === 0 ? undefined : stored(scope, select),
    children,
    bytes: estimateBytes(node.fields),
    long: [...source.long],
    areIds: false,
  }
}

/** In an open resource, the JSON column `holder` has the values without a column. The record lacks an attribute without a value. */
function leaveOut(shown: RowValue, { kind, attribute }: Field, { scope, select, source }: NodeContext): RowValue {
  if ((kind !== 'scalar' && kind !== 'reference') || !attribute.nullable) return shown
  const at = select.add(scope.tables.flavour.shown(scope.resource.open!.holder, scope))
  const find = source.share('held', () => new MemberReader().find)
  const held = source.call(find, source.column(at), source.constant(attribute.name))
  return { source: `((${shown.source})??${held.source})`, of: row => shown.of(row) ?? held.of(row) }
}

/** Render functions inside an embedded object run before the object's own. */
function compileRenders(field: Field): CompiledRender[] {
  const { name: called, render } = field.attribute
  const inside = field.kind === 'embedded' ? field.fields.flatMap(compileRenders).map(inner => ({ ...inner, ...place(called, inner) })) : []
  return render === undefined ? inside : [...inside, { name: called, render }]
}

function place(embedded: string, { within = [] }: { readonly within?: readonly string[] }): { readonly within: readonly string[] } {
  return { within: [embedded, ...within] }
}

interface FieldEntry {
  readonly name: string
  readonly value: RowValue
  /** Undefined: all classes have the attribute. */
  readonly classes: ReadonlySet<string> | undefined
}

/** In a hierarchy, the discriminator in the row chooses the object literal of its class. */
function recordValue(entries: readonly FieldEntry[], { scope, select, source }: NodeContext): RowValue {
  const literalOf = (of: readonly FieldEntry[]): RowValue => source.object(of.map(({ name: called, value }) => [called, value] as const))
  const { hierarchy } = scope.resource
  if (hierarchy === undefined || entries.every(({ classes }) => classes === undefined)) return literalOf(entries)
  const discriminator = source.column(select.add(text(scope.column(hierarchy.column))))
  const records = [...hierarchy.byValue.keys()].map(
    value => [value, literalOf(entries.filter(({ classes }) => classes?.has(value) !== false))] as const,
  )
  return source.choose(discriminator, new Map(records), literalOf(entries.filter(({ classes }) => classes === undefined)))
}

function allow(first: (row: Row) => boolean, second: ((row: Row) => boolean) | undefined): (row: Row) => boolean {
  return second === undefined ? first : row => first(row) && second(row)
}

function compileClassCheck(of: ReadonlySet<string>, { scope, select }: NodeContext): (row: Row) => boolean {
  const at = select.add(text(scope.column(scope.resource.hierarchy!.column)))
  return row => of.has(String(row[at]))
}

/** A shown record or list is null at first, a count 0: another statement gives the value. */
function fieldValue(field: Field, context: NodeContext): RowValue {
  const { children, source } = context
  switch (field.kind) {
    case 'scalar':
      return scalarValue(field.attribute, context)
    case 'embedded': {
      const inside: CompiledChild[] = []
      const value = embeddedValue(field.attribute, field.fields, { ...context, children: inside })
      children.push(...inside.map(child => ({ ...child, ...place(field.attribute.name, child) })))
      return value
    }
    case 'reference':
      return referenceValue(field.attribute, context)
    case 'record':
      children.push(recordChild(field.attribute, field.node, context, field.part))
      return source.constant(null)
    case 'count':
      children.push(countChild(field, context))
      return source.constant(0)
    case 'references':
    case 'records':
      children.push(listChild(field, context))
      return source.constant(null)
    case 'oneOf':
      return oneOfValue(field, context)
  }
}

/** `{ type: 'user', id: 7 }`. Null for an expanded record: a statement for each entity reads the record. */
function oneOfValue({ attribute, shown }: Field & { kind: 'oneOf' }, context: NodeContext): RowValue {
  const { scope, select, source, children } = context
  const linked = new Map<string, RowValue>()
  let discriminator = source.constant(null)
  for (const { branch, node } of shown) {
    const { column, value } = branch.discriminator
    const at = select.add(text(scope.column(column)))
    discriminator = source.column(at)
    if (node !== undefined) {
      children.push({ ...recordChild(branch, node, context), only: row => row[at] === value })
      continue
    }
    const key = scope.tables.recall !== undefined ? scope.columns(branch.columns).map(text) : keyThere(branch, scope)
    const id = keyValue(key, branch.target.key, select, source)
    const tag = (given: unknown): unknown => (given === null ? null : { [attribute.typeName]: branch.target.singular, id: given })
    linked.set(value, source.call(tag, id))
  }
  return source.choose(discriminator, linked, source.constant(null))
}

function referenceValue(attribute: ToOneAttribute, { scope, select, source }: NodeContext): RowValue {
  const isHere = attribute.owner && attribute.targetKey === undefined
  // An image shows the key in the row, even if the linked record is gone.
  const isImage = scope.tables.recall !== undefined
  const columns =
    !isHere || (isImage && isRecalled(attribute))
      ? keyThere(attribute, scope)
      : (isImage ? scope.foreignKey(attribute) : scope.toOne(attribute).id).map(text)
  return keyValue(columns, idParts(attribute.target), select, source)
}

/** For render functions: all stored attributes without a flag, also hidden attributes; with getters, links too. */
function stored(scope: FromClause, select: Select): Builder {
  const source = new BuilderSource()
  const context: NodeContext = { scope, select, source, children: [] }
  const { attributes } = scope.resource
  const hasGetters = attributes.some(attribute => attribute.kind === 'scalar' && attribute.source.kind === 'getter')
  const plain = attributes.filter(
    (attribute): attribute is ScalarAttribute | EmbeddedAttribute | ToOneAttribute =>
      isStored(attribute) || (hasGetters && attribute.kind === 'toOne' && attribute.owner),
  )
  return source.finish(
    source.object(plain.map(attribute => [attribute.name, fieldValue(makeField(attribute), { ...context, children: [] })] as const)),
  )
}

function isStored(attribute: Attribute): attribute is ScalarAttribute | EmbeddedAttribute {
  if (attribute.flag !== undefined) return false
  return (
    attribute.kind === 'embedded' || (attribute.kind === 'scalar' && attribute.source.kind !== 'none' && attribute.source.kind !== 'getter')
  )
}

function makeField(attribute: ScalarAttribute | EmbeddedAttribute | ToOneAttribute): Field {
  if (attribute.kind === 'toOne') return { kind: 'reference', attribute }
  if (attribute.kind === 'scalar') return { kind: 'scalar', attribute }
  return { kind: 'embedded', attribute, fields: attribute.attributes.filter(isStored).map(makeField) }
}

function embeddedValue(attribute: EmbeddedAttribute, fields: readonly Field[], context: NodeContext): RowValue {
  const { scope, select, source } = context
  if (attribute.document !== undefined) return documentValue({ ...attribute, document: attribute.document }, fields, context)
  const object = objectValue(attribute, fields, context)
  if (!attribute.nullable) return object
  const columns = tableColumns(attribute).map(column => source.column(select.add(text(scope.column(column)))))
  return source.unlessNull(columns, 'every', object)
}

function documentValue(
  attribute: EmbeddedAttribute & { readonly document: NonNullable<EmbeddedAttribute['document']> },
  fields: readonly Field[],
  context: NodeContext,
): RowValue {
  const { scope, select, source, children } = context
  const { column, keys } = attribute.document
  const at = select.add(text(scope.column(column)))
  source.long.add(at)
  const links = linksInside(fields)
  for (const { field, within } of links)
    if (field.kind === 'record') children.push({ ...recordChild(field.attribute, field.node, context), within })
  const references = links.filter(({ field }) => field.kind === 'reference')
  const decode = (stored: unknown, ids: readonly unknown[]): unknown => {
    const object = stored === null ? null : decodeDocument(attribute, fields, documentAt(stored, keys))
    for (const [index, { field, within }] of references.entries())
      putInside({ object }, ['object', ...within], field.attribute.name, ids[index])
    return object
  }
  const ids = references.map(({ field }) => referenceValue(field.attribute, context))
  return source.call(decode, source.column(at), source.list(ids))
}

function objectValue({ variants, byName }: EmbeddedAttribute, fields: readonly Field[], context: NodeContext): RowValue {
  const { source } = context
  const entries = fields.map(field => [field.attribute.name, fieldValue(field, context)] as const)
  if (variants === undefined) return source.object(entries)
  const discriminator = scalarValue(byName.get(variants.discriminator) as ScalarAttribute, context)
  const objects = [...variants.byValue].map(
    ([value, attributes]) =>
      [value, source.object(attributes.flatMap(attribute => entries.filter(([key]) => key === attribute.name)))] as const,
  )
  return source.choose(discriminator, new Map(objects), source.object(entries))
}

function linksInside(fields: readonly Field[], within: readonly string[] = []): { field: ReferenceField; within: readonly string[] }[] {
  return fields.flatMap(field => {
    if (field.kind === 'embedded') return linksInside(field.fields, [...within, field.attribute.name])
    return field.kind === 'reference' || field.kind === 'record' ? [{ field, within }] : []
  })
}

type ReferenceField = Field & { kind: 'reference' | 'record' }

/** The statement for a shown to-one relation. The owner's row holds the link. */
function recordChild(attribute: ToOneAttribute, node: RecordNode, { scope, select: above }: NodeContext, part?: ShownPart): CompiledChild {
  const { target, targetKey, owner } = attribute
  const parts = referredParts(owner ? target : scope.resource, targetKey)
  const select = above.inside()
  const there = new FromClause(target, select.tables, select.tables.next(), select.joins)
  const links = owner ? there.referred(targetKey) : there.columns(attribute.columns)
  const isMeant = owner ? undefined : discriminatorCondition(attribute.discriminator, column => there.column(column))
  const to = addKey(links, parts, select)
  const compiled = compileNode(node, there, select)
  select.from = sql`${formatTable(target)} as ${there.alias}`
  return {
    name: attribute.name,
    cardinality: 'one',
    from: addKey(owner ? scope.foreignKey(attribute) : scope.referred(targetKey), parts, above),
    to,
    parts,
    isPivoted: false,
    ...(part === undefined ? {} : { list: part.at }),
    ...compileStatements(select, attribute.name, { columns: links, parts }, [
      ...(isMeant === undefined ? [] : [isMeant]),
      ...existing(there),
      ...conditions(part, there),
    ]),
    node: compiled,
  }
}

function conditions(part: ShownPart | undefined, scope: FromClause): Sql[] {
  return part === undefined ? [] : part.where.map(each => condition(each, scope))
}

function countChild({ attribute, part }: Field & { kind: 'count' }, { scope, select: above }: NodeContext): CompiledChild {
  const targetKey = findTargetKey(attribute)
  const parts = referredParts(scope.resource, targetKey)
  const select = above.inside()
  const opened = startList(attribute, undefined, select.tables, select.joins, part.where.length > 0)
  // Joins the records: a link to a lost record must not count.
  opened.scope.attach()
  const to = addKey(opened.links, parts, select)
  const at = select.add(text('count(*)'))
  const where = [...(opened.existing === undefined ? [] : [opened.existing]), ...conditions(part, opened.scope)]
  select.from = opened.from
  select.mark = opened.mark
  select.group = opened.links
  return {
    name: attribute.name,
    cardinality: 'one',
    none: 0,
    list: part.at,
    from: addKey(scope.referred(targetKey), parts, above),
    to,
    parts,
    isPivoted: false,
    ...compileStatements(select, attribute.name, { columns: opened.links, parts }, where),
    node: { build: row => Number(row[at]), renders: [], source: undefined, children: [], bytes: VALUE_BYTES, long: [], areIds: true },
  }
}

/** The statement for a shown list: sorts by the terms of the field, then an order column, then the primary key. */
function listChild(field: Field & { kind: 'references' | 'records' }, { scope, select: above }: NodeContext): CompiledChild {
  const { attribute } = field
  const { via } = attribute
  const targetKey = findTargetKey(attribute)
  const parts = referredParts(scope.resource, targetKey)
  const select = above.inside()
  const part = field.kind === 'records' ? field.part : undefined
  const opened = startList(attribute, undefined, select.tables, select.joins, part !== undefined && part.where.length > 0)
  const to = addKey(opened.links, parts, select)
  const compiled = field.kind === 'references' ? compileIds(opened.scope, select, true) : compileNode(field.node, opened.scope, select)
  const order = field.order.map(term => sortTerm(term, opened.scope))
  const position =
    via.kind === 'pivot' && via.orderColumn !== undefined && part?.isSorted !== true
      ? [text(`${opened.alias}.${name(via.orderColumn)}`)]
      : []
  select.from = opened.from
  select.mark = opened.mark
  // Links first: the index on the links then gives rows in order.
  select.order = [...opened.links.map(text), ...order, ...position, ...keyOrder(opened.scope)]
  return {
    name: attribute.name,
    cardinality: 'many',
    from: addKey(scope.referred(targetKey), parts, above),
    to,
    parts,
    isPivoted: via.kind === 'pivot',
    ...(part === undefined ? {} : { list: part.at }),
    ...compileStatements(
      select,
      attribute.name,
      { columns: opened.links, parts, isCut: part?.isCut === true },
      [...(opened.existing === undefined ? [] : [opened.existing]), ...conditions(part, opened.scope)],
      field.kind === 'references' ? findBareId(opened.scope) : undefined,
    ),
    node: compiled,
  }
}

/** The ID column, if answers show its values unchanged. */
function findBareId({ id: [column], resource, tables: { flavour } }: FromClause): Sql | undefined {
  const [part, ...others] = idParts(resource)
  if (!flavour.readsBare || others.length > 0 || isExact(part!)) return undefined
  return flavour.findDecoder(part!.type) !== undefined ? undefined : text(column!)
}

/**
 * Records as keys alone.
 *
 * @param shown the key that clients know
 */
export function compileIds(scope: FromClause, select: Select, shown = false): CompiledNode {
  const source = new BuilderSource()
  const [columns, parts] = shown ? [scope.id, idParts(scope.resource)] : [scope.key, scope.resource.key]
  const key = keyValue(columns.map(text), parts, select, source)
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
