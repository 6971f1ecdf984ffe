/** Masks hidden and private attributes, passwords, tokens and log-in data in copies of requests and answers, and in error texts. */
import { escapeRegExp } from '../../foundation/base/escape-reg-exp.ts'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'
import { isValue, tableColumns, type EmbeddedAttribute, type Model, type Resource } from '../../model/model.ts'
import { listComparisons } from '../../records/request/filter-groups.ts'
import { textOfPair } from '../../records/request/query-string.ts'
import type { Pair } from '../../records/request/raw-filter.ts'
import { findSession, type SessionPaths } from '../../records/request/session-paths.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

export const SECRET = '[secret]'

/** Names that are secret in any API. */
const SECRET_NAME =
  /^authorization$|(?:^|[_-])(?:auth|access|refresh|id|bearer|session|csrf)[_-]?token$|pass(?:word|wd|phrase)(?:[_-]?(?:hash|confirmation|confirm|repeat|again))?$/i

/** A JSON Web Token, or its beginning: the header, a dot, further parts. */
const TOKEN = /eyJ[\w-]{6,}(?:\.[\w-]*)+/g

/**
 * A name and value in JSON, in a query, in a header: `"password": "x"`, `password=x`, `authorization: Bearer x`. A name is tried from its
 * first character alone: a long word costs linear time.
 */
const VALUE = /(?:(?:Bearer|Basic|Token)\s+)?(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s,;&"'})\]]+)/
const NAMED = new RegExp(`((?<![\\w-])["']?([\\w-]+)["']?\\s*[:=]\\s*(${VALUE.source}))`, 'gi')

/** In characters: shorter secrets occur in other texts by chance. */
const MIN_ECHO = 4

/** Most characters of a value in an error text. */
const REPEATED = 100

/** Undefined if the model does not know the object. */
type Shape = Pick<Resource | EmbeddedAttribute, 'byName'> | undefined

interface RedactedExchange {
  readonly method: string
  readonly path: string
  readonly depth: number | undefined
  readonly pairs: readonly Pair[]
  readonly body: unknown
  readonly resource: Resource | undefined
  readonly attribute: string | undefined
  readonly model: Model
  readonly response: unknown
  readonly error: string | undefined
}

export interface Masked {
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly body: unknown
  readonly response: unknown
  readonly error: string | undefined
  readonly copy: (value: unknown) => unknown
}

interface LogInFacts {
  /** Names the user; no secret. */
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

  isSecretColumn(column: string): boolean {
    return this.#columns.has(column) || SECRET_NAME.test(column)
  }

  maskStored(text: string): string {
    const masked = maskTokens(text)
    if (!/^\s*[[{]/.test(masked)) return masked
    let value: unknown
    try {
      value = JSON.parse(masked)
    } catch {
      return masked
    }
    const copy = JSON.stringify(new Mask(this.#names, undefined).copy(value, undefined))
    return copy.includes(SECRET) ? copy : masked
  }

  /** Masks values after secret names, too (`password: "x"`). */
  maskNote(text: string): string {
    return maskTokens(text).replaceAll(NAMED, (found, before: string, name: string, value: string) =>
      this.#names.has(name) || SECRET_NAME.test(name) ? found.slice(0, before.length - value.length) + SECRET : found,
    )
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
    // Gathers all secrets first: a text may repeat any.
    if (identifier !== undefined) mask.gatherLogIn(body, identifier)
    else if (isSecretBody) mask.gather(body)
    else mask.gatherIn(wrapped, wrappedShape)
    for (const segment of segments) mask.gatherSegment(segment)
    for (const pair of pairs) for (const value of mask.listSecrets(pair, resource)) mask.gather(value)
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
      query: pairs.map(pair => {
        const { operator, value } = pair
        const name = mask.text(mask.maskGroup(pair, resource))
        return Object.freeze([
          name + operator,
          pair.isGroup !== true && mask.isSecretPath(pair.name, resource) ? SECRET : mask.text(value),
        ] as const)
      }),
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
    const names = attribute.hidden ? [attribute.name, attribute.property] : []
    return attribute.kind === 'embedded' ? [...names, ...listHiddenNames(attribute)] : names
  })
}

/** Includes columns of documents with hidden values. */
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
    // The request was refused, and is shown as sent.
    return segment
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
}

class Mask {
  readonly #names: ReadonlySet<string>
  readonly #resource: Shape
  readonly #echoes = new Set<string>()
  #pattern: RegExp | undefined

  /** @param resource whose attributes errors name */
  constructor(names: ReadonlySet<string>, resource: Shape) {
    this.#names = names
    this.#resource = resource
  }

  /** `auth_token` is always secret, an attribute if hidden, an unknown name if hidden in any resource. */
  isSecret(name: string, shape: Shape): boolean {
    if (SECRET_NAME.test(name)) return true
    const attribute = shape?.byName.get(name)
    return attribute === undefined ? this.#names.has(name) : attribute.hidden
  }

  isSecretPath(name: string, resource: Shape): boolean {
    return name
      .replace(/^!+/, '')
      .split('|')
      .some(path => {
        let shape = resource
        for (const part of path.split('.')) {
          // A position in a list.
          if (/^\d+$/.test(part)) continue
          if (this.isSecret(part, shape)) return true
          shape = findShape(shape, part)
        }
        return false
      })
  }

  listSecrets({ name, value, isGroup }: Pair, resource: Shape): readonly string[] {
    if (isGroup !== true) return this.isSecretPath(name, resource) ? [value] : []
    return listComparisons(name).flatMap(({ path, from, to }) => {
      const text = name.slice(from, to)
      return this.isSecretPath(path, resource) ? [text, text.replaceAll(/\\(.)/gs, '$1')] : []
    })
  }

  /** A group, such as `(name=Ann|age>3)`, holds values in the name. */
  maskGroup({ name, isGroup }: Pair, resource: Shape): string {
    if (isGroup !== true) return name
    const secrets = listComparisons(name).filter(({ path }) => this.isSecretPath(path, resource))
    return secrets.reduceRight((text, { from, to }) => text.slice(0, from) + SECRET + text.slice(to), name)
  }

  gather(value: unknown): void {
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value)
      if (text.length < MIN_ECHO) return
      // As such, and as spelled in JSON, in paths and in links to pages.
      const spellings = [text, JSON.stringify(text).slice(1, -1)]
      if (text.isWellFormed())
        spellings.push(encodeURIComponent(text), textOfPair({ name: '', operator: '', value: text, bare: false }).slice(1))
      // Error texts repeat only the beginning of a long value.
      for (const spelling of spellings) this.#echoes.add(spelling).add(spelling.slice(0, REPEATED))
    } else if (Array.isArray(value)) {
      for (const item of value) this.gather(item)
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value)) this.gather(item)
    }
  }

  /** Error texts repeat segments as sent. */
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
    // A password equal to the user's name is shown anyway.
    const userName = credentials?.[identifier]
    if (typeof userName === 'string') this.#echoes.delete(userName)
  }

  text(text: string): string {
    if (this.#echoes.size > 0) {
      // Longest first: a secret may contain another.
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
    // A field error may repeat the value of its attribute.
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

  /** Members beside the records are no attributes. */
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

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

function findShape(shape: Shape, name: string): Shape {
  const attribute = shape?.byName.get(name)
  if (attribute === undefined || attribute.kind === 'scalar') return undefined
  if (attribute.kind === 'embedded') return attribute
  return attribute.kind === 'toOneOf' ? mergeShapes(attribute.branches.map(({ target }) => target)) : attribute.target
}

function mergeShapes(shapes: readonly Resource[]): Shape {
  const attributes = shapes.flatMap(shape => shape.attributes).toSorted((a, b) => Number(a.hidden) - Number(b.hidden))
  return { byName: new Map(attributes.map(each => [each.name, each])) }
}

function maskTokens(text: string): string {
  return text.includes('eyJ') ? text.replace(TOKEN, found => (isToken(found) ? SECRET : found)) : text
}

/** RFC 7515 section 4: the first part is a header. */
function isToken(text: string): boolean {
  const header = new TextDecoder().decode(runtime.parseBytes(text.slice(0, text.indexOf('.')), 'base64url'))
  return /^\{"[\x20-\x7e]*"\s*:/.test(header)
}
