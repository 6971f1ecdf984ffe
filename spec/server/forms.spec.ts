/**
 * Forms as bodies, with the option `forms`: texts are typed by the model, brackets nest; files are refused; without the option nothing
 * changes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { array, asyncProperty, boolean, constantFrom, integer, option, record, string, uniqueArray } from 'fast-check'
import * as http from 'node:http'
import { createRequire } from 'node:module'
import { auth, createServer, listener, resource, RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'

/** The parts of Express that are used here; the package brings no types. */
type Middleware = (request: http.IncomingMessage, response: http.ServerResponse, next: (error?: unknown) => void) => void
interface Express {
  (): http.RequestListener & { use(...handlers: readonly Middleware[]): http.RequestListener }
  urlencoded(options: object): Middleware
}
const express = createRequire(import.meta.url)('express') as Express

const Address = defineEntity({ name: 'Address', embeddable: true, properties: { city: p.string(), zip: p.integer().nullable() } })
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    age: p.integer().nullable(),
    vip: p.boolean().default(false),
    born: p.date().nullable(),
    balance: p.decimal().precision(8).scale(2).nullable(),
    role: p.enum([1, 2]).nullable(),
    nicks: p.array().nullable(),
    address: () => p.embedded(Address).nullable(),
    boss: () => p.manyToOne(User).nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const entities = [User, Tag]
const seed = {
  tags: [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ],
}
const make = (options: Partial<EngineOptions> = {}): Promise<RestEngine> => RestEngine.create({ entities, seed, forms: true, ...options })

// oxlint-disable-next-line typescript/no-explicit-any -- specs assert on it freely
type Body = any
interface Sent {
  readonly status: number
  readonly body: Body
}
const read = async (response: Response): Promise<Sent> => ({ status: response.status, body: await response.json() })
const send = async (
  engine: RestEngine,
  form: string | FormData | URLSearchParams,
  path = '/v1/users',
  method = 'POST',
  headers?: Record<string, string>,
): Promise<Sent> =>
  read(await engine.fetch(`http://localhost${path}`, { method, body: form, ...(headers === undefined ? {} : { headers }) }))
const fields = (text: string): URLSearchParams => new URLSearchParams(text)

describe('a form', () => {
  it('has the values that the model says, and nested ones by brackets', async () => {
    await using engine = await make()
    const text = 'name=Ann&age=3&vip=on&born=2020-01-01&balance=3.50&role=2&nicks=x&address[city]=Rome&address[zip]=12&tags[]=1&tags[]=2'
    const { status, body } = await send(engine, fields(text))
    assert.equal(status, 200)
    const { id: _, ...user } = body.user
    const expected = {
      name: 'Ann',
      age: 3,
      vip: true,
      born: '2020-01-01',
      balance: '3.50',
      role: 2,
      nicks: ['x'],
      address: { city: 'Rome', zip: 12 },
      boss: null,
      tags: [1, 2],
    }
    assert.deepEqual(user, expected)
    const { boss: __, ...given } = expected
    assert.deepEqual(engine.requests.at(-1)!.body, given, 'the journal has the JSON that the form means')
  })

  it('links by IDs, and makes records of what it nests', async () => {
    await using engine = await make()
    const { body } = await send(engine, fields('name=Bob&boss[name]=Zoe&tags[1][name]=second&tags[0][name]=first'))
    const { body: shown } = await engine.handle('GET', `/v1/users/${body.user.id}`, { expand: 'boss,tags' })
    assert.deepEqual([shown.user.boss.name, shown.user.tags.map(({ name }: Body) => name)], ['Zoe', ['first', 'second']])
    const rails = await send(engine, fields('name=Cid&boss=1&tags[][name]=c&tags[][name]=d&tags='))
    assert.equal(rails.status, 400, 'a value and objects of one name')
    const again = await send(engine, fields('name=Cid&boss=1&tags[][name]=c&tags[][name]=d'))
    assert.deepEqual([again.body.user.boss, again.body.user.tags.length], [1, 2])
  })

  it('links by what stands for the ID', async () => {
    const Label = defineEntity({ name: 'Label', properties: { id: p.integer().primary(), slug: p.string().unique() } })
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), label: () => p.manyToOne(Label) } })
    await using engine = await RestEngine.create({
      entities: [Label, Note],
      forms: true,
      resources: [resource(Label, { key: 'slug' })],
      seed: {
        labels: [
          { id: 7, slug: '8' },
          { id: 8, slug: '007' },
        ],
      },
    })
    for (const slug of ['8', '007']) assert.equal((await send(engine, fields(`label=${slug}`), '/v1/notes')).body.note.label, slug)
  })

  it('has no value where an input is empty, but for a text', async () => {
    await using engine = await make()
    await send(engine, fields('name=Ann&age=3&boss=&tags=1'))
    const { status, body } = await send(engine, fields('age=&born=null&boss=&tags=&address='), '/v1/users/1', 'PATCH')
    assert.deepEqual(
      [status, body.user.age, body.user.born, body.user.boss, body.user.tags, body.user.address],
      [200, null, null, null, [], null],
    )
    assert.equal((await send(engine, fields('name='), '/v1/users/1', 'PUT')).body.user.name, '')
    assert.equal((await send(engine, fields('name=null'), '/v1/users/1', 'PUT')).body.user.name, 'null')
    assert.equal((await send(engine, fields('vip='), '/v1/users/1', 'PUT')).status, 422)
  })

  it('is held to the model as JSON is', async () => {
    await using engine = await make()
    const { status, body } = await send(engine, fields('name=Ann&age=x&nme=3&vip=maybe&name=Bob&__proto__[a]=1'))
    assert.equal(status, 422)
    assert.deepEqual(body.errors.map(({ attribute, code }: Body) => [attribute, code]).toSorted(), [
      ['__proto__', 'attribute_unknown'],
      ['age', 'value_invalid'],
      ['name', 'value_invalid'],
      ['nme', 'attribute_unknown'],
      ['vip', 'value_invalid'],
    ])
  })

  it('of several parts has the same fields; a file is refused, an input without one is nothing', async () => {
    await using engine = await make()
    const form = new FormData()
    for (const [name, value] of [
      ['name', 'Zoë "q" \r\n--x'],
      ['age', '7'],
      ['tags[]', '2'],
      ['nicks', 'é=&%'],
    ] as const)
      form.append(name, value)
    form.append('photo', new Blob([]), '')
    const { status, body } = await send(engine, form)
    assert.deepEqual([status, body.user.name, body.user.age, body.user.tags, body.user.nicks], [200, 'Zoë "q" \r\n--x', 7, [2], ['é=&%']])
    form.append('photo', new Blob(['x']), 'a.png')
    const refused = await send(engine, form)
    assert.deepEqual([refused.status, refused.body.code], [400, 'body_invalid'])
    assert.match(refused.body.detail, /file under "photo"; files are not taken: send its content in base64/)
  })

  it('that cannot be read is refused', async () => {
    await using engine = await make()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const parts = { 'content-type': 'multipart/form-data; boundary=b' }
    for (const [text, headers, detail] of [
      ['%zz=1', type, /bad percent-encoding/],
      ['a[b=1', type, /brackets that cannot be read/],
      ['a=1&a[b]=2', type, /a value at one place and an object at another/],
      ['a[b]=1&a=2', type, /a value at one place/],
      [`a${'[b]'.repeat(30)}=1`, type, /nested deeper/],
      ['=1', type, /has no name/],
      ['--b\r\nContent-Disp', parts, /ends before its last boundary/],
      ['--b\r\nX: y\r\n\r\n1\r\n--b--', parts, /has no name/],
      ['x', { 'content-type': 'multipart/form-data' }, /no boundary/],
      ['name=x', { ...type, 'content-encoding': 'zstd' }, /content encoding/],
    ] as const) {
      const { status, body } = await send(engine, text, undefined, undefined, headers)
      assert.ok(status === 400 || status === 415, text)
      assert.match(body.detail, detail)
    }
  })

  it('is taken where a body has names: by records, by links and lists of them', async () => {
    await using engine = await make()
    await send(engine, fields('name=Ann&boss[name]=Zoe'))
    assert.equal((await send(engine, fields('name=new'), '/v1/users/1/tags')).body.tag.name, 'new')
    assert.equal((await send(engine, fields('city=Rome'), '/v1/users/1/address', 'PUT')).body.user.address.city, 'Rome')
    const { body: users } = await engine.handle('GET', '/v1/users', { 'boss!=': null })
    const [{ id, boss }] = users.users
    assert.equal((await send(engine, fields('age=50'), `/v1/users/${id}/boss`, 'PUT')).status, 200)
    assert.equal((await engine.handle('GET', `/v1/users/${boss}`)).body.user.age, 50)
    for (const path of ['name', 'nicks', 'tags']) {
      const refused = await send(engine, fields(`${path}=1`), `/v1/users/1/${path}`, 'PUT')
      assert.deepEqual([refused.status, refused.body.code], [400, 'body_invalid'], path)
      assert.match(refused.body.detail, /send JSON, or the form to the record/)
    }
  })

  it('is plain data for routes of the application', async () => {
    const handler = (ctx: { data: unknown }): { body: unknown } => ({ body: ctx.data })
    await using engine = await make({ routes: [{ method: 'POST', path: '/{version}/echo', handler }] })
    assert.deepEqual((await send(engine, fields('a=1&b[]=2&c[d]=x&c[e]=y'), '/v1/echo')).body, { a: '1', b: ['2'], c: { d: 'x', e: 'y' } })
  })

  it('logs in, and is seen by faults as plain data; the journal has no password', async () => {
    const Member = defineEntity({
      name: 'Member',
      properties: { id: p.integer().primary(), email: p.string().unique(), password: p.string().hidden() },
    })
    const seeds = { members: [{ email: 'a@example.test', password: 'hunter-2' }] }
    await using engine = await RestEngine.create({ entities: [Member], forms: true, auth: auth({ entity: Member }), seed: seeds })
    let seen: unknown
    using _ = engine.delay(({ body }) => {
      seen = body
      return false
    }, 1)
    const { status, body } = await send(engine, fields('email=a@example.test&password=hunter-2'), '/v1/login')
    assert.deepEqual([status, typeof body.auth_token, seen], [200, 'string', { email: 'a@example.test', password: 'hunter-2' }])
    assert.ok(!JSON.stringify(engine.requests).includes('hunter-2'))
  })

  it('comes over HTTP, by interception and behind a parser of the app', async () => {
    await using engine = await make()
    const server = createServer(engine).listen(0, '127.0.0.1')
    const app = express().use(express.urlencoded({ extended: true }), listener(engine))
    const front = http.createServer(app).listen(0, '127.0.0.1')
    await Promise.all([once(server, 'listening'), once(front, 'listening')])
    try {
      for (const listening of [server, front]) {
        const origin = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
        const { status, body } = await read(
          await fetch(`${origin}/v1/users`, { method: 'POST', body: fields('name=Ann&age=9&address[city]=Rome&tags[]=1') }),
        )
        assert.deepEqual([status, body.user?.age, body.user?.address.city, body.user?.tags], [200, 9, 'Rome', [1]])
      }
      using _ = engine.intercept('https://api.example.test')
      const form = new FormData()
      form.append('name', 'Bob')
      form.append('age', '4')
      for (const body of [form, fields('name=Bob&age=4')])
        assert.equal((await read(await fetch('https://api.example.test/v1/users', { method: 'POST', body }))).body.user.age, 4)
    } finally {
      for (const listening of [server, front]) {
        listening.close()
        listening.closeAllConnections()
      }
    }
  })

  it('is 415 without the option', async () => {
    await using engine = await make({ forms: false })
    const { status, body } = await send(engine, fields('name=Ann'))
    assert.deepEqual([status, body.code], [415, 'media_type_unsupported'])
    await assert.rejects(make({ forms: 1 as never }), /"forms" must be true or false/)
  })

  it('is among the media types of the OpenAPI document', async () => {
    await using engine = await make()
    const typesOf = async (from: RestEngine, path: string, method: string): Promise<string[]> => {
      const { paths } = await from.openapi({ attributes: true })
      const { $ref, content } = (paths[path]![method] as { requestBody: { $ref?: string; content?: object } }).requestBody
      const name = $ref?.split('/').at(-1)
      const bodies = (await from.openapi({ attributes: true })).components['requestBodies'] as Record<string, { content: object }>
      return Object.keys(name === undefined ? content! : bodies[name]!.content)
    }
    const all = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
    for (const [path, method] of [
      ['/v1/users', 'post'],
      ['/v1/users/{id}', 'put'],
      ['/v1/users/{id}/tags', 'post'],
    ] as const)
      assert.deepEqual(await typesOf(engine, path, method), all, path)
    assert.deepEqual(await typesOf(engine, '/v1/users/{id}/name', 'put'), ['application/json'])
    await using off = await make({ forms: false })
    assert.deepEqual(await typesOf(off, '/v1/users', 'post'), ['application/json'])
  })

  it('says what JSON says: the records of both are the same', async () => {
    await using engine = await make()
    const user = record({
      name: string({ unit: 'binary', maxLength: 20 }).filter(text => !text.includes('\0')),
      age: option(integer({ min: -1e9, max: 1e9 })),
      vip: boolean(),
      nicks: array(
        string({ minLength: 1 }).filter(text => !text.includes('\0')),
        { minLength: 1, maxLength: 3 },
      ),
      address: record({ city: string().filter(text => !text.includes('\0')), zip: option(integer({ min: 0, max: 99999 })) }),
      tags: uniqueArray(constantFrom(1, 2), { minLength: 1 }),
    })
    await check(
      asyncProperty(user, boolean(), async (given, isMultipart) => {
        const form = isMultipart ? new FormData() : new URLSearchParams()
        form.append('name', given.name)
        form.append('age', given.age === null ? '' : String(given.age))
        form.append('vip', String(given.vip))
        for (const nick of given.nicks) form.append('nicks[]', nick)
        form.append('address[city]', given.address.city)
        form.append('address[zip]', given.address.zip === null ? '' : String(given.address.zip))
        for (const tag of given.tags) form.append('tags', String(tag))
        const sent = await send(engine, form)
        // What a form cannot carry, a browser changes: lone surrogates, and line ends in parts.
        const wanted = JSON.parse(JSON.stringify(given), (_, value: unknown) =>
          typeof value === 'string' ? clean(value, isMultipart) : value,
        ) as object
        const { body } = await engine.handle('POST', '/v1/users', undefined, wanted)
        assert.deepEqual({ ...sent.body.user, id: 0 }, { ...body.user, id: 0 })
      }),
      { label: 'forms', runs: 60 },
    )
  })
})

function clean(text: string, isMultipart: boolean): string {
  const known = text.toWellFormed()
  return isMultipart ? known.replaceAll(/\r\n?|\n/g, '\r\n') : known
}
