/** Sends the requests that a fake has answered to the real backend, and reports the differences (`checkAgainst`). */
import { idNames } from '../../model/key.ts'
import { flag, integer, readOptions, textsByName, type OptionTable } from '../../foundation/base/option-table.ts'
import type { Resource } from '../../model/model.ts'
import { textOfPair, pairsOfObject } from '../../records/request/query-string.ts'
import { isObject } from '../../foundation/json/json.ts'
import { findId, type PlainRecord } from '../self-test/values.ts'
import { compareAnswers, type RealAnswer } from './compare.ts'
import { Exchange, type Send } from './exchange.ts'
import { Differences, formatDrift, printable, type DriftReport } from './report.ts'
import { findPlace, formatForm, replaceValues, type AnsweredRequest, type FakeVersion, type RequestPlace } from './replay.ts'
import type { CompiledTemplate } from '../../foundation/http/envelope-template.ts'

/** Options of `checkAgainst`. */
export interface DriftOptions {
  /** Headers of every request to the real backend, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends POST, PUT, PATCH and DELETE too, which change the real backend's data. Default: false. */
  readonly writes?: boolean
  /** Maximum requests. Default: 300. */
  readonly maxRequests?: number
  /** Milliseconds for an answer. Default: 5,000. */
  readonly timeout?: number
  /** Milliseconds for all answers. Default: 60,000. */
  readonly totalTimeout?: number
  /** Maximum bytes of an answer. Default: 16,777,216 (16 MiB). */
  readonly maxAnswerBytes?: number
}

export interface Fake {
  readonly base: string
  readonly versions: readonly FakeVersion[]
  /** Undefined: the engine's form of answers. */
  readonly envelope?: FakeEnvelope | undefined
  conforms(request: { readonly method: string; readonly path: string }, response: RealAnswer): Promise<string[]>
}

const OPTIONS = {
  headers: [textsByName],
  writes: [flag],
  maxRequests: [integer(1), 300],
  timeout: [integer(1), 5000],
  totalTimeout: [integer(1), 60_000],
  maxAnswerBytes: [integer(1), 16_777_216],
} as const satisfies OptionTable<DriftOptions>
type Bounds = Required<Omit<DriftOptions, 'headers' | 'writes'>>

/** @param origin of the real backend, without the base of the fake */
export async function checkDrift(
  send: Send,
  origin: string,
  fake: Fake,
  answered: readonly AnsweredRequest[],
  given: DriftOptions,
): Promise<DriftReport> {
  const options = readOptions(given, OPTIONS, 'checkAgainst')
  const drift = new Drift(new Exchange(send, origin, options), origin, fake, options)
  await drift.compare(answered)
  return drift.report()
}

class Drift {
  readonly #exchange: Exchange
  readonly #origin: string
  readonly #fake: Fake
  readonly #options: DriftOptions & Bounds
  readonly #differences = new Differences()
  readonly #skipped = new Set<string>()
  /** A record of each resource in the real backend. */
  readonly #records = new Map<Resource, Promise<PlainRecord | undefined>>()
  /** IDs in the real backend, by resource and ID in the fake. */
  readonly #created = new Map<string, string>()
  #requests = 0

  constructor(exchange: Exchange, origin: string, fake: Fake, options: DriftOptions & Bounds) {
    this.#exchange = exchange
    this.#origin = origin
    this.#fake = fake
    this.#options = options
  }

  async compare(answered: readonly AnsweredRequest[]): Promise<void> {
    const forms = new Set<string>()
    for (const asked of answered) {
      const isWrite = asked.method !== 'GET'
      if ((isWrite && this.#options.writes !== true) || asked.status >= 500) continue
      const place = findPlace(asked.path, this.#fake.base, this.#fake.versions)
      if (place === undefined) continue
      const form = formatForm(asked, place)
      if (!isWrite && forms.has(form)) continue
      forms.add(form)
      if (this.#requests >= this.#options.maxRequests) {
        this.#skipped.add(`More than ${this.#options.maxRequests} requests: raise "maxRequests".`)
        return
      }
      if (this.#isOver()) return
      await this.#compareOne(asked, place)
    }
  }

  report(): DriftReport {
    const differences = this.#differences.list()
    const plain = { passed: differences.length === 0, requests: this.#requests, differences, skipped: [...this.#skipped].map(printable) }
    return Object.defineProperty({ ...plain }, 'toString', { value: () => formatDrift(plain), enumerable: false })
  }

  async #compareOne(asked: AnsweredRequest, place: RequestPlace): Promise<void> {
    // A missing record proves nothing: backends have different records.
    if (place.id !== undefined && asked.status === 404) return
    const id = place.id === undefined ? undefined : await this.#findRealId(place)
    if (place.id !== undefined && id === undefined) {
      this.#skipped.add(`${place.template}: the real backend shows no record of ${place.resource?.plural} whose ID is known.`)
      return
    }
    const path = id === undefined ? this.#below(asked.path) : place.template.replace('{id}', id)
    const record = place.answered === undefined ? undefined : await this.#findRecord(place.answered, place)
    // A value refused by the fake must be refused too.
    const query = asked.status < 400 ? replaceValues(asked.query, place, record) : asked.query
    const text = formatQuery(query)
    const target = `${path}${text === '' ? '' : `?${text}`}`
    const request = { method: asked.method, url: this.#origin + target }
    const found = { request, resource: place.answered?.plural ?? place.resource?.plural }
    const real = await this.#ask(asked.method, target, asked.body)
    if (real === undefined) return
    if (typeof real === 'string') {
      this.#differences.add({ ...found, kind: 'answer', attribute: undefined, parameter: undefined, message: real })
      return
    }
    const template = findTemplate(this.#fake.envelope, place, asked.method)
    const bare = template === undefined ? findBare(real, place) : undefined
    if (bare !== undefined)
      this.#differences.add({ ...found, kind: 'type', attribute: undefined, parameter: undefined, message: bare.message })
    const held = bare === undefined ? real : { ...real, body: bare.body }
    const faults = await this.#fake.conforms({ method: asked.method, path: this.#fake.base + target }, held)
    const isOther = asked.status >= 400 && this.#fake.envelope?.error !== undefined
    const own = { ...asked, response: isOther ? undefined : toOwnForm(asked.response, template, place) }
    const shown = { ...held, body: toOwnForm(held.body, template, place) }
    const recordsAt = findRecordsPath(template, place)
    for (const difference of compareAnswers({ place, asked: own, query, real: shown, faults, recordsAt }))
      this.#differences.add({ ...found, ...difference })
    if (asked.method === 'POST' && place.resource !== undefined) this.#learn(place.resource, own, shown)
  }

  #below(path: string): string {
    const { base } = this.#fake
    return path.startsWith(`${base}/`) ? path.slice(base.length) : path
  }

  async #findRealId(place: RequestPlace): Promise<string | undefined> {
    const { resource, id } = place
    if (resource === undefined || id === undefined) return undefined
    const created = this.#created.get(`${resource.plural} ${decodeURIComponent(id)}`)
    const record = created === undefined ? await this.#findRecord(resource, place) : undefined
    const real = created ?? (record === undefined ? undefined : findId(record, resource))
    return real === undefined ? undefined : idNames(resource).length === 1 ? encodeURIComponent(real) : real
  }

  #findRecord(resource: Resource, place: RequestPlace): Promise<PlainRecord | undefined> {
    const known = this.#records.get(resource)
    if (known !== undefined) return known
    const { version } = place
    const root = version.name === '' ? '' : `/${version.name}`
    const finding = this.#ask('GET', `${root}/${encodeURIComponent(resource.plural)}`, undefined).then(answer => {
      const given = typeof answer === 'object' ? answer.body : undefined
      const list = { ...place, answered: resource, isList: true }
      const body = toOwnForm(given, findTemplate(this.#fake.envelope, list, 'GET'), list)
      const records: unknown = isObject(body) ? body[resource.plural] : body
      return Array.isArray(records) ? records.find(isObject) : undefined
    })
    this.#records.set(resource, finding)
    return finding
  }

  /** Reports the timeout, too. */
  #isOver(): boolean {
    if (!this.#exchange.isOver) return false
    this.#skipped.add(`What was left after ${this.#options.totalTimeout} ms: raise "totalTimeout".`)
    return true
  }

  /** A text if no answer can be compared, undefined after the timeout. */
  #ask(method: string, target: string, body: unknown): Promise<RealAnswer | string | undefined> {
    if (method !== 'GET' && this.#options.writes !== true) throw new Error(`checkAgainst: ${method} is sent with "writes" alone.`)
    // A comparison may send a second request.
    if (this.#isOver()) return Promise.resolve(undefined)
    this.#requests++
    const headers = { ...this.#options.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    return this.#exchange.ask({ method, target, headers, body })
  }

  #learn(resource: Resource, asked: AnsweredRequest, real: RealAnswer): void {
    const [fake, other] = [asked.response, real.body].map(body => {
      const record = isObject(body) ? body[resource.singular] : undefined
      return isObject(record) ? findId(record, resource) : undefined
    })
    if (fake !== undefined && other !== undefined) this.#created.set(`${resource.plural} ${fake}`, other)
  }
}

/** Puts bare records into an envelope, to compare attributes. */
function findBare(
  { status, body }: RealAnswer,
  { answered, isList, attribute }: RequestPlace,
): { readonly body: PlainRecord; readonly message: string } | undefined {
  if (status >= 300 || answered === undefined) return undefined
  const envelope = { success: true, timestamp: new Date(0).toISOString() }
  if (isList && Array.isArray(body)) {
    const page = { offset: 0, limit: body.length, filter: [], count: body.length, previous: null, next: null }
    const message = 'The real backend answers with a bare array of records, the fake with an object that has them as a member.'
    return { body: { ...envelope, ...page, sort: null, resource: answered.plural, [answered.plural]: body }, message }
  }
  const isRecord = !isList && (attribute === undefined || attribute.kind === 'toOne') && isObject(body)
  if (!isRecord || 'resource' in body || answered.singular in body) return undefined
  const message = 'The real backend answers with a bare record, the fake with an object that has it as a member.'
  return { body: { ...envelope, resource: answered.singular, [answered.singular]: body }, message }
}

function formatQuery(query: AnsweredRequest['query']): string {
  return query.flatMap(([name, value]) => pairsOfObject({ [name]: value }).map(textOfPair)).join('&')
}

interface FakeEnvelope {
  readonly list: CompiledTemplate | undefined
  readonly record: CompiledTemplate | undefined
  readonly removed: CompiledTemplate | undefined
  /** Refusals of the application have no comparable codes. */
  readonly error?: unknown
}

/** @returns undefined for the engine's form */
function findTemplate(
  envelope: FakeEnvelope | undefined,
  { isList, answered }: RequestPlace,
  method: string,
): CompiledTemplate | undefined {
  if (envelope === undefined || answered === undefined) return undefined
  return (method === 'DELETE' ? envelope.removed : undefined) ?? (isList && method !== 'POST' ? envelope.list : envelope.record)
}

/** Gives the engine's form: `{ success: true, resource: 'users', users: [...] }`. */
function toOwnForm(body: unknown, template: CompiledTemplate | undefined, { answered }: RequestPlace): unknown {
  const parts = template?.read(body)
  if (parts === undefined || answered === undefined) return body
  const { records, record, ...others } = parts
  const isList = records !== undefined || (template!.isBare && Array.isArray(record))
  const name = isList ? answered.plural : answered.singular
  return { ...others, success: true, resource: name, [name]: isList ? (records ?? record) : record }
}

function findRecordsPath(template: CompiledTemplate | undefined, { answered }: RequestPlace): readonly string[] | undefined {
  return template === undefined || answered === undefined
    ? undefined
    : (template.pathOf('records', answered) ?? template.pathOf('record', answered))
}
