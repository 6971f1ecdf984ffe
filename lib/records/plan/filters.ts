/** Turns a filter, such as `author.name=Ann`, into a Condition. Two books may meet the filters of `?books.title=A&books.year=1990`. */
import { withCapitalArticle } from '../../foundation/base/article.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { parameterError } from '../../foundation/errors/errors.ts'
import { suggestFilter } from '../request/habits.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { Attribute, RelationAttribute, Resource, ScalarAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { findParameterName, vocabularyOf, type Vocabulary } from '../request/query-string.ts'
import type { RawFilter, RawValue } from '../request/raw-filter.ts'
import { foldOf, isOrderOperator, type OrderOperator } from '../request/operators.ts'
import { isUsable, walkPath, type ByClass, type Forked, type Walk } from './paths.ts'
import type { Condition, KeyRef, Operand, PatternForm, ValueRef } from './read-plan.ts'
import { describeScalar, isOrdered, isText } from '../../foundation/values/scalar-type.ts'
import { branchesFor, isVisible, type Visibility } from './visibility.ts'

export interface FilterContext {
  readonly root: Resource
  /** To-one relations to `root`, from the record or its last list. */
  readonly before: readonly ToOneAttribute[]
  /** From the outermost record to `root`. */
  readonly relations: number
  readonly limits: Limits
  readonly visibility: Visibility
  readonly vocabulary: Vocabulary
}

export function planFilter(filter: RawFilter, index: number, context: FilterContext): Condition {
  const alternatives = filter.paths.map(path =>
    path === '*' ? planTexts(filter, index, context) : planNamed(path, filter, index, context),
  )
  const condition: Condition = alternatives.length === 1 ? alternatives[0]! : { kind: 'any', of: alternatives }
  return filter.negated ? { kind: 'not', of: condition } : condition
}

/** The filter `limit_=5` is on an attribute `limit`. */
function withoutReservedMark(path: string, { root, visibility, vocabulary }: FilterContext): string {
  if (!path.includes('_')) return path
  const [first = '', ...rest] = path.split('.')
  const bare = first.slice(0, -1)
  if (!first.endsWith('_') || !vocabularyOf(vocabulary, root.plural).names.has(bare)) return path
  const known = (name: string): boolean => {
    const attribute = root.byName.get(name)
    return attribute !== undefined && isVisible(attribute, visibility)
  }
  return !known(first) && known(bare) ? [bare, ...rest].join('.') : path
}

function planTexts(filter: RawFilter, index: number, context: FilterContext): Condition {
  const { root, visibility } = context
  const paths = listTexts(root.attributes, '', visibility)
  if (paths.length === 0) throw notFilterable(filter, `${withCapitalArticle(root.singular)} has no text to filter by.`)
  if (isOrderOperator(filter.operator)) {
    const detail = `"*" is any text: it is compared with "=", "~=" and "~~=".`
    throw parameterError({ code: 'operator_invalid', detail, parameter: filter.label })
  }
  const of = paths.map(path => planNamed(path, filter, index, context))
  return of.length === 1 ? of[0]! : { kind: 'any', of }
}

function listTexts(attributes: readonly Attribute[], prefix: string, visibility: Visibility): readonly string[] {
  const paths = attributes.flatMap(attribute => {
    // Enums and custom types refuse some texts.
    if (isSearched(attribute) && attribute.type.items === undefined && attribute.type.codec === undefined)
      return isVisible(attribute, visibility) ? [prefix + attribute.name] : []
    const isInside = attribute.kind === 'embedded' && !attribute.array && attribute.filterable && isVisible(attribute, visibility)
    return isInside ? listTexts(attribute.attributes, `${prefix}${attribute.name}.`, visibility) : []
  })
  return [...new Set(paths)]
}

function planNamed(written: string, filter: RawFilter, index: number, context: FilterContext): Condition {
  const { root, limits, visibility, before, relations } = context
  const vocabulary = vocabularyOf(context.vocabulary, root.plural)
  const path = withoutReservedMark(written, context)
  const walk = walkPath(path, root, {
    parameter: filter.label,
    limits,
    visibility,
    relations,
    intoJson: true,
    byClass: true,
    alternatives: filter.isGrouped ? undefined : vocabulary.names,
    spelling: ({ path: rest, prefix, attributes }) =>
      (filter.isGrouped && vocabulary.names.has(path)
        ? { suggestion: path, detail: `The parameter "${path}" stands beside the group.` }
        : undefined) ??
      suggestFilter(rest, filter.text, {
        prefix,
        names: attributes.map(({ name }) => name),
        texts: attributes.filter(isSearched).map(({ name }) => name),
        called: reserved => findParameterName(vocabulary, reserved),
        reserved: [...vocabulary.reserved.values()],
      }),
  })
  // Filters would reveal values behind a renderer.
  if (!isUsable(walk, 'filterable')) throw notFilterable(filter, `"${path}" cannot be filtered by.`)
  return anyPart(splitFilter(walk, before, { path, filter, index, visibility }))
}

function isSearched(attribute: Attribute): attribute is ScalarAttribute {
  return attribute.kind === 'scalar' && attribute.filterable && isText(attribute.type)
}

/** A path through several entities joins present values by OR, absent values by AND; through several classes, all by OR. */
interface FilterParts {
  /** Met by a value: `Ann` of `author.name=null,Ann`. */
  readonly present: readonly Condition[]
  /** Met by NULL, an empty link, an empty list. */
  readonly absent: readonly Condition[]
}

interface FilterRequest {
  readonly path: string
  readonly filter: RawFilter
  readonly index: number
  readonly visibility: Visibility
}

function anyPart({ present, absent }: FilterParts): Condition {
  const all = [...absent, ...present]
  return all.length === 1 ? all[0]! : { kind: 'any', of: all }
}

/** @param before the to-one relations since the last list */
function splitFilter(walk: Walk, before: readonly ToOneAttribute[], question: FilterRequest): FilterParts {
  const toOnes = [...before]
  for (const [index, hop] of walk.hops.entries()) {
    if (hop.kind === 'toMany') {
      const where = anyPart(splitFilter({ ...walk, hops: walk.hops.slice(index + 1) }, [], question))
      return { present: [{ kind: 'some', hops: toOnes, relation: hop, where }], absent: [] }
    }
    toOnes.push(hop)
  }
  if ('classes' in walk) return partsOfClasses(walk, toOnes, question)
  return 'fork' in walk ? partsOfFork(walk, toOnes, question) : partsOfEnd(walk.attribute, toOnes, question)
}

/** Absent: met in the record's class, or a class without the attribute. */
function partsOfClasses({ classes }: ByClass, toOnes: readonly ToOneAttribute[], question: FilterRequest): FilterParts {
  const present: Condition[] = []
  const absent: Condition[] = []
  const isOneOf: Condition[] = []
  for (const { is, walk } of classes) {
    const check: Condition = { kind: 'class', hops: toOnes, ...is }
    const parts = splitFilter(walk, toOnes, question)
    isOneOf.push(check)
    if (parts.present.length > 0) present.push({ kind: 'all', of: [check, anyPart({ present: parts.present, absent: [] })] })
    if (parts.absent.length > 0) absent.push({ kind: 'all', of: [check, anyPart({ present: [], absent: parts.absent })] })
  }
  return { present, absent: absent.length === 0 ? [] : [{ kind: 'not', of: { kind: 'any', of: isOneOf } }, ...absent] }
}

/** At most one record is linked: absent means absent in all entities. */
function partsOfFork({ fork, branches }: Forked, toOnes: readonly ToOneAttribute[], question: FilterRequest): FilterParts {
  const parts = branches.map(({ branch, walk }) => splitFilter(walk, [...toOnes, branch], question))
  const absent = parts.flatMap(part => (part.absent.length === 0 ? [] : [anyPart({ present: [], absent: part.absent })]))
  if (absent.length > 0 && absent.length < parts.length) {
    throw notFilterable(
      question.filter,
      `"${question.path}" leads through a list for some of what "${fork.name}" links, and not for others.`,
    )
  }
  return { present: parts.flatMap(({ present }) => present), absent: absent.length === 0 ? [] : [joinConditions(absent)] }
}

function joinConditions(conditions: readonly Condition[]): Condition {
  return conditions.length === 1 ? conditions[0]! : { kind: 'all', of: conditions }
}

function partsOfEnd(
  attribute: Attribute,
  toOnes: readonly ToOneAttribute[],
  { path, filter, index, visibility }: FilterRequest,
): FilterParts {
  switch (attribute.kind) {
    case 'toOne':
    case 'toMany':
      return planRelation(toOnes, attribute, filter, index)
    case 'toOneOf': {
      const parts = branchesFor(attribute, visibility).map(branch => planRelation(toOnes, branch, filter, index, attribute))
      const absent = parts.flatMap(part => part.absent)
      return { present: parts.flatMap(({ present }) => present), absent: absent.length === 0 ? [] : [joinConditions(absent)] }
    }
    case 'embedded':
      if (attribute.array) throw notFilterable(filter, `"${path}" is an array, which cannot be filtered by.`)
      throw notFilterable(
        filter,
        `"${path}" is an embedded object; filter by one of its attributes, as in "${path}.${attribute.attributes[0]?.name ?? 'name'}".`,
      )
    case 'scalar':
      return planScalar(toOnes, attribute, filter, index)
  }
}

function notFilterable(filter: RawFilter, detail: string) {
  return parameterError({ code: 'not_filterable', detail, parameter: filter.label })
}

function positions(filter: RawFilter, kind: RawValue['kind']): number[] {
  return filter.values.flatMap((value, position) => (value.kind === kind ? [position] : []))
}

function planRelation(
  hops: readonly ToOneAttribute[],
  relation: RelationAttribute,
  filter: RawFilter,
  index: number,
  oneOf?: ToOneOfAttribute,
): FilterParts {
  const parameter = filter.label
  if (filter.operator !== '=') {
    throw parameterError({
      code: 'operator_invalid',
      detail: `"${relation.name}" is a relation: it is compared with "=" and IDs only.`,
      parameter,
    })
  }
  if (positions(filter, 'pattern').length > 0) throw noWildcards(filter, `"${relation.name}" is a relation, compared with IDs`)
  const keys: KeyRef[] = positions(filter, 'text').map(value => ({
    from: 'filter',
    filter: index,
    value,
    resource: relation.target,
    ...(oneOf === undefined ? {} : { oneOf }),
  }))
  const isNull = positions(filter, 'null').length > 0
  if (relation.kind === 'toOne') {
    return {
      absent: isNull ? [{ kind: 'unlinked', hops, relation }] : [],
      present: keys.length > 0 ? [{ kind: 'linked', hops, relation, keys }] : [],
    }
  }
  return {
    absent: isNull ? [{ kind: 'not', of: { kind: 'some', hops, relation, where: undefined } }] : [],
    present: keys.length > 0 ? [{ kind: 'some', hops, relation, where: { kind: 'key', keys } }] : [],
  }
}

function noWildcards(filter: RawFilter, why: string) {
  return parameterError({
    code: 'operator_invalid',
    detail: `${why}: only strings take wildcards. A literal star is written \\*.`,
    parameter: filter.label,
    value: filter.text,
  })
}

/** `data=5` compares like `data.count=5`: by each record's JSON type. */
function asJsonValue(attribute: ScalarAttribute): ScalarAttribute {
  const { type, source } = attribute
  if (type.kind !== 'json' || type.codec !== undefined || source.kind === 'getter' || source.kind === 'none') return attribute
  return { ...attribute, type: { kind: 'jsonValue' }, source: { kind: 'within', json: attribute, names: [] } }
}

function planScalar(hops: readonly ToOneAttribute[], declared: ScalarAttribute, filter: RawFilter, index: number): FilterParts {
  const attribute = asJsonValue(declared)
  const { operator } = filter
  const operand = { hops, attribute }
  if (isOrderOperator(operator)) return planComparison(operand, operator, filter, index)
  checkValues(attribute, filter)
  return {
    present: planValues(operand, filter, index),
    absent: positions(filter, 'null').length > 0 ? [{ kind: 'null', operand }] : [],
  }
}

function planComparison(operand: Operand, operator: OrderOperator, filter: RawFilter, index: number): FilterParts {
  const { name, type } = operand.attribute
  if (!isOrdered(type)) throw notFilterable(filter, `"${name}" (${type.kind}) cannot be filtered by.`)
  if (filter.values.length !== 1 || filter.values[0]!.kind !== 'text') {
    throw parameterError({
      code: 'operator_invalid',
      detail: `"${operator}" compares with one value: no list, wildcard or null (a literal comma or star is written \\, or \\*).`,
      parameter: filter.label,
      value: filter.text,
    })
  }
  return { present: [{ kind: 'compare', operand, operator, value: { from: 'filter', filter: index, value: 0, type } }], absent: [] }
}

function checkValues({ name, type }: ScalarAttribute, filter: RawFilter): void {
  const hasPatterns = positions(filter, 'pattern').length > 0
  if (type.kind === 'blob' || type.kind === 'array') {
    throw notFilterable(filter, `"${name}" is ${type.kind === 'blob' ? 'a blob' : 'an array'}, which cannot be filtered by.`)
  }
  if (!isOrdered(type) && (hasPatterns || positions(filter, 'text').length > 0)) {
    throw notFilterable(
      filter,
      `"${name}" (${type.kind}) cannot be filtered by as a whole, except with null; ` +
        `what is inside is filtered by its path, as in "${name}.name=x".`,
    )
  }
  if (isText(type)) return
  if (foldOf(filter) > 0) {
    throw parameterError({
      code: 'operator_invalid',
      detail: `"${filter.operator}" takes strings only, and "${name}" is ${describeScalar(type)}.`,
      parameter: filter.label,
    })
  }
  if (hasPatterns) throw noWildcards(filter, `"${name}" is ${describeScalar(type)}`)
}

function planValues(operand: Operand, filter: RawFilter, index: number): Condition[] {
  const { type } = operand.attribute
  const ref = (value: number): ValueRef => ({ from: 'filter', filter: index, value, type })
  const texts = positions(filter, 'text')
  const patterns = positions(filter, 'pattern')
  const fold = foldOf(filter)
  const plain: Condition[] = texts.length > 0 && fold === 0 ? [{ kind: 'in', operand, values: texts.map(ref) }] : []
  const matched = fold > 0 ? [...texts, ...patterns] : patterns
  if (matched.length > thresholds.patterns) return [...plain, { kind: 'matchAny', operand, fold, filter: index }]
  return [
    ...plain,
    ...matched.map((value): Condition => {
      const form = findForm(filter.values[value]!)
      return { kind: 'match', operand, form: fold > 0 && form !== 'any' ? 'general' : form, fold, value: ref(value) }
    }),
  ]
}

/** Each form has other SQL, hence another shape. */
export function findForm(value: RawValue): PatternForm {
  if (value.kind !== 'pattern') return 'general'
  const { pieces } = value
  if (pieces.every(piece => piece === '')) return 'any'
  // A prefix becomes a range, up to its last character plus one: U+10FFFF has no next.
  if (pieces.length === 2 && pieces[1] === '') return pieces[0]!.endsWith('\u{10ffff}') ? 'general' : 'prefix'
  if (pieces.length === 3 && pieces[0] === '' && pieces[2] === '') return 'contains'
  return 'general'
}
