/** The path of a description, beside the resources of a version, and the options of `engine.openapi`. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, resource, RestEngine } from '../../lib/index.ts'
import { runAll } from '../helpers/command.ts'
import { describeTargets } from '../helpers/targets.ts'
import { Conformity } from './conformity.ts'

const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), limit: p.integer().nullable(), done: p.boolean().default(false) },
})
const entities = [Note]

describeTargets('the path of a description', { entities, versions: ['v1', 'v2'] }, target => {
  it('answers with the document of its version', async () => {
    for (const version of ['v1', 'v2']) {
      const { status, headers, body } = await target.call('GET', `/${version}/openapi.json`)
      assert.equal(status, 200)
      assert.equal(headers['content-type'], 'application/json; charset=UTF-8')
      assert.deepEqual(body, JSON.parse(JSON.stringify(await target.engine.openapi({ version }))))
      assert.equal((body as { info: { version: string } }).info.version, version)
    }
  })

  it('takes HEAD and OPTIONS, and no other method, parameter or further segment', async () => {
    assert.equal((await target.call('HEAD', '/v1/openapi.json')).status, 200)
    assert.equal((await target.call('OPTIONS', '/v1/openapi.json')).headers['allow'], 'GET, HEAD, OPTIONS')
    assert.equal((await target.call('PUT', '/v1/openapi.json', undefined, {})).body.code, 'method_not_allowed')
    assert.equal((await target.call('GET', '/v1/openapi.json?depth=1')).body.code, 'parameter_invalid')
    assert.equal((await target.call('GET', '/v1/openapi.json/1')).body.code, 'resource_unknown')
    assert.equal((await target.call('GET', '/v9/openapi.json')).body.code, 'version_unknown')
  })
})

describe('the path of a description', () => {
  it('leaves its name to a resource and to a route', async () => {
    await using named = await RestEngine.create({ entities, resources: [resource(Note, { name: 'openapi.json', singular: 'note' })] })
    const { body } = await named.handle('GET', '/v1/openapi.json')
    assert.equal((body as { resource: string }).resource, 'openapi.json')
    const paths = Object.keys((await named.openapi()).paths)
    assert.equal(paths.filter(path => path === '/v1/openapi.json').length, 1)
    assert.equal(new Conformity(await named.openapi()).operationOf('GET', '/v1/openapi.json')?.operationId, 'listOpenapiJson')
    const routes = [{ method: 'GET', path: '/{version}/openapi.json', handler: () => ({ body: 'mine' }) }]
    await using routed = await RestEngine.create({ entities, routes })
    assert.equal((await routed.handle('GET', '/v1/openapi.json')).body, 'mine')
  })

  it('needs a token where all other paths do', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden() },
    })
    await using engine = await RestEngine.create({ entities: [User], auth: auth({ entity: User }) })
    assert.equal((await engine.handle('GET', '/v1/openapi.json')).status, 401)
    const document = await engine.openapi()
    const conformity = new Conformity(document)
    assert.deepEqual(document['security'], [{ bearer: [] }])
    assert.deepEqual(conformity.operationOf('POST', '/v1/login')?.node['security'], [])
    assert.deepEqual(conformity.bodyFaultsOf('POST', '/v1/login', { email: 'a', password: 'b' }), [])
    assert.notDeepEqual(conformity.bodyFaultsOf('POST', '/v1/login', { email: 'a' }), [])
  })
})

describe('a single record', () => {
  it('is described at the path of its resource, without an ID', async () => {
    const seed = { notes: [{ id: 1, text: 'a' }] }
    await using engine = await RestEngine.create({ entities, resources: [resource(Note, { single: 1 })], seed })
    const document = await engine.openapi()
    assert.deepEqual(Object.keys(document.paths['/v1/notes']!), ['parameters', 'get', 'put', 'patch'])
    const conformity = new Conformity(document)
    for (const path of ['/v1/notes', '/v1/notes/text'])
      assert.deepEqual(conformity.faultsOf('GET', path, await engine.handle('GET', path)), [])
  })
})

describe('the command with --openapi', () => {
  it('writes the document of what would be served, and replaces no other file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
    try {
      await writeFile(join(folder, 'data.json'), JSON.stringify({ notes: [{ id: 1, text: 'a' }] }))
      const [first, second, printed, refused, both, ...unwritable] = runAll(folder, [
        ['data.json', '--openapi', 'api.json'],
        ['data.json', '--openapi', 'api.json'],
        ['data.json', '--openapi'],
        ['--openapi', 'data.json'],
        ['data.json', '--openapi', '--get', '/'],
        ['data.json', '--openapi', 'docs/api.json'],
        ['data.json', '--openapi', '.'],
        ['data.json', '--diagram', 'docs/model.svg'],
      ])
      assert.deepEqual(
        [first, second, printed, refused, both].map(each => each!.code),
        [0, 0, 0, 2, 2],
      )
      const written = JSON.parse(await readFile(join(folder, 'api.json'), 'utf8')) as { paths: object }
      assert.ok('/v1/notes/{id}' in written.paths)
      assert.deepEqual(JSON.parse(printed!.stdout), written)
      assert.match(refused!.stderr, /does not replace data\.json/)
      assert.deepEqual(
        unwritable.map(each => each.stderr),
        [
          'mikro-rest: --openapi cannot write docs/api.json: there is no folder docs.\n',
          'mikro-rest: --openapi cannot write .: it is a folder, and a file is needed.\n',
          'mikro-rest: --diagram cannot write docs/model.svg: there is no folder docs.\n',
        ],
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('the options of a description', () => {
  it('name the filters that are listed', async () => {
    await using engine = await RestEngine.create({ entities })
    const named = async (filters: number | 'none'): Promise<string[]> => {
      const { components } = await engine.openapi({ filters, details: true })
      return Object.values(components['parameters'] as Record<string, { name: string }>).map(({ name }) => name)
    }
    const listed = await named(0)
    for (const name of ['text', 'text!', 'text~', 'limit_', 'limit_>', 'limit_<', 'done']) assert.ok(listed.includes(name), name)
    assert.ok(!(await named('none')).includes('text'))
    assert.ok((await named('none')).includes('sort'))
  })

  it('are refused where they are unknown or not of their form', async () => {
    await using engine = await RestEngine.create({ entities })
    const refused = (options: object): Promise<void> => assert.rejects(engine.openapi(options), { message: /^engine\.openapi: / })
    await refused({ version: 'v2' })
    await refused({ openapi: '3.0' })
    await refused({ filters: 9 })
    await refused({ filters: 'some' })
    await refused({ sparse: 1 })
    await refused({ attributes: 'all' })
    await refused({ title: '' })
    await assert.rejects(engine.openapi({ details: 1 } as object), /"details" must be true or false/)
    await assert.rejects(engine.openapi({ filter: 1 } as object), { message: /"filter".*"filters"/ })
  })

  it('describe parameters under the names that the application gave them, and its own', async () => {
    const parameters = { limit: 'per_page', q: (value: string) => ({ text: { $like: `%${value}%` } }) }
    await using engine = await RestEngine.create({ entities, parameters })
    const { components, info } = await engine.openapi({ details: true })
    const names = Object.values(components['parameters'] as Record<string, { name: string }>).map(({ name }) => name)
    assert.ok(names.includes('per_page') && names.includes('q') && names.includes('limit'), names.join())
    assert.match(String(info['description']), /`per_page`/)
  })

  it('describe routes as far as these say what they are', async () => {
    const handler = (): { body: unknown } => ({ body: { any: 'thing' } })
    const routes = [
      { method: 'GET', path: '/{version}/notes/latest', handler },
      { method: 'POST', path: '/v1/notes/{note}/archive', handler },
      { method: 'PURGE', path: '/v1/notes/{note}/archive', handler },
    ]
    await using engine = await RestEngine.create({ entities, routes, versions: ['v1', 'v2'] })
    const conformity = new Conformity(await engine.openapi())
    assert.equal(conformity.operationOf('GET', '/v1/notes/latest')?.operationId, 'getNotesLatest')
    assert.equal(conformity.operationOf('POST', '/v1/notes/3/archive')?.operationId, 'postNotesNoteArchive')
    const other = new Conformity(await engine.openapi({ version: 'v2' }))
    assert.equal(other.operationOf('POST', '/v2/notes/3/archive'), undefined)
    assert.equal(other.operationOf('GET', '/v2/notes/latest')?.operationId, 'getNotesLatest')
  })
})
