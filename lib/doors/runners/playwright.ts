/** Gives each test of Playwright an engine, by the entry `mikro-rest/playwright`. */
import type { TestType } from '@playwright/test'
import type { RestEngine } from '../../engine.ts'
import { TestWorlds, describeOutcome, type EngineSource, type FixtureOptions } from './world-of-test.ts'

export type { EngineSource, FixtureOptions }

interface PlaywrightRoute {
  request(): {
    method(): string
    url(): string
    allHeaders(): Promise<Record<string, string>>
    postDataBuffer(): Uint8Array | null
  }
  fulfill(answer: { readonly status: number; readonly headers: Record<string, string>; readonly body: Buffer }): Promise<void>
  abort(code?: string): Promise<void>
}

interface BrowserContext {
  route(url: (address: URL) => boolean, handler: (route: PlaywrightRoute) => Promise<void>): Promise<void>
}

interface TestInfo {
  readonly title: string
  readonly titlePath: readonly string[]
  readonly file: string
  readonly status?: string
  readonly expectedStatus: string
  readonly errors: readonly { readonly message?: string }[]
  readonly annotations: { type: string; description?: string }[]
  attach(name: string, options: { readonly path: string; readonly contentType: string }): Promise<void>
}

/**
 * Adds a fixture `engine`: a fork of an engine that the first test of a worker creates. The fork answers requests of pages to the origins
 * of `intercept`. Unmet faults become annotations, and a failed test has a recording for `npx mikro-rest FILE` attached.
 *
 * @param source options of `RestEngine.create`, an engine, or a function that returns either
 * @throws TypeError for unknown or invalid options
 * @example
 * const test = withEngine(base, { entities: [User] }, { intercept: 'https://api.example.test' })
 * test('lists users', async ({ engine, page }) => {
 *   await engine.given('user', { name: 'Ann' })
 *   await page.goto('http://localhost:5173')
 *   await expect(page.getByText('Ann')).toBeVisible()
 * })
 */
export function withEngine<Args extends {}, WorkerArgs extends {}>(
  test: TestType<Args, WorkerArgs>,
  source: EngineSource,
  options: FixtureOptions = {},
): TestType<Args & { engine: RestEngine }, WorkerArgs> {
  const worlds = new TestWorlds(source, options)
  // Playwright reads the text of the function: the parameter names the needed fixtures.
  const engine = [
    ({ context }: { context: BrowserContext }, use: (made: RestEngine) => Promise<void>, info: TestInfo) =>
      runFixture(worlds, context, use, info),
    { auto: true },
  ]
  return test.extend({ engine } as never) as TestType<Args & { engine: RestEngine }, WorkerArgs>
}

async function runFixture(
  worlds: TestWorlds,
  context: BrowserContext,
  use: (engine: RestEngine) => Promise<void>,
  info: TestInfo,
): Promise<void> {
  const { engine, end } = await worlds.begin({ name: info.titlePath.slice(1).join(' '), file: info.file })
  for (const origin of [worlds.options.intercept ?? []].flat()) {
    const { origin: wanted, pathname } = new URL(origin)
    const below = pathname.replace(/\/$/, '')
    const isMeant = (address: URL): boolean =>
      address.origin === wanted && (below === '' || address.pathname === below || address.pathname.startsWith(`${below}/`))
    await context.route(isMeant, route => answer(engine, route))
  }
  await use(engine)
  const [error] = info.errors
  const outcome = await end(info.status === info.expectedStatus ? undefined : (error?.message ?? `The test has ended as ${info.status}.`))
  for (const line of describeOutcome(outcome)) info.annotations.push({ type: 'mikro-rest', description: line })
  if (outcome.recording !== undefined)
    await info.attach('mikro-rest recording', { path: outcome.recording.path, contentType: 'application/octet-stream' })
}

/** Answers with CORS for every origin, as the replaced API may do. */
async function answer(engine: RestEngine, route: PlaywrightRoute): Promise<void> {
  const request = route.request()
  const [method, headers, body] = [request.method(), await request.allHeaders(), request.postDataBuffer()]
  const { origin = '*' } = headers
  const cors = { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', 'access-control-expose-headers': '*' }
  if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) {
    const { 'access-control-request-headers': wanted = '*' } = headers
    const allowed = { 'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE', 'access-control-allow-headers': wanted }
    await route.fulfill({ status: 204, headers: { ...cors, ...allowed }, body: Buffer.alloc(0) })
    return
  }
  try {
    const hasBody = body !== null && method !== 'GET' && method !== 'HEAD'
    const init = { method, headers: sendable(headers), ...(hasBody ? { body: new Uint8Array(body) } : {}) }
    const response = await engine.fetch(new Request(request.url(), init))
    const answered = { ...Object.fromEntries(response.headers), ...cors }
    await route.fulfill({ status: response.status, headers: answered, body: Buffer.from(await response.arrayBuffer()) })
  } catch {
    // A fault has dropped the request, or the engine is closed.
    await route.abort('connectionreset')
  }
}

/** `Request` refuses names with a colon, as in HTTP/2. */
function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
}
