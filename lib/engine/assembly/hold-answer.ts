/**
 * `engine.conforms`: holds an answer against the document of its version, and lists faults in plain words. Throws TypeError for other
 * values.
 */
import type { HeldRequest } from '../pipeline/arrival.ts'
import type { HeldAnswer } from '../../description/conformity/held-answer.ts'
import type { Resource } from '../../model/model.ts'
import { NO_VERSION, formatRoot, decodeSegment } from '../../records/request/address.ts'
import { pairsOfObject, pairsOfText } from '../../records/request/query-string.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { Descriptions } from './descriptions.ts'
import type { Services } from '../pipeline/operate.ts'
import type { CheckedOptions } from '../options/options.ts'

interface HoldingParts {
  readonly descriptions: Descriptions
  readonly served: ReadonlyMap<string, Services>
  readonly options: Pick<CheckedOptions, 'base'>
}

export async function holdAnswer(
  { descriptions, served, options: { base } }: HoldingParts,
  request: HeldRequest | Request,
  response: HeldAnswer | Response,
): Promise<string[]> {
  const { method, path: whole, query } = readRequest(request)
  // Paths of the document have no base.
  const path = base !== '' && whole.startsWith(`${base}/`) ? whole.slice(base.length) : whole
  const answer = await readResponse(response)
  const [, first = ''] = path.split('/')
  const version = first !== NO_VERSION && served.has(first) ? first : [...served.keys()][0]!
  const services = served.get(version)!
  // The body of a QUERY may ask for less, too.
  const conformity = await descriptions.conformity(version, method === 'QUERY' || isCutDown(services, query))
  const others = `${path}/`.startsWith(`${formatRoot('', version)}/`) ? listOtherPaths(path, version, services) : []
  const described = [path, ...others].find(each => conformity.knows(each))
  // The document lacks further names of the application's look-up. Refusals have one form.
  return described === undefined && others.length > 0 && answer.status < 400 ? [] : conformity.check(method, described ?? path, answer)
}

type AskedParameter = readonly [name: string, value: string]

function readRequest(request: HeldRequest | Request): { method: string; path: string; query: readonly AskedParameter[] } {
  if (request instanceof Request) {
    const { pathname, searchParams } = new URL(request.url)
    return { method: request.method, path: pathname, query: [...searchParams] }
  }
  const { method, path, query } = request as Partial<HeldRequest>
  if (typeof method !== 'string' || typeof path !== 'string')
    throw new TypeError("engine.conforms: the request is a Request, or has a method and a path: { method: 'GET', path: '/v1/users' }.")
  const [plain = '', queryInPath = ''] = path.split(/\?(.*)/s)
  return { method: method.toUpperCase(), path: plain, query: [...listParameters(queryInPath), ...listParameters(query)] }
}

/** An unreadable query is refused, whatever its names. */
function listParameters(query: QueryInput | undefined): AskedParameter[] {
  try {
    if (query === undefined) return []
    if (query instanceof URLSearchParams) return [...query]
    const pairs = typeof query === 'string' ? pairsOfText(query.replace(/^\?/, '')) : pairsOfObject(query)
    return pairs.map(({ name, value }) => [name, value])
  } catch {
    return []
  }
}

async function readResponse(response: HeldAnswer | Response): Promise<HeldAnswer> {
  if (response instanceof Response) {
    const text = response.bodyUsed ? undefined : await response.clone().text()
    if (text === undefined)
      throw new TypeError('engine.conforms: the body of the Response has been read; hold it before, or a clone of it.')
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    }
  }
  const { status, headers } = response as Partial<HeldAnswer>
  if (typeof status !== 'number' || typeof headers !== 'object')
    throw new TypeError('engine.conforms: the answer is that of engine.handle, or a Response.')
  return response
}

function isCutDown({ vocabulary }: Services, query: readonly AskedParameter[]): boolean {
  return query.some(([name, value]) => {
    const meant = vocabulary.reserved.get(name)
    return meant === 'attributes' || meant === 'depth' || (meant === 'expand' && value.includes('('))
  })
}

/** Paths with other names of the resource: the document has one name. */
function listOtherPaths(path: string, version: string, { lookUp, model }: Services): string[] {
  const root = formatRoot('', version)
  const [, name = '', ...rest] = path.slice(root.length).split('/')
  const found = name === '' ? undefined : (model.byName.get(decodeSegment(name)) ?? lookUpSafely(decodeSegment(name), version, lookUp))
  const names = found === undefined ? [] : [found.plural, ...found.accepted]
  return names.map(each => [root, encodeURIComponent(each), ...rest].join('/'))
}

/** If the look-up throws, the answer has shown the error. */
function lookUpSafely(name: string, version: string, lookUp: Services['lookUp']): Resource | undefined {
  try {
    return lookUp(name, version)
  } catch {
    return undefined
  }
}
