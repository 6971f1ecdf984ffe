/**
 * Conformity: holds requests and answers against an OpenAPI document: the operation of a path, the status, the headers and the body. JSON
 * Schema is judged by ajv, which is loaded here alone.
 */
import type { OpenApiDocument } from '../../lib/description/openapi/openapi-document.ts'

interface Validate {
  (value: unknown): boolean
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string; readonly params: unknown }[] | null
}
interface Ajv {
  addSchema(schema: unknown, key: string): unknown
  compile(schema: unknown): Validate
}

const AJV: string = 'ajv/dist/2020.js'
const FORMATS: string = 'ajv-formats'
const { default: Ajv2020 } = (await import(AJV)) as { default: { default: new (options: object) => Ajv } }
const { default: addFormats } = (await import(FORMATS)) as { default: { default: (ajv: Ajv) => void } }

type Node = Readonly<Record<string, unknown>>
export interface Operation {
  readonly operationId: string
  /** JSON pointer to the operation. */
  readonly pointer: string
  readonly template: string
  readonly node: Node
}
export interface HeldAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

interface Resolved {
  readonly pointer: string
  readonly node: Node
}

/** An operation whose template is split once: thousands of paths are looked for. */
interface SplitOperation {
  readonly operation: Operation
  /** Method and number of parts, which a path has in common with its template. */
  readonly form: string
  readonly parts: readonly string[]
  readonly parameters: number
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export class Conformity {
  readonly #document: OpenApiDocument
  readonly operations: readonly Operation[]
  readonly #ajv: Ajv
  /** Whether the document tells no statuses of refusals apart. */
  readonly #isShort: boolean
  readonly #byForm: ReadonlyMap<string, readonly SplitOperation[]>
  readonly #found = new Map<string, Operation | undefined>()
  readonly #validators = new Map<string, Validate>()
  readonly #resolved = new Map<string, Resolved>()

  constructor(document: OpenApiDocument) {
    this.#document = document
    this.operations = operationsOf(document)
    this.#byForm = Map.groupBy(this.operations.map(splitTemplate), ({ form }) => form)
    this.#isShort = this.operations.some(({ node }) => '4XX' in (node['responses'] as Node))
    this.#ajv = new Ajv2020.default({ strict: false, allErrors: true, validateSchema: false, inlineRefs: false, code: { optimize: false } })
    addFormats.default(this.#ajv)
    this.#ajv.addSchema({ $id: 'api:document', ...document }, 'api:document')
  }

  /** The operation of a request: a path without parameters comes before one with them. */
  operationOf(method: string, path: string): Operation | undefined {
    const request = `${method} ${path.split('?')[0]!}`
    if (!this.#found.has(request)) this.#found.set(request, this.#findOperation(method, path))
    return this.#found.get(request)
  }

  #findOperation(method: string, path: string): Operation | undefined {
    const segments = path
      .split('?')[0]!
      .replace(/(.)\/$/, '$1')
      .split('/')
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
    const candidates = this.#byForm.get(formOf(wanted, segments)) ?? []
    const found = candidates.filter(({ parts }) => parts.every((part, index) => part.startsWith('{') || part === segments[index]))
    return found.toSorted((a, b) => a.parameters - b.parameters)[0]?.operation
  }

  /** The paths of a template, with the names of attributes that its operation takes. */
  expand(template: string, pointer: string): string[] {
    if (!template.endsWith('/{attribute}')) return [template]
    const own = (this.#resolve(pointer).node['parameters'] ?? []) as unknown[]
    const parameters = own.map((_, index) => this.#resolve(`${pointer}/parameters/${index}`).node)
    const { schema } = parameters.find(each => each['name'] === 'attribute') as { schema: { enum: string[] } }
    return schema.enum.map(name => template.replace('{attribute}', encodeURIComponent(name)))
  }

  /** What of an answer is not as the document says: empty when all of it is. */
  faultsOf(method: string, path: string, { status, headers, body }: HeldAnswer): string[] {
    const operation = this.operationOf(method, path)
    if (operation === undefined) return [`${method} ${path} is not described`]
    const responses = operation.node['responses'] as Record<string, Node>
    const key = [String(status), `${String(status)[0]}XX`, 'default'].find(each => each in responses) ?? ''
    if (!(key in responses)) return [`${operation.operationId}: the status ${status} is not described: ${JSON.stringify(body)}`]
    const { pointer, node } = this.#resolve(`${operation.pointer}/responses/${key}`)
    const described = (node['headers'] ?? {}) as Node
    // A short document describes no headers.
    const judged = this.#isShort ? [] : Object.keys(headers)
    const lacking = judged.filter(
      name =>
        !['content-type', 'content-length', 'cache-control', 'vary'].includes(name) &&
        !Object.keys(described).some(each => each.toLowerCase() === name),
    )
    const more = lacking.map(name => `${operation.operationId} ${status}: the header "${name}" is not described`)
    if (method === 'HEAD') return more
    if (body === undefined && node['content'] === undefined) return more
    const type = (headers['content-type'] ?? 'application/json').split(';', 1)[0]!
    const contents = (node['content'] ?? {}) as Node
    if (!(type in contents)) return [...more, `${operation.operationId} ${status}: the media type ${type} is not described`]
    const schema = `${pointer}/content${pointerOf(type)}/schema`
    return [...more, ...this.#faults(schema, body).map(fault => `${operation.operationId} ${status}: ${fault}`)]
  }

  /** The parameters of an operation and of its path, without references. */
  parametersOf({ pointer, template }: Operation): Node[] {
    const lists = [pointerOf('paths', template), pointer].map(where => ({ where, list: this.#resolve(where).node['parameters'] ?? [] }))
    return lists.flatMap(({ where, list }) => (list as Node[]).map((_, index) => this.#resolve(`${where}/parameters/${index}`).node))
  }

  /** What of a body is not as the document says. */
  bodyFaultsOf(method: string, path: string, body: unknown): string[] {
    const operation = this.operationOf(method, path)
    if (operation?.node['requestBody'] === undefined) return [`${method} ${path} takes no body`]
    return this.#faults(`${this.#resolve(`${operation.pointer}/requestBody`).pointer}/content/application~1json/schema`, body)
  }

  /** The schema of the body of an operation, without the reference to it, and with the members of the schema that it extends. */
  bodySchemaOf(operation: Operation): Node | undefined {
    if (operation.node['requestBody'] === undefined) return undefined
    const { pointer } = this.#resolve(`${operation.pointer}/requestBody`)
    const schema = this.#resolve(`${pointer}/content/application~1json/schema`).node
    const [first] = (schema['allOf'] ?? []) as { $ref?: string }[]
    if (first?.$ref === undefined) return schema
    const base = this.#resolve(first.$ref.slice(1)).node
    return { ...base, ...schema, properties: { ...(base['properties'] as Node), ...(schema['properties'] as Node | undefined) } }
  }

  #faults(pointer: string, value: unknown): string[] {
    let validate = this.#validators.get(pointer)
    if (validate === undefined)
      this.#validators.set(pointer, (validate = this.#ajv.compile({ $ref: `api:document#${encodeURI(pointer)}` })))
    if (validate(value)) return []
    return (validate.errors ?? []).map(error => `${error.instancePath} ${error.message ?? ''} ${JSON.stringify(error.params)}`)
  }

  /** Follows references. */
  #resolve(pointer: string): Resolved {
    let resolved = this.#resolved.get(pointer)
    if (resolved === undefined) this.#resolved.set(pointer, (resolved = this.#find(pointer)))
    return resolved
  }

  #find(pointer: string): Resolved {
    let node: unknown = this.#document
    for (const name of pointer.split('/').slice(1)) node = (node as Node)[name.replaceAll('~1', '/').replaceAll('~0', '~')]
    const { $ref } = node as { readonly $ref?: string }
    return $ref === undefined ? { pointer, node: node as Node } : this.#resolve($ref.slice(1))
  }
}

const formOf = (method: string, parts: readonly string[]): string => `${method} ${parts.length}`

function splitTemplate(operation: Operation): SplitOperation {
  const { template, pointer } = operation
  const parts = template.split('/')
  const form = formOf(pointer.slice(pointer.lastIndexOf('/') + 1), parts)
  return { operation, form, parts, parameters: template.split('{').length }
}

function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([template, item]) =>
    METHODS.flatMap(method => {
      const node = item[method] as (Node & { operationId: string }) | undefined
      if (node === undefined) return []
      return [{ operationId: node.operationId, pointer: pointerOf('paths', template, method), template, node }]
    }),
  )
}

function pointerOf(...names: readonly string[]): string {
  return names.map(name => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
