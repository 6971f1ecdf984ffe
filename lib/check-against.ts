/** Compares an engine with the backend that it replaces. */
import type { DriftOptions } from './checks/drift/check.ts'
import type { Send } from './checks/drift/exchange.ts'
import type { DriftReport } from './checks/drift/report.ts'
import type { RestEngine } from './engine.ts'
import type { JournalEntry } from './engine/journal/journal-entry.ts'
import { describeFake } from './try-promises.ts'
import { lowerNames } from './foundation/base/headers.ts'

/**
 * Sends the real backend the reading requests of a journal, and reports where the fake differs: status, shape, types, filters and orders.
 * IDs and values are not compared. Never writes, unless the option `writes` says so.
 *
 * @param backend the address of the backend (`'https://real.example/api'`, in the place of the engine's base), or a function as `fetch`
 * @param journal requests that the engine has answered (`engine.requests` after a green run of tests); default: requests of a self-test
 * @throws TypeError, RangeError for arguments that are not of their form; Error when the engine is closed.
 * @example
 * const report = await checkAgainst('https://real.example/api', engine, engine.requests)
 * assert.ok(report.passed, String(report))
 */
export async function checkAgainst(
  backend: string | URL | Send,
  engine: RestEngine,
  journal?: readonly Pick<JournalEntry, 'method' | 'path' | 'query' | 'body' | 'status' | 'response' | 'nested'>[],
  options: DriftOptions = {},
): Promise<DriftReport> {
  if (typeof backend !== 'string' && !(backend instanceof URL) && typeof backend !== 'function')
    throw new TypeError('checkAgainst: the backend is an address, or a function as fetch.')
  const address = typeof backend === 'function' ? undefined : readAddress(String(backend))
  if (journal !== undefined && !Array.isArray(journal))
    throw new TypeError('checkAgainst: the journal is a list of requests: engine.requests.')
  const { checkDrift } = await import('./checks/drift/check.ts')
  const { origin, headers } = address ?? { origin: `http://localhost${engine.base}`, headers: {} }
  const { readings, ...fake } = await describeFake(engine, journal === undefined)
  const answered =
    journal?.flatMap(entry => (entry.nested || entry.status === undefined ? [] : [{ ...entry, status: entry.status }])) ?? readings
  const send: Send = typeof backend === 'function' ? backend : request => globalThis.fetch(request)
  return checkDrift(send, origin, fake, answered, { ...options, headers: { ...headers, ...lowerNames(options.headers ?? {}) } })
}

/** Moves name and password into a header: no text may show the password. */
function readAddress(text: string): { readonly origin: string; readonly headers: Readonly<Record<string, string>> } {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError(
      `checkAgainst: the address of the backend begins with http:// or https://, got ${JSON.stringify(text.replace(/\/\/.*@/s, '//'))}.`,
    )
  const [name, password] = [url.username, url.password].map(part => decodeURIComponent(part))
  const headers: Record<string, string> =
    name === '' && password === '' ? {} : { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` }
  return { origin: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, headers }
}
