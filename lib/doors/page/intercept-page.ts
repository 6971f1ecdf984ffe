/** Lets engines answer `fetch` and XMLHttpRequest of a page, for intercepted origins. Refuses options for Node. */
import { anything, flag, readOptions } from '../../foundation/base/option-table.ts'
import { disposeKey } from '../../foundation/runtime/dispose-keys.ts'
import type { WorldEngine } from '../server/controls/world-engine.ts'
import { findIntercepted, formatAddress, readAddresses, type InterceptedAddress, type Origins } from '../server/intercept/addresses.ts'
import type { InterceptOptions, Interception } from '../server/intercept/intercept.ts'
import { answerXmlHttp, type XmlHttpClass } from './xml-http-requests.ts'

type Fetch = typeof globalThis.fetch

interface FetchingEngine {
  readonly fetch: (request: Request) => Promise<Response>
}

const TABLE = { base: [anything], strict: [flag], everywhere: [anything], wire: [anything] } as const

/** The newest interception answers. */
const standing: PageInterception[] = []

/** The replaced members of the page. A service worker has no XMLHttpRequest. */
interface PageClients {
  fetch: Fetch
  XMLHttpRequest?: XmlHttpClass
}

const page = globalThis as unknown as PageClients

/** The page's `fetch`, and the end of the replacement, while interceptions stand. */
let passOn: { readonly fetch: Fetch; readonly end: () => void } | undefined

/** @throws Error where an address is intercepted already */
export function intercept(engine: WorldEngine, origin: Origins, options: InterceptOptions, onDisposed: () => void): Interception {
  const { strict, ...others } = readOptions(options, TABLE, 'intercept')
  for (const [name, value] of Object.entries(others))
    if (value !== undefined) throw new TypeError(`intercept: "${name}" is not possible in a page.`)
  const addresses = readAddresses(origin, undefined, engine.versions)
  const odd = addresses.find(({ base }) => base !== undefined && base !== engine.base)
  if (odd !== undefined)
    throw new TypeError(
      `intercept: in a page the path of an origin is the base of its engine (${JSON.stringify(engine.base)}), got ${formatAddress(odd)}.`,
    )
  for (const { origin: taken } of addresses)
    if (standing.some(each => each.addresses.some(address => address.origin === taken)))
      throw Object.assign(new Error(`intercept: ${taken} is intercepted already.`), { code: 'ERR_ALREADY_INTERCEPTED' })
  return new PageInterception(engine as unknown as FetchingEngine, addresses, strict === true, onDisposed)
}

/** A page cannot tell the work of a request. */
export async function runWithin(): Promise<never> {
  throw new Error('within: not possible in a page, where nothing shows the work of a request: use "engine.intercept".')
}

class PageInterception implements Interception {
  readonly engine: FetchingEngine
  readonly addresses: readonly InterceptedAddress[]
  readonly strict: boolean
  readonly origins: readonly string[]
  readonly #onDisposed: () => void

  constructor(engine: FetchingEngine, addresses: readonly InterceptedAddress[], strict: boolean, onDisposed: () => void) {
    this.engine = engine
    this.addresses = addresses
    this.strict = strict
    this.origins = addresses.map(formatAddress)
    this.#onDisposed = onDisposed
    standing.push(this)
    passOn ??= takePage()
  }

  get dispatcher(): never {
    throw new Error('The interception of a page has no dispatcher: undici is for Node.')
  }

  dispose(): void {
    const place = standing.indexOf(this)
    if (place < 0) return
    standing.splice(place, 1)
    if (standing.length === 0) {
      passOn?.end()
      passOn = undefined
    }
    this.#onDisposed()
  }

  end(): void {
    this.dispose()
  }

  [disposeKey](): void {
    this.dispose()
  }
}

function takePage(): typeof passOn & {} {
  const { fetch, XMLHttpRequest } = page
  const requests = XMLHttpRequest && answerXmlHttp(XMLHttpRequest, findAnswerer('XMLHttpRequest'))
  page.fetch = fetchIntercepted
  if (requests !== undefined) page.XMLHttpRequest = requests
  return {
    fetch,
    end() {
      // Other code may have replaced the members since.
      if (page.fetch === fetchIntercepted) page.fetch = fetch
      if (requests !== undefined && page.XMLHttpRequest === requests) page.XMLHttpRequest = XMLHttpRequest!
    },
  }
}

/** @param client names the sender in the error of a strict interception */
function findAnswerer(client: string): (address: string) => ((request: Request) => Promise<Response>) | undefined {
  return address => {
    const { origin, pathname } = new URL(address)
    const found = standing.findLast(({ addresses }) => findIntercepted(addresses, origin, pathname) !== undefined)
    if (found !== undefined) return request => found.engine.fetch(request)
    if (!standing.some(({ strict }) => strict)) return undefined
    throw Object.assign(new TypeError(`${client}: ${origin} is not intercepted, and an interception is strict.`), {
      code: 'ERR_NOT_INTERCEPTED',
    })
  }
}

const findFetch = findAnswerer('fetch')

const fetchIntercepted: Fetch = async (input, init) => {
  const request = new Request(input, init)
  const answer = findFetch(request.url) ?? passOn?.fetch ?? page.fetch
  return answer(request)
}
