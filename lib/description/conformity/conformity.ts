/**
 * Compares an answer with an OpenAPI document, and names faults in plain words: an undescribed operation, status or header, a wrong body.
 */
import { PROBLEM_TYPE } from '../../foundation/base/response.ts'
import type { OpenApiDocument } from '../openapi/openapi-document.ts'
import type { Schema } from '../openapi/schema.ts'
import { checkValue, resolve } from './check-value.ts'
import type { HeldAnswer } from './held-answer.ts'
import { decodeSegment } from '../../records/request/address.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Headers that a refusal must have (RFC 9110 sections 15.5.2 and 15.5.6). */
const NEEDED: Readonly<Record<number, string>> = { 401: 'www-authenticate', 405: 'allow' }

/** Refusals of bodies. */
const OF_BODY = [413, 415]

/** Schemas of refusals. */
const FAILURE_TYPES: Readonly<Record<string, string>> = { 'application/json': 'Failure', [PROBLEM_TYPE]: 'Problem' }

export interface DescribedOperation {
  readonly method: string
  readonly template: string
  readonly operationId: string
  readonly node: Schema
}

interface DescribedPath {
  readonly template: string
  /** A parameter is undefined. */
  readonly segments: readonly (string | undefined)[]
  readonly item: Schema
}

export class Conformity {
  readonly #document: OpenApiDocument
  /** Paths without parameters first. */
  readonly #paths: readonly DescribedPath[]
  /** Named in the document. Others are of the transport or the application, and not judged. */
  readonly #headers: ReadonlySet<string>
  readonly operations: readonly DescribedOperation[]

  constructor(document: OpenApiDocument) {
    this.#document = document
    const countParameters = ({ template }: DescribedPath): number => template.split('{').length
    this.#paths = Object.entries(document.paths)
      .map(([template, item]) => ({ template, segments: template.split('/').map(readTemplate), item }))
      .toSorted((a, b) => countParameters(a) - countParameters(b))
    this.operations = this.#paths.flatMap(listOperations)
    this.#headers = new Set(this.operations.flatMap(({ node }) => this.#headersOf(node)))
  }

  /**
   * Undefined: no body. Merges schemas of `allOf`.
   *
   * @param path the keys to the record in the body
   */
  bodySchema(operation: DescribedOperation, path: readonly string[] = []): Schema | undefined {
    const schema = path.reduce<Schema | undefined>(
      (within, key) => (within?.['properties'] as Readonly<Record<string, Schema>> | undefined)?.[key],
      this.#contentOf(operation),
    )
    return schema === undefined ? undefined : this.#whole(this.resolve(schema))
  }

  #contentOf({ node }: DescribedOperation): Schema | undefined {
    if (node['requestBody'] === undefined) return undefined
    const { content } = this.resolve(node['requestBody'] as Schema) as {
      readonly content: Readonly<Record<string, { readonly schema: Schema }>>
    }
    return content['application/json']?.schema
  }

  #whole(schema: Schema): Schema {
    const { allOf = [], ...own } = schema
    const objects = (allOf as readonly Schema[]).map(each => this.resolve(each)).filter(each => each['properties'] !== undefined)
    return objects.reduceRight<Schema>(
      (whole, each) => ({ ...each, ...whole, properties: { ...(each['properties'] as Schema), ...(whole['properties'] as Schema) } }),
      own,
    )
  }

  /** Follows nested references. */
  resolve(schema: Schema): Schema {
    return typeof schema['$ref'] === 'string' ? this.resolve(resolve(this.#document, schema['$ref'])) : schema
  }

  knows(path: string): boolean {
    return this.#find(path) !== undefined
  }

  checkBody(operation: DescribedOperation, body: unknown): string[] {
    const schema = this.#contentOf(operation)
    return schema === undefined ? ['takes no body'] : checkValue(schema, body, this.#document)
  }

  /** @param path without a query */
  check(method: string, path: string, answer: HeldAnswer): string[] {
    const { status } = answer
    const lacking = NEEDED[status]
    const faults = lacking === undefined || lacking in answer.headers ? [] : [`${status}: the header "${lacking}" is missing`]
    const found = this.#find(path)
    if (method === 'OPTIONS') return [...faults, ...checkOptions(answer)]
    if (found === undefined) return [...faults, ...this.#checkRefusal(answer, 'the path is not described')]
    const node = findOperation(found.item, method)
    // OpenAPI 3.1 cannot describe QUERY, and GET has no refusals of bodies.
    const isOfBody = method === 'QUERY' && OF_BODY.includes(status)
    if (node === undefined || isOfBody) return [...faults, ...this.#checkRefusal(answer, `${found.template} does not describe ${method}`)]
    return [...faults, ...this.#checkOperation(node, answer, method)]
  }

  #checkOperation(node: Schema, { status, headers, body }: HeldAnswer, method: string): string[] {
    const responses = node['responses'] as Readonly<Record<string, Schema>>
    const described = responses[String(status)] ?? responses['default']
    const place = `${String(node['operationId'])} ${status}:`
    if (described === undefined) return [`${place} this status is not described; those are ${Object.keys(responses).join(', ')}`]
    const response = this.resolve(described)
    const known = Object.keys((response['headers'] ?? {}) as Schema).map(name => name.toLowerCase())
    // Refusals by the application (`default`) may have other headers.
    const judged = String(status) in responses ? Object.keys(headers) : []
    // HEAD may have the length of GET (RFC 9110, section 8.6).
    const more = judged.filter(name => name !== 'content-length' && this.#headers.has(name) && !known.includes(name))
    const faults = more.map(name => `${place} the header "${name}" is not described`)
    if (method === 'HEAD') return faults
    return [...faults, ...this.#checkContent(response, headers, body).map(fault => `${place} ${fault}`)]
  }

  #checkContent(response: Schema, headers: Readonly<Record<string, string>>, body: unknown): string[] {
    const content = response['content'] as Readonly<Record<string, { readonly schema?: Schema }>> | undefined
    if (content === undefined) return body === undefined ? [] : ['has a body, and none is described']
    const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type === undefined) return ['the header "content-type" is missing']
    const media = content[type]
    if (media === undefined) return [`the media type ${type} is not described; those are ${Object.keys(content).join(', ')}`]
    return media.schema === undefined ? [] : checkValue(media.schema, body, this.#document)
  }

  /** An undescribed answer must be a refusal in the engine's form. */
  #checkRefusal({ status, headers, body }: HeldAnswer, reason: string): string[] {
    if (status < 400) return [`${status}: ${reason}`]
    const type = headers['content-type']?.split(';', 1)[0]?.trim() ?? ''
    const name = FAILURE_TYPES[type]
    if (name === undefined) return [`${status}: the media type ${type} is none of refusals`]
    const schema = (this.#document.components['schemas'] as Record<string, Schema> | undefined)?.[name]
    if (schema === undefined || body === undefined) return []
    return checkValue(schema, body, this.#document).map(fault => `${status}: ${fault}`)
  }

  #find(path: string): DescribedPath | undefined {
    // A final slash is optional, except at the index.
    const segments = path
      .replace(/(?<=[^/])\/$/, '')
      .split('/')
      .map(decodeSegment)
    return this.#paths.find(
      ({ segments: parts }) =>
        parts.length === segments.length &&
        parts.every((part, index) => (part === undefined ? segments[index] !== '' : part === segments[index])),
    )
  }

  #headersOf(node: Schema): string[] {
    const responses = Object.values((node['responses'] ?? {}) as Readonly<Record<string, Schema>>)
    return responses.flatMap(response => Object.keys((this.resolve(response)['headers'] ?? {}) as Schema).map(name => name.toLowerCase()))
  }
}

function listOperations({ template, item }: DescribedPath): DescribedOperation[] {
  const shared = (item['parameters'] ?? []) as readonly Schema[]
  return METHODS.flatMap(method => {
    const own = item[method] as Schema | undefined
    if (own === undefined) return []
    const node = { ...own, parameters: [...shared, ...((own['parameters'] ?? []) as readonly Schema[])] }
    return [{ method: method.toUpperCase(), template, operationId: String(own['operationId']), node }]
  })
}

/** PATCH of an attribute is described as PUT. */
function findOperation(item: Schema, method: string): Schema | undefined {
  const wanted = method === 'HEAD' || method === 'QUERY' ? 'get' : method.toLowerCase()
  return (item[wanted] ?? (wanted === 'patch' ? item['put'] : undefined)) as Schema | undefined
}

function checkOptions({ status, headers }: HeldAnswer): string[] {
  if (status >= 400) return []
  return status === 204 && 'allow' in headers ? [] : [`${status}: OPTIONS is answered with 204 and the header "allow"`]
}

/** @returns undefined for a parameter */
function readTemplate(segment: string): string | undefined {
  const text = decodeSegment(segment)
  return /^\{\w+\}$/.test(text) ? undefined : text
}
