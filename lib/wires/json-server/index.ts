/** The wire of json-server 0.17 and 1. The README of json-server holds, also where json-server differs. */
import type { Wire, WireAnswer, WireApi, WireRequest, WireResource } from '../../foundation/base/wire.ts'
import type { Version } from './conditions.ts'
import { addressOf, answerList, embeddedOf, listAll, valuesOf } from './lists.ts'
import { askedOf, findResource, findShow, isOwnList, listLinks, NOTHING_EMBEDDED, readBody, unsetOthers, type Fields } from './records.ts'

/** Options of `jsonServer`. */
export interface JsonServerOptions {
  /** 0: json-server 0.17. 1: json-server 1, with the paging of 0.17, too. Default: 1. */
  readonly version?: 0 | 1
}

/**
 * Makes a wire for the option `wire`, with the answers of json-server.
 *
 * @throws TypeError for another version or option
 * @example
 * const engine = await RestEngine.create({ ...fromJson(data, { open: true }), wire: jsonServer() })
 * const response = await engine.fetch('http://api.test/posts?views:gte=10&_sort=-views&_embed=comments')
 */
export function jsonServer(options: JsonServerOptions = {}): Wire {
  const { version = 1, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new TypeError(`jsonServer: there is no option "${unknown}". Options: version.`)
  if ((version as unknown) !== 0 && (version as unknown) !== 1)
    throw new TypeError(`jsonServer: "version" must be 0 (json-server 0.17) or 1, got ${JSON.stringify(version)}.`)
  return {
    takes: ['form', 'text'],
    answer: async (request, api) => new RequestAnswerer(request, api, version).answer(),
    repeatable: true,
    refuse: ({ status, code, detail, errors }) =>
      status === 404 ? notFound(version) : { status, body: { error: code, message: detail, ...(errors === undefined ? {} : { errors }) } },
  }
}

function notFound(version: Version): WireAnswer {
  return { status: 404, body: version === 0 ? {} : { error: 'Not Found' } }
}

class RequestAnswerer {
  readonly #request: WireRequest
  readonly #api: WireApi
  readonly #version: Version

  constructor(request: WireRequest, api: WireApi, version: Version) {
    this.#request = request
    this.#api = api
    this.#version = version
  }

  async answer(): Promise<WireAnswer> {
    const { method, segments } = this.#request
    const [name, id, list, ...others] = segments
    const isRead = method === 'GET' || method === 'HEAD'
    const resource = findResource(this.#api, name)
    if (resource === undefined) return name === 'db' && id === undefined && isRead ? this.#database() : this.#none()
    if (others.length > 0) return this.#none()
    if (resource.single) return id === undefined ? this.#single(resource) : this.#none()
    if (list !== undefined) return this.#below(resource, id!, list)
    if (id !== undefined) return this.#record(resource, id)
    if (isRead) return answerList(this.#request, this.#api, resource, this.#version)
    return method === 'POST' ? this.#create(resource, {}) : this.#none()
  }

  #none(): WireAnswer {
    return notFound(this.#version)
  }

  async #database(): Promise<WireAnswer> {
    const lists: [string, unknown][] = []
    for (const resource of this.#api.resources) {
      const shown = await this.#allowed(this.#content(resource))
      if (shown !== undefined) lists.push([resource.name, shown])
    }
    return { status: 200, body: Object.fromEntries(lists) }
  }

  async #content(resource: WireResource): Promise<unknown> {
    if (resource.single) return this.#show(resource, await this.#ask('GET', resource))
    const records = await listAll(this.#api, resource, askedOf(resource, NOTHING_EMBEDDED))
    return records.map(findShow(this.#api, resource, NOTHING_EMBEDDED))
  }

  /** @returns undefined for what the caller may not read */
  async #allowed<T>(asked: Promise<T>): Promise<T | undefined> {
    return asked.catch((error: unknown) => {
      const status = (error as { readonly status?: unknown } | undefined)?.status
      if (status === 401 || status === 403 || status === 404 || status === 405) return undefined
      throw error
    })
  }

  async #single(resource: WireResource): Promise<WireAnswer> {
    const { method } = this.#request
    if (method === 'GET' || method === 'HEAD') return { status: 200, body: this.#show(resource, await this.#ask('GET', resource)) }
    const isReplaced = method === 'PUT' || (method === 'POST' && this.#version === 0)
    if (!isReplaced && method !== 'PATCH') return this.#none()
    const body = this.#body(resource, false)
    if (body === undefined) return NO_OBJECT
    const changed = await this.#ask('PATCH', resource, isReplaced ? { ...unsetOthers(resource), ...body } : body)
    return { status: method === 'POST' ? 201 : 200, body: this.#show(resource, changed) }
  }

  async #ask(method: string, { name }: WireResource, body?: Fields): Promise<Fields> {
    return (await this.#api.ask(method, `/${encodeURIComponent(name)}`, undefined, body)) as Fields
  }

  /** `/posts/1/comments` */
  async #below(resource: WireResource, id: string, name: string): Promise<WireAnswer> {
    const other = findResource(this.#api, name)
    const [link] = other === undefined ? [] : listLinks(other, resource)
    const { method, pairs } = this.#request
    if (other === undefined || link === undefined) return this.#none()
    const key = link.ids ?? `${link.name}Id`
    if (method === 'POST') return this.#create(other, { [key]: id })
    if (method !== 'GET' && method !== 'HEAD') return this.#none()
    return answerList({ ...this.#request, pairs: [...pairs, [key, id]] }, this.#api, other, this.#version)
  }

  async #record(resource: WireResource, id: string): Promise<WireAnswer> {
    const { method } = this.#request
    if (method === 'GET' || method === 'HEAD') {
      const embedded = embeddedOf(this.#request, this.#api, resource)
      const record = await this.#api.get(resource, id, askedOf(resource, embedded))
      return { status: 200, body: findShow(this.#api, resource, embedded)(record) }
    }
    if (method === 'DELETE') return this.#remove(resource, id)
    if (method !== 'PUT' && method !== 'PATCH') return this.#none()
    const body = this.#body(resource, false)
    if (body === undefined) return NO_OBJECT
    const changed = await this.#api.update(resource, id, method === 'PUT' ? { ...unsetOthers(resource), ...body } : body)
    return { status: 200, body: this.#show(resource, await this.#whole(resource, changed)) }
  }

  async #create(resource: WireResource, more: Fields): Promise<WireAnswer> {
    const body = this.#body(resource, true, more)
    if (body === undefined) return NO_OBJECT
    const made = await this.#whole(resource, (await this.#api.create(resource, body)) as Fields)
    const headers = { location: `${addressOf(this.#request)}/${idOf(resource, made)}`, 'access-control-expose-headers': 'Location' }
    return { status: 201, headers, body: this.#show(resource, made) }
  }

  /** Adds lists of IDs, given by the engine only on demand. */
  async #whole(resource: WireResource, record: Fields): Promise<Fields> {
    const lists = resource.attributes.filter(isOwnList).map(({ ids, name }) => ids ?? name)
    return lists.length === 0 ? record : { ...record, ...(await this.#api.get(resource, partsOf(resource, record), { attributes: lists })) }
  }

  /** json-server 0.17 removes all linking records, 1 only of resources in `_dependent`; other links become null. */
  async #remove(resource: WireResource, id: string): Promise<WireAnswer> {
    const named = valuesOf(this.#request.pairs, '_dependent')
    const removed = this.#show(resource, await this.#whole(resource, await this.#api.get(resource, id)))
    for (const other of this.#api.resources) {
      if (other.single || (this.#version === 1 && !named.includes(other.name))) continue
      for (const { name } of listLinks(other, resource)) {
        const where = { [name]: this.#typedId(resource, removed) }
        for (const each of (await this.#allowed(listAll(this.#api, other, { where }))) ?? [])
          if (other.name !== resource.name || idOf(other, each) !== id) await this.#api.remove(other, partsOf(other, each))
      }
    }
    await this.#api.remove(resource, id)
    return { status: 200, body: this.#version === 0 ? {} : removed }
  }

  #typedId({ key }: WireResource, record: Fields): unknown {
    return key.length === 1 ? record[key[0]!] : key.map(name => record[name])
  }

  /** Finds the resource anew: a written record may bring attributes. */
  #show({ name }: WireResource, record: Fields): Fields {
    return findShow(this.#api, findResource(this.#api, name)!, NOTHING_EMBEDDED)(record)
  }

  /** Undefined: no object. Without a content type, `fetch` sends JSON as text. */
  #body(resource: WireResource, isNew: boolean, more: Fields = {}): Fields | undefined {
    const { body = {} } = this.#request
    const value = typeof body === 'string' ? readJson(body) : body
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return undefined
    return readBody(this.#api, resource, { ...value, ...more }, isNew)
  }
}

const NO_OBJECT: WireAnswer = { status: 400, body: { error: 'Body must be a JSON object' } }

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function idOf(resource: WireResource, record: Fields): string {
  return partsOf(resource, record).join('~')
}

function partsOf({ key }: WireResource, record: Fields): string[] {
  return key.map(name => String(record[name]))
}
