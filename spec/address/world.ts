/** Engines of one model at different addresses, and the ways in to them. */
import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { defineEntity, p } from '@mikro-orm/core'
import { request } from 'undici'
import { createServer, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'

export const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    books: () => p.oneToMany(Book).mappedBy('author'),
  },
})
export const Book = defineEntity({
  name: 'Book',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(Author) },
})
export const entities = [Author, Book]
const seed = {
  authors: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  books: ['a', 'b', 'c', 'd', 'e'].map(title => ({ title, author: 1 })),
}

/** An engine of the same data and time, wherever it is. */
export function create(options: Partial<EngineOptions> = {}): Promise<RestEngine> {
  return RestEngine.create({ entities, seed, clock: () => new Date('2026-01-01'), ...options })
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // oxlint-disable-next-line typescript/no-explicit-any -- assertions read it freely
  readonly body: any
}

export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** A way in to an engine: how it is opened at a base that it shall say itself, or at that of the engine. */
export interface WayIn {
  readonly name: string
  /** Whether it can say a base of its own. */
  readonly says: boolean
  readonly open: (engine: RestEngine, base?: string) => Promise<{ ask: Ask } & AsyncDisposable>
}

const ORIGIN = 'https://api.example.test'
const JSON_TYPE = { 'content-type': 'application/json' }

function init(method: string, body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method, ...(body === undefined ? { headers } : { body: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } }) }
}

function parse(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text)
}

async function readResponse(response: Response): Promise<Answer> {
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parse(await response.text()) }
}

/** Asks by node:http. */
export async function askByNode(method: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const sent = (url.startsWith('https:') ? https : http).request(url, {
    method,
    headers: { ...(body === undefined ? {} : JSON_TYPE), ...headers },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode!, headers: response.headers, body: parse(await textOf(response)) }
}

/** Starts a server, and asks it. */
export async function serve(server: http.Server): Promise<{ ask: Ask; origin: string } & AsyncDisposable> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    ask: (method, path, body, headers) => askByNode(method, origin + path, body, headers),
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

function intercepting(ask: (url: string) => Ask): WayIn['open'] {
  return (engine, base) => {
    const api = engine.intercept(base === undefined ? ORIGIN : ORIGIN + base)
    return Promise.resolve({
      ask: (method, path, body, headers) => ask(ORIGIN + path)(method, path, body, headers),
      async [Symbol.asyncDispose]() {
        api.dispose()
      },
    })
  }
}

export const waysIn: readonly WayIn[] = [
  {
    name: 'handle',
    says: false,
    open: engine =>
      Promise.resolve({
        ask: async (method, path, body, headers) => engine.handle(method, path, undefined, body, headers === undefined ? {} : { headers }),
        async [Symbol.asyncDispose]() {},
      }),
  },
  {
    name: 'fetch',
    says: false,
    open: engine =>
      Promise.resolve({
        ask: async (method, path, body, headers) =>
          readResponse(await engine.fetch(new Request(ORIGIN + path, init(method, body, headers)))),
        async [Symbol.asyncDispose]() {},
      }),
  },
  {
    name: 'HTTP',
    says: true,
    open: (engine, base) => serve(createServer(engine, base === undefined ? {} : { base })),
  },
  {
    name: 'intercepted fetch',
    says: true,
    open: intercepting(url => async (method, _, body, headers) => readResponse(await fetch(url, init(method, body, headers)))),
  },
  {
    name: 'intercepted undici',
    says: true,
    open: intercepting(url => async (method, _, body, headers) => {
      const given = init(method, body, headers)
      const answer = await request(url, {
        method: method as 'GET',
        headers: given.headers as Record<string, string>,
        body: (given.body as string | undefined) ?? null,
      })
      return { status: answer.statusCode, headers: answer.headers, body: parse(await answer.body.text()) }
    }),
  },
  {
    name: 'intercepted node:http',
    says: true,
    open: intercepting(url => (method, _, body, headers) => askByNode(method, url, body, headers)),
  },
]
