/**
 * Answers GET and HEAD with files of the option `static`: a file, a folder's `index.html`, a redirect to a folder's path, or the page of a
 * single-page app. No path leads out of the folder, neither by encoded dots, nor by a link.
 */
import { createReadStream, realpathSync, statSync, type Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join, sep, extname } from 'node:path'
import { TextStream, WholeText } from '../../foundation/http/text-stream.ts'
import type { TransportResponse } from './transport.ts'

interface FileHeaders {
  readonly accept?: string | undefined
  readonly 'if-none-match'?: string | undefined
  readonly 'if-modified-since'?: string | undefined
}

const INDEX = 'index.html'

export class StaticFiles {
  readonly #root: string

  constructor(folder: unknown, where: string) {
    if (typeof folder !== 'string' || folder === '') throw new TypeError(`${where}: "static" must be the path of a folder.`)
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new TypeError(`${where}: "static" must be a folder, and ${folder} is none.`)
    this.#root = realpathSync(folder)
  }

  async answer(method: string, target: string, headers: FileHeaders): Promise<TransportResponse | undefined> {
    const [path = '', query] = target.split(/\?(.*)/s, 2)
    const segments = readSegments(path)
    if (segments === undefined) return undefined
    const answer = (await this.#find(segments, path, query, headers)) ?? (await this.#findPage(segments, headers))
    return answer === undefined || method !== 'HEAD' ? answer : { status: answer.status, headers: answer.headers }
  }

  async #find(
    segments: readonly string[],
    path: string,
    query: string | undefined,
    headers: FileHeaders,
  ): Promise<TransportResponse | undefined> {
    const found = await this.#findFile(...segments)
    if (found === undefined) return undefined
    if (!found.stats.isDirectory()) return found.stats.isFile() && !path.endsWith('/') ? send(found, headers) : undefined
    const index = await this.#findFile(...segments, INDEX)
    if (index?.stats.isFile() !== true) return undefined
    if (path.endsWith('/')) return send(index, headers)
    // Relative links of the page are below the folder.
    return { status: 301, headers: { location: `${path}/${query === undefined ? '' : `?${query}`}`, 'cache-control': 'no-cache' } }
  }

  /** The app's page, where a browser opens a path unlike a file. */
  async #findPage(segments: readonly string[], headers: FileHeaders): Promise<TransportResponse | undefined> {
    if (!acceptsHtml(headers.accept) || segments.at(-1)?.includes('.') === true) return undefined
    const index = await this.#findFile(INDEX)
    return index?.stats.isFile() === true ? send(index, headers) : undefined
  }

  /** A link out of the root counts as missing. */
  async #findFile(...segments: string[]): Promise<FoundFile | undefined> {
    try {
      const file = await realpath(join(this.#root, ...segments))
      if (file !== this.#root && !file.startsWith(this.#root.endsWith(sep) ? this.#root : this.#root + sep)) return undefined
      return { file, stats: await stat(file) }
    } catch {
      // Missing, below a file, unreadable, or with too long a name.
      return undefined
    }
  }
}

interface FoundFile {
  readonly file: string
  readonly stats: Stats
}

/** Browsers ask for HTML by name when opening a page. */
export function acceptsHtml(accept: string | undefined): boolean {
  return accept !== undefined && /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(accept)
}

/** `undefined`: no file. Hides names with a dot first (`.git`, `.env`), apart from `.well-known`. */
function readSegments(path: string): string[] | undefined {
  if (!path.startsWith('/') || path.includes('//')) return undefined
  let segments: string[]
  try {
    segments = path.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return undefined
  }
  return segments.every(segment => !/[/\\\0:]/.test(segment) && (!segment.startsWith('.') || segment === '.well-known'))
    ? segments
    : undefined
}

function send({ file, stats }: FoundFile, headers: FileHeaders): TransportResponse {
  const tag = `W/"${stats.size.toString(16)}-${Math.trunc(stats.mtimeMs).toString(16)}"`
  const validators = { etag: tag, 'last-modified': stats.mtime.toUTCString(), 'cache-control': 'no-cache' }
  if (isFresh(headers, tag, stats.mtime)) return { status: 304, headers: validators }
  return {
    status: 200,
    headers: {
      ...validators,
      'content-type': contentTypeOf(file),
      'content-length': String(stats.size),
      'x-content-type-options': 'nosniff',
    },
    body: stats.size === 0 ? new WholeText('') : new FileStream(file, stats.size),
  }
}

/** RFC 9110 section 13.1: a tag counts before a date. */
function isFresh(headers: FileHeaders, tag: string, changed: Date): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers
  if (tags !== undefined)
    return tags.trim() === '*' || tags.split(',').some(each => each.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''))
  // Dates in headers have whole seconds.
  return since !== undefined && Date.parse(since) >= Math.trunc(changed.getTime() / 1000) * 1000
}

class FileStream extends TextStream {
  readonly #file: string
  readonly #size: number

  constructor(file: string, size: number) {
    super(readText(file))
    this.#file = file
    this.#size = size
  }

  /** The file may have grown since the announced length. */
  override async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of createReadStream(this.#file, { end: this.#size - 1 })) yield chunk as Uint8Array
  }
}

async function* readText(file: string): AsyncGenerator<string, void, undefined> {
  for await (const chunk of createReadStream(file, 'utf8')) yield chunk as string
}

const TYPES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  map: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  otf: 'font/otf',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  txt: 'text/plain',
  wasm: 'application/wasm',
  webm: 'video/webm',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xml: 'application/xml',
}

function contentTypeOf(file: string): string {
  const extension = extname(file).slice(1).toLowerCase()
  const type = Object.hasOwn(TYPES, extension) ? TYPES[extension]! : 'application/octet-stream'
  return /^text\/|[/+](?:json|xml)$/.test(type) ? `${type}; charset=utf-8` : type
}
