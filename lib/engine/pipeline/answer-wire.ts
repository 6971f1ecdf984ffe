/**
 * Gives a wire a request of another grammar (`?title=eq.Hi`), and an API (`WireApi`): each call of the API is a whole request. Writes run
 * in one transaction, once more where the wire answers `again` (another request has changed the rows between).
 */
import { LazyClient, type RequestAbort } from '../../foundation/async/abort.ts'
import { chain, runCoroutine, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { FormBody } from '../../foundation/http/form-body.ts'
import { READ_METHODS } from '../../foundation/http/http-methods.ts'
import { commitUnlessRefused } from '../../foundation/http/refused.ts'
import type {
  Wire,
  WireAnswer,
  WireApi,
  WireAttribute,
  WireExpanded,
  WireList,
  WireLogIn,
  WireQuery,
  WireRequest,
  WireResource,
} from '../../foundation/base/wire.ts'
import { isInferred } from '../../model/inferred-entities.ts'
import { idNames } from '../../model/key.ts'
import { isRelation, type Attribute, type Model, type RelationAttribute, type Resource } from '../../model/model.ts'
import type { Tally } from '../../records/plan/answer-limits.ts'
import { isNamable } from '../../records/plan/visibility.ts'
import { formatRoot, NO_VERSION } from '../../records/request/address.ts'
import { WireCall, readCarried, readRefusal, type WireConditions } from '../../records/request/inner-request.ts'
import { NO_HEADERS, readHeader } from '../../records/request/parse-request.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { answerFailure } from './answer-failure.ts'
import type { Arrival, StageParts } from './arrival.ts'
import type { Services } from './operate.ts'
import { finishAnswer } from './respond.ts'
import { buildWireAnswer, readWireRequest } from './wire-message.ts'

interface Stages {
  readonly parts: StageParts
  readonly pass: (arrival: Arrival, end: RequestAbort, parts: StageParts) => Coroutine<RestResponse>
}

export async function answerWire(wire: Wire, arrival: Arrival, end: RequestAbort, stages: Stages): Promise<RestResponse> {
  const { parts } = stages
  const { path, context, record } = arrival
  try {
    const base = (context instanceof LazyClient ? context.base : undefined) ?? parts.options.base
    const body = arrival.body instanceof FormBody ? arrival.body.plain() : arrival.body
    const request = readWireRequest({ method: arrival.method, path, headers: context.headers ?? NO_HEADERS, body }, base)
    const { method } = request
    if (record !== undefined && body !== undefined) record.keep(body)
    arrival.trace?.enter('handler')
    const readOnly = parts.options.readOnly || (context instanceof LazyClient && context.readOnly)
    const version = parts.options.versions[0] ?? NO_VERSION
    const sender = { headers: request.headers, base, readOnly, connected: context as object }
    const tally: Tally = { bytes: 0, records: 0 }
    const api = new CallsOfWire(sender, { version, root: formatRoot(base, version), arrival, end, stages, tally })
    const response =
      readOnly || READ_METHODS.includes(method)
        ? checkAnswer(await wire.answer(request, api), end)
        : await answerWhole(request, wire, api, { end, tally, transaction: parts.served.get(version)!.transaction })
    if (record !== undefined) weighAnswer(record, tally, response.body)
    return finishAnswer(response, 'route', { method, path, context, request: undefined }, parts)
  } catch (error) {
    end.throwIfReached()
    return answerFailure(error, { ...arrival, accept: readHeader(context, 'accept'), request: undefined }, parts)
  }
}

function checkAnswer(answer: WireAnswer, end: RequestAbort): RestResponse {
  const response = buildWireAnswer(answer, 'wire.answer')
  end.throwIfReached()
  end.checkTime()
  return response
}

type WholeParts = Pick<CallParts, 'end' | 'tally'> & Pick<Services, 'transaction'>

async function answerWhole(asked: WireRequest, wire: Wire, api: WireApi, { end, tally, transaction }: WholeParts): Promise<RestResponse> {
  let isLate = false
  const answer = async (): Promise<RestResponse> => {
    tally.bytes = tally.records = 0
    const answered = await wire.answer(asked, api)
    const response = checkAnswer(answered, end)
    isLate = response.status >= 400 && answered.again === true
    return response
  }
  const { repeatable = false } = wire
  const mayRepeat = typeof repeatable === 'boolean' ? repeatable : repeatable(asked)
  const place = mayRepeat ? { resource: asked.path, id: undefined } : undefined
  const write = (): Promise<RestResponse> => commitUnlessRefused(work => transaction(work, end, place), answer)
  const response = await write()
  return mayRepeat && isLate ? write() : response
}

/** Counts only the weight of shown records: the journal drops bodies by weight. */
function weighAnswer(record: Tally, { bytes, records }: Tally, body: unknown): void {
  const shown = countObjects(body, 0)
  record.records += shown
  record.bytes += records > shown ? (bytes * shown) / records : bytes
}

/** Estimates: the first member of a list stands for all. */
function countObjects(value: unknown, level: number): number {
  if (typeof value !== 'object' || value === null || level > 8) return 0
  if (Array.isArray(value)) return value.length * countObjects(value[0], level + 1)
  let count = 1
  for (const name in value) count += countObjects((value as Readonly<Record<string, unknown>>)[name], level + 1)
  return count
}

type Sender = ConstructorParameters<typeof WireCall>[0]

interface CallParts {
  readonly version: string
  readonly root: string
  readonly arrival: Arrival
  readonly end: RequestAbort
  readonly stages: Stages
  readonly tally: Tally
}

interface CallOfWire {
  readonly query?: QueryInput | undefined
  readonly body?: unknown
  readonly conditions?: WireConditions | undefined
}

const NO_QUESTION: CallOfWire = Object.freeze({})

const QUERY_NAMES = ['where', 'sort', 'limit', 'offset', 'attributes', 'expand']
const EXPANDED_NAMES = [...QUERY_NAMES, 'count']

class CallsOfWire implements WireApi {
  readonly #sender: Sender
  readonly #parts: CallParts

  constructor(sender: Sender, parts: CallParts) {
    this.#sender = sender
    this.#parts = parts
  }

  get logIn(): WireLogIn | undefined {
    const { stages, version } = this.#parts
    return describeLogIn(stages.parts, version)
  }

  get resources(): readonly WireResource[] {
    const { stages, version } = this.#parts
    return describeResources(stages.parts.served.get(version)!.model)
  }

  as(headers: Readonly<Record<string, string>>): WireApi {
    return new CallsOfWire({ ...this.#sender, headers }, this.#parts)
  }

  async list(resource: WireResource | string, query: WireQuery = {}): Promise<WireList> {
    checkNames(query, QUERY_NAMES, 'api.list')
    const { body } = await this.#ask('GET', pathOf(resource), readWireQuery(query))
    return { records: readCarried(body), count: (body as { readonly count: number }).count } as WireList
  }

  async get(
    resource: WireResource | string,
    id: string | number | bigint,
    query?: Pick<WireQuery, 'attributes' | 'expand'>,
  ): Promise<never> {
    if (query !== undefined) checkNames(query, ['attributes', 'expand'], 'api.get')
    return this.#carried('GET', pathOf(resource, id), query === undefined ? NO_QUESTION : readWireQuery(query))
  }

  async create(resource: WireResource | string, body: unknown): Promise<unknown> {
    return this.#carried('POST', pathOf(resource), { body })
  }

  async update(resource: WireResource | string, id: string | number | bigint, body: unknown): Promise<never> {
    return this.#carried('PATCH', pathOf(resource, id), { body })
  }

  async remove(resource: WireResource | string, id: string | number | bigint): Promise<unknown> {
    return this.#carried('DELETE', pathOf(resource, id), NO_QUESTION)
  }

  async ask(method: string, path: string, query?: QueryInput, body?: unknown): Promise<unknown> {
    if (typeof path !== 'string' || !path.startsWith('/'))
      throw new TypeError(`api.ask: the path must begin with "/", got ${JSON.stringify(path)}.`)
    return this.#carried(method, path, { query, body })
  }

  #carried(method: string, path: string, question: CallOfWire): Awaitable<never> {
    return chain(this.#ask(method, path, question), ({ body }) => readCarried(body) as never)
  }

  #ask(method: string, path: string, { query, body, conditions }: CallOfWire): Awaitable<RestResponse> {
    const { root, arrival, end, stages, tally } = this.#parts
    const context = new WireCall(this.#sender, end, conditions)
    const inner = { method, path: root + path, query, body, context, trace: arrival.trace, record: undefined, tally }
    return chain(runCoroutine(stages.pass(inner, end, stages.parts)), acceptAnswer)
  }
}

function acceptAnswer(response: RestResponse): RestResponse {
  if (response.status < 400) return response
  throw readRefusal(response)
}

function describeLogIn({ options: { auth }, authentication }: StageParts, version: string): WireLogIn | undefined {
  const users = authentication?.describe(version).user?.plural
  if (auth === undefined || users === undefined) return undefined
  const { identifier, password, ttl, paths } = auth.options
  return {
    users,
    identifier,
    password,
    ttl,
    paths: Object.fromEntries(Object.entries(paths).map(([action, path]) => [action, `/${path}`])),
  }
}

function pathOf(resource: WireResource | string, id?: Parameters<WireApi['get']>[1]): string {
  const name = typeof resource === 'string' ? resource : resource.name
  const path = `/${PLAIN.test(name) ? name : encodeURIComponent(name)}`
  if (id === undefined) return path
  if (typeof id !== 'object') return `${path}/${PLAIN.test(String(id)) ? id : encodeURIComponent(String(id))}`
  return `${path}/${id.map(part => encodeURIComponent(String(part)).replaceAll('~', '%7E')).join('~')}`
}

const PLAIN = /^[\w,-]+$/

/** Prefix of paths: empty for relations of the root, `posts.` below posts. */
const NO_PATH = ''

function readWireQuery(asked: WireQuery): CallOfWire {
  const lists = new Map<string, object>()
  const query = writeQuery(asked, NO_PATH, lists)
  return { query, conditions: asked.where === undefined && lists.size === 0 ? undefined : { root: asked.where, lists } }
}

function writeQuery(
  { sort, limit, offset, attributes, expand }: WireQuery,
  path: string,
  lists: Map<string, object>,
): Record<string, string | number> {
  const query: Record<string, string | number> = {}
  if (sort !== undefined && sort.length > 0) query['sort'] = sort.join(',')
  if (limit !== undefined) query['limit'] = limit
  if (offset !== undefined && offset !== 0) query['offset'] = offset
  if (attributes !== undefined) query['attributes'] = attributes.join(',')
  if (expand !== undefined && expand.length > 0)
    query['expand'] = expand.map(each => (typeof each === 'string' ? each : writeExpanded(each, path, lists))).join(',')
  return query
}

/** Writes `posts(sort=id.desc;limit=3)`; the conditions of `where` go to `lists`. */
function writeExpanded(expanded: Readonly<Record<string, WireExpanded>>, path: string, lists: Map<string, object>): string {
  const written = Object.entries(expanded).map(([name, query]) => {
    checkNames(query, EXPANDED_NAMES, `expand of "${name}"`)
    if (query.where !== undefined) lists.set(path + name, query.where)
    const parts = Object.entries(writeQuery(query, `${path}${name}.`, lists)).map(
      ([parameter, value]) => `${parameter}=${parameter === 'expand' ? value : String(value).replaceAll(/[;()]/g, String.raw`\$&`)}`,
    )
    return `${name}(${[...(query.count === true ? ['count'] : []), ...parts].join(';')})`
  })
  return written.join(',')
}

/** By model: a new attribute of an open resource makes another model. */
const described = new WeakMap<Model, readonly WireResource[]>()

function describeResources(model: Model): readonly WireResource[] {
  let resources = described.get(model)
  if (resources === undefined) described.set(model, (resources = Object.freeze(model.resources.filter(isNamable).map(describeResource))))
  return resources
}

function describeResource(resource: Resource): WireResource {
  const { plural, singular, table, attributes, uniques } = resource
  const shown = attributes.filter(({ hidden }) => !hidden)
  const isOfFile = isInferred(resource.entity)
  return Object.freeze({
    name: plural,
    singular,
    // A JSON file has no tables.
    table: isOfFile ? plural : table,
    single: resource.rules.single !== undefined,
    exact: resource.open?.exact === true,
    key: Object.freeze([...idNames(resource)]),
    uniques: uniques.filter(names => names.every(name => shown.some(each => each.name === name))),
    attributes: Object.freeze(shown.map(attribute => describeAttribute(attribute, isOfFile))),
  })
}

function describeAttribute(attribute: Attribute, isOfFile: boolean): WireAttribute {
  const { name, kind, nullable, ids = isOfFile && isRelation(attribute) ? name : undefined } = attribute
  const target = isRelation(attribute) && attribute.target.served && isNamable(attribute.target) ? attribute.target : undefined
  return Object.freeze({
    name,
    kind,
    type: kind === 'scalar' ? attribute.type.kind : undefined,
    nullable,
    column: findColumn(attribute),
    target: target?.plural,
    ids,
    writable: !attribute.readOnly && holdsValue(attribute),
    inverse: target === undefined ? undefined : findInverse(attribute as RelationAttribute, target),
    through: kind === 'toMany' && attribute.via.kind === 'pivot' ? attribute.via.table : undefined,
  })
}

function findInverse(attribute: RelationAttribute, target: Resource): string | undefined {
  const name = attribute.kind === 'toMany' && attribute.via.kind === 'foreign' ? attribute.via.attribute : attribute.otherSide
  return target.attributes.find(each => each.name === name && !each.hidden)?.name
}

function holdsValue(attribute: Attribute): boolean {
  if (attribute.kind === 'toOne') return attribute.owner
  if (attribute.kind === 'toMany') return attribute.via.kind === 'pivot' && attribute.via.owner
  return attribute.kind !== 'scalar' || attribute.source.kind !== 'column' || !attribute.source.generated
}

function findColumn(attribute: Attribute): string | undefined {
  if (attribute.kind === 'scalar') return attribute.source.kind === 'column' ? attribute.source.column : undefined
  if (attribute.kind === 'embedded') return attribute.document?.column
  return attribute.kind === 'toOne' && attribute.owner && attribute.columns.length === 1 ? attribute.columns[0] : undefined
}
