// By hand: prepared statements of better-sqlite3 behind node:http, for what the bench asks and no more. Nothing is validated.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import Database from 'better-sqlite3'

interface User {
  name: string
  email: string
  active: boolean
  score: number
  created_at: number
}

const [port, file] = process.argv.slice(2)
const db = new Database(file)
const page = (rest: string) => db.prepare<unknown[], Record<string, unknown>>(`select * from user ${rest} limit ? offset ?`)
const [byId, byScore, active] = [page('order by id'), page('order by score desc, id'), page('where active = ? order by id')] as const
const count = db.prepare<[], number>('select count(*) from user').pluck()
const activeCount = db.prepare<[number], number>('select count(*) from user where active = ?').pluck()
const one = db.prepare<[number], Record<string, unknown>>('select * from user where id = ?')
const insert = db.prepare('insert into user (name, email, active, score, created_at) values (?, ?, ?, ?, ?)')
const rename = db.prepare<[string, number]>('update user set name = ? where id = ?')
const remove = db.prepare<[number]>('delete from site where id = ? returning *')

const shown = (row: Record<string, unknown>): unknown => ({
  ...row,
  active: row['active'] === 1,
  created_at: new Date(row['created_at'] as number).toISOString(),
})

function recordOf(id: number): unknown {
  const row = one.get(id)
  return row === undefined ? undefined : shown(row)
}

function answer(method: string, url: URL, body: unknown): unknown {
  const [, collection, id] = url.pathname.split('/')
  if (collection === 'sites') return remove.get(Number(id))
  if (id !== undefined) {
    if (method === 'PUT') rename.run((body as User).name, Number(id))
    return recordOf(Number(id))
  }
  if (method === 'POST') {
    const { name, email, active, score, created_at } = body as User
    return recordOf(Number(insert.run(name, email, Number(active), score, created_at).lastInsertRowid))
  }
  const query = url.searchParams
  const bounds = [Number(query.get('limit')), Number(query.get('offset'))]
  if (query.has('active')) {
    const value = Number(query.get('active') === 'true')
    return { count: activeCount.get(value), users: active.all(value, ...bounds).map(shown) }
  }
  return { count: count.get(), users: (query.has('sort') ? byScore : byId).all(...bounds).map(shown) }
}

createServer((request, response) => {
  const { method = '', url = '/' } = request
  void (async () => {
    const body = method === 'POST' || method === 'PUT' ? await json(request) : undefined
    const value = answer(method, new URL(url, 'http://localhost'), body)
    const text = JSON.stringify(value ?? null)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    response.writeHead(value === undefined ? 404 : 200, headers).end(text)
  })()
}).listen(Number(port), '127.0.0.1')
