/**
 * Serves the hand-written API over node:http. It knows only the requests of the trials: two paths, their parameters, and bodies as they
 * should be.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import { json } from 'node:stream/consumers'
import type { ByHand, NewUser } from './by-hand.ts'

export function serveByHand(api: ByHand): Server {
  return createServer((request, response) => {
    const write = (text: string | undefined): void => {
      if (text === undefined) response.writeHead(404).end()
      else
        response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8', 'content-length': Buffer.byteLength(text) }).end(text)
    }
    if (request.method === 'GET') write(show(api, request))
    else void change(api, request).then(write)
  })
}

function show(api: ByHand, { url = '/' }: IncomingMessage): string | undefined {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
  const depth = Number(query.get('depth') ?? 1) as 0 | 1 | 2
  if (path === '/v1/users') return api.listUsers(depth, Number(query.get('offset') ?? 0))
  return path.startsWith('/v1/users/') ? api.getUser(Number(path.slice('/v1/users/'.length)), depth === 0 ? 0 : 1) : undefined
}

async function change(api: ByHand, request: IncomingMessage): Promise<string> {
  const body = (await json(request)) as NewUser
  const [path = '', query = ''] = request.url!.split('?')
  const depth = query === 'depth=0' ? 0 : 1
  return request.method === 'POST' ? api.createUser(body, depth) : api.renameUser(Number(path.slice('/v1/users/'.length)), body.name, depth)
}
