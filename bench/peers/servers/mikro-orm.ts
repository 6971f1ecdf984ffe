// MikroORM by hand, as its guides write it: a fork for each request, `findAndCount`, `assign` and `flush`, behind node:http.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { MikroORM } from '@mikro-orm/sqlite'
import { Site, User, entities } from '../../seed.ts'

const [port, dbName] = process.argv.slice(2)
const orm = await MikroORM.init({ entities, dbName: dbName! })

async function answer(method: string, url: URL, body: unknown): Promise<unknown> {
  const em = orm.em.fork()
  const [, collection, id] = url.pathname.split('/')
  if (collection === 'sites') {
    const site = await em.findOneOrFail(Site, Number(id))
    await em.remove(site).flush()
    return site
  }
  if (id !== undefined) {
    const user = await em.findOneOrFail(User, Number(id))
    if (method === 'PUT') {
      em.assign(user, body as object)
      await em.flush()
    }
    return user
  }
  if (method === 'POST') {
    const user = em.create(User, body as never)
    await em.flush()
    return user
  }
  const query = url.searchParams
  const [users, count] = await em.findAndCount(User, query.has('active') ? { active: query.get('active') === 'true' } : {}, {
    limit: Number(query.get('limit')),
    offset: Number(query.get('offset')),
    orderBy: query.has('sort') ? { score: 'desc' } : { id: 'asc' },
  })
  return { count, users }
}

createServer((request, response) => {
  const { method = '', url = '/' } = request
  void (async () => {
    const body = method === 'POST' || method === 'PUT' ? await json(request) : undefined
    const text = JSON.stringify(await answer(method, new URL(url, 'http://localhost'), body))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  })().catch((error: Error) => response.writeHead(error.name === 'NotFoundError' ? 404 : 500).end(error.message))
}).listen(Number(port), '127.0.0.1')
