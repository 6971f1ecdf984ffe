/**
 * Answers `/docs` and below with pages of the caller's OpenAPI document, else with a log-in page. Refuses with method_not_allowed,
 * path_unknown, version_unknown and parameter_invalid.
 */
import type { Diagram } from '../../description/diagram/diagram-parts.ts'
import type { PageFrame } from '../../description/docs-page/frame.ts'
import type { OpenApiDocument } from '../../description/openapi/openapi-document.ts'
import type { DescribedEnvelope } from '../../description/openapi/source.ts'
import { LazyClient } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { JSON_TYPE } from '../../foundation/base/response.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { WholeText } from '../../foundation/http/text-stream.ts'
import { NO_VERSION, formatRoot, listVersions } from '../../records/request/address.ts'
import { DESCRIPTION, DOCS, WORKBENCH } from '../../records/request/reserved-paths.ts'
import { findOrigin, type MountedRequest } from './mount.ts'
import { PAGE_POLICY } from './page-policy.ts'
import { acceptsHtml } from './static-files.ts'
import type { TransportResponse } from './transport.ts'

export interface DocumentedEngine {
  readonly versions: readonly string[]
  look(path: string, client: LazyClient): Promise<TransportResponse>
  describe(options: { readonly version: string; readonly details: true }, isReadOnly: boolean, base: string): Promise<OpenApiDocument>
  readonly envelope: DescribedEnvelope | undefined
  describeDiagram(version: string): Promise<Diagram>
  /** `undefined`: no log-in, or a body of the application. */
  readonly logInNames: readonly [string, string] | undefined
  readonly logInPath: string | undefined
  readonly hasLogIn: boolean
}

interface SentPageRequest {
  readonly method: string
  readonly target: string
  readonly base: string
  readonly origin: string
  readonly authorization: string | undefined
  readonly readOnly: boolean
  readonly workbench: boolean
}

const METHODS = 'GET, HEAD, OPTIONS'
const PATH = `/${DOCS}`
/** The document in full, for tools. */
const DOCUMENT = `${PATH}/${DESCRIPTION}`
const FILES: ReadonlyMap<string, { readonly type: string; readonly read: () => Promise<string> }> = new Map([
  [`${PATH}/page.css`, { type: 'text/css', read: async () => (await import('../../description/docs-page/style.ts')).PAGE_STYLE }],
  [`${PATH}/page.js`, { type: 'text/javascript', read: async () => (await import('../../description/docs-page/script.ts')).SCRIPT }],
])

export function isDocsPath(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  return path === PATH || path.startsWith(`${PATH}/`)
}

export async function answerDocs(engine: DocumentedEngine, request: SentPageRequest): Promise<TransportResponse> {
  const { method, target, base } = request
  if (method === 'OPTIONS') return { status: 204, headers: { allow: METHODS } }
  if (method !== 'GET' && method !== 'HEAD')
    throw restError('method_not_allowed', `${base}${PATH} does not take ${method}, but ${METHODS}.`, { headers: { allow: METHODS } })
  return findAnswer(engine, request, (target.split('?', 1)[0] ?? '').replace(/(?<=.)\/$/, ''))
}

async function findAnswer(engine: DocumentedEngine, request: SentPageRequest, path: string): Promise<TransportResponse> {
  if (path === PATH || path === DOCUMENT) return answerDocsPage(engine, request, path === DOCUMENT)
  // The former address of the page.
  if (path === `${PATH}/model`) return { status: 308, headers: { location: request.base + request.target.replace('/model', '') } }
  const file = FILES.get(path)
  if (file === undefined)
    throw restError('path_unknown', `There is nothing at ${request.base}${path.slice(0, 200)}: the docs page is ${request.base}${PATH}.`)
  return {
    status: 200,
    headers: { ...PAGE_POLICY, 'content-type': `${file.type}; charset=UTF-8`, 'cache-control': 'no-cache' },
    body: new WholeText(await file.read()),
  }
}

async function answerDocsPage(engine: DocumentedEngine, request: SentPageRequest, isDocument: boolean): Promise<TransportResponse> {
  const version = findVersion(engine, request.target)
  const { base, authorization } = request
  const headers = authorization === undefined ? {} : { authorization }
  const description = `${formatRoot(base, version)}/${DESCRIPTION}`
  const described = await engine.look(description, new LazyClient({ headers }, { base, readOnly: request.readOnly }))
  const isShown = described.status === 200
  if (!isShown && (isDocument || (described.status !== 401 && described.status !== 403))) return described
  const describe = (): Promise<OpenApiDocument> => engine.describe({ version, details: true }, request.readOnly, base)
  if (isDocument) return text(200, JSON_TYPE, JSON.stringify(await describe()))
  const frame: PageFrame = {
    title: isShown ? ((described.body as OpenApiDocument).info['title'] as string) : 'Log in',
    path: base + PATH,
    description,
    version,
    versions: engine.versions,
    workbench: request.workbench ? `${base}/${WORKBENCH}` : undefined,
    hasLogIn: engine.hasLogIn,
  }
  const { renderLogInPage, renderModelPage } = await import('../../description/docs-page/pages.ts')
  if (!isShown) {
    const names = engine.logInNames
    const refusal = authorization === undefined ? undefined : (described.body as { readonly detail?: string }).detail
    const { logInPath } = engine
    const logIn = names === undefined || logInPath === undefined ? undefined : { path: `${formatRoot(base, version)}/${logInPath}`, names }
    return text(described.status, HTML, renderLogInPage(frame, logIn, refusal))
  }
  const { readApi } = await import('../../description/docs-page/described-api.ts')
  const diagram = await engine.describeDiagram(version)
  const api = readApi(await describe(), diagram, engine.envelope)
  return text(200, HTML, renderModelPage(frame, api, diagram, { origin: request.origin, base, version }, engine.logInNames))
}

const HTML = 'text/html; charset=UTF-8'

function text(status: number, type: string, body: string): TransportResponse {
  return { status, headers: { ...PAGE_POLICY, 'content-type': type, 'cache-control': 'no-store' }, body: new WholeText(body) }
}

function findVersion({ versions }: DocumentedEngine, target: string): string {
  const mark = target.indexOf('?')
  const query = new URLSearchParams(mark < 0 ? '' : target.slice(mark))
  for (const name of query.keys())
    if (name !== 'version') throw restError('parameter_invalid', `The docs page takes no parameter "${name.slice(0, 100)}", but "version".`)
  const given = query.get('version')
  const known = listVersions(versions)
  if (given === null) return known[0]!
  if (given !== NO_VERSION && known.includes(given)) return given
  throw restError('version_unknown', `There is no version "${given.slice(0, 100)}".${formatHint(findNearest(given, versions))}`)
}

interface OwningEngine extends DocumentedEngine {
  owns(target: string, hasBase: boolean): boolean
}

interface OpenedAddress {
  readonly request: MountedRequest
  readonly client: LazyClient
  /** Path and query; `below` without the base. */
  readonly target: string
  readonly below: string | undefined
  readonly base: string
}

export interface Pages {
  readonly docs: boolean
  readonly workbench: boolean
  readonly readOnly: boolean
}

/** Answers unless the engine owns the path. Leads browsers from the root address to the workbench, else to the docs page. */
export function answerPage(engine: OwningEngine, opened: OpenedAddress, pages: Pages): Awaitable<TransportResponse> | undefined {
  const { below, base, request } = opened
  if (pages.docs && below !== undefined && isDocsPath(below) && !engine.owns(below, base !== ''))
    return answerDocs(engine, {
      method: request.method ?? '',
      target: below,
      base,
      origin: findOrigin(request),
      authorization: opened.client.header('authorization'),
      readOnly: pages.readOnly,
      workbench: pages.workbench,
    })
  return pages.docs || pages.workbench ? leadToPage(engine, opened, pages) : undefined
}

function leadToPage(engine: OwningEngine, { request, target, below, base }: OpenedAddress, pages: Pages): TransportResponse | undefined {
  const { method, headers } = request
  if (method !== 'GET' && method !== 'HEAD') return undefined
  if (below !== '/' && target !== '/') return undefined
  if (!acceptsHtml(headers.accept) || engine.owns('/', false)) return undefined
  const page = pages.workbench ? WORKBENCH : engine.owns(`/${DOCS}`, base !== '') ? undefined : DOCS
  if (page === undefined) return undefined
  return { status: 302, headers: { location: `${base}/${page}`, vary: 'Accept', 'cache-control': 'no-store' } }
}
