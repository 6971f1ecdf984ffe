/** Describes the paths of relations, such as `/users/{id}/posts`. */
import type { RelationAttribute, Resource, ToOneOfAttribute } from '../../model/model.ts'
import { branchesFor } from '../../records/plan/visibility.ts'
import { pascalCase } from './components.ts'
import { OF_BODY, changeOf, linksTo, type Describers, type Method, type OperationParts } from './operation.ts'
import { idInBody } from './body-schemas.ts'
import { mayBeEmpty } from './record-schemas.ts'
import { anyOf, orNull } from './schema.ts'

interface RelationPlace<Relation> {
  readonly resource: Resource
  readonly attribute: Relation
  /** Such as `UserPosts`. */
  readonly name: string
  /** Such as `the posts of a user`. */
  readonly of: string
}

function placeOf<Relation extends RelationAttribute | ToOneOfAttribute>(resource: Resource, attribute: Relation): RelationPlace<Relation> {
  const { singular } = resource
  return {
    resource,
    attribute,
    name: `${pascalCase(singular)}${pascalCase(attribute.name)}`,
    of: `the ${attribute.name} of a ${singular}`,
  }
}

export class RelationOperations {
  readonly #describers: Describers

  constructor(describers: Describers) {
    this.#describers = describers
  }

  /** @returns undefined if the path does not take the method */
  describe(method: Method, resource: Resource, attribute: RelationAttribute | ToOneOfAttribute): OperationParts | undefined {
    if (attribute.kind === 'toOneOf') return this.#polymorphic(method, placeOf(resource, attribute))
    return attribute.kind === 'toMany'
      ? this.#ofList(method, placeOf(resource, attribute))
      : this.#ofLink(method, placeOf(resource, attribute))
  }

  #ofList(method: Method, { resource, attribute, name, of }: RelationPlace<RelationAttribute>): OperationParts | undefined {
    const { parameters, answers, bodies, source, options } = this.#describers
    const { target } = attribute
    const tag = resource.plural
    const { conditions, failures } = changeOf(this.#describers, resource, target)
    switch (method) {
      case 'GET': {
        const success = answers.list(target)
        return { id: `list${name}`, tag, summary: `List ${of}`, parameters: parameters.ofRelatedList(target), success, failures: [404] }
      }
      case 'POST': {
        const isSame = source.createdStatus === 200 && !options.brief
        const given = attribute.kind === 'toMany' && attribute.via.kind === 'foreign' ? attribute.via.attribute : undefined
        return {
          id: `add${name}`,
          tag,
          summary: `Create a ${target.singular} in ${of}`,
          description: `The ID of a ${target.singular} links that one; the answer is the ${resource.singular} then.`,
          parameters: [...parameters.below(target), ...conditions],
          body: options.brief ? bodies.creation(target, given) : anyOf([bodies.creation(target, given), idInBody(target)]),
          hasNames: true,
          status: source.createdStatus,
          success: isSame
            ? answers.appended(target, resource, linksTo(target, options))
            : answers.created(target, linksTo(target, options)),
          ...(isSame || options.brief ? {} : { linked: answers.changed(resource) }),
          failures: [404, ...failures, ...OF_BODY],
        }
      }
      case 'PUT': {
        const body = bodies.attribute(attribute, 'change')
        return body === undefined ? undefined : { ...this.replacing(resource), id: `replace${name}`, summary: `Replace ${of}`, body }
      }
      case 'DELETE':
        return {
          id: `delete${name}`,
          tag,
          summary: `Delete ${of}`,
          description: 'Deletes the related records that meet the filters, all of them without filters.',
          parameters: [...parameters.below(target), ...parameters.ofDeletion(target), ...conditions],
          success: answers.deletedList(target),
          failures: [404, ...failures],
        }
      case 'PATCH':
        return undefined
    }
  }

  #ofLink(method: Method, { resource, attribute, name, of }: RelationPlace<RelationAttribute>): OperationParts | undefined {
    const { parameters, answers, bodies } = this.#describers
    const { target } = attribute
    const common = { tag: resource.plural, parameters: parameters.below(target) }
    if (method === 'GET') {
      const success = answers.linked(target, attribute.kind === 'toOne' && mayBeEmpty(attribute))
      return { ...common, id: `get${name}`, summary: `Get ${of}`, success, failures: [404] }
    }
    if (method === 'DELETE') {
      const { conditions, failures } = changeOf(this.#describers, resource, target)
      return {
        ...common,
        parameters: [...common.parameters, ...conditions],
        description: `Deletes the ${target.singular} and the reference to it.`,
        id: `delete${name}`,
        summary: `Delete ${of}`,
        success: answers.deleted(target),
        failures: [404, ...failures],
      }
    }
    if (method !== 'PUT' || attribute.readOnly) return undefined
    return { ...this.replacing(resource), id: `set${name}`, summary: `Set ${of}`, body: bodies.linked(attribute), hasNames: true }
  }

  #polymorphic(method: Method, { resource, attribute, name, of }: RelationPlace<ToOneOfAttribute>): OperationParts | undefined {
    const { parameters, answers, bodies, visibility } = this.#describers
    const tag = resource.plural
    const targets = branchesFor(attribute, visibility).map(({ target }) => target)
    if (method === 'GET') {
      const success = answers.polymorphic(resource, attribute, targets)
      return { id: `get${name}`, tag, summary: `Get ${of}`, parameters: parameters.below(resource), success, failures: [404] }
    }
    if (method === 'DELETE') {
      const success = answers.oneOfDeleted(attribute, targets)
      const { failures } = changeOf(this.#describers, resource)
      return { ...this.replacing(resource), id: `delete${name}`, summary: `Delete ${of}`, success, failures: [404, ...failures] }
    }
    if (method !== 'PUT') return undefined
    // An object without a resource name changes the linked record.
    const changes = targets.map(target => bodies.referChange(target))
    const body = bodies.attribute(attribute, 'new')
    if (body === undefined) return undefined
    const schema = attribute.nullable ? orNull(anyOf([body, ...changes])) : anyOf([body, ...changes])
    return { ...this.replacing(resource), id: `set${name}`, summary: `Set ${of}`, body: schema }
  }

  replacing(resource: Resource): Omit<OperationParts, 'id' | 'summary'> {
    const { parameters, answers } = this.#describers
    const { conditions, failures } = changeOf(this.#describers, resource)
    return {
      tag: resource.plural,
      description: `The answer is the ${resource.singular}.`,
      parameters: [...parameters.below(resource), ...conditions],
      success: answers.changed(resource),
      failures: [404, ...failures, ...OF_BODY],
    }
  }
}
