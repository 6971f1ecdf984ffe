/** Turns groups of filters into Conditions. `skills(level=1;kind=go)` asks for one skill with both. */
import { RestError, parameterError } from '../../foundation/errors/errors.ts'
import { branchesFor } from './visibility.ts'
import { suggestObject } from '../request/habits.ts'
import type { FilterGroup, FilterTree } from '../request/filter-groups.ts'
import { vocabularyOf, type AskedFilters } from '../request/query-string.ts'
import type { Attribute, RelationAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { planFilter, type FilterContext } from './filters.ts'
import { isUsable, walkPath, type Walk } from './paths.ts'
import type { Condition } from './read-plan.ts'

export function planFilters({ filters, asked }: AskedFilters, context: Omit<FilterContext, 'before' | 'relations'>): Condition[] {
  const planner = new TreePlanner(filters)
  return asked.map(tree => planner.plan(tree, { ...context, before: [], relations: 0 }))
}

class TreePlanner {
  readonly #filters: AskedFilters['filters']

  constructor(filters: AskedFilters['filters']) {
    this.#filters = filters
  }

  plan(tree: FilterTree, context: FilterContext): Condition {
    if (typeof tree === 'number') return planFilter(this.#filters[tree]!, tree, context)
    const condition = tree.path === '' ? this.#join(tree, context) : this.#planRelated(tree, context)
    return tree.negated ? { kind: 'not', of: condition } : condition
  }

  #join({ joins, of }: FilterGroup, context: FilterContext): Condition {
    const parts = of.map(part => this.plan(part, context))
    return parts.length === 1 ? parts[0]! : { kind: joins, of: parts }
  }

  #planRelated(group: FilterGroup, context: FilterContext): Condition {
    const { path } = group
    const { root, relations, vocabulary } = context
    const parameter = path.slice(0, 200)
    const walk = walkPath(path, root, {
      ...context,
      parameter,
      byClass: true,
      intoJson: true,
      alternatives: relations === 0 ? vocabularyOf(vocabulary, root.plural).names : undefined,
      spelling: () => this.#spell(group),
    })
    if (!isUsable(walk, 'filterable'))
      throw parameterError({ code: 'not_filterable', detail: `"${path}" cannot be filtered by.`, parameter })
    return this.#meets(walk, group, context)
  }

  #meets(walk: Walk, group: FilterGroup, { before, relations, ...context }: FilterContext): Condition {
    const toOnes = [...before]
    for (const [index, hop] of walk.hops.entries()) {
      const reached = relations + index + 1
      if (hop.kind === 'toMany') {
        const rest = { ...walk, hops: walk.hops.slice(index + 1) }
        return {
          kind: 'some',
          hops: toOnes,
          relation: hop,
          where: this.#meets(rest, group, { ...context, before: [], relations: reached }),
        }
      }
      toOnes.push(hop)
    }
    const there: FilterContext = { ...context, before: toOnes, relations: relations + walk.hops.length }
    if ('classes' in walk) {
      const classes = walk.classes.map(({ is, walk: rest }): Condition => {
        return { kind: 'all', of: [{ kind: 'class', hops: toOnes, ...is }, this.#meets(rest, group, there)] }
      })
      return { kind: 'any', of: classes }
    }
    if ('fork' in walk) {
      const onward = (branch: ToOneAttribute): FilterContext => ({ ...there, before: [...toOnes, branch], relations: there.relations + 1 })
      return { kind: 'any', of: walk.branches.map(({ branch, walk: rest }) => this.#meets(rest, group, onward(branch))) }
    }
    return this.#meetsAtEnd(walk.attribute, group, there)
  }

  #meetsAtEnd(attribute: Attribute, group: FilterGroup, context: FilterContext): Condition {
    switch (attribute.kind) {
      case 'toOne':
      case 'toMany':
        return this.#linked(attribute, group, context)
      case 'toOneOf':
        return this.#linkedToAny(attribute, group, context)
      default:
        throw this.#noRelation(attribute, group)
    }
  }

  #linked(relation: RelationAttribute, group: FilterGroup, { before, relations, ...context }: FilterContext): Condition {
    const there = { ...context, root: relation.target, relations: relations + 1 }
    if (relation.kind === 'toMany') return { kind: 'some', hops: before, relation, where: this.#join(group, { ...there, before: [] }) }
    const isThere: Condition = { kind: 'not', of: { kind: 'unlinked', hops: before, relation } }
    return { kind: 'all', of: [isThere, this.#join(group, { ...there, before: [...before, relation] })] }
  }

  /** Leaves out entities without such attributes. */
  #linkedToAny(relation: ToOneOfAttribute, group: FilterGroup, context: FilterContext): Condition {
    const branches: Condition[] = []
    let refusal: RestError | undefined
    for (const branch of branchesFor(relation, context.visibility)) {
      try {
        branches.push(this.#linked(branch, group, context))
      } catch (error) {
        if (!(error instanceof RestError)) throw error
        refusal ??= error
      }
    }
    if (branches.length === 0) throw refusal!
    return { kind: 'any', of: branches }
  }

  #noRelation({ kind, name, ...attribute }: Attribute, group: FilterGroup) {
    const [inner] = 'attributes' in attribute ? attribute.attributes : []
    const spelling = this.#spell(group)
    const isJson = 'source' in attribute && (attribute.source.kind === 'within' || attribute.type.kind === 'json')
    const hint =
      inner !== undefined
        ? `Filter by "${group.path}.${inner.name}".`
        : isJson
          ? 'In the name of a key a bracket is written with a backslash before it.'
          : (spelling?.detail ?? '')
    const what = kind === 'embedded' ? 'an embedded object' : 'a plain attribute'
    return parameterError({
      code: 'value_invalid',
      detail: `"${name}" is ${what}: conditions in brackets, as an object, go with relations. ${hint}`.trim(),
      parameter: group.path.slice(0, 200),
      ...(spelling === undefined ? {} : { suggestion: spelling.suggestion }),
    })
  }

  /** Suggests a spelling to a client used to `{ age: { $gte: 18 } }`. */
  #spell({ path, of: [first] }: FilterGroup) {
    if (typeof first !== 'number') return undefined
    const { label, text } = this.#filters[first]!
    return suggestObject(path, { [label]: /^-?\d{1,15}$/.test(text) ? Number(text) : text })
  }
}
