/** A server with the docs page, for specs. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from '../../lib/index.ts'
import type { RestEngine, ServerOptions } from '../../lib/index.ts'

export interface Served extends AsyncDisposable {
  readonly origin: string
}

export async function serveDocs(engine: RestEngine, options: ServerOptions = {}): Promise<Served> {
  const server = createServer(engine, { docs: true, ...options }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The text of a page without its tags. */
export function readText(html: string): string {
  return decode(html.replaceAll(/<[^>]*>/g, ' '))
}

export function decode(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

/** The commands of a page. */
export function listCommands(html: string): string[] {
  return [...html.matchAll(/<div class="command"><pre[^>]*><code>([^<]*)<\/code>/g)].map(([, text]) => decode(text!))
}
