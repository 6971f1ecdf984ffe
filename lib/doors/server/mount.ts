/** Finds the whole target of a request, and the engine's base: Express, Connect and Vite cut the mount path from `request.url`. */
import type { IncomingMessage } from 'node:http'
import type { HeaderSource } from '../../foundation/async/abort.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import { findTargetBelow } from '../../records/request/address.ts'
import { originForm, type ReceivedRequest } from './transport.ts'

export interface MountedRequest extends IncomingMessage {
  /** The URL as sent. */
  readonly originalUrl?: string
  /** The cut part, in Express. */
  readonly baseUrl?: string
  /** The value of a body parser. */
  readonly body?: unknown
}

interface MountedAddress {
  readonly target: string
  readonly base: string
}

/**
 * Where the app has cut off the whole path, the listener's base is the base.
 *
 * @param listenerBase follows the mount path
 */
export function findAddress(request: MountedRequest, listenerBase: string | undefined, base: string): MountedAddress {
  const { url = '/', originalUrl } = request
  if (originalUrl === undefined || originalUrl === url) return { target: originForm(url), base: listenerBase ?? base }
  const mount = findMount(readPath(originForm(originalUrl)), readPath(originForm(url)), request.baseUrl)
  // Links with "//" in front would lead to another host.
  if (mount.includes('//')) return { target: originForm(originalUrl), base: listenerBase ?? base }
  const target = mount + originForm(url)
  // NestJS matches a middleware by the whole path: no part is a mount path.
  if (listenerBase !== undefined && readPath(url) === '/' && findTargetBelow(target, listenerBase) !== undefined)
    return { target, base: listenerBase }
  return { target, base: mount === '' ? (listenerBase ?? base) : mount + (listenerBase ?? '') }
}

function findMount(whole: string, rest: string, baseUrl: string | undefined): string {
  if (rest === '/' && !whole.endsWith('/')) return whole
  if (whole.endsWith(rest)) return whole.slice(0, whole.length - rest.length)
  return baseUrl ?? ''
}

function readPath(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** Scheme and host as the sender wrote them: a proxy in front is unknown. */
export function findOrigin(request: IncomingMessage): string {
  return `${isEncrypted(request) ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`
}

export function isEncrypted({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}

/** A request as seen by error answers. A class: an object with a getter of its own costs more than reading a record. */
export class Received implements ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly wire: Wire | undefined
  readonly #request: HeaderSource

  constructor(request: MountedRequest, path: string, wire: Wire | undefined) {
    this.wire = wire
    this.method = request.method ?? ''
    this.path = path
    this.#request = request as HeaderSource
  }

  get headers(): ReceivedRequest['headers'] {
    return this.#request.headers
  }
}
