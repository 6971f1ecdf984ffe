/**
 * Answers `/_ui` and below with the workbench and its data. The guard has checked the origin, as for a test control. Refuses with
 * method_not_allowed, path_unknown, version_unknown and body_invalid.
 */
import type { Diagram } from '../../description/diagram/diagram-parts.ts'
import { drawDiagram, escapeText } from '../../description/diagram/svg.ts'
import type { OpenApiDocument } from '../../description/openapi/openapi-document.ts'
import type { DescribedEnvelope } from '../../description/openapi/source.ts'
import type { OutlineOfEngine, Outline } from '../../description/outline/outline-parts.ts'
import type { LazyClient } from '../../foundation/async/abort.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import { JSON_TYPE } from '../../foundation/base/response.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { WholeText } from '../../foundation/http/text-stream.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { NO_VERSION, listVersions } from '../../records/request/address.ts'
import { WORKBENCH } from '../../records/request/reserved-paths.ts'
import { PAGE_POLICY } from './page-policy.ts'
import type { TransportResponse } from './transport.ts'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

interface WorkbenchEngine {
  readonly versions: readonly string[]
  look(path: string, client: LazyClient): Promise<TransportResponse>
  describeDiagram(version: string): Promise<Diagram>
  describe(options: { readonly version: string; readonly details: true }, isReadOnly: boolean, base: string): Promise<OpenApiDocument>
  readonly envelope: DescribedEnvelope | undefined
  outline(options: { readonly version: string; readonly base: string; readonly readOnly: boolean }): Promise<OutlineOfEngine>
}

interface SentWorkbenchRequest {
  readonly method: string
  readonly target: string
  readonly base: string
  readonly origin: string
  readonly body: unknown
  readonly client: LazyClient
  readonly readOnly: boolean
  readonly title: string | undefined
  /** The address of the list that shows this engine. */
  readonly home: string | undefined
  readonly docs: boolean
}

const PATH = `/${WORKBENCH}`
const READS = 'GET, HEAD, OPTIONS'
const MAX_COUNTS = 500
const SAFE = { ...PAGE_POLICY, 'cross-origin-opener-policy': 'same-origin' }
/** `look`: a GET of the page itself; `plain`: a request of the user. Both get the engine's own form. */
const HEADER = 'x-workbench'

export function isWorkbenchPath(target: string): boolean {
  const [path = ''] = target.split('?', 1)
  return path === PATH || path.startsWith(`${PATH}/`)
}

/** A look has no journal entry, and meets no fault. */
export function isLook(method: string | undefined, headers: Readonly<Record<string, unknown>>): boolean {
  return method === 'GET' && headers[HEADER] === 'look'
}

export function isOfWorkbench(headers: Readonly<Record<string, unknown>>, below: string | undefined): boolean {
  return headers[HEADER] === 'look' || headers[HEADER] === 'plain' || (below !== undefined && isWorkbenchPath(below))
}

export async function answerWorkbench(engine: WorkbenchEngine, request: SentWorkbenchRequest): Promise<TransportResponse> {
  const { method, base } = request
  const path = (request.target.split('?', 1)[0] ?? '').slice(PATH.length).replace(/\/$/, '')
  const methods = path === '/counts' ? 'POST, OPTIONS' : READS
  if (method === 'OPTIONS') return { status: 204, headers: { allow: methods } }
  if (!methods.split(', ').includes(method))
    throw restError('method_not_allowed', `${base}${PATH}${path.slice(0, 200)} does not take ${method}, but ${methods}.`, {
      headers: { allow: methods },
    })
  const answer = await findAnswer(engine, request, path)
  return method === 'HEAD' ? { status: answer.status, headers: answer.headers } : answer
}

async function findAnswer(engine: WorkbenchEngine, request: SentWorkbenchRequest, path: string): Promise<TransportResponse> {
  if (path === '/outline.json') return answerOutline(engine, request)
  if (path === '/diagram.svg') return answerDiagram(engine, request)
  if (path === '/resource.html') return answerResource(engine, request)
  if (path === '/counts') return json({ counts: await count(engine, request) })
  if (path === '' && runtime.hasFiles) return answerPage(request)
  const name = path.slice(1)
  const text = runtime.hasFiles ? (await findWorkbenchFiles()).texts.get(name) : undefined
  if (text === undefined)
    throw restError(
      'path_unknown',
      `There is nothing at ${request.base}${PATH}${path.slice(0, 200)}: the workbench is ` +
        `${runtime.hasFiles ? request.base + PATH : 'this page'}.`,
    )
  const type = name.endsWith('.css') ? 'text/css' : name.endsWith('.js') ? 'text/javascript' : 'text/plain'
  const kept = { 'content-type': `${type}; charset=UTF-8`, 'cache-control': 'private, max-age=31536000, immutable' }
  return { status: 200, headers: { ...SAFE, ...kept }, body: new WholeText(text) }
}

async function answerPage({ base }: SentWorkbenchRequest): Promise<TransportResponse> {
  const { script, style } = await findWorkbenchFiles()
  const root = escapeText(base + PATH)
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Workbench · mikro-rest</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/${style}">
<script type="module" src="${root}/${script}"></script>
</head>
<body data-base="${escapeText(base)}">
<noscript>The workbench is a page of scripts, and this browser runs none. The API answers without it:
see ${escapeText(base)}/_test for the test controls.</noscript>
</body>
</html>
`
  return written(HTML, html)
}

async function answerOutline(engine: WorkbenchEngine, request: SentWorkbenchRequest): Promise<TransportResponse> {
  const { base, readOnly, title, home, docs } = request
  const version = findVersion(engine, request)
  const outline = await engine.outline({ version, base, readOnly })
  return json({ ...outline, title: title ?? outline.title, docs, ...(home === undefined ? {} : { home }) } satisfies Outline)
}

async function answerDiagram(engine: WorkbenchEngine, request: SentWorkbenchRequest): Promise<TransportResponse> {
  const version = findVersion(engine, request)
  const svg = drawDiagram(await engine.describeDiagram(version), { title: 'The model', isWhole: false })
  return written('image/svg+xml', svg)
}

async function answerResource(engine: WorkbenchEngine, request: SentWorkbenchRequest): Promise<TransportResponse> {
  const { base, origin, readOnly, target } = request
  const version = findVersion(engine, request)
  const [{ readApi }, { renderResourceParts }] = await Promise.all([
    import('../../description/docs-page/described-api.ts'),
    import('../../description/docs-page/resource-section.ts'),
  ])
  const diagram = await engine.describeDiagram(version)
  const { resources } = readApi(await engine.describe({ version, details: true }, readOnly, base), diagram, engine.envelope)
  const name = new URLSearchParams(target.split('?')[1] ?? '').get('name')
  const resource = resources.find(each => each.name === name)
  if (resource === undefined) throw restError('path_unknown', `The docs have no resource ${JSON.stringify(name?.slice(0, 100))}.`)
  const places = new Map(resources.map(each => [each.name, `#/model/${encodeURIComponent(each.name)}`]))
  return written(HTML, renderResourceParts(resource, { address: { origin, base, version }, places, workbench: '' }, 2))
}

function findVersion(engine: WorkbenchEngine, { target }: SentWorkbenchRequest): string {
  const given = new URLSearchParams(target.split('?')[1] ?? '').get('version')
  const known = listVersions(engine.versions)
  const version = given ?? known[0] ?? NO_VERSION
  if (!known.includes(version))
    throw restError('version_unknown', `There is no version "${version.slice(0, 100)}".${formatHint(findNearest(version, known))}`)
  return version
}

/** For `{ "paths": ["/v1/users?limit=1"] }`; null for an unreadable list. */
async function count(engine: WorkbenchEngine, { body, client }: SentWorkbenchRequest): Promise<(number | null)[]> {
  const paths = isObject(body) ? body['paths'] : undefined
  if (!Array.isArray(paths) || paths.length > MAX_COUNTS || !paths.every(path => typeof path === 'string' && path.startsWith('/')))
    throw restError('body_invalid', `The body must be { "paths": ["/v1/users?limit=1"] }, with at most ${MAX_COUNTS} paths of lists.`)
  const counts: (number | null)[] = []
  for (const path of paths as string[]) {
    const answer = await engine.look(path, client)
    const counted = isObject(answer.body) ? answer.body['count'] : undefined
    counts.push(answer.status === 200 && typeof counted === 'number' ? counted : null)
  }
  return counts
}

const HTML = 'text/html; charset=UTF-8'

function written(type: string, text: string): TransportResponse {
  return { status: 200, headers: { ...SAFE, 'content-type': type, 'cache-control': 'no-store' }, body: new WholeText(text) }
}

function json(body: object): TransportResponse {
  return { status: 200, headers: { ...SAFE, 'content-type': JSON_TYPE, 'cache-control': 'no-store' }, body }
}

/** From `dist/workbench/` of the published package; in a clone, bundled at the first request. */
interface WorkbenchFiles {
  readonly script: string
  readonly style: string
  /** By file name, which changes with the content: browsers may keep the file. */
  readonly texts: ReadonlyMap<string, string>
}

interface Bundler {
  bundleWorkbench(): Promise<ReadonlyMap<string, string>>
}

let loadingFiles: Promise<WorkbenchFiles> | undefined

function findWorkbenchFiles(): Promise<WorkbenchFiles> {
  loadingFiles ??= readFiles().catch((error: unknown) => {
    loadingFiles = undefined
    throw error
  })
  return loadingFiles
}

async function readFiles(): Promise<WorkbenchFiles> {
  const texts = await (import.meta.url.endsWith('.ts') ? bundleSource() : readBuilt())
  const names = [...texts.keys()]
  const find = (form: RegExp): string => {
    const name = names.find(each => form.test(each))
    if (name === undefined) throw new Error(`The workbench has no file ${form.source}: build the package again (npm run build).`)
    return name
  }
  return { script: find(/^main-\w+\.js$/), style: find(/^style-\w+\.css$/), texts }
}

async function bundleSource(): Promise<ReadonlyMap<string, string>> {
  // Computed: no bundle of the library may take in the bundler.
  const { href } = new URL('../../../scripts/bundle-workbench.ts', import.meta.url)
  return ((await import(href)) as Bundler).bundleWorkbench()
}

/** This code stands in a file of `dist/lib/` or below. */
async function readBuilt(): Promise<ReadonlyMap<string, string>> {
  const above = import.meta.url.slice(0, import.meta.url.lastIndexOf('/lib/') + 1)
  const folder = fileURLToPath(new URL('workbench/', above))
  const names = await readdir(folder)
  return new Map(await Promise.all(names.map(async name => [name, await readFile(`${folder}/${name}`, 'utf8')] as const)))
}
