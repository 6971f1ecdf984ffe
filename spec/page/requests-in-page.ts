/** The page of `requests.spec.ts`: sends by XMLHttpRequest and axios, and notes what happens. */
import { create } from 'axios'
import { RestEngine, loadSqlite } from '../../lib/browser.ts'
import { makeOdd } from './odd-answers.ts'

/** What the window of a page has, which the types of specs do not know. */
interface Xhr extends EventTarget {
  readonly readyState: number
  readonly status: number
  readonly response: unknown
  readonly responseText: string
  readonly responseXML: { readonly documentElement: { readonly outerHTML: string } } | null
  readonly responseURL: string
  readonly upload: EventTarget
  responseType: string
  timeout: number
  onload: (() => void) | null
  open(method: string, url: string, isAsync?: boolean): void
  setRequestHeader(name: string, value: string): void
  overrideMimeType(type: string): void
  send(body?: unknown): void
  abort(): void
  getResponseHeader(name: string): string | null
  getAllResponseHeaders(): string
}
interface ProgressLike extends Event {
  readonly loaded: number
  readonly total: number
}
declare const XMLHttpRequest: new () => Xhr

export interface Asked {
  readonly path: string
  readonly method?: string
  /** Names of BODIES. */
  readonly body?: keyof typeof BODIES
  readonly headers?: readonly (readonly [string, string])[]
  readonly type?: string
  readonly mediaType?: string
  readonly timeout?: number
  /** The event, such as `loadstart`, or `readystatechange 2`, on which the request is aborted. */
  readonly abortOn?: string
}

const BODIES = {
  text: () => 'text ü',
  json: () => '{"a":1}',
  form: () => new URLSearchParams({ a: '1 2' }),
  bytes: () => Uint8Array.of(1, 2, 255),
  blob: () => new Blob([Uint8Array.of(7)], { type: 'application/octet-stream' }),
  files: () => {
    const form = new FormData()
    form.append('a', new Blob(['b']), 'c.txt')
    return form
  },
  large: () => 'x'.repeat(300_000),
}

const EVENTS = ['readystatechange', 'loadstart', 'progress', 'abort', 'error', 'load', 'timeout', 'loadend']

/** Returns what a listener of all events, and a reader of all members, see. */
async function send(
  origin: string,
  { path, method = 'GET', body, headers = [], type = '', mediaType, timeout, abortOn }: Asked,
): Promise<unknown[]> {
  const seen: unknown[] = []
  const xhr = new XMLHttpRequest()
  const note = (name: string, event: Event): void => {
    const { loaded, total } = event as ProgressLike
    // How large the pieces of an answer are, and whether the server says its length, is the network's matter.
    const sizes = loaded === undefined ? [] : name.startsWith('upload') ? [loaded, total] : [loaded > 0]
    // How much is shown before the end is the browser's matter, too.
    const text = xhr.readyState === 4 && (type === '' || type === 'text') ? [xhr.responseText.length > 0] : []
    const step = [name, xhr.readyState, xhr.status, ...sizes, ...text].join(' ')
    // A large answer comes in any number of pieces; a browser that holds one back tells of it at the end.
    const isHeldBack = name === 'progress' && xhr.readyState === 4 && seen.some(earlier => String(earlier).startsWith('progress'))
    if (seen.at(-1) !== step && !isHeldBack) seen.push(step)
    if (abortOn !== undefined && step.startsWith(abortOn)) xhr.abort()
  }
  for (const name of EVENTS) {
    xhr.addEventListener(name, event => note(name, event))
    if (body !== undefined) xhr.upload.addEventListener(name, event => note(`upload ${name}`, event))
  }
  // An end within the last change of state has no event.
  const ended = new Promise(resolve => {
    xhr.addEventListener('loadend', resolve)
    if (abortOn === 'readystatechange 4') setTimeout(resolve, 200)
  })
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- what is tested
  xhr.onload = () => seen.push('onload')
  xhr.open(method, origin + path)
  for (const [name, value] of headers) xhr.setRequestHeader(name, value)
  xhr.responseType = type
  if (timeout !== undefined) xhr.timeout = timeout
  if (mediaType !== undefined) xhr.overrideMimeType(mediaType)
  xhr.send(body === undefined ? undefined : BODIES[body]())
  seen.push(
    `sent ${xhr.readyState}`,
    failure(() => xhr.send()),
    failure(() => xhr.setRequestHeader('a', 'b')),
  )
  await ended
  const headersOf = xhr
    .getAllResponseHeaders()
    .split('\r\n')
    .filter(line => line.startsWith('content-type'))
  seen.push(xhr.readyState, xhr.status, headersOf, xhr.getResponseHeader('Content-Type'), xhr.getResponseHeader('x-missing'))
  seen.push(xhr.responseURL.replace(origin, ''), await show(xhr), type === 'json' || xhr.response === xhr.response)
  seen.push(
    failure(() => xhr.responseText),
    failure(() => xhr.responseXML?.documentElement.outerHTML),
  )
  xhr.abort()
  return [...seen, 'aborted', xhr.readyState, xhr.status]
}

async function show({ response }: Xhr): Promise<unknown> {
  if (response instanceof ArrayBuffer) return ['buffer', ...new Uint8Array(response)]
  if (response instanceof Blob) return ['blob', response.type.split(';')[0], ...new Uint8Array(await response.arrayBuffer())]
  if (typeof response === 'object' && response !== null && 'documentElement' in response)
    return (response.documentElement as { readonly outerHTML: string }).outerHTML
  return response
}

/** What work gives, or the name of its error. */
function failure(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return (error as Error).name === 'TypeError' ? String(error) : (error as Error).name
  }
}

/** Returns what axios gives for requests of an application. */
async function askByAxios(origin: string): Promise<unknown[]> {
  const api = create({ baseURL: origin, headers: { 'x-twice': 'b' } })
  const uploads: number[] = []
  const ending = new AbortController()
  const code = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'answered',
      (error: { code?: string }) => error.code,
    )
  return [
    (await api.get('/notes', { params: { a: 'ü' } })).data,
    (await api.post('/echo', { a: 1 }, { onUploadProgress: ({ loaded }) => void uploads.push(loaded) })).data,
    uploads,
    (await api.get('/refused', { validateStatus: null })).status,
    await code(api.get('/refused')),
    (await api.get<ArrayBuffer>('/bytes', { responseType: 'arraybuffer' })).data.byteLength,
    await code(api.get('/slow', { timeout: 40 })),
    await code(api.get('/lost')),
    await code((setTimeout(() => ending.abort(), 40), api.get('/slow', { signal: ending.signal }))),
  ]
}

const sendAll = (origin: string, asked: readonly Asked[]): Promise<unknown[][]> => Promise.all(asked.map(each => send(origin, each)))

/** The page's own class. */
const own = XMLHttpRequest

const inPage = { RestEngine, askByAxios, loadSqlite, makeOdd, sendAll, failure, own, standing: undefined as RestEngine | undefined }

export type InPage = typeof inPage

Object.assign(globalThis, { inPage, ready: true })
