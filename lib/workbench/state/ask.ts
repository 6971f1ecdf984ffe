/** Ask: sends requests to the server that the page is from, in the world and as the user that the reader has chosen. */
import { signal } from '@preact/signals'
import { userId, world } from './place.ts'

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Of JSON the value, else the text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of any API
  readonly body: any
  readonly text: string
  /** Milliseconds. */
  readonly took: number
}

interface SendOptionsOfPage {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A refusal, as the API words it. */
export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    const { title, detail } = readProblem(answer)
    super(detail === '' ? title : detail)
    this.name = title
    this.answer = answer
  }
}

/** The path before the version. */
export const base = document.body.dataset['base'] ?? ''

/** Whether the server answers. */
export const isReachable = signal(true)

/** How many requests have no answer yet. */
export const busy = signal(0)

const tokens = new Map<string, Promise<string>>()

/** Sends a request as it stands. */
export async function send(method: string, path: string, { body, headers = {}, signal: end }: SendOptionsOfPage = {}): Promise<Answer> {
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
    ...(end === undefined ? {} : { signal: end }),
  })
  const text = await response.text()
  const took = performance.now() - started
  return { status: response.status, headers: response.headers, body: readBody(response, text), text, took }
}

/**
 * Sends a request as the user that the reader has chosen. It is answered in the engine's own form, whatever form the application gives
 * answers.
 */
export async function sendAsUser(method: string, path: string, options: SendOptionsOfPage = {}): Promise<Answer> {
  const id = userId.value
  const authorization: Record<string, string> = id === '' ? {} : { authorization: `Bearer ${await mint(id)}` }
  return send(method, path, { ...options, headers: { 'x-workbench': 'plain', ...authorization, ...options.headers } })
}

/** Reads a path for the eyes of the reader: no journal has it, and it meets no fault. Throws a Refusal. */
export async function look(path: string, end?: AbortSignal): Promise<Answer> {
  return succeed(await sendAsUser('GET', path, { headers: { 'x-workbench': 'look' }, ...(end === undefined ? {} : { signal: end }) }))
}

/** Asks a test control, by its path below `/_test`. Throws a Refusal. */
export async function control(method: string, path: string, body?: unknown): Promise<Answer> {
  return succeed(await send(method, `${base}/_test${path}`, { body }))
}

/** Asks for a part of the workbench itself. Throws a Refusal. */
export async function askWorkbench(method: string, path: string, body?: unknown): Promise<Answer> {
  return succeed(await sendAsUser(method, `${base}/_ui${path}`, { body }))
}

export function succeed(answer: Answer): Answer {
  if (answer.status >= 400) throw new Refusal(answer)
  return answer
}

/** A token of a user, which is asked for once. */
export function mint(id: string): Promise<string> {
  const key = `${world.value} ${id}`
  let token = tokens.get(key)
  if (token === undefined) {
    const user = /^\d{1,15}$/.test(id) ? Number(id) : id
    token = control('POST', '/token', { user }).then(({ body }) => (body as { readonly auth_token: string }).auth_token)
    tokens.set(key, token)
    token.catch(() => tokens.delete(key))
  }
  return token
}

/** Forgets the tokens: a reset of the data may have taken them back. */
export function forgetTokens(): void {
  tokens.clear()
}

/** What an answer says of its refusal: the parts of the error body, or the status where it has another form. */
function readProblem({ status, body }: Answer): { readonly title: string; readonly detail: string; readonly code: string } {
  const { title, detail, code } = (typeof body === 'object' && body !== null ? body : {}) as Partial<Record<string, unknown>>
  return { title: typeof title === 'string' ? title : `Status ${status}`, detail: text(detail), code: text(code) }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    // Not read: an effect that asks would run again for it.
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
    // What a front end is given where a test has the answer cut short.
    return text
  }
}
