/**
 * Mount: where an app has put a listener. Express, Connect and Vite cut the path at which a middleware is mounted from the URL of a
 * request, and keep the whole beside it. Takes such a request; gives its whole target, and the base below which the engine is.
 */
import type { IncomingMessage } from 'node:http'
import { findTargetBelow } from '../../records/request/address.ts'
import { originForm } from './transport.ts'

/** A request as apps hand it on. */
export interface MountedRequest extends IncomingMessage {
  /** The URL as it was sent. */
  readonly originalUrl?: string
  /** The mount path as Express says it. */
  readonly baseUrl?: string
  /** What a body parser has made of the body. */
  readonly body?: unknown
}

interface MountedAddress {
  /** Path and query. */
  readonly target: string
  readonly base: string
}

/**
 * Returns the address of a request. A mount path takes the place of the engine's base; where the app has cut off the whole path, the base
 * of the listener is all of it.
 *
 * @param own the base of the listener, which follows the mount path
 * @param base that of the engine
 */
export function findAddress(request: MountedRequest, own: string | undefined, base: string): MountedAddress {
  const { url = '/', originalUrl } = request
  if (originalUrl === undefined || originalUrl === url) return { target: originForm(url), base: own ?? base }
  const mount = findMount(readPath(originForm(originalUrl)), readPath(originForm(url)), request.baseUrl)
  // Links that begin with "//" would lead to another host.
  if (mount.includes('//')) return { target: originForm(originalUrl), base: own ?? base }
  const target = mount + originForm(url)
  // NestJS applies the middleware of a module by a pattern that takes in the whole path: no part of it is a mount path.
  if (own !== undefined && readPath(url) === '/' && findTargetBelow(target, own) !== undefined) return { target, base: own }
  return { target, base: mount === '' ? (own ?? base) : mount + (own ?? '') }
}

function findMount(whole: string, rest: string, baseUrl: string | undefined): string {
  if (rest === '/' && !whole.endsWith('/')) return whole
  if (whole.endsWith(rest)) return whole.slice(0, whole.length - rest.length)
  // The app has written the URL anew.
  return baseUrl ?? ''
}

function readPath(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** Returns scheme and host of a request, as its sender has them. A proxy in front of the server is not seen. */
export function findOrigin(request: IncomingMessage): string {
  return `${isEncrypted(request) ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`
}

/** Whether a request has come by https. A proxy in front of the server is not seen. */
export function isEncrypted({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
