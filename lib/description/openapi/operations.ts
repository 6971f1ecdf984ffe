/** Operations: the requests and answers of each path: of a resource, of its records and of their attributes. */
import { findActions } from '../../records/access/actions.ts'
import { allowedMethods } from '../../records/access/resolve-path.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import type { Attribute, RelationAttribute, Resource, ToOneOfAttribute } from '../../model/model.ts'
import { isIds, plainIds } from '../../model/ids-name.ts'
import { isValue } from '../../model/model.ts'
import { branchesFor, existsFor, hasVisibleTarget } from '../../records/plan/visibility.ts'
import type { Visibility } from '../../records/plan/visibility.ts'
import { showsVersion } from './answers.ts'
import type { Answers } from './answers.ts'
import type { BodySchemas } from './body-schemas.ts'
import { UniqueNames, pascalCase } from './components.ts'
import type { Failures } from './failures.ts'
import type { Parameters } from './parameters.ts'
import { mayBeEmpty } from './record-schemas.ts'
import { anyOf, orNull } from './schema.ts'
import type { Schema } from './schema.ts'
import type { ApiSource, DescribeOptions } from './source.ts'

/** An operation, before it is known where it stands. */
export interface OperationParts {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Schema[]
  readonly body?: Schema
  readonly status?: number
  readonly success: Schema
  readonly failures: readonly number[]
  /** Whether it may be answered with 304. */
  readonly isConditional?: boolean
  /** Undefined: as the whole document says. */
  readonly security?: readonly Schema[]
}

/** What describes the parts of operations. */
export interface Describers {
  readonly source: ApiSource
  readonly options: DescribeOptions
  readonly visibility: Visibility
  readonly parameters: Parameters
  readonly bodies: BodySchemas
  readonly answers: Answers
  readonly failures: Failures
}

/** Statuses that a body may get, and a change. */
const OF_BODY = [413, 415, 422]
const OF_CHANGE = [409, 412]
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

/** The body of a QUERY. */
const QUERY_CONTENT: Schema = {
  'application/json': {
    schema: {
      type: 'object',
      description:
        'The parameters of a GET, by their names with operators: `{ "age>": 3, "sort": "name" }`. An array is any of its values.',
      additionalProperties: { type: ['string', 'number', 'boolean', 'null', 'array'] },
    },
  },
  'application/x-www-form-urlencoded': { schema: { type: 'object', description: 'The same, as the text of a query.' } },
}

export class Operations {
  readonly #describers: Describers
  readonly #ids = new UniqueNames()

  constructor(describers: Describers) {
    this.#describers = describers
  }

  /** Returns the operations of the path of a resource, by method in lower case. */
  collection(path: string, resource: Resource): Schema {
    return this.#item(path, { kind: 'collection', resource, path }, method =>
      method === 'GET' ? this.#list(resource) : method === 'POST' ? this.#create(resource) : undefined,
    )
  }

  record(path: string, resource: Resource): Schema {
    const target: Target = { kind: 'record', resource, path, key: [], id: '' }
    return this.#item(path, target, method => this.#ofRecord(method, resource), this.#listIdParameters(path, resource))
  }

  attribute(path: string, resource: Resource, attribute: Attribute): Schema {
    const { visibility } = this.#describers
    const target: Target = {
      kind: 'attribute',
      resource,
      path,
      key: [],
      id: '',
      attribute: isIds(attribute) ? plainIds(attribute) : attribute,
    }
    return this.#item(
      path,
      target,
      method => {
        if (!hasVisibleTarget(attribute, visibility)) return undefined
        if (method !== 'PUT' && !existsFor(attribute, visibility)) return undefined
        if (method === 'PUT' && attribute.readOnly) return undefined
        // PATCH does what PUT does.
        if (method === 'PATCH') return undefined
        if (isValue(attribute) || isIds(attribute)) return this.#ofValue(method, resource, attribute)
        if (attribute.kind === 'toMany') return this.#ofList(method, resource, attribute)
        return attribute.kind === 'toOne' ? this.#ofLink(method, resource, attribute) : this.#polymorphic(method, resource, attribute)
      },
      this.#listIdParameters(path, resource),
    )
  }

  /** Returns an operation as the document has it. */
  finish(method: string, path: string, parts: OperationParts): Schema {
    const { source, failures, answers, parameters: described } = this.#describers
    const { id, tag, summary, description, body, isConditional = false, status = 200, success, security } = parts
    const asked = security ?? findSecurity(source, method, path)
    const login = source.login === undefined ? [] : [401]
    const parameters = [...(parts.parameters ?? []), ...(isConditional ? [described.freshness()] : [])]
    const unmodified = isConditional ? { 304: answers.notModified() } : {}
    return {
      operationId: this.#ids.take(id, `${method} ${path}`),
      tags: [tag],
      summary,
      description: description ?? `${summary}.`,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
      ...(asked === undefined ? {} : { security: asked }),
      responses: { [String(status)]: success, ...unmodified, ...failures.of([...parts.failures, ...login]) },
    }
  }

  /** The operations that the path takes and that the rules do not forbid to all. */
  #item(
    path: string,
    target: Target,
    describe: (method: Method) => OperationParts | undefined,
    parameters: readonly Schema[] = [],
  ): Schema {
    const { source, options } = this.#describers
    const { readOnly } = source
    const allowed = allowedMethods(target)
    const operations = METHODS.flatMap((method): [string, Schema][] => {
      if (!allowed.includes(method) || (readOnly && method !== 'GET')) return []
      const actions = findActions(method, target)
      if (actions.some(({ resource, action }) => resource.rules.access[action] === false)) return []
      const parts = describe(method)
      if (parts === undefined) return []
      const refused = actions.some(isRestricted) ? [403] : []
      const isConditional = method === 'GET' && (source.tagsContent || (target.kind === 'record' && showsVersion(target.resource)))
      const all = { ...parts, isConditional, failures: [...parts.failures, ...refused] }
      const described: [string, Schema][] = [[method.toLowerCase(), this.finish(method, path, all)]]
      if (method === 'GET' && options.openapi === '3.2' && allowed.includes('QUERY')) described.push(['query', this.#query(path, all)])
      return described
    })
    if (operations.length === 0) return {}
    return { ...(parameters.length === 0 ? {} : { parameters }), ...Object.fromEntries(operations) }
  }

  /** A GET whose parameters stand in the body, which OpenAPI 3.1 has no place for. */
  #query(path: string, parts: OperationParts): Schema {
    const failures = [...parts.failures, 413, 415]
    const id = parts.id.replace(/^(?:list|get)/, 'query')
    const operation = this.finish('QUERY', path, { ...parts, id, summary: `${parts.summary}, by QUERY`, parameters: [], failures })
    return { ...operation, requestBody: { required: true, content: QUERY_CONTENT } }
  }

  #list(resource: Resource): OperationParts {
    const { parameters, answers } = this.#describers
    return {
      id: `list${pascalCase(resource.plural)}`,
      tag: resource.plural,
      summary: `List ${resource.plural}`,
      description:
        'A page of the records that meet all filters. Other filters than those listed are taken, too: see the rules of filters. With `Accept: text/csv` or `application/x-ndjson` the records of all pages come as text.',
      parameters: parameters.ofList(resource),
      success: answers.list(resource),
      failures: [],
    }
  }

  #create(resource: Resource): OperationParts {
    const { parameters, answers, bodies, source } = this.#describers
    return {
      id: `create${pascalCase(resource.singular)}`,
      tag: resource.plural,
      summary: `Create a ${resource.singular}`,
      description: 'Relations take IDs, which link, and objects, which make records of their own in the same transaction.',
      parameters: parameters.ofRecords(resource),
      body: this.#orArray(bodies.referNew(resource)),
      status: source.createdStatus,
      success: answers.created(resource, this.#links(resource)),
      failures: [409, ...OF_BODY],
    }
  }

  /** The body of a POST, and an array of such bodies where that is to be described. */
  #orArray(schema: Schema): Schema {
    const { options, source } = this.#describers
    return options.bulk ? anyOf([schema, { type: 'array', items: schema, minItems: 1, maxItems: source.limits.maxBulk }]) : schema
  }

  /** The parameter of a path that has an ID. */
  #listIdParameters(path: string, resource: Resource): Schema[] {
    return path.includes('{id}') ? [this.#describers.parameters.id(resource)] : []
  }

  /** From a new record to what can be done with it. */
  #links({ singular, keyNames, byName, rules, readOnly }: Resource): Schema {
    const [name = ''] = keyNames
    const key = byName.get(name)
    if (
      rules.single !== undefined ||
      keyNames.length !== 1 ||
      key === undefined ||
      key.kind !== 'scalar' ||
      key.hidden ||
      key.render !== undefined
    )
      return {}
    const parameters = { id: `$response.body#/${singular}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` }
    const to = (verb: string, action: 'get' | 'update' | 'delete'): [string, Schema][] => {
      const id = `${verb}${pascalCase(singular)}`
      if (rules.access[action] === false || (readOnly && action !== 'get')) return []
      return [[id, { operationId: id, parameters }]]
    }
    return Object.fromEntries([...to('get', 'get'), ...to('update', 'update'), ...to('delete', 'delete')])
  }

  #ofRecord(method: Method, resource: Resource): OperationParts | undefined {
    const { parameters, answers, bodies } = this.#describers
    const { singular, plural } = resource
    const common = { tag: plural, parameters: parameters.ofRecords(resource) }
    const name = pascalCase(singular)
    if (method === 'GET')
      return { ...common, id: `get${name}`, summary: `Get a ${singular}`, success: answers.record(resource), failures: [404] }
    const changing = [...common.parameters, ...parameters.conditions()]
    if (method === 'DELETE') {
      const success = answers.deleted(resource)
      return {
        ...common,
        parameters: changing,
        id: `delete${name}`,
        summary: `Delete a ${singular}`,
        success,
        failures: [404, ...OF_CHANGE],
      }
    }
    if (method !== 'PUT' && method !== 'PATCH') return undefined
    return {
      ...common,
      parameters: changing,
      id: `${method === 'PUT' ? 'update' : 'patch'}${name}`,
      summary: `Change a ${singular}`,
      description: 'The given attributes change, the others stay. PUT and PATCH are the same.',
      body: bodies.referChange(resource),
      success: answers.changed(resource),
      failures: [404, ...OF_CHANGE, ...OF_BODY],
    }
  }

  #ofValue(method: Method, resource: Resource, attribute: Attribute): OperationParts | undefined {
    const { answers, bodies, parameters } = this.#describers
    const { singular, plural } = resource
    const name = `${pascalCase(singular)}${pascalCase(attribute.name)}`
    const of = `the ${attribute.name} of a ${singular}`
    if (method === 'GET') {
      const flags = attribute.flag === undefined ? [] : parameters.ofRecords(resource).slice(3)
      const success = answers.value(resource, attribute)
      return { id: `get${name}`, tag: plural, summary: `Get ${of}`, parameters: flags, success, failures: [404] }
    }
    const body = method === 'PUT' ? bodies.attribute(attribute, 'change') : undefined
    if (body === undefined || (attribute.kind === 'scalar' && attribute.primary)) return undefined
    return { ...this.#replacing(resource), id: `set${name}`, summary: `Set ${of}`, body }
  }

  #ofList(method: Method, resource: Resource, attribute: RelationAttribute): OperationParts | undefined {
    const { parameters, answers, bodies, source } = this.#describers
    const { target } = attribute
    const { singular, plural } = resource
    const name = `${pascalCase(singular)}${pascalCase(attribute.name)}`
    const of = `the ${attribute.name} of a ${singular}`
    switch (method) {
      case 'GET': {
        const success = answers.list(target)
        return { id: `list${name}`, tag: plural, summary: `List ${of}`, parameters: parameters.ofList(target), success, failures: [404] }
      }
      case 'POST': {
        const given = attribute.kind === 'toMany' && attribute.via.kind === 'foreign' ? attribute.via.attribute : undefined
        return {
          id: `add${name}`,
          tag: plural,
          summary: `Create a ${target.singular} in ${of}`,
          parameters: [...parameters.ofRecords(target), ...parameters.conditions()],
          body: this.#orArray(bodies.referNew(target, given)),
          status: source.createdStatus,
          success: answers.created(target, this.#links(target)),
          failures: [404, ...OF_CHANGE, ...OF_BODY],
        }
      }
      case 'PUT': {
        const body = bodies.attribute(attribute, 'change')
        return body === undefined ? undefined : { ...this.#replacing(resource), id: `replace${name}`, summary: `Replace ${of}`, body }
      }
      case 'DELETE':
        return {
          id: `delete${name}`,
          tag: plural,
          summary: `Delete ${of}`,
          description: 'Deletes the related records that meet the filters, all of them without filters.',
          parameters: [...parameters.ofRecords(target), ...parameters.ofDeletion(target), ...parameters.conditions()],
          success: answers.deletedList(target),
          failures: [404, ...OF_CHANGE],
        }
      default:
        return undefined
    }
  }

  #ofLink(method: Method, resource: Resource, attribute: RelationAttribute): OperationParts | undefined {
    const { parameters, answers, bodies } = this.#describers
    const { target } = attribute
    const { singular, plural } = resource
    const name = `${pascalCase(singular)}${pascalCase(attribute.name)}`
    const of = `the ${attribute.name} of a ${singular}`
    const common = { tag: plural, parameters: parameters.ofRecords(target) }
    if (method === 'GET') {
      const success = answers.linked(target, attribute.kind === 'toOne' && mayBeEmpty(attribute))
      return { ...common, id: `get${name}`, summary: `Get ${of}`, success, failures: [404] }
    }
    if (method === 'DELETE') {
      const success = answers.deleted(target)
      const changing = [...common.parameters, ...parameters.conditions()]
      const description = `Deletes the ${target.singular} and the reference to it.`
      return {
        ...common,
        parameters: changing,
        description,
        id: `delete${name}`,
        summary: `Delete ${of}`,
        success,
        failures: [404, ...OF_CHANGE],
      }
    }
    const body = method === 'PUT' && !attribute.readOnly ? bodies.linked(attribute) : undefined
    return body === undefined ? undefined : { ...this.#replacing(resource), id: `set${name}`, summary: `Set ${of}`, body }
  }

  #polymorphic(method: Method, resource: Resource, attribute: ToOneOfAttribute): OperationParts | undefined {
    const { parameters, answers, bodies, visibility } = this.#describers
    const { singular, plural } = resource
    const name = `${pascalCase(singular)}${pascalCase(attribute.name)}`
    const of = `the ${attribute.name} of a ${singular}`
    const targets = branchesFor(attribute, visibility).map(({ target }) => target)
    if (method === 'GET') {
      const success = answers.polymorphic(resource, attribute, targets)
      return { id: `get${name}`, tag: plural, summary: `Get ${of}`, parameters: parameters.ofRecords(resource), success, failures: [404] }
    }
    if (method === 'DELETE') {
      const success = answers.oneOfDeleted(attribute, targets)
      return { ...this.#replacing(resource), id: `delete${name}`, summary: `Delete ${of}`, success, failures: [404, ...OF_CHANGE] }
    }
    if (method !== 'PUT') return undefined
    // An object without the name of a resource changes the record that is linked.
    const changes = targets.map(target => bodies.referChange(target))
    const body = bodies.attribute(attribute, 'new')
    if (body === undefined) return undefined
    const schema = attribute.nullable ? orNull(anyOf([body, ...changes])) : anyOf([body, ...changes])
    return { ...this.#replacing(resource), id: `set${name}`, summary: `Set ${of}`, body: schema }
  }

  /** What a PUT of an attribute has in common: the answer is the record that it belongs to. */
  #replacing(resource: Resource): Omit<OperationParts, 'id' | 'summary'> {
    const { parameters, answers } = this.#describers
    return {
      tag: resource.plural,
      description: `The answer is the ${resource.singular}.`,
      parameters: [...parameters.ofRecords(resource), ...parameters.conditions()],
      success: answers.changed(resource),
      failures: [404, ...OF_CHANGE, ...OF_BODY],
    }
  }
}

/** Whether rules of the application may refuse the action. */
function isRestricted({ resource: { rules }, action }: ReturnType<typeof findActions>[number]): boolean {
  return typeof rules.access[action] === 'function' || rules.scopes.length > 0
}

/** Nothing where the whole document says it, and both with and without a token for what is public. */
function findSecurity({ login }: ApiSource, method: string, path: string): readonly Schema[] | undefined {
  return login?.isPublic(method, path) === true ? [{}, { bearer: [] }] : undefined
}
