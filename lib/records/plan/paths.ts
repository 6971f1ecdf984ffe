/** Walks dotted paths through the model, for filters, sort keys, attributes and expand: `author.name` is a relation, then a name. */
import { idParts } from '../../model/key.ts'
import { isIds, withoutIds } from '../../model/ids-name.ts'
import { withArticle, withCapitalArticle } from '../../foundation/base/article.ts'
import { RestError, parameterError, type FieldError } from '../../foundation/errors/errors.ts'
import type { SuggestedSpelling } from '../request/habits.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { isRelation } from '../../model/model.ts'
import type { Attribute, PolymorphicTarget, RelationAttribute, Resource, ScalarAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { ClassCheck } from './read-plan.ts'
import { EVERYTHING, branchesFor, describeUnreadable, existsFor, isVisible, visibleNames, type Visibility } from './visibility.ts'

interface Walked {
  readonly hops: readonly RelationAttribute[]
  readonly attribute: Attribute
}

/**
 * A path through a relation to several entities: `owner.name`, where an owner is a person or a company, goes on in each entity with a name.
 */
export interface Forked {
  readonly hops: readonly RelationAttribute[]
  readonly fork: ToOneOfAttribute
  readonly branches: readonly { readonly branch: PolymorphicTarget; readonly walk: Walk }[]
}

/** A path through an attribute unlike in several classes of a hierarchy: goes on in each. */
export interface ByClass {
  readonly hops: readonly RelationAttribute[]
  readonly classes: readonly { readonly is: ClassCheck; readonly walk: Walk }[]
}

export type Walk = Walked | Forked | ByClass

export function listEnds(walk: Walk): readonly Attribute[] {
  if ('classes' in walk) return walk.classes.flatMap(each => listEnds(each.walk))
  return 'fork' in walk ? walk.branches.flatMap(branch => listEnds(branch.walk)) : [walk.attribute]
}

/** Whether all attributes on the way are filterable, or sortable. */
export function isUsable(walk: Walk, rule: 'filterable' | 'sortable'): boolean {
  if (!walk.hops.every(hop => hop[rule])) return false
  if ('classes' in walk) return walk.classes.every(each => isUsable(each.walk, rule))
  return 'fork' in walk ? walk.fork[rule] && walk.branches.every(branch => isUsable(branch.walk, rule)) : walk.attribute[rule]
}

interface PathContext {
  readonly parameter: string
  readonly limits: Limits
  /** Undefined for paths of the model: all attributes are visible. */
  readonly visibility: Visibility | undefined
  readonly intoJson?: boolean
  /** For conditions and orders: an attribute may depend on the class. */
  readonly byClass?: boolean
  readonly relations?: number
  /** Reserved parameters, for hints about the first segment. */
  readonly alternatives?: Iterable<string> | undefined
  readonly spelling?: (unknown: UnknownPath) => SuggestedSpelling | undefined
}

interface UnknownPath {
  /** The known part, with a final dot. */
  readonly prefix: string
  /** The unknown rest. */
  readonly path: string
  readonly attributes: readonly Attribute[]
}

function unknownPath(path: string, index: number, attributes: readonly Attribute[]): UnknownPath {
  const names = path.split('.')
  return { prefix: names.slice(0, index).join('.') + (index === 0 ? '' : '.'), path: names.slice(index).join('.'), attributes }
}

/** Unknown names count as visible. */
export function isReachable(path: string, root: Resource, visibility: Visibility): boolean {
  const [name = '', ...rest] = path.split('.')
  const attribute = root.byName.get(name)
  if (attribute === undefined) return true
  return isVisible(attribute, visibility) && isReachableIn(attribute, rest, visibility)
}

function isReachableIn(attribute: Attribute, names: readonly string[], visibility: Visibility): boolean {
  const [name, ...rest] = names
  if (name === undefined || attribute.kind === 'scalar') return true
  const holders =
    attribute.kind === 'embedded'
      ? [attribute]
      : attribute.kind === 'toOneOf'
        ? branchesFor(attribute, visibility).map(({ target }) => target)
        : [attribute.target]
  return holders.some(({ byName }) => {
    const inner = byName.get(name)
    return inner === undefined || (isVisible(inner, visibility) && isReachableIn(inner, rest, visibility))
  })
}

interface AttributeHolder {
  readonly byName: ReadonlyMap<string, Attribute>
  readonly attributes: readonly Attribute[]
  readonly called: string
  readonly column?: string | undefined
  /** Whether `walkClasses` has chosen the attribute. */
  readonly isChosen?: boolean
}

interface PathCursor {
  readonly path: string
  readonly names: readonly string[]
  readonly context: PathContext
}

export function walkPath(path: string, root: Resource, context: PathContext): Walk {
  return walkFrom(makeHolder(root), 0, context.relations ?? 0, { path, names: path.split('.'), context })
}

function makeHolder({ byName, attributes, singular, hierarchy }: Resource): AttributeHolder {
  return { byName, attributes, called: singular, column: hierarchy?.column }
}

/** @param relations so far */
function walkFrom(start: AttributeHolder, first: number, relations: number, cursor: PathCursor): Walk {
  const { path, names, context } = cursor
  const hops: RelationAttribute[] = []
  let holder = start
  for (let index = first; index < names.length; index++) {
    const name = names[index]!
    const attribute = findAttribute(holder, name, index, cursor)
    if (
      context.byClass === true &&
      attribute.byClass === true &&
      holder.isChosen !== true &&
      holder.column !== undefined &&
      !isIds(attribute)
    )
      return { hops, classes: walkClasses(attribute, { ...holder, column: holder.column }, index, relations, cursor) }
    const isLast = index === names.length - 1
    if (isRelation(attribute) || attribute.kind === 'toOneOf') {
      relations += 1
      if (relations > context.limits.maxPathRelations) {
        throw parameterError({
          code: 'limit_exceeded',
          detail: `The path "${path.slice(0, 200)}" walks more than ${context.limits.maxPathRelations} relations.`,
          parameter: context.parameter,
        })
      }
    }
    if (isIds(attribute)) {
      if (!isLast) throw leadsNowhere(name, index, attribute, cursor)
      return walkToIds(hops, withoutIds(attribute, holder.byName), name)
    }
    if (isLast) return { hops, attribute }
    if (attribute.kind === 'toOneOf') return { hops, fork: attribute, branches: walkBranches(attribute, index + 1, relations, cursor) }
    if (attribute.kind === 'scalar') {
      const isJson = attribute.type.kind === 'json' || attribute.source.kind === 'within'
      if (context.intoJson === true && isJson && attribute.source.kind !== 'getter') {
        return { hops, attribute: attributeWithin(attribute, names.slice(index + 1), path, context) }
      }
      throw leadsNowhere(name, index, attribute, cursor)
    }
    if (attribute.kind === 'embedded') {
      holder = { byName: attribute.byName, attributes: attribute.attributes, called: name }
    } else {
      hops.push(attribute)
      holder = makeHolder(attribute.target)
    }
  }
  /* node:coverage ignore next */
  throw new Error(`walkPath: the path "${path}" has no segments.`)
}

/** A list compares members, a link (`authorId`) the target's key. */
function walkToIds(hops: readonly RelationAttribute[], relation: RelationAttribute, name: string): Walked {
  if (relation.kind === 'toMany') return { hops, attribute: relation }
  const { target, filterable, sortable } = relation
  const key = target.byName.get(target.keyNames[0]!)
  if (key?.kind !== 'scalar') return { hops, attribute: relation }
  return { hops: [...hops, relation], attribute: { ...key, name, filterable, sortable, render: undefined } }
}

function leadsNowhere(name: string, index: number, attribute: Attribute, { path, context }: PathCursor): RestError {
  const spelling = context.spelling?.(unknownPath(path, index, [attribute]))
  return parameterError({
    code: 'attribute_unknown',
    detail: `"${name}" is a plain attribute, so "${path}" leads nowhere.${spelling === undefined ? '' : ` ${spelling.detail}`}`,
    parameter: context.parameter,
    ...(spelling === undefined ? {} : { suggestion: spelling.suggestion }),
  })
}

function walkBranches(fork: ToOneOfAttribute, index: number, relations: number, cursor: PathCursor): Forked['branches'] {
  const { names, context } = cursor
  const { visibility } = context
  const all = visibility === undefined ? fork.branches : branchesFor(fork, visibility)
  const name = names[index]!
  const seen = (attribute: Attribute | undefined): boolean =>
    attribute !== undefined && (visibility === undefined || existsFor(attribute, visibility))
  const having = all.map(seenThrough).filter(({ holder }) => seen(holder.byName.get(name)))
  if (having.length === 0) {
    const attributes = [
      ...new Map(all.flatMap(branch => seenThrough(branch).holder.attributes).map(each => [each.name, each] as const)).values(),
    ]
    throw unknownAttribute(name, { called: fork.name, attributes }, index, cursor)
  }
  const branches: { branch: PolymorphicTarget; walk: Walk }[] = []
  let refusal: RestError | undefined
  for (const { branch, holder } of having) {
    try {
      branches.push({ branch, walk: walkFrom(holder, index, relations, cursor) })
    } catch (error) {
      // Fails only where all fail.
      if (!(error instanceof RestError)) throw error
      refusal ??= error
    }
  }
  if (branches.length === 0) throw refusal!
  return branches
}

/** Goes on in all classes with a comparable attribute. */
function walkClasses(
  first: Attribute,
  holder: AttributeHolder & { readonly column: string },
  index: number,
  relations: number,
  cursor: PathCursor,
): ByClass['classes'] {
  const { visibility } = cursor.context
  const all = holder.attributes.filter(
    each =>
      each.name === first.name &&
      each.classValues !== undefined &&
      comparesAs(first, each) &&
      (visibility === undefined || isVisible(each, visibility)),
  )
  const classes: { is: ClassCheck; walk: Walk }[] = []
  let refusal: RestError | undefined
  for (const attribute of all) {
    try {
      const walk = walkFrom({ ...holder, byName: new Map([[attribute.name, attribute]]), isChosen: true }, index, relations, cursor)
      classes.push({ is: { column: holder.column, values: [...attribute.classValues!] }, walk })
    } catch (error) {
      if (!(error instanceof RestError)) throw error
      refusal ??= error
    }
  }
  if (classes.length === 0) throw refusal!
  return classes
}

function comparesAs(a: Attribute, b: Attribute): boolean {
  const kinds = (attribute: Attribute): string => {
    if (attribute.kind === 'scalar') return attribute.type.codec === undefined ? attribute.type.kind : 'codec'
    return isRelation(attribute)
      ? idParts(attribute.target)
          .map(({ type }) => type.kind)
          .join()
      : attribute.kind
  }
  return a === b || (isRelation(a) === isRelation(b) && kinds(a) === kinds(b) && kinds(a) !== 'codec')
}

/** Lists the attributes behind the relation, with the discriminator. */
function seenThrough(branch: PolymorphicTarget): { branch: PolymorphicTarget; holder: AttributeHolder } {
  const { target, type } = branch
  const attributes = [type, ...target.attributes]
  const byName = new Map(attributes.toReversed().map(each => [each.name, each]))
  return { branch, holder: { called: target.singular, attributes, byName, column: target.hierarchy?.column } }
}

function findAttribute(holder: AttributeHolder, name: string, index: number, cursor: PathCursor): Attribute {
  const { path, context } = cursor
  const attribute = holder.byName.get(name)
  const { visibility } = context
  if (visibility !== undefined && attribute?.flag !== undefined && existsFor(attribute, visibility) && !isVisible(attribute, visibility)) {
    throw parameterError({
      code: 'flag_needed',
      detail: `"${path}" exists only with the parameter "${attribute.flag}".`,
      parameter: context.parameter,
      suggestion: attribute.flag,
    })
  }
  if (attribute === undefined || (visibility !== undefined && !isVisible(attribute, visibility)))
    throw unknownAttribute(name, holder, index, cursor)
  return attribute
}

function attributeWithin(json: ScalarAttribute, names: readonly string[], path: string, context: PathContext): ScalarAttribute {
  const odd = names.find(name => name === '' || /["\\]/.test(name))
  if (odd !== undefined) {
    throw parameterError({
      code: 'attribute_unknown',
      detail:
        `"${path.slice(0, 200)}": a key inside a JSON value that is empty ` +
        'or has a quote or backslash in it cannot be named in a path.',
      parameter: context.parameter,
    })
  }
  const { maxJsonNames } = context.limits
  if (names.length > maxJsonNames) {
    throw parameterError({
      code: 'limit_exceeded',
      detail: `The path "${path.slice(0, 200)}" has ${names.length} names inside a JSON value; at most ${maxJsonNames} are allowed.`,
      parameter: context.parameter,
    })
  }
  const { source } = json
  const place = source.kind === 'within' ? { json: source.json, names: [...source.names, ...names] } : { json, names }
  return { ...json, name: path, nullable: true, type: { kind: 'jsonValue' }, source: { kind: 'within', ...place } }
}

function unknownAttribute(
  name: string,
  { called, attributes, byName }: Pick<AttributeHolder, 'called' | 'attributes'> & Partial<Pick<AttributeHolder, 'byName'>>,
  index: number,
  { path, context }: PathCursor,
): RestError {
  const names = visibleNames(attributes, context.visibility ?? EVERYTHING)
  const shown = attributes.filter(attribute => names.includes(attribute.name))
  const spelling = context.spelling?.(unknownPath(path, index, shown))
  const suggestion = spelling?.suggestion ?? findNearest(name, index === 0 ? [...names, ...(context.alternatives ?? [])] : names)
  const hinted = spelling === undefined ? formatHint(suggestion) : ` ${spelling.detail}`
  const first = index === 0 && context.alternatives !== undefined
  const why = describeUnreadable(byName?.get(name))
  const fault: FieldError = {
    code: first ? 'parameter_unknown' : 'attribute_unknown',
    detail:
      why ??
      (first
        ? `There is no parameter "${name.slice(0, 100)}", and ${withArticle(called)} has no such attribute.${hinted}`
        : `${withCapitalArticle(called)} has no attribute ` +
          `"${name.slice(0, 100)}"${path === name ? '' : ` (in "${path.slice(0, 200)}")`}.${hinted}`),
    parameter: context.parameter,
    ...(suggestion === undefined || why !== undefined ? {} : { suggestion }),
    allowed: first ? [...new Set([...names, ...context.alternatives])] : names,
  }
  return parameterError(fault)
}
