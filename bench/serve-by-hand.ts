/** Serves the hand-written API over node:http. It knows only the two paths of the trials and their parameters. */
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { ByHand } from './by-hand.ts'

export function serveByHand(api: ByHand): Server {
  return createServer((request, response) => {
    const { url = '/' } = request
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
    const depth = Number(query.get('depth') ?? 1) as 0 | 1 | 2
    let text: string
    if (path === '/v1/users') text = api.listUsers(depth, Number(query.get('offset') ?? 0))
    else if (path.startsWith('/v1/users/')) text = api.getUser(Number(path.slice('/v1/users/'.length)), depth === 0 ? 0 : 1)
    else {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8', 'content-length': Buffer.byteLength(text) }).end(text)
  })
}
