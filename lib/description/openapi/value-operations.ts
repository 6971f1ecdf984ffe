/** Describes the paths of plain attributes, one path each or one for all. */
import type { Attribute, Resource } from '../../model/model.ts'
import { isIds } from '../../model/ids-name.ts'
import { pascalCase } from './components.ts'
import type { Describers, Method, OperationParts } from './operation.ts'
import type { RelationOperations } from './relation-operations.ts'
import { anyOf, type Schema } from './schema.ts'

export function isPlain(attribute: Attribute): boolean {
  return attribute.kind === 'scalar' || attribute.kind === 'embedded' || isIds(attribute)
}

/** The path parameter that names the attribute. */
export const ATTRIBUTE = 'attribute'

export class ValueOperations {
  readonly #describers: Describers
  readonly #relations: RelationOperations

  constructor(describers: Describers, relations: RelationOperations) {
    this.#describers = describers
    this.#relations = relations
  }

  /** @returns undefined if the attribute does not take the method */
  one(method: Method, resource: Resource, attribute: Attribute): OperationParts | undefined {
    const { answers, parameters } = this.#describers
    const { singular, plural } = resource
    const name = `${pascalCase(singular)}${pascalCase(attribute.name)}`
    const of = `the ${attribute.name} of a ${singular}`
    if (method === 'GET') {
      const flags = attribute.flag === undefined ? [] : parameters.flags(resource)
      const success = answers.value(resource, attribute)
      return { id: `get${name}`, tag: plural, summary: `Get ${of}`, parameters: flags, success, failures: [404] }
    }
    const body = this.#body(method, attribute)
    return body === undefined ? undefined : { ...this.#relations.replacing(resource), id: `set${name}`, summary: `Set ${of}`, body }
  }

  takes(method: Method, attribute: Attribute): boolean {
    return method === 'GET' || this.#body(method, attribute) !== undefined
  }

  all(method: Method, resource: Resource, attributes: readonly Attribute[]): OperationParts {
    const { answers, parameters } = this.#describers
    const { singular, plural } = resource
    const name = `${pascalCase(singular)}Attribute`
    const named = this.#name(method, resource, attributes)
    if (method === 'GET') {
      const flags = attributes.some(({ flag }) => flag !== undefined) ? parameters.flags(resource) : []
      return {
        id: `get${name}`,
        tag: plural,
        summary: `Get an attribute of a ${singular}`,
        parameters: [named, ...flags],
        success: answers.values(resource, attributes),
        failures: [404],
      }
    }
    const common = this.#relations.replacing(resource)
    return {
      ...common,
      id: `set${name}`,
      summary: `Set an attribute of a ${singular}`,
      parameters: [named, ...common.parameters!],
      body: anyOf(attributes.map(attribute => this.#body(method, attribute)!)),
    }
  }

  #body(method: Method, attribute: Attribute): Schema | undefined {
    const body = method === 'PUT' ? this.#describers.bodies.attribute(attribute, 'change') : undefined
    return attribute.kind === 'scalar' && attribute.primary ? undefined : body
  }

  #name(method: Method, { singular, plural }: Resource, attributes: readonly Attribute[]): Schema {
    const names = attributes.map(attribute => attribute.name)
    const wanted = `${pascalCase(singular)}${method === 'GET' ? '' : 'Writable'}Attribute`
    return this.#describers.components.refer('parameters', wanted, `attributes ${plural} ${names.join()}`, () => ({
      name: ATTRIBUTE,
      in: 'path',
      required: true,
      description: `A plain attribute${method === 'GET' ? '' : ' that can be set'}.`,
      schema: { type: 'string', enum: names },
    }))
  }
}
