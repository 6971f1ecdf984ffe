/** Sends requests to the chosen world (`x-world`), also as the chosen user. */
import { signal } from '@preact/signals'
import { userId, world } from './place.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** A JSON value, else a text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of any API
  readonly body: any
  readonly text: string
  /** In milliseconds. */
  readonly took: number
}

interface SendOptionsOfPage {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The error of a refused request, in the API's words. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    const { title, detail } = readProblem(answer)
    super(detail === '' ? title : detail)
    this.name = title
    this.answer = answer
  }
}

/** The path before the version: `/api`. */
export const base = document.body.dataset['base'] ?? ''

/** Only the playground's page has `data-origin`. */
const { origin: elsewhere } = document.body.dataset
export const isServed = elsewhere === undefined
export const origin = elsewhere ?? location.origin

export const isReachable = signal(true)

export const busy = signal(0)

const tokens = new Map<string, Promise<string>>()

export async function send(method: string, path: string, { body, headers = {}, signal: ending }: SendOptionsOfPage = {}): Promise<Answer> {
  const isText = typeof body === 'string'
  const all: Record<string, string> = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(world.value === '' ? {} : { 'x-world': world.value }),
    ...headers,
  }
  const started = performance.now()
  const response = await reach(path, {
    method,
    headers: all,
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    ...(ending === undefined ? {} : { signal: ending }),
  })
  const text = await response.text()
  const took = performance.now() - started
  return { status: response.status, headers: response.headers, body: readBody(response, text), text, took }
}

/** As an app would, but `plain`: without the options `envelope` and `wire`. */
export async function sendAsUser(method: string, path: string, options: SendOptionsOfPage = {}): Promise<Answer> {
  const id = userId.value
  const authorization: Record<string, string> = id === '' ? {} : { authorization: `Bearer ${await mint(id)}` }
  return send(method, path, { ...options, headers: { 'x-workbench': 'plain', ...authorization, ...options.headers } })
}

/** Leaves no entry in the journal, and meets no faults. Throws a Refusal. */
export async function readUnrecorded(path: string, end?: AbortSignal): Promise<Answer> {
  return requireSuccess(
    await sendAsUser('GET', path, { headers: { 'x-workbench': 'look' }, ...(end === undefined ? {} : { signal: end }) }),
  )
}

/** Calls a test control (`/_test`). */
export async function control(method: string, path: string, body?: unknown): Promise<Answer> {
  return requireSuccess(await send(method, `${base}/_test${path}`, { body }))
}

export async function askWorkbench(method: string, path: string, body?: unknown): Promise<Answer> {
  return requireSuccess(await sendAsUser(method, `${base}/_ui${path}`, { body }))
}

export function requireSuccess(answer: Answer): Answer {
  if (answer.status >= 400) throw new Refusal(answer)
  return answer
}

export function mint(id: string): Promise<string> {
  const key = `${world.value} ${id}`
  let token = tokens.get(key)
  if (token === undefined) {
    // 15 digits are exact.
    const user = /^\d{1,15}$/.test(id) ? Number(id) : id
    token = control('POST', '/token', { user }).then(({ body }) => (body as { readonly auth_token: string }).auth_token)
    tokens.set(key, token)
    token.catch(() => tokens.delete(key))
  }
  return token
}

/** A reset may have ended tokens. */
export function forgetTokens(): void {
  tokens.clear()
}

/** Without an error body, the title is the status. */
function readProblem({ status, body }: Answer): { readonly title: string; readonly detail: string } {
  const { title, detail } = (typeof body === 'object' && body !== null ? body : {}) as Partial<Record<string, unknown>>
  return { title: typeof title === 'string' ? title : `Status ${status}`, detail: typeof detail === 'string' ? detail : '' }
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    // Reads by `peek`: an effect that sends would otherwise depend on `busy`, and run again.
    busy.value = busy.peek() + 1
    const response = await fetch(path, init).finally(() => {
      busy.value = busy.peek() - 1
    })
    isReachable.value = true
    return response
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) isReachable.value = false
    throw error
  }
}

function readBody(response: Response, text: string): unknown {
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return text === '' ? undefined : text
  try {
    return JSON.parse(text) as unknown
  } catch {
    // A fault may cut answers short.
    return text
  }
}
