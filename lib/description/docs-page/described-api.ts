/** Reads the contents of the docs page from an OpenAPI document and a diagram. */
import type { JsonObject } from '../../foundation/json/json.ts'
import type { TemplateNames } from '../../foundation/http/template-tree.ts'
import { SIGN_OF_MARK } from '../../records/request/operators.ts'
import type { Diagram, DiagramAttribute } from '../diagram/diagram-parts.ts'
import type { OpenApiDocument } from '../openapi/openapi-document.ts'
import type { Schema } from '../openapi/schema.ts'
import type { DescribedEnvelope } from '../openapi/source.ts'

export interface PageOperation {
  readonly method: string
  readonly path: string
  readonly summary: string
  /** Whether a token may change the answer. */
  readonly takesToken: boolean
}

export interface PageAttribute extends DiagramAttribute {
  /** Such as `key` or `at most 40 characters`. */
  readonly notes: readonly string[]
  /** Plural name of a relation's target. */
  readonly target: string | undefined
  readonly operators: readonly string[]
}

export interface PageResource {
  readonly name: string
  readonly singular: string
  readonly description: string
  readonly operations: readonly PageOperation[]
  readonly attributes: readonly PageAttribute[]
  /** Filters through relations, such as `author.name`. */
  readonly paths: readonly string[]
  readonly list: PageOperation | undefined
  readonly one: PageOperation | undefined
  readonly creation: PageOperation | undefined
  readonly change: PageOperation | undefined
  readonly parameters: Readonly<Partial<Record<'limit' | 'sort' | 'expand', string>>>
  readonly id: string | undefined
  readonly example: Readonly<Record<string, unknown>> | undefined
  readonly body: Readonly<Record<string, unknown>> | undefined
  /** The example's present value: trying the request does no harm. */
  readonly changes: Readonly<Record<string, unknown>> | undefined
}

export interface PageApi {
  readonly title: string
  /** In Markdown. */
  readonly rules: string
  readonly needsLogIn: boolean
  readonly logIn: PageOperation | undefined
  readonly resources: readonly PageResource[]
  readonly others: readonly PageOperation[]
  readonly failures: readonly { readonly status: string; readonly description: string }[]
}

/** @param envelope undefined: the engine's form of answers */
export function readApi(document: OpenApiDocument, diagram: Diagram, envelope?: DescribedEnvelope): PageApi {
  const api = new DescribedApi(document, diagram, envelope)
  const tags = (document['tags'] ?? []) as readonly { readonly name: string; readonly description: string }[]
  const resources = diagram.entities.flatMap(({ name, singular, attributes }) => {
    const description = tags.find(tag => tag.name === name)?.description
    const operations = api.operations.filter(({ tag, id }) => tag === name && !OF_SERVER.has(id))
    if (description === undefined || operations.length === 0) return []
    return [api.resource({ name, singular, description, attributes, operations: operations.map(found => found) })]
  })
  const known = new Set(resources.flatMap(({ operations }) => operations.map(({ method, path }) => `${method} ${path}`)))
  const info = document.info as { readonly title: string; readonly description: string }
  return {
    title: info.title,
    rules: info.description,
    needsLogIn: Array.isArray(document['security']) && document['security'].length > 0,
    logIn: api.operations.find(({ id }) => id === LOG_IN),
    resources,
    others: api.operations.filter(({ method, path }) => !known.has(`${method} ${path}`)),
    failures: api.failures(),
  }
}

const LOG_IN = 'logIn'
/** Operations of the server. A resource named `general` or `session` has the same tag. */
const OF_SERVER: ReadonlySet<string> = new Set([LOG_IN, 'getDescription', 'logOut', 'refresh', 'signUp', 'getMe', 'updateMe', 'patchMe'])
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
interface FoundOperation extends PageOperation {
  readonly id: string
  readonly tag: string
  readonly parameters: readonly Schema[]
  readonly body: Schema | undefined
  readonly success: Schema | undefined
}

interface ResourceParts {
  readonly name: string
  readonly singular: string
  readonly description: string
  readonly attributes: readonly DiagramAttribute[]
  readonly operations: readonly FoundOperation[]
}

class DescribedApi {
  readonly operations: readonly FoundOperation[]
  readonly #document: OpenApiDocument
  readonly #envelope: DescribedEnvelope | undefined
  readonly #plurals: ReadonlyMap<string, string>

  constructor(document: OpenApiDocument, { entities }: Diagram, envelope: DescribedEnvelope | undefined) {
    this.#document = document
    this.#plurals = new Map(entities.map(({ name, singular }) => [singular, name]))
    this.#envelope = envelope
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      METHODS.flatMap(method => (item[method] === undefined ? [] : [this.#operation(path, method, item)])),
    )
  }

  resource({ name, singular, description, attributes, operations }: ResourceParts): PageResource {
    const [first] = operations
    const collection = first!.path.replace(/\/\{id\}.*$/, '')
    const at = (path: string, method: string): FoundOperation | undefined =>
      operations.find(each => each.path === path && each.method === method)
    const list = at(collection, 'GET')
    const isSingle = list !== undefined && !list.id.startsWith('list')
    const one = isSingle ? list : at(`${collection}/{id}`, 'GET')
    const creation = at(collection, 'POST')
    const change = isSingle ? at(collection, 'PATCH') : at(`${collection}/{id}`, 'PATCH')
    const shown = (isSingle ? undefined : list) ?? one
    const names = { plural: name, singular }
    const record =
      this.#recordSchema(one, this.#envelope?.record?.pathOf('record', names) ?? [singular]) ??
      this.#recordSchema(list, this.#envelope?.list?.pathOf('records', names) ?? [name])
    const example = firstExample(record)
    const given = this.#bodySchema(creation, names)
    const changed = this.#bodySchema(change, names)
    const named = (shown?.parameters ?? []).map(parameter => String(parameter['name']))
    return {
      name,
      singular,
      description,
      operations,
      attributes: attributes.map(attribute => ({
        ...attribute,
        notes: this.#describe(attribute, record, given, changed),
        target: attribute.isRelation ? this.#plurals.get(attribute.type.replace('[]', '')) : undefined,
        operators: Object.entries(SIGN_OF_MARK).flatMap(([mark, sign]) => (named.includes(attribute.name + mark) ? sign : [])),
      })),
      paths: named.filter(path => path.includes('.') && /[\p{L}\p{N}_]$/u.test(path)),
      list: isSingle ? undefined : list,
      one,
      creation,
      change,
      parameters: Object.fromEntries((['limit', 'sort', 'expand'] as const).flatMap(key => this.#findReserved(key, shown))),
      id: one === undefined || isSingle ? undefined : this.#exampleId(one),
      example,
      body: this.#wrap(firstExample(given), names),
      changes: this.#wrap(this.#changes(attributes, example, changed), names),
    }
  }

  failures(): PageApi['failures'] {
    const statuses = new Map<string, string>()
    for (const { responses } of Object.values(this.#document.paths).flatMap(item => Object.values(item) as { responses?: Schema }[])) {
      for (const [status, response] of Object.entries(responses ?? {}))
        if (/^(?:[45]|default$)/.test(status)) statuses.set(status, this.#refusal(response as Schema))
    }
    const rank = (status: string): number => (status === 'default' ? Infinity : Number(status))
    return [...statuses]
      .toSorted(([a], [b]) => (rank(a) < rank(b) ? -1 : 1))
      .map(([status, description]) => ({ status: status === 'default' ? 'other' : status, description }))
  }

  #refusal(response: Schema): string {
    const { description } = this.#find(response)
    const { allOf = [] } = this.#contentSchema(response) ?? {}
    const codes = (allOf as readonly Schema[]).flatMap(each => (propertyOf(each, 'code')?.['enum'] ?? []) as readonly string[])
    const isNamed = codes.length === 0 || String(description).includes('Codes:')
    return isNamed ? String(description) : `${String(description)} Codes: ${codes.map(code => `\`${code}\``).join(', ')}.`
  }

  #operation(path: string, method: string, item: Readonly<Record<string, unknown>>): FoundOperation {
    const {
      operationId: id,
      tags,
      summary,
      parameters = [],
      security,
      requestBody,
      responses,
    } = item[method] as {
      operationId: string
      tags: readonly string[]
      summary: string
      parameters?: readonly Schema[]
      security?: readonly object[]
      requestBody?: Schema
      responses: Schema
    }
    const shared = (item['parameters'] ?? []) as readonly Schema[]
    const asked = security ?? (this.#document['security'] as readonly object[])
    return {
      id,
      method: method.toUpperCase(),
      path,
      summary,
      tag: tags[0]!,
      takesToken: asked.some(each => Object.keys(each).length > 0),
      parameters: [...shared, ...parameters].map(parameter => this.#withReference(parameter)),
      body: requestBody,
      success: Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] as Schema | undefined,
    }
  }

  /** Keeps the component name: the application may have renamed the parameter. */
  #withReference(parameter: Schema): Schema {
    const reference = parameter['$ref']
    return typeof reference === 'string' ? { ...this.#find(parameter), reference: reference.split('/').at(-1) } : parameter
  }

  #find(schema: Schema): Schema {
    const reference = schema['$ref']
    if (typeof reference !== 'string') return schema
    const path = reference.slice(2).split('/')
    return path.reduce<Schema>((within, name) => within[name.replaceAll('~1', '/').replaceAll('~0', '~')] as Schema, this.#document)
  }

  #contentSchema(holder: Schema | undefined): Schema | undefined {
    if (holder === undefined) return undefined
    const content = this.#find(holder)['content'] as Readonly<Record<string, { schema: Schema }>> | undefined
    const schema = content?.['application/json']?.schema
    return schema === undefined ? undefined : this.#find(schema)
  }

  /** Merges the schema in `allOf`. */
  #bodySchema(operation: FoundOperation | undefined, names: TemplateNames): Schema | undefined {
    const path = this.#envelope?.record?.pathOf('record', names) ?? []
    const found = path.reduce<Schema | undefined>((schema, key) => propertyOf(schema, key), this.#contentSchema(operation?.body))
    const schema = found && this.#find(found)
    const [first] = (schema?.['allOf'] ?? []) as readonly Schema[]
    if (first === undefined) return schema
    const base = this.#find(first)
    const properties = { ...(base['properties'] as Schema), ...(schema!['properties'] as Schema | undefined) }
    return { ...base, ...schema, properties }
  }

  #wrap(record: JsonObject | undefined, names: TemplateNames): JsonObject | undefined {
    const template = this.#envelope?.record
    return record === undefined || template === undefined ? record : (template.wrap(record, names) as JsonObject)
  }

  #recordSchema(operation: FoundOperation | undefined, path: readonly string[]): Schema | undefined {
    const found = path.reduce<Schema | undefined>((schema, key) => propertyOf(schema, key), this.#contentSchema(operation?.success))
    if (found === undefined) return undefined
    return this.#find((found['items'] as Schema | undefined) ?? found)
  }

  #describe({ name, isKey, isRelation }: DiagramAttribute, ...schemas: readonly (Schema | undefined)[]): string[] {
    const [shown, given, changed] = schemas.map(schema => propertyOf(schema, name))
    const [, creation] = schemas
    const isRequired = (creation?.['required'] as readonly string[] | undefined)?.includes(name) === true
    const items = (shown?.['enum'] ?? given?.['enum']) as readonly unknown[] | undefined
    const isWritten = given !== undefined || changed !== undefined || schemas.slice(1).every(schema => schema === undefined)
    const length = (given?.['maxLength'] ?? changed?.['maxLength']) as number | undefined
    return [
      ...(isKey ? ['key'] : []),
      ...(isRequired ? ['required'] : []),
      ...(isWritten ? [] : ['read-only']),
      ...(items === undefined ? [] : [`one of ${items.map(item => JSON.stringify(item)).join(', ')}`]),
      ...(length === undefined || isRelation ? [] : [`at most ${length} characters`]),
    ]
  }

  #findReserved(name: 'limit' | 'sort' | 'expand', operation: FoundOperation | undefined): [string, string][] {
    const component = new RegExp(`^${name.charAt(0).toUpperCase()}${name.slice(1)}(?:Of[A-Z].*)?$`)
    const found = operation?.parameters.find(parameter => component.test(String(parameter['reference'])))
    return found === undefined ? [] : [[name, String(found['name'])]]
  }

  #exampleId({ parameters }: FoundOperation): string | undefined {
    const example = parameters.find(parameter => parameter['in'] === 'path')?.['example'] as string | number | undefined
    return example?.toString()
  }

  #changes(
    attributes: readonly DiagramAttribute[],
    example: Readonly<Record<string, unknown>> | undefined,
    schema: Schema | undefined,
  ): Readonly<Record<string, unknown>> | undefined {
    const plain = attributes.find(
      ({ name, isKey, isRelation, type }) =>
        !isKey &&
        !isRelation &&
        PLAIN.has(type) &&
        propertyOf(schema, name) !== undefined &&
        example?.[name] !== undefined &&
        example[name] !== null,
    )
    return plain === undefined ? undefined : { [plain.name]: example![plain.name] }
  }
}

const PLAIN = new Set(['text', 'integer', 'boolean', 'enum', 'float', 'date'])

function propertyOf(schema: Schema | undefined, name: string): Schema | undefined {
  const properties = schema?.['properties'] as Readonly<Record<string, Schema>> | undefined
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
}

function firstExample(schema: Schema | undefined): Readonly<Record<string, unknown>> | undefined {
  return (schema?.['examples'] as readonly Readonly<Record<string, unknown>>[] | undefined)?.[0]
}
