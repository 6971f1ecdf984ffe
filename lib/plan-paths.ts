/** Plan paths: walks the dotted paths of filters, sort keys, attributes and expand through the model, and refuses with a hint what is not there. */
import { withArticle, withCapitalArticle } from './article.ts'
import { refuseParameter } from './errors.ts'
import type { Fault } from './errors.ts'
import type { Limits } from './limits.ts'
import { isRelation } from './model.ts'
import type { Attribute, RelationAttribute, Resource, ScalarAttribute } from './model.ts'
import { hint, nearest } from './suggest.ts'
import { EVERYTHING, existsFor, isVisible, visibleNames } from './visibility.ts'
import type { Visibility } from './visibility.ts'

/** A path, walked: the relations on the way, and the attribute at its end (which may be a relation itself). */
export interface Walked {
  readonly hops: readonly RelationAttribute[]
  readonly attribute: Attribute
}

/** Where a path stands in the request, for error texts. */
export interface PathContext {
  readonly parameter: string
  readonly limits: Limits
  /** What exists for the caller; undefined for paths that the model itself gives, which may lead anywhere. */
  readonly visibility: Visibility | undefined
  /** Whether the path may go on inside a JSON value. */
  readonly intoJson?: boolean
  /** Other names that could have been meant instead of the first segment. */
  readonly alternatives?: readonly string[]
}

/** Whether all of a path that the model has exists for the caller. */
export function isReachable(path: string, root: Resource, visibility: Visibility): boolean {
  let holder: { readonly byName: ReadonlyMap<string, Attribute> } = root
  for (const name of path.split('.')) {
    const attribute = holder.byName.get(name)
    if (attribute === undefined) return true
    if (!isVisible(attribute, visibility)) return false
    if (attribute.kind !== 'scalar') holder = isRelation(attribute) ? attribute.target : attribute
  }
  return true
}

export function walkPath(path: string, root: Resource, context: PathContext): Walked {
  const names = path.split('.')
  const hops: RelationAttribute[] = []
  let holder: { readonly byName: ReadonlyMap<string, Attribute>; readonly attributes: readonly Attribute[] } = root
  let called = root.singular
  for (const [index, name] of names.entries()) {
    const attribute = holder.byName.get(name)
    const { visibility } = context
    if (
      visibility !== undefined &&
      attribute?.flag !== undefined &&
      existsFor(attribute, visibility) &&
      !isVisible(attribute, visibility)
    ) {
      throw refuseParameter({
        code: 'flag_needed',
        detail: `"${path}" exists only with the parameter "${attribute.flag}".`,
        parameter: context.parameter,
        suggestion: attribute.flag,
      })
    }
    if (attribute === undefined || (visibility !== undefined && !isVisible(attribute, visibility)))
      throw unknown(path, name, called, holder.attributes, index, context)
    if (isRelation(attribute)) {
      hops.push(attribute)
      if (hops.length > context.limits.maxPathRelations) {
        throw refuseParameter({
          code: 'limit_exceeded',
          detail: `The path "${path.slice(0, 200)}" walks more than ${context.limits.maxPathRelations} relations.`,
          parameter: context.parameter,
        })
      }
    }
    if (index === names.length - 1) {
      if (isRelation(attribute)) hops.pop()
      return { hops, attribute }
    }
    if (attribute.kind === 'scalar') {
      if (context.intoJson === true && attribute.type.kind === 'json' && attribute.source.kind !== 'getter') {
        return { hops, attribute: attributeWithin(attribute, names.slice(index + 1), path, context) }
      }
      throw refuseParameter({
        code: 'attribute_unknown',
        detail: `"${name}" is a plain attribute, so "${path}" leads nowhere.`,
        parameter: context.parameter,
      })
    }
    holder = isRelation(attribute) ? attribute.target : attribute
    called = isRelation(attribute) ? attribute.target.singular : name
  }
  /* node:coverage ignore next */
  throw new Error(`walkPath: the path "${path}" has no segments.`)
}

/** A place inside a JSON value, as an attribute: what is there, no model tells. */
function attributeWithin(json: ScalarAttribute, names: readonly string[], path: string, context: PathContext): ScalarAttribute {
  const odd = names.find(name => name === '' || /["\\]/.test(name))
  if (odd !== undefined) {
    throw refuseParameter({
      code: 'attribute_unknown',
      detail: `"${path.slice(0, 200)}": a key inside a JSON value that is empty or has a quote or backslash in it cannot be named in a path.`,
      parameter: context.parameter,
    })
  }
  return { ...json, name: path, nullable: true, type: { kind: 'jsonValue' }, source: { kind: 'within', json, names } }
}

function unknown(path: string, name: string, called: string, attributes: readonly Attribute[], index: number, context: PathContext) {
  const names = visibleNames(attributes, context.visibility ?? EVERYTHING)
  const suggestion = nearest(name, index === 0 ? [...names, ...(context.alternatives ?? [])] : names)
  const first = index === 0 && context.alternatives !== undefined
  const fault: Fault = {
    code: first ? 'parameter_unknown' : 'attribute_unknown',
    detail: first
      ? `There is no parameter "${name.slice(0, 100)}", and ${withArticle(called)} has no such attribute.${hint(suggestion)}`
      : `${withCapitalArticle(called)} has no attribute "${name.slice(0, 100)}"${path === name ? '' : ` (in "${path.slice(0, 200)}")`}.${hint(suggestion)}`,
    parameter: context.parameter,
    ...(suggestion === undefined ? {} : { suggestion }),
    allowed: names,
  }
  return refuseParameter(fault)
}
