/**
 * Plan the selection: depth, expand and attributes become the tree of fields that an answer shows.
 * Refuses with parameter_invalid: unknown names, and an expand of what is no relation.
 */
import { refuseParameter } from './errors.ts'
import type { Limits } from './limits.ts'
import { isVisible } from './model.ts'
import type { Attribute, EmbeddedAttribute, Resource } from './model.ts'
import { planListOrder } from './plan-order.ts'
import { walkPath } from './plan-paths.ts'
import type { Field, RecordNode } from './read-plan.ts'

/** What a request says about the shape of records. */
export interface Selection {
  readonly depth: 0 | 1 | 2
  readonly attributes: readonly string[] | undefined
  readonly expand: readonly string[] | undefined
}

/** Names with what is said about the names inside them. An empty tree under a name means all of it. */
interface NameTree extends Map<string, NameTree> {}

export function planSelection(resource: Resource, selection: Selection, limits: Limits): RecordNode {
  const expanded = treeOf(selection.expand ?? [], resource, 'expand', limits, attribute => {
    if (attribute.kind === 'toOne' || attribute.kind === 'toMany') return
    throw refuseParameter({
      code: 'not_a_relation',
      detail: `"${attribute.name}" is not a relation, so it cannot be expanded.`,
      parameter: 'expand',
      value: attribute.name,
    })
  })
  const names = selection.attributes ?? []
  const included = names.filter(name => !name.startsWith('!'))
  const excluded = names.filter(name => name.startsWith('!')).map(name => name.slice(1))
  const include = included.length === 0 ? undefined : treeOf(included, resource, 'attributes', limits)
  return nodeOf(resource, selection.depth, expanded, include, treeOf(excluded, resource, 'attributes', limits))
}

function treeOf(paths: readonly string[], root: Resource, parameter: string, limits: Limits, check?: (end: Attribute) => void): NameTree {
  const tree: NameTree = new Map()
  for (const path of paths) {
    check?.(walkPath(path, root, { parameter, limits }).attribute)
    if (check === undefined) walkPath(path, root, { parameter, limits })
    add(tree, path.split('.'), parameter === 'attributes')
  }
  return tree
}

/** Adds a path. With `whole`, a path that ends at a name means all of it, whatever else is said inside. */
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

function nodeOf(resource: Resource, depth: 0 | 1 | 2, expanded: NameTree, include: NameTree | undefined, exclude: NameTree): RecordNode {
  const fields: Field[] = []
  for (const attribute of resource.attributes) {
    if (!isVisible(attribute) || isWhole(exclude.get(attribute.name))) continue
    if (include !== undefined && !include.has(attribute.name)) continue
    const inside = include?.get(attribute.name)
    const field = fieldOf(attribute, depth, expanded, isWhole(inside) ? undefined : inside, exclude.get(attribute.name) ?? NONE)
    if (field !== undefined) fields.push(field)
  }
  return { resource, fields }
}

function fieldOf(
  attribute: Attribute,
  depth: 0 | 1 | 2,
  expanded: NameTree,
  include: NameTree | undefined,
  exclude: NameTree,
): Field | undefined {
  if (attribute.kind === 'scalar') return { kind: 'scalar', attribute }
  if (attribute.kind === 'embedded') return embeddedField(attribute, include, exclude)
  const inner = expanded.get(attribute.name)
  // An expanded relation is rendered at the depth of its owner, any other at one less.
  const shown = inner !== undefined ? depth : depth === 2 ? 1 : undefined
  if (shown !== undefined) {
    const node = nodeOf(attribute.target, shown, inner ?? NONE, include, exclude)
    return attribute.kind === 'toOne'
      ? { kind: 'record', attribute, node }
      : { kind: 'records', attribute, order: planListOrder(attribute), node }
  }
  if (depth === 0) return undefined
  return attribute.kind === 'toOne' ? { kind: 'reference', attribute } : { kind: 'references', attribute, order: planListOrder(attribute) }
}

function embeddedField(attribute: EmbeddedAttribute, include: NameTree | undefined, exclude: NameTree): Field {
  const fields: Field[] = []
  for (const child of attribute.attributes) {
    if (!isVisible(child) || isWhole(exclude.get(child.name))) continue
    if (include !== undefined && !include.has(child.name)) continue
    const inside = include?.get(child.name)
    const field = fieldOf(child, 0, NONE, isWhole(inside) ? undefined : inside, exclude.get(child.name) ?? NONE)
    if (field !== undefined) fields.push(field)
  }
  return { kind: 'embedded', attribute, fields }
}
