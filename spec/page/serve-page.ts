/** Serves the files of a folder, or contents by path, to a page. */
import { readFile, readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, relative } from 'node:path'
import { text as readText } from 'node:stream/consumers'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
}

export interface ServedPage {
  readonly address: string
  close(): Promise<void>
}

/**
 * @param sent is told of each file that is sent
 * @param posted is told of each body that a page posts, and gives the answer
 */
export async function serveFiles(
  files: ReadonlyMap<string, Buffer>,
  sent?: (path: string, content: Buffer) => void,
  posted?: (body: string) => string | Promise<string>,
): Promise<ServedPage> {
  const server = createServer((request, response) => {
    const { url = '/', method } = request
    if (method === 'POST' && posted !== undefined) {
      void readText(request)
        .then(posted)
        .then(answer => response.end(answer))
      return
    }
    const [asked = ''] = url.split('?', 1)
    const path = asked.endsWith('/') ? `${asked}index.html` : asked
    const content = files.get(path)
    if (content !== undefined) sent?.(path, content)
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(content)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** @param base the path of the folder: `/demo` */
export async function servePage(folder: string, base = '', sent?: (path: string, content: Buffer) => void): Promise<ServedPage> {
  const files = new Map<string, Buffer>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile()) files.set(`${base}/${relative(folder, file).replaceAll('\\', '/')}`, await readFile(file))
  }
  return serveFiles(files, sent)
}
