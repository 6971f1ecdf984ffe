/**
 * Docs pages: answers `/docs` and what is below it, for browsers. A page shows what the OpenAPI document of its version says to the caller, which it asks the engine for; a caller
 * who gets none is asked to log in. No page loads anything from another host, and none has a script or a style in itself.
 * Refuses with method_not_allowed, path_unknown, version_unknown and parameter_invalid.
 */
import type { Diagram } from '../../description/diagram/diagram.ts'
import type { PageFrame } from '../../description/docs-page/frame.ts'
import type { DescribedEnvelope } from '../../description/openapi/source.ts'
import type { OpenApiDocument } from '../../description/openapi/document.ts'
import { LazyClient } from '../../foundation/base/abort.ts'
import { restError } from '../../foundation/base/errors.ts'
import { JSON_TYPE } from '../../foundation/base/response.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { WholeText } from '../../foundation/base/text-stream.ts'
import { NO_VERSION, formatRoot, listVersions } from '../../records/request/address.ts'
import { DESCRIPTION, DOCS } from '../../records/request/reserved-paths.ts'
import { PAGE_POLICY } from './page-policy.ts'
import type { TransportResponse } from './transport.ts'

/** What docs pages ask of the internals of an engine. */
export interface DocumentedEngine {
  readonly versions: readonly string[]
  /** Answers a GET that no journal has. */
  look(path: string, client: LazyClient): Promise<TransportResponse>
  /** Describes a version as it is served below a base. */
  describe(options: { readonly version: string; readonly details: true }, isReadOnly: boolean, base: string): Promise<OpenApiDocument>
  /** The form of answers; undefined: the engine's own. */
  readonly envelope: DescribedEnvelope | undefined
  /** Returns the diagram of a version as plain data. */
  describeDiagram(version: string): Promise<Diagram>
  /** The names of the two members of a log-in; undefined where there is none, or where the application takes a body of its own. */
  readonly logInNames: readonly [string, string] | undefined
  readonly logInPath: string | undefined
  readonly hasLogIn: boolean
}

/** A request for a page. */
export interface SentPageRequest {
  readonly method: string
  /** Path below the base; may carry a query. */
  readonly target: string
  readonly base: string
  /** Scheme and host, as the browser has them. */
  readonly origin: string
  readonly authorization: string | undefined
  /** Whether the server refuses to write. */
  readonly readOnly: boolean
}

type View = 'start' | 'model' | 'document'

const METHODS = 'GET, HEAD, OPTIONS'
const PATH = `/${DOCS}`
/** The views, and the document that Swagger UI shows. */
const VIEWS: ReadonlyMap<string, View> = new Map([
  [PATH, 'start'],
  [`${PATH}/model`, 'model'],
  [`${PATH}/${DESCRIPTION}`, 'document'],
])

/** Whether a request target below the base is a docs page, or a file of one. */
export function isDocsPath(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  return path === PATH || path.startsWith(`${PATH}/`)
}

/** Answers a request for a page, or for a file of one. */
export async function answerDocs(engine: DocumentedEngine, request: SentPageRequest): Promise<TransportResponse> {
  const { method, target, base } = request
  if (method === 'OPTIONS') return { status: 204, headers: { allow: METHODS } }
  if (method !== 'GET' && method !== 'HEAD')
    throw restError('method_not_allowed', `${base}${PATH} does not take ${method}, but ${METHODS}.`, { headers: { allow: METHODS } })
  const answer = await findAnswer(engine, request, (target.split('?', 1)[0] ?? '').replace(/(?<=.)\/$/, ''))
  return method === 'HEAD' ? { status: answer.status, headers: answer.headers } : answer
}

async function findAnswer(engine: DocumentedEngine, request: SentPageRequest, path: string): Promise<TransportResponse> {
  const view = VIEWS.get(path)
  if (view !== undefined) return answerPage(engine, request, view)
  const { findDocsFile } = await import('../../description/docs-page/docs-files.ts')
  const file = path.startsWith(`${PATH}/`) ? await findDocsFile(path.slice(PATH.length + 1)) : undefined
  if (file === undefined)
    throw restError('path_unknown', `There is nothing at ${request.base}${path.slice(0, 200)}: the docs page is ${request.base}${PATH}.`)
  return {
    status: 200,
    headers: { ...PAGE_POLICY, 'content-type': file.type, 'cache-control': 'no-cache' },
    body: new WholeText(file.text),
  }
}

async function answerPage(engine: DocumentedEngine, request: SentPageRequest, view: View): Promise<TransportResponse> {
  const version = findVersion(engine, request.target)
  const { base, authorization } = request
  const headers = authorization === undefined ? {} : { authorization }
  const description = `${formatRoot(base, version)}/${DESCRIPTION}`
  const described = await engine.look(description, new LazyClient({ headers }, { base, readOnly: request.readOnly }))
  if (view === 'document') {
    if (described.status !== 200) return described
    const text = JSON.stringify(await engine.describe({ version, details: true }, request.readOnly, base))
    return { status: 200, headers: { ...PAGE_POLICY, 'content-type': JSON_TYPE, 'cache-control': 'no-store' }, body: new WholeText(text) }
  }
  const { hasSwagger } = await import('../../description/docs-page/docs-files.ts')
  const isSwagger = hasSwagger()
  const frame: PageFrame = {
    title: described.status === 200 ? ((described.body as OpenApiDocument).info['title'] as string) : 'Log in',
    path: base + PATH,
    description,
    detailed: `${base}${PATH}/${DESCRIPTION}${version === NO_VERSION ? '' : `?version=${encodeURIComponent(version)}`}`,
    version,
    versions: engine.versions,
    view: described.status !== 200 ? 'logIn' : isSwagger && view === 'start' ? 'swagger' : 'model',
    hasSwagger: isSwagger,
    hasLogIn: engine.hasLogIn,
  }
  const html = (status: number, text: string): TransportResponse => {
    return {
      status,
      headers: { ...PAGE_POLICY, 'content-type': 'text/html; charset=UTF-8', 'cache-control': 'no-store' },
      body: new WholeText(text),
    }
  }
  const pages = await import('../../description/docs-page/pages.ts')
  if (described.status !== 200) {
    if (described.status !== 401 && described.status !== 403) return described
    const names = engine.logInNames
    const refusal = authorization === undefined ? undefined : (described.body as { readonly detail?: string }).detail
    const { logInPath } = engine
    const logIn = names === undefined || logInPath === undefined ? undefined : { path: `${formatRoot(base, version)}/${logInPath}`, names }
    return html(described.status, pages.renderLogInPage(frame, logIn, refusal))
  }
  if (frame.view === 'swagger') return html(200, pages.renderSwaggerPage(frame))
  const { readApi } = await import('../../description/docs-page/described-api.ts')
  const diagram = await engine.describeDiagram(version)
  const document = await engine.describe({ version, details: true }, request.readOnly, base)
  const api = readApi(document, diagram, engine.envelope)
  return html(200, pages.renderModelPage(frame, api, diagram, { origin: request.origin, base, version }, engine.logInNames))
}

/** The version that the query names, or the first one. */
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
