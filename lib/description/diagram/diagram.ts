/** Makes a diagram of a model, without attributes hidden or forbidden to every caller. */
import { idNames } from '../../model/key.ts'
import type { Attribute, InnerAttribute, Model, Resource, ToManyAttribute, ToOneAttribute, ToOneOfAttribute } from '../../model/model.ts'
import { describedVisibility } from '../openapi/source.ts'
import { mayBeEmpty } from '../openapi/record-schemas.ts'
import { branchesFor, existsFor, isNamable, type Visibility } from '../../records/plan/visibility.ts'
import type { Diagram, DiagramAttribute, DiagramRelation } from './diagram-parts.ts'

/** @param isNamed whether requests can name the resource */
export function describeDiagram(model: Model, isNamed: (resource: Resource) => boolean): Diagram {
  const visibility = describedVisibility(model)
  const shown = model.resources.filter(resource => isNamable(resource) && isNamed(resource))
  const relations = new RelationsInMaking(new Set(shown), visibility)
  return {
    entities: shown.map(resource => ({
      name: resource.plural,
      singular: resource.singular,
      attributes: resource.attributes
        .filter(attribute => existsFor(attribute, visibility))
        .map(attribute => describeAttribute(attribute, resource, visibility)),
    })),
    relations: shown.flatMap(resource => relations.of(resource, resource.attributes, '')),
  }
}

function describeAttribute(attribute: Attribute, resource: Resource, visibility: Visibility): DiagramAttribute {
  const { name } = attribute
  const isRelation = attribute.kind !== 'scalar' && attribute.kind !== 'embedded'
  const isEmpty = attribute.kind === 'toOne' ? mayBeEmpty(attribute) : attribute.kind === 'toMany' || attribute.nullable
  return { name, type: nameType(attribute, visibility), isKey: idNames(resource).includes(name), isRelation, mayBeEmpty: isEmpty }
}

function nameType(attribute: Attribute, visibility: Visibility): string {
  if (attribute.render !== undefined) return 'any'
  switch (attribute.kind) {
    case 'scalar':
      return attribute.type.kind === 'array' ? 'list' : attribute.type.items === undefined ? attribute.type.kind : 'enum'
    case 'embedded':
      return attribute.array ? 'object[]' : 'object'
    case 'toOne':
      return attribute.target.singular
    case 'toMany':
      return `${attribute.target.singular}[]`
    case 'toOneOf':
      return branchesFor(attribute, visibility)
        .map(({ target }) => target.singular)
        .join(' | ')
  }
}

/** Each relation once, although both sides may have an attribute. */
class RelationsInMaking {
  readonly #shown: ReadonlySet<Resource>
  readonly #visibility: Visibility

  constructor(shown: ReadonlySet<Resource>, visibility: Visibility) {
    this.#shown = shown
    this.#visibility = visibility
  }

  of(resource: Resource, attributes: readonly (Attribute | InnerAttribute)[], prefix: string): DiagramRelation[] {
    return attributes.flatMap((attribute): DiagramRelation[] => {
      if (!existsFor(attribute, this.#visibility)) return []
      const path = `${prefix}${attribute.name}`
      switch (attribute.kind) {
        case 'scalar':
          return []
        case 'embedded':
          return this.of(resource, attribute.attributes, `${path}.`)
        case 'toOne':
          return this.#toOne(resource, attribute, path)
        case 'toMany':
          return this.#toMany(resource, attribute, path)
        case 'toOneOf':
          return this.#toOneOf(resource, attribute, path)
      }
    })
  }

  #toOne(resource: Resource, attribute: ToOneAttribute, path: string): DiagramRelation[] {
    const { target, otherSide, owner } = attribute
    if (!this.#shown.has(target)) return []
    const unique = attribute.unique || resource.uniques.some(names => names.length === 1 && names[0] === path)
    const other = this.#nameOtherSide(target, otherSide)
    const to = { entity: target.plural, attribute: other, cardinality: mayBeEmpty(attribute) ? ('zeroOrOne' as const) : ('one' as const) }
    if (owner) return [{ from: { entity: resource.plural, attribute: path, cardinality: unique ? 'zeroOrOne' : 'many' }, to }]
    // The owning side adds the relation, unless the attribute is hidden.
    return other === undefined ? [{ from: to, to: { entity: resource.plural, attribute: path, cardinality: 'zeroOrOne' } }] : []
  }

  #toMany(resource: Resource, { target, otherSide, via }: ToManyAttribute, path: string): DiagramRelation[] {
    if (!this.#shown.has(target)) return []
    const other = this.#nameOtherSide(target, otherSide ?? (via.kind === 'foreign' ? via.attribute : undefined))
    const own = { entity: resource.plural, attribute: path }
    const far = { entity: target.plural, attribute: other, cardinality: 'many' as const }
    if (via.kind === 'pivot') return via.owner || other === undefined ? [{ from: { ...own, cardinality: 'many' }, to: far }] : []
    return other === undefined ? [{ from: far, to: { ...own, cardinality: 'zeroOrOne' } }] : []
  }

  #toOneOf(resource: Resource, { branches, unique, nullable }: ToOneOfAttribute, path: string): DiagramRelation[] {
    return branches
      .filter(({ target }) => this.#shown.has(target))
      .map(({ target, otherSide }) => ({
        from: { entity: resource.plural, attribute: path, cardinality: unique ? ('zeroOrOne' as const) : ('many' as const) },
        to: {
          entity: target.plural,
          attribute: this.#nameOtherSide(target, otherSide),
          cardinality: nullable || branches.length > 1 ? ('zeroOrOne' as const) : ('one' as const),
        },
      }))
  }

  #nameOtherSide({ byName }: Resource, name: string | undefined): string | undefined {
    const attribute = name === undefined ? undefined : byName.get(name)
    return attribute !== undefined && attribute.kind !== 'scalar' && existsFor(attribute, this.#visibility) ? name : undefined
  }
}
