/** Check against: compares an engine with the backend that it stands for. The modules that do it are loaded when it is first called. */
import type { DriftOptions, Send } from './drift/check.ts'
import type { DriftReport } from './drift/report.ts'
import type { RestEngine } from './engine.ts'
import type { JournalEntry } from './journal/journal.ts'

/**
 * Sends the real backend the reading requests of a journal, and reports where the fake differs from it: status, shape, types, filters and orders. IDs and values
 * differ between any two backends, and are not compared. It never writes, unless the option `writes` says so.
 *
 * @param backend the address of the backend (`'https://real.example/api'`, in the place of the engine's base), or a function as `fetch`
 * @param journal requests that the engine has answered (`engine.requests` after a green run of tests); default: those of a self-test
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
  const isAddress = typeof backend === 'string' || backend instanceof URL
  if (!isAddress && typeof backend !== 'function') throw new TypeError('checkAgainst: the backend is an address, or a function as fetch.')
  if (isAddress && !/^https?:$/.test(URL.parse(String(backend))?.protocol ?? ''))
    throw new TypeError(`checkAgainst: the address of the backend begins with http:// or https://, got ${JSON.stringify(String(backend))}.`)
  if (journal !== undefined && !Array.isArray(journal))
    throw new TypeError('checkAgainst: the journal is a list of requests: engine.requests.')
  const { checkDrift } = await import('./drift/check.ts')
  const origin = isAddress
    ? String(backend)
        .replace(/[?#].*$/s, '')
        .replace(/\/+$/, '')
    : `http://localhost${engine.base}`
  const { readings, ...fake } = await engine.describeFake(journal === undefined)
  const answered =
    journal?.flatMap(entry => (entry.nested || entry.status === undefined ? [] : [{ ...entry, status: entry.status }])) ?? readings
  const send: Send = typeof backend === 'function' ? backend : request => globalThis.fetch(request)
  return checkDrift(send, origin, fake, answered, options)
}
