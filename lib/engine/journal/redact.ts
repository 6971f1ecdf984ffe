/**
 * Removes secrets from copies of requests and answers: values of hidden and private attributes, passwords, tokens and log-in data, also
 * where an error text repeats them.
 */
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { ENVELOPE_KEYS } from '../../foundation/base/envelope.ts'
import { isValue, tableColumns, type EmbeddedAttribute, type Model, type Resource } from '../../model/model.ts'
import { textOfPair, type Pair } from '../../records/request/query-string.ts'
import { findSession, type SessionPaths } from '../../records/request/session-paths.ts'

/** The replacement of a secret. */
export const SECRET = '[secret]'

/** Names of secrets in any API, in the model or not. */
const SECRET_NAME =
  /^authorization$|(?:^|[_-])(?:auth|access|refresh|id|bearer|session|csrf)[_-]?token$|pass(?:word|wd|phrase)(?:[_-]?(?:hash|confirmation|confirm|repeat|again))?$/i

/** A JSON Web Token, or the beginning of one: a header that is a JSON object, a dot, and any following parts. */
const TOKEN = /eyJ[\w-]{6,}(?:\.[\w-]*)+/g

/** Length below which a secret is not searched for in other texts, where it would occur by chance. */
const MIN_ECHO = 4

/** Characters of a value that error texts repeat. */
const REPEATED = 100

/** The attributes of an object; undefined where the model does not know the object. */
type Shape = Pick<Resource | EmbeddedAttribute, 'byName'> | undefined

/** The parts of a request and its answer that may hold secrets. */
interface RedactedExchange {
  readonly method: string
  readonly path: string
  /** The number of segments after the version; undefined where the path could not be read. */
  readonly depth: number | undefined
  readonly pairs: readonly Pair[]
  readonly body: unknown
  /** The resource of the body and the query, and the attribute whose value the body is. */
  readonly resource: Resource | undefined
  readonly attribute: string | undefined
  readonly model: Model
  readonly response: unknown
  readonly error: string | undefined
}

/** The parts without secrets. */
export interface Masked {
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly body: unknown
  readonly response: unknown
  readonly error: string | undefined
  /** Copies another value of the same request, such as a row that it has changed. */
  readonly copy: (value: unknown) => unknown
}

/** What of the log-in decides about secrets. */
interface LogInFacts {
  /** The member of the log-in's body that identifies the user, which is not secret. */
  readonly identifier: string
  readonly password: string
  readonly paths: SessionPaths
}

export class Secrets {
  readonly #names: ReadonlySet<string>
  readonly #identifier: string | undefined
  readonly #paths: SessionPaths | undefined
  readonly #columns: ReadonlySet<string>

  /** @param auth undefined without log-in */
  constructor(models: readonly Model[], auth: LogInFacts | undefined) {
    const { identifier, password, paths } = auth ?? {}
    this.#names = new Set([
      ...models.flatMap(({ entities }) => entities.flatMap(listHiddenNames)),
      ...(password === undefined ? [] : [password]),
    ])
    this.#identifier = identifier
    this.#paths = paths
    this.#columns = new Set(models.flatMap(({ entities }) => entities.flatMap(listHiddenColumns)))
  }

  /** Whether a column of that name, in any table, is secret. */
  isSecretColumn(column: string): boolean {
    return this.#columns.has(column) || SECRET_NAME.test(column)
  }

  /** Returns a text that a row holds without the secrets in it: tokens, and members of JSON by their names. */
  maskStored(text: string): string {
    const masked = maskTokens(text)
    if (!/^\s*[[{]/.test(masked)) return masked
    let value: unknown
    try {
      value = JSON.parse(masked)
    } catch {
      // A text that only looks like JSON.
      return masked
    }
    const copy = JSON.stringify(new Mask(this.#names, undefined).copy(value, undefined))
    return copy.includes(SECRET) ? copy : masked
  }

  #isLogIn(method: string, below: readonly string[]): boolean {
    return this.#paths !== undefined && findSession(this.#paths, method, below) === 'login'
  }

  mask(exchange: RedactedExchange): Masked {
    const { pairs, body, resource, attribute, model, response } = exchange
    const mask = new Mask(this.#names, resource)
    const segments = exchange.path.split('/').slice(1)
    const { depth } = exchange
    const identifier = this.#isLogIn(exchange.method, segments.slice(segments.length - (depth ?? 0))) ? this.#identifier : undefined
    const last = depth === 3 ? decodeSegment(segments.at(-1)!) : undefined
    const isSecretBody = last !== undefined && mask.isSecret(last, resource)
    const bodyShape = attribute === undefined ? resource : undefined
    const wrapped = attribute === undefined ? body : { [attribute]: body }
    const wrappedShape = attribute === undefined ? bodyShape : resource
    // All secrets are collected first, so that their repetitions are found in the other parts.
    if (identifier !== undefined) mask.gatherLogIn(body, identifier)
    else if (isSecretBody) mask.gather(body)
    else mask.gatherIn(wrapped, wrappedShape)
    for (const segment of segments) mask.gatherSegment(segment)
    for (const { name, value } of pairs) if (mask.isSecretPath(name, resource)) mask.gather(value)
    const copied = (): unknown => {
      if (body === undefined) return undefined
      if (identifier !== undefined) return mask.copyLogIn(body, identifier)
      if (isSecretBody) return body === null ? null : SECRET
      const copy = mask.copy(wrapped, wrappedShape)
      return attribute === undefined ? copy : Object.values(copy as object)[0]
    }
    return {
      path: exchange.path
        .split('/')
        .map(segment => mask.segment(segment))
        .join('/'),
      query: pairs.map(({ name, operator, value }) =>
        Object.freeze([mask.text(name) + operator, mask.isSecretPath(name, resource) ? SECRET : mask.text(value)] as const),
      ),
      body: copied(),
      response: mask.copyAnswer(response, model),
      error: exchange.error === undefined ? undefined : mask.text(exchange.error),
      copy: value => mask.copy(value, undefined, false),
    }
  }
}

function listHiddenNames({ attributes }: Pick<Resource | EmbeddedAttribute, 'attributes'>): string[] {
  return attributes.flatMap(attribute => {
    if (!isValue(attribute)) return []
    const own = attribute.hidden ? [attribute.name, attribute.property] : []
    return attribute.kind === 'embedded' ? [...own, ...listHiddenNames(attribute)] : own
  })
}

/** Lists the columns that hold hidden values, alone or inside a document. */
function listHiddenColumns({ attributes }: Pick<Resource | EmbeddedAttribute, 'attributes'>): string[] {
  return attributes.flatMap(attribute => {
    if (attribute.kind === 'toOne' || attribute.kind === 'toMany') return []
    if (attribute.hidden) return [...tableColumns(attribute)]
    if (attribute.kind !== 'embedded') return []
    if (attribute.document === undefined) return listHiddenColumns(attribute)
    return listHiddenNames(attribute).length > 0 ? [attribute.document.column] : []
  })
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // A path that cannot be decoded is refused. The journal shows it as it was sent.
    return segment
  }
}

/** Returns the value if it is an object. */
function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
}

/** The secrets of one request. */
class Mask {
  readonly #names: ReadonlySet<string>
  readonly #resource: Shape
  readonly #echoes = new Set<string>()
  #pattern: RegExp | undefined

  /** @param resource the resource of the request, whose attributes the errors name */
  constructor(names: ReadonlySet<string>, resource: Shape) {
    this.#names = names
    this.#resource = resource
  }

  /** Whether the value under a name is secret, by the model or else by the name. */
  isSecret(name: string, shape: Shape): boolean {
    if (SECRET_NAME.test(name)) return true
    const attribute = shape?.byName.get(name)
    return attribute === undefined ? this.#names.has(name) : attribute.hidden
  }

  /** Whether the name of a query parameter is secret: alternatives of dotted paths. */
  isSecretPath(name: string, resource: Shape): boolean {
    return name
      .replace(/^!+/, '')
      .split('|')
      .some(path => {
        let shape = resource
        for (const part of path.split('.')) {
          // The position in a list.
          if (/^\d+$/.test(part)) continue
          if (this.isSecret(part, shape)) return true
          shape = findShape(shape, part)
        }
        return false
      })
  }

  /** Collects all texts and numbers of a secret value. */
  gather(value: unknown): void {
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value)
      if (text.length < MIN_ECHO) return
      // The plain text, and its spellings in JSON, in a path and in the link to another page.
      const spellings = [text, JSON.stringify(text).slice(1, -1)]
      if (text.isWellFormed())
        spellings.push(encodeURIComponent(text), textOfPair({ name: '', operator: '', value: text, bare: false }).slice(1))
      // An error text repeats only the beginning of a long value.
      for (const spelling of spellings) this.#echoes.add(spelling).add(spelling.slice(0, REPEATED))
    } else if (Array.isArray(value)) {
      for (const item of value) this.gather(item)
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value)) this.gather(item)
    }
  }

  /** Collects a token in a path, which may be percent-encoded. Error texts repeat the beginning of a segment as it was sent. */
  gatherSegment(segment: string): void {
    const plain = decodeSegment(segment)
    if (plain !== segment && maskTokens(plain) !== plain) this.#echoes.add(segment).add(segment.slice(0, REPEATED))
  }

  gatherIn(value: unknown, shape: Shape): void {
    if (Array.isArray(value)) {
      for (const item of value) this.gatherIn(item, shape)
      return
    }
    for (const [name, item] of Object.entries(asObject(value) ?? {})) {
      if (this.isSecret(name, shape)) this.gather(item)
      else if (typeof item === 'object' && item !== null) this.gatherIn(item, findShape(shape, name))
    }
  }

  gatherLogIn(body: unknown, identifier: string): void {
    const credentials = asObject(body)
    if (credentials === undefined) this.gather(body)
    for (const [name, item] of Object.entries(credentials ?? {})) if (name !== identifier || typeof item === 'object') this.gather(item)
    // A user whose password equals their name has revealed it already.
    const own = credentials?.[identifier]
    if (typeof own === 'string') this.#echoes.delete(own)
  }

  text(text: string): string {
    if (this.#echoes.size > 0) {
      // The longest first, because a secret may contain another one.
      this.#pattern ??= new RegExp(
        [...this.#echoes]
          .toSorted((a, b) => b.length - a.length)
          .map(escapeRegExp)
          .join('|'),
        'g',
      )
      text = text.replace(this.#pattern, SECRET)
    }
    return maskTokens(text)
  }

  /** Masks a segment of a path, which may be percent-encoded. */
  segment(segment: string): string {
    const plain = decodeSegment(segment)
    const masked = this.text(plain)
    return masked === plain ? segment : masked
  }

  copy(value: unknown, shape: Shape, byName = true): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return Object.freeze(value.map(item => this.copy(item, shape, byName)))
    const object = value as Record<string, unknown>
    const copy: Record<string, unknown> = {}
    // An error names its attribute, and may repeat the value of it.
    const about = shape === undefined && typeof object['attribute'] === 'string' && this.isSecretPath(object['attribute'], this.#resource)
    for (const [name, item] of Object.entries(object)) {
      if (item === undefined) continue
      const hides = (byName ? this.isSecret(name, shape) : SECRET_NAME.test(name)) || (about && name === 'value')
      setMember(copy, this.text(name), hides && item !== null ? SECRET : this.copy(item, findShape(shape, name), byName))
    }
    return Object.freeze(copy)
  }

  copyLogIn(body: unknown, identifier: string): unknown {
    const credentials = asObject(body)
    if (credentials === undefined) return body === null ? null : SECRET
    const copy: Record<string, unknown> = {}
    for (const [name, item] of Object.entries(credentials)) {
      const isPlain = item === null || (name === identifier && typeof item !== 'object')
      setMember(copy, this.text(name), isPlain ? this.copy(item, undefined) : SECRET)
    }
    return Object.freeze(copy)
  }

  /** Copies an answer. Its records have the attributes of the resource that it names; other members of the envelope are not attributes. */
  copyAnswer(body: unknown, model: Model): unknown {
    const envelope = asObject(body)
    if (envelope === undefined) return this.copy(body, undefined)
    const named = envelope['resource']
    const resource = typeof named === 'string' ? model.byName.get(named) : undefined
    const isError = envelope['success'] === false && 'code' in envelope && 'detail' in envelope
    if (!isError && resource === undefined) return this.copy(body, undefined)
    const copy: Record<string, unknown> = {}
    for (const [name, item] of Object.entries(envelope)) {
      if (item === undefined) continue
      setMember(copy, this.text(name), name === named ? this.copy(item, resource) : this.copy(item, undefined, !ENVELOPE_KEYS.has(name)))
    }
    return Object.freeze(copy)
  }
}

/** Sets a member by a name of the client, including `__proto__`. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/** Finds the shape of the value under a name. */
function findShape(shape: Shape, name: string): Shape {
  const attribute = shape?.byName.get(name)
  if (attribute === undefined || attribute.kind === 'scalar') return undefined
  if (attribute.kind === 'embedded') return attribute
  return attribute.kind === 'toOneOf' ? mergeShapes(attribute.branches.map(({ target }) => target)) : attribute.target
}

/** Merges several shapes: an attribute that is secret in one of them is secret. */
function mergeShapes(shapes: readonly Resource[]): Shape {
  const attributes = shapes.flatMap(shape => shape.attributes).toSorted((a, b) => Number(a.hidden) - Number(b.hidden))
  return { byName: new Map(attributes.map(each => [each.name, each])) }
}

function maskTokens(text: string): string {
  return text.includes('eyJ') ? text.replace(TOKEN, found => (isToken(found) ? SECRET : found)) : text
}

/** Whether the first part is the header of a token (RFC 7515 section 4). */
function isToken(text: string): boolean {
  const header = Buffer.from(text.slice(0, text.indexOf('.')), 'base64url').toString('utf8')
  return /^\{"[\x20-\x7e]*"\s*:/.test(header)
}
