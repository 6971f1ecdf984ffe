/**
 * Turns `depth`, `expand` and `attributes` into a tree of fields for the answer. Refuses unknown names, and expand of plain attributes,
 * with parameter_invalid.
 */
import { isIds } from '../../model/ids-name.ts'
import { parameterError } from '../../foundation/errors/errors.ts'
import {
  isValue,
  type Attribute,
  type EmbeddedAttribute,
  type PolymorphicTarget,
  type RelationAttribute,
  type Resource,
  type ToManyAttribute,
  type ToOneOfAttribute,
} from '../../model/model.ts'
import { withinList } from '../request/expanded-lists.ts'
import { findParameterName, type ExpandedList, type Parameters } from '../request/query-string.ts'
import type { ShownDepth } from '../request/reserved-parameters.ts'
import { planFilters } from './filter-tree.ts'
import { planListOrder, planOrder, type PlanContext } from './order.ts'
import { listEnds, walkPath } from './paths.ts'
import type { Field, ShownPart, RecordNode } from './read-plan.ts'
import { branchesFor, isVisible, type Visibility } from './visibility.ts'

interface Selection {
  readonly depth: ShownDepth
  readonly attributes: readonly string[] | undefined
  readonly expand: readonly string[] | undefined
  readonly lists?: readonly ExpandedList[]
}

/** `author.name`: `author`, with `name` inside. Empty: the whole attribute. */
interface NameTree extends Map<string, NameTree> {
  list?: ListPlan
}

interface ListPlan {
  readonly at: number
  readonly given: ExpandedList
  readonly scene: PlanContext
}

export function planSelection(resource: Resource, selection: Selection, scene: PlanContext): RecordNode {
  const { depth, attributes, lists = [] } = selection
  const inner = lists.flatMap(({ parameters }) => parameters.expand ?? [])
  const expanded = buildTree([...(selection.expand ?? []), ...inner], resource, 'expand', scene, attribute => {
    if (!isValue(attribute)) return
    throw parameterError({
      code: 'not_a_relation',
      detail: `"${attribute.name}" is not a relation, so it cannot be expanded.`,
      parameter: findParameterName(scene.vocabulary, 'expand'),
      value: attribute.name,
    })
  })
  for (const [at, given] of lists.entries()) {
    const names = given.path.split('.')
    const tree = names.reduce<NameTree | undefined>((found, name) => found?.get(name), expanded)!
    tree.list = { at, given, scene }
    // Mistakes are told even in lists left out by `attributes`.
    const walk = walkPath(given.path, resource, { parameter: given.parameter, ...scene })
    for (const end of listEnds(walk)) if (!isValue(end)) listField(end, 0, WHOLE, tree.list)
  }
  return buildNode(resource, depth, { expanded, ...parseNames(attributes ?? [], resource, scene) }, scene.visibility)
}

function parseNames(names: readonly string[], resource: Resource, scene: PlanContext): Omit<ParsedSelection, 'expanded'> {
  const included = names.filter(name => !name.startsWith('!'))
  const excluded = names.filter(name => name.startsWith('!')).map(name => name.slice(1))
  const include = included.length === 0 ? undefined : buildTree(included, resource, 'attributes', scene)
  return { include, exclude: buildTree(excluded, resource, 'attributes', scene) }
}

function buildTree(
  paths: readonly string[],
  root: Resource,
  reserved: 'expand' | 'attributes',
  scene: PlanContext,
  check?: (end: Attribute) => void,
): NameTree {
  const parameter = findParameterName(scene.vocabulary, reserved)
  const tree: NameTree = new Map()
  for (const path of paths) {
    for (const end of listEnds(walkPath(path, root, { parameter, ...scene }))) check?.(end)
    add(tree, path.split('.'), reserved === 'attributes')
  }
  return tree
}

/** `whole`: `author` beside `author.name` is the whole author. */
function add(tree: NameTree, names: readonly string[], whole: boolean): void {
  const [name, ...rest] = names
  if (name === undefined) return
  const known = tree.get(name)
  if (whole && rest.length === 0) {
    tree.set(name, new Map())
    return
  }
  if (whole && known !== undefined && known.size === 0) return
  const inner: NameTree = known ?? new Map()
  tree.set(name, inner)
  add(inner, rest, whole)
}

function isWhole(tree: NameTree | undefined): boolean {
  return tree !== undefined && tree.size === 0
}

const NONE: NameTree = new Map()

interface ParsedSelection {
  readonly expanded: NameTree
  /** Undefined: all attributes. */
  readonly include: NameTree | undefined
  readonly exclude: NameTree
}

const WHOLE: ParsedSelection = { expanded: NONE, include: undefined, exclude: NONE }

function inside(selection: ParsedSelection, name: string): ParsedSelection {
  const include = selection.include?.get(name)
  return {
    expanded: selection.expanded.get(name) ?? NONE,
    include: isWhole(include) ? undefined : include,
    exclude: selection.exclude.get(name) ?? NONE,
  }
}

/** Asked before visibility: rules are not asked about unselected attributes. */
function isWanted(attribute: Attribute, selection: ParsedSelection): boolean {
  if (isWhole(selection.exclude.get(attribute.name))) return false
  return selection.include === undefined || selection.include.has(attribute.name)
}

function buildNode(resource: Resource, depth: ShownDepth, selection: ParsedSelection, visibility: Visibility): RecordNode {
  const shown = resource.attributes.flatMap(attribute => {
    const ids = findIds(attribute, resource)
    const itself = isWanted(attribute, selection) && (ids === undefined || isNamed(attribute, depth, selection)) ? [attribute] : []
    return ids !== undefined && isWanted(ids, selection) ? [ids, ...itself] : itself
  })
  const fields = shown.flatMap(attribute => buildField(attribute, depth, selection, visibility) ?? [])
  return { resource, fields, exact: depth === 'links' && resource.open?.exact === true }
}

/** The attribute `authorId` of `author`. */
function findIds(attribute: Attribute, { byName }: Resource): Attribute | undefined {
  return (attribute.kind === 'toOne' || attribute.kind === 'toMany') && attribute.ids !== undefined ? byName.get(attribute.ids) : undefined
}

/** At depth 2, or if named, `author` is shown beside `authorId`. */
function isNamed({ name }: Attribute, depth: ShownDepth, selection: ParsedSelection): boolean {
  return depth === 2 || selection.expanded.has(name) || selection.include?.has(name) === true
}

function buildField(attribute: Attribute, depth: ShownDepth, selection: ParsedSelection, visibility: Visibility): Field | undefined {
  if (attribute.kind === 'scalar') return isVisible(attribute, visibility) ? { kind: 'scalar', attribute } : undefined
  // Renderers get whole objects.
  if (attribute.kind === 'embedded') {
    if (!isVisible(attribute, visibility)) return undefined
    return embeddedField(attribute, depth, attribute.render === undefined ? inside(selection, attribute.name) : WHOLE, visibility)
  }
  if (depth === 'links' && attribute.kind === 'toMany' && !isNamed(attribute, depth, selection)) return undefined
  if (isIds(attribute)) {
    if (!isVisible(attribute, visibility)) return undefined
    return attribute.kind === 'toOne'
      ? { kind: 'reference', attribute }
      : { kind: 'references', attribute, order: planListOrder(attribute) }
  }
  // Expanded relations keep the depth, others go down: 2 shows records, 1 IDs, 0 nothing.
  const shown = selection.expanded.has(attribute.name) ? depth : depth === 2 ? 1 : undefined
  if ((shown === undefined && depth === 0) || !isVisible(attribute, visibility)) return undefined
  const list = selection.expanded.get(attribute.name)?.list
  if (list !== undefined) return listField(attribute, shown!, inside(selection, attribute.name), list)
  if (attribute.kind === 'toOneOf') return oneOfField(attribute, shown, inside(selection, attribute.name), visibility)
  if (shown !== undefined) {
    const node = buildNode(attribute.target, shown, inside(selection, attribute.name), visibility)
    return attribute.kind === 'toOne'
      ? { kind: 'record', attribute, node }
      : { kind: 'records', attribute, order: planListOrder(attribute), node }
  }
  return attribute.kind === 'toOne' ? { kind: 'reference', attribute } : { kind: 'references', attribute, order: planListOrder(attribute) }
}

export function isCut({ limit, offset }: Parameters): boolean {
  return limit !== undefined || offset !== undefined
}

function listField(attribute: RelationAttribute | ToOneOfAttribute, depth: ShownDepth, outer: ParsedSelection, list: ListPlan): Field {
  const { at, given, scene } = list
  const { counts, parameters } = given
  return withinList(given, () => {
    checkList(attribute, given)
    const { target } = attribute as RelationAttribute
    const { sort, attributes } = parameters
    const ofWire = scene.visibility.whereOfLists?.get(given.path)
    const where = [...planFilters(parameters, { ...scene, root: target }), ...(ofWire === undefined ? [] : [ofWire])]
    const part: ShownPart = { at, where, isSorted: sort !== undefined, isCut: isCut(parameters) }
    if (counts) return { kind: 'count', attribute: attribute as ToManyAttribute, part }
    const selected = attributes === undefined ? outer : { expanded: outer.expanded, ...parseNames(attributes, target, scene) }
    const node = buildNode(target, depth, selected, scene.visibility)
    if (attribute.kind === 'toOne') return { kind: 'record', attribute, node, part }
    const many = attribute as ToManyAttribute
    const order = sort === undefined ? planListOrder(many) : planOrder(target, { kind: 'collection' }, sort, scene).terms
    return { kind: 'records', attribute: many, order, node, part }
  })
}

function checkList(attribute: RelationAttribute | ToOneOfAttribute, { path, parameter, counts, parameters }: ExpandedList): void {
  const refuse = (detail: string): never => {
    throw parameterError({ code: 'parameter_not_allowed', detail, parameter, value: path })
  }
  if (attribute.kind === 'toOneOf') refuse(`"${attribute.name}" links records of several entities, and takes no parentheses.`)
  if (attribute.kind === 'toMany') return
  if (counts || parameters.sort !== undefined || isCut(parameters))
    refuse(`"${attribute.name}" is one record: its parentheses take filters, attributes and expand.`)
}

function oneOfField(attribute: ToOneOfAttribute, shown: ShownDepth | undefined, selection: ParsedSelection, visibility: Visibility): Field {
  const nodeFor = ({ target, type }: PolymorphicTarget): RecordNode | undefined => {
    if (shown === undefined) return undefined
    const { resource, fields } = buildNode(target, shown, selection, visibility)
    return { resource, fields: isWanted(type, selection) ? [{ kind: 'scalar', attribute: type }, ...fields] : fields }
  }
  return { kind: 'oneOf', attribute, shown: branchesFor(attribute, visibility).map(branch => ({ branch, node: nodeFor(branch) })) }
}

function embeddedField(attribute: EmbeddedAttribute, depth: ShownDepth, selection: ParsedSelection, visibility: Visibility): Field {
  const wanted = attribute.attributes.filter(child => isWanted(child, selection))
  return { kind: 'embedded', attribute, fields: wanted.flatMap(child => buildField(child, depth, selection, visibility) ?? []) }
}
