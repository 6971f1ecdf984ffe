/** Mounts the engine in another app, such as Express, Connect, Vite, Fastify or NestJS. */
import type { ServerResponse } from 'node:http'
import type { MountedRequest } from './mount.ts'
import { RequestListener } from './request-listener.ts'
import { checkListenerOptions, type ListenerOptions } from './server-options.ts'
import type { WorldEngine } from './controls/world-engine.ts'
import { findInternals } from '../../engine/assembly/internals.ts'

/** A request listener of `node:http`, and a middleware of Express, Connect and Vite. */
export interface Listener {
  (request: MountedRequest, response: ServerResponse, next?: (error?: unknown) => void): void
  /** Ends delays, and closes the worlds of the test controls. The engine stays open. */
  close(): Promise<void>
}

/**
 * Makes a request listener that answers with the engine, for the server of another app. The path at which the app mounts the listener is
 * the base of links. A body that a parser in front has read is taken from `request.body`.
 *
 * @throws TypeError for an unknown option, and for what `createServer` refuses; RangeError for a delay that cannot be.
 * @example app.use('/api', listener(engine))
 */
export function listener(engine: WorldEngine, options: ListenerOptions = {}): Listener {
  if (findInternals(engine) === undefined)
    throw new TypeError('listener: the first argument must be an engine: listener(await RestEngine.create({ entities: [User] })).')
  checkListenerOptions(options)
  const requestListener = new RequestListener(engine, options, 'listener')
  const receive = (request: MountedRequest, response: ServerResponse, next?: (error?: unknown) => void): void => {
    requestListener.receive(request, response, { next: next === undefined ? undefined : () => next() })
  }
  return Object.assign(receive, { close: () => requestListener.close() })
}
