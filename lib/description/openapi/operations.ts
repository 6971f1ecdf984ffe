/** Describes the requests to resources, records and attributes. */
import { READS } from '../../foundation/http/http-methods.ts'
import { findActions } from '../../records/access/actions.ts'
import { allowedMethods, type Target } from '../../records/access/resolve-path.ts'
import { isRelation, type Attribute, type ResourceMark, type Model, type Resource } from '../../model/model.ts'
import { isIds, plainIds } from '../../model/ids-name.ts'
import { listAsked } from '../../records/request/query-string.ts'
import { existsFor, hasVisibleTarget } from '../../records/plan/visibility.ts'
import { showsVersion } from './answers.ts'
import { UniqueNames, pascalCase } from './components.ts'
import { METHODS, OF_BODY, changeOf, linksTo, type Describers, type Method, type OperationParts } from './operation.ts'
import { RelationOperations } from './relation-operations.ts'
import type { Schema } from './schema.ts'
import { listSecurity, type ApiSource } from './source.ts'
import { ATTRIBUTE, ValueOperations, isPlain } from './value-operations.ts'

const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data']

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
  readonly #relations: RelationOperations
  readonly #values: ValueOperations

  constructor(describers: Describers) {
    this.#describers = describers
    this.#relations = new RelationOperations(describers)
    this.#values = new ValueOperations(describers, this.#relations)
  }

  collection(path: string, resource: Resource): Schema {
    const target: Target = { kind: 'collection', resource }
    const describe = (method: Method): OperationParts | undefined =>
      method === 'GET' ? this.#list(resource) : method === 'POST' ? this.#create(resource) : this.#ofMany(method, resource)
    const changes = this.#describers.options.bulk && !resource.readOnly ? ['PATCH', 'DELETE'] : []
    return this.#item(path, target, describe, [], [...allowedMethods(target), ...changes])
  }

  #ofMany(method: Method, resource: Resource): OperationParts | undefined {
    if (method !== 'PATCH' && method !== 'DELETE') return undefined
    const { parameters, answers, bodies } = this.#describers
    const { plural } = resource
    const { failures } = changeOf(this.#describers, resource)
    const isChange = method === 'PATCH'
    return {
      id: `${isChange ? 'patch' : 'delete'}${pascalCase(plural)}`,
      tag: plural,
      summary: `${isChange ? 'Change' : 'Delete'} ${plural} by filters`,
      description: 'At least one filter and `limit` are needed. All of the records that match, or none.',
      parameters: parameters.ofChange(resource),
      ...(isChange ? { body: bodies.change(resource), hasNames: true } : {}),
      success: isChange ? answers.changedList(resource) : answers.deletedList(resource),
      failures: [404, 405, ...failures, ...(isChange ? OF_BODY : [])],
    }
  }

  record(path: string, resource: Resource): Schema {
    const target: Target = { kind: 'record', resource, key: [], id: '' }
    return this.#item(path, target, method => this.#ofRecord(method, resource), this.#listIdParameters(path, resource))
  }

  /** Relations have a path each. Plain attributes share `/users/{id}/{attribute}`, except with `attributes: true`. */
  attributes(path: string, resource: Resource, attributes: readonly Attribute[]): [path: string, item: Schema][] {
    const pathOf = ({ name }: Attribute): string => `${path}/${encodeURIComponent(name)}`
    const shared = `${path}/{${ATTRIBUTE}}`
    const isShared = (attribute: Attribute): boolean =>
      !this.#describers.options.attributes && isPlain(attribute) && this.#hasSameLogIn(pathOf(attribute), shared)
    return [
      [shared, this.#shared(shared, resource, attributes.filter(isShared))],
      ...attributes
        .filter(attribute => !isShared(attribute))
        .map((attribute): [string, Schema] => {
          const own = pathOf(attribute)
          const describe = (method: Method): OperationParts | undefined =>
            this.#takes(method, attribute) ? this.#ofAttribute(method, resource, attribute) : undefined
          const item = this.#item(own, attributeTarget(resource, attribute), describe, this.#listIdParameters(own, resource))
          return [own, item]
        }),
    ]
  }

  marks(path: string, resource: Resource): [path: string, item: Schema][] {
    return [...resource.marks.values()].map((mark): [string, Schema] => {
      const own = `${path}/${encodeURIComponent(mark.name)}`
      const target: Target = { kind: 'mark', resource, key: [], id: '', mark }
      const describe = (method: Method): OperationParts => this.#mark(method, resource, mark)
      return [own, this.#item(own, target, describe, this.#listIdParameters(own, resource))]
    })
  }

  #mark(method: Method, resource: Resource, { name, list }: ResourceMark): OperationParts {
    const { parameters, answers } = this.#describers
    const { singular, plural } = resource
    const isSet = method === 'POST'
    return {
      id: `${isSet ? 'set' : 'remove'}${pascalCase(singular)}${pascalCase(name)}`,
      tag: plural,
      summary: `${isSet ? 'Set' : 'Remove'} the ${name} of the caller on a ${singular}`,
      description:
        `${isSet ? `Puts the ${list.target.singular} of the token into` : `Takes the ${list.target.singular} of the token out of`} ` +
        `a list of the ${singular}, which is the answer.`,
      parameters: parameters.below(resource),
      success: answers.changed(resource),
      failures: [401, 403, 404],
      isKept: true,
    }
  }

  #shared(path: string, resource: Resource, attributes: readonly Attribute[]): Schema {
    const [first] = attributes
    if (first === undefined) return {}
    const takes = (method: Method, attribute: Attribute): boolean =>
      this.#takes(method, attribute) &&
      allowedMethods(attributeTarget(resource, attribute)).includes(method) &&
      this.#values.takes(method, attribute)
    const describe = (method: Method): OperationParts | undefined => {
      const taken = attributes.filter(attribute => takes(method, attribute))
      return taken.length === 0 ? undefined : this.#values.all(method, resource, taken)
    }
    // `takes` has checked the methods.
    return this.#item(path, attributeTarget(resource, first), describe, this.#listIdParameters(path, resource), METHODS)
  }

  /** Whether a shared path would state the right security for both paths. */
  #hasSameLogIn(one: string, other: string): boolean {
    const { login } = this.#describers.source
    return login === undefined || METHODS.every(method => login.isPublic(method, one) === login.isPublic(method, other))
  }

  #takes(method: Method, attribute: Attribute): boolean {
    const { visibility } = this.#describers
    // PATCH does what PUT does.
    if (!hasVisibleTarget(attribute, visibility) || method === 'PATCH') return false
    return method === 'PUT' ? !attribute.readOnly : existsFor(attribute, visibility)
  }

  #ofAttribute(method: Method, resource: Resource, attribute: Attribute): OperationParts | undefined {
    return !isIds(attribute) && (isRelation(attribute) || attribute.kind === 'toOneOf')
      ? this.#relations.describe(method, resource, attribute)
      : this.#values.one(method, resource, attribute)
  }

  finish(method: string, path: string, parts: OperationParts): Schema {
    const { source, options, failures, answers, parameters: described } = this.#describers
    const { id, tag, summary, description, body, isConditional = false, linked, security } = parts
    const isGone = method === 'DELETE' && parts.isKept !== true && parts.tag !== 'routes' && source.deletedStatus === 204
    const { status, success } = isGone ? { status: 204, success: answers.gone() } : { status: parts.status ?? 200, success: parts.success }
    const asked = security ?? findSecurity(source, method, path)
    // With a cookie, no page of another origin may write.
    const ofCookie = source.login?.cookie !== undefined && !READS.has(method) ? [403] : []
    const login = source.login === undefined ? [] : [401, ...ofCookie]
    const parameters = [...(parts.parameters ?? []), ...(isConditional ? [described.freshness()] : [])]
    const unmodified = isConditional && !options.brief ? { 304: answers.notModified() } : {}
    return {
      operationId: this.#ids.take(id, `${method} ${path}`),
      tags: [tag],
      ...(options.brief ? {} : { summary }),
      ...(options.attributes ? { description: description ?? `${summary}.` } : {}),
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(parts.filter === undefined ? {} : { 'x-default-filter': parts.filter }),
      ...(body === undefined ? {} : { requestBody: this.#requestBody(body, parts.hasNames === true && source.forms) }),
      ...(asked === undefined ? {} : { security: asked }),
      responses: {
        [String(status)]: success,
        ...(linked === undefined ? {} : { 200: linked }),
        ...unmodified,
        ...failures.of([...parts.failures, ...login], parts.listed),
      },
    }
  }

  /** Omits methods that access rules forbid to every caller. */
  #item(
    path: string,
    target: Target,
    describe: (method: Method) => OperationParts | undefined,
    parameters: readonly Schema[] = [],
    allowed: readonly string[] = allowedMethods(target),
  ): Schema {
    const { source, options } = this.#describers
    const { readOnly } = source
    const operations = METHODS.flatMap((method): [string, Schema][] => {
      if (!allowed.includes(method) || (readOnly && method !== 'GET')) return []
      const actions = findActions(method, target)
      if (actions.some(({ resource, action }) => resource.rules.access[action] === false)) return []
      const parts = describe(method)
      if (parts === undefined) return []
      const isRefused = actions.some(isRestricted) || (!READS.has(method) && actions.length > 0 && mayRefuseRows(source.model))
      const refused = isRefused ? [403] : []
      const isConditional = method === 'GET' && (source.etag === 'answer' || (target.kind === 'record' && showsVersion(target.resource)))
      const all = { ...parts, isConditional, failures: [...parts.failures, ...refused] }
      const described: [string, Schema][] = [[method.toLowerCase(), this.finish(method, path, all)]]
      if (method === 'GET' && options.openapi === '3.2' && allowed.includes('QUERY')) described.push(['query', this.#query(path, all)])
      return described
    })
    if (operations.length === 0) return {}
    return shareParameters(parameters, operations)
  }

  #requestBody(schema: Schema, isForm: boolean): Schema {
    const { $ref, ...others } = schema
    const types = ['application/json', ...(isForm ? FORM_TYPES : [])]
    const body = { required: true, content: Object.fromEntries(types.map(type => [type, { schema }])) }
    if (typeof $ref !== 'string' || Object.keys(others).length > 0) return body
    return this.#describers.components.refer('requestBodies', $ref.slice($ref.lastIndexOf('/') + 1), `${$ref} ${types.join()}`, () => body)
  }

  /** A GET with parameters in the body. Only OpenAPI 3.2 can describe QUERY. */
  #query(path: string, parts: OperationParts): Schema {
    const id = parts.id.replace(/^(?:list|get)/, 'query')
    const operation = this.finish('QUERY', path, {
      ...parts,
      id,
      summary: `${parts.summary}, by QUERY`,
      parameters: [],
      listed: [413, 415],
    })
    return { ...operation, requestBody: { required: true, content: QUERY_CONTENT } }
  }

  #list(resource: Resource): OperationParts {
    const { parameters, answers, source } = this.#describers
    const defaults = source.defaults.get(resource)
    const filters = defaults === undefined ? [] : listAsked(defaults)
    const standard = filters.map(([label, text]) => `\`${label}\` ${text}`.trim()).join(', ')
    return {
      id: `list${pascalCase(resource.plural)}`,
      tag: resource.plural,
      summary: `List ${resource.plural}`,
      ...(filters.length === 0 ? {} : { filter: filters }),
      description:
        (standard === '' ? '' : `Without any filter these hold: ${standard}. `) +
        'A page of the records that meet all filters. Other filters than those listed are taken, too: see the rules of filters. ' +
        'With `Accept: text/csv` or `application/x-ndjson` the records of all pages come as text.',
      parameters: parameters.ofList(resource),
      success: answers.list(resource),
      failures: [],
    }
  }

  #create(resource: Resource): OperationParts {
    const { parameters, answers, bodies, source, options } = this.#describers
    return {
      id: `create${pascalCase(resource.singular)}`,
      tag: resource.plural,
      summary: `Create a ${resource.singular}`,
      description: 'Relations take IDs, which link, and objects, which make records of their own in the same transaction.',
      parameters: parameters.ofCreation(resource),
      body: bodies.creation(resource),
      hasNames: true,
      status: source.createdStatus,
      ...(options.bulk && source.createdStatus !== 200 ? { linked: answers.upserted(resource) } : {}),
      success: answers.created(resource, linksTo(resource, options)),
      failures: [409, ...OF_BODY],
    }
  }

  #listIdParameters(path: string, resource: Resource): Schema[] {
    return path.includes('{id}') ? [this.#describers.parameters.id(resource)] : []
  }

  #ofRecord(method: Method, resource: Resource): OperationParts | undefined {
    const { parameters, answers, bodies } = this.#describers
    const { singular, plural } = resource
    const common = { tag: plural, parameters: parameters.ofRecords(resource) }
    const name = pascalCase(singular)
    if (method === 'GET')
      return { ...common, id: `get${name}`, summary: `Get a ${singular}`, success: answers.record(resource), failures: [404] }
    const { conditions, failures } = changeOf(this.#describers, resource)
    const changing = [...common.parameters, ...conditions]
    if (method === 'DELETE') {
      const success = answers.deleted(resource)
      return {
        ...common,
        parameters: changing,
        id: `delete${name}`,
        summary: `Delete a ${singular}`,
        success,
        failures: [404, ...failures],
      }
    }
    if (method !== 'PUT' && method !== 'PATCH') return undefined
    return {
      ...common,
      parameters: changing,
      id: `${method === 'PUT' ? 'update' : 'patch'}${name}`,
      summary: `Change a ${singular}`,
      description: 'The given attributes change, the others stay. PUT and PATCH are the same.',
      body: bodies.change(resource),
      hasNames: true,
      success: answers.changed(resource),
      failures: [404, ...failures, ...OF_BODY],
    }
  }
}

/** At its path, `authorId` is a plain value. */
function attributeTarget(resource: Resource, attribute: Attribute): Target {
  return { kind: 'attribute', resource, key: [], id: '', attribute: isIds(attribute) ? plainIds(attribute) : attribute }
}

/** Parameters of all methods stand once, at the path. */
function shareParameters(parameters: readonly Schema[], operations: readonly [method: string, operation: Schema][]): Schema {
  const taken = operations.map(([, operation]) => (operation['parameters'] ?? []) as readonly Schema[])
  const isShared = taken.length < 2 ? () => false : memberOfAll(taken)
  const all = [...parameters, ...taken[0]!.filter(isShared)]
  return {
    ...(all.length === 0 ? {} : { parameters: all }),
    ...Object.fromEntries(
      operations.map(([method, { parameters: own, ...operation }]) => {
        const left = ((own ?? []) as readonly Schema[]).filter(each => !isShared(each))
        return [method, left.length === 0 ? operation : { ...operation, parameters: left }]
      }),
    ),
  }
}

function memberOfAll(lists: readonly (readonly Schema[])[]): (parameter: Schema) => boolean {
  const texts = lists.map(list => new Set(list.map(each => JSON.stringify(each))))
  return parameter => texts.every(text => text.has(JSON.stringify(parameter)))
}

function isRestricted({ resource: { rules }, action }: ReturnType<typeof findActions>[number]): boolean {
  return typeof rules.access[action] === 'function' || rules.scopes.length > 0
}

/** Whether 403 may follow from a rule about rows, or a `fill`. A body may write rows of any resource. */
function mayRefuseRows({ resources }: Model): boolean {
  return resources.some(
    ({ rules, attributes }) => rules.write !== undefined || attributes.some(({ fill, needed }) => fill?.create !== undefined && needed),
  )
}

/** @returns undefined for the security of the whole document */
function findSecurity({ login }: ApiSource, method: string, path: string): readonly Schema[] | undefined {
  return login?.isPublic(method, path) === true ? [{}, ...listSecurity(login)] : undefined
}
