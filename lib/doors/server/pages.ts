/**
 * Answers with the docs page, unless the engine owns the path. Leads browsers from the root address to the workbench, else to the docs
 * page.
 */
import type { LazyClient } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { DOCS, WORKBENCH } from '../../records/request/reserved-paths.ts'
import { answerDocs, isDocsPath, type DocumentedEngine } from './docs-pages.ts'
import { findOrigin, type MountedRequest } from './mount.ts'
import { acceptsHtml } from './static-files.ts'
import type { TransportResponse } from './transport.ts'

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
