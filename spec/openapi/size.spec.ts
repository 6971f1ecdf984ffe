/**
 * Size: a document says each thing once: plain attributes by one path of a resource, and what repeats by a reference; with `attributes:
 * true` at each place.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntityName, EntitySchema } from '@mikro-orm/core'
import { auth, resource, RestEngine } from '../../lib/index.ts'
import type { OpenApiDocument } from '../../lib/description/openapi/openapi-document.ts'
import sample from '../../fixtures/sample/index.ts'
import { Conformity } from './conformity.ts'

type Node = Readonly<Record<string, unknown>>
interface Operation {
  readonly parameters?: readonly Node[]
  readonly responses: Readonly<Record<string, Node>>
}

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    age: p.integer().nullable(),
    password: p.string().hidden(),
    boss: () => p.manyToOne(User).nullable(),
    staff: () => p.oneToMany(User).mappedBy('boss'),
  },
})

function operation(document: OpenApiDocument, path: string, method: string): Operation {
  return document.paths[path]![method] as Operation
}

function refersTo(name: string): { $ref: string } {
  return { $ref: `#/components/${name}` }
}

/** Entities with twelve plain attributes each and three relations to others, which know them. */
function createModel(count: number): EntitySchema[] {
  const entities: EntitySchema[] = []
  const targetOf = (from: number, link: number): number => (from * 7 + link * 11) % count
  for (let index = 0; index < count; index++) {
    const properties: Record<string, unknown> = { id: p.integer().primary() }
    for (let number = 0; number < 4; number++)
      Object.assign(properties, {
        [`text${number}`]: p.string(),
        [`count${number}`]: p.integer().nullable(),
        [`at${number}`]: p.datetime(),
      })
    for (let link = 1; link <= 3; link++) {
      properties[`link${link}`] = () => p.manyToOne(entities[targetOf(index, link)]! as EntityName<object>).nullable()
      for (let other = 0; other < count; other++) {
        if (targetOf(other, link) === index)
          properties[`back${link}x${other}`] = () => p.oneToMany(entities[other]! as EntityName<object>).mappedBy(`link${link}` as never)
      }
    }
    entities.push(defineEntity({ name: `Thing${index}`, properties }))
  }
  return entities
}

describe('the size of a document', () => {
  it('is below 100 KB for nine resources; with details, and with all at each place, it is larger', async () => {
    await using engine = await RestEngine.create(sample)
    const [document, detailed, whole] = [
      await engine.openapi(),
      await engine.openapi({ details: true }),
      await engine.openapi({ attributes: true }),
    ]
    const [length, more, most] = [document, detailed, whole].map(each => Buffer.byteLength(JSON.stringify(each))) as [
      number,
      number,
      number,
    ]
    assert.ok(length < 100_000, `${length} bytes`)
    assert.ok(more > 150_000 && more < 176_000, `${more} bytes`)
    assert.ok(most > 370_000 && most < 410_000, `${most} bytes`)
    const operations = (each: OpenApiDocument): string[] => new Conformity(each).operations.map(({ operationId }) => operationId)
    assert.equal(operations(document).length, 153)
    assert.deepEqual(operations(document), operations(detailed))
    assert.equal(operations(whole).length, 230)
    const { body } = await engine.handle('GET', '/v1/openapi.json')
    assert.deepEqual(body, document)
  })

  it('loses no path, no filter of a list, no body and no operation', async () => {
    await using engine = await RestEngine.create(sample)
    const [document, detailed] = [await engine.openapi(), await engine.openapi({ details: true })]
    assert.deepEqual(Object.keys(document.paths), Object.keys(detailed.paths))
    const [short, long] = [new Conformity(document), new Conformity(detailed)]
    const nameOf = (each: Node): unknown => each['name']
    for (const operation of short.operations) {
      const other = long.operations.find(({ pointer }) => pointer === operation.pointer)!
      const isBelow = /\{id\}\/./.test(operation.template)
      const named = long.parametersOf(other).map(nameOf)
      const kept = isBelow ? named.filter(name => ['id', 'attribute', 'limit', 'offset', 'sort'].includes(String(name))) : named
      assert.deepEqual(short.parametersOf(operation).map(nameOf), kept, operation.operationId)
      const membersOf = (schema: Node | undefined): string[] => Object.keys(schema?.['properties'] ?? {})
      const whole = long.bodySchemaOf(other)
      // With details a list takes the ID of a record that it links, too.
      if (whole?.['anyOf'] === undefined)
        assert.deepEqual(membersOf(short.bodySchemaOf(operation)), membersOf(whole), operation.operationId)
      assert.deepEqual(Object.keys(operation.node['responses'] as Node), ['200', '4XX'])
    }
  })

  it('grows with the model, not with its square', async () => {
    const sizeOf = async (count: number): Promise<number> => {
      await using engine = await RestEngine.create({ entities: createModel(count) })
      return JSON.stringify(await engine.openapi()).length
    }
    const [some, many] = [await sizeOf(17), await sizeOf(51)]
    assert.ok(many < 1_250_000 && many < some * 3.3, `${some} and ${many} bytes`)
  })
})

describe('a document with details', () => {
  it('has one path for the plain attributes of a resource, which names those of each method', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const document = await engine.openapi({ details: true })
    assert.deepEqual(Object.keys(document.paths), [
      '/',
      '/v1',
      '/v1/openapi.json',
      '/v1/users',
      '/v1/users/{id}',
      '/v1/users/{id}/{attribute}',
      '/v1/users/{id}/boss',
      '/v1/users/{id}/staff',
    ])
    const { parameters } = document.components as { parameters: Record<string, { schema: { enum: string[] } }> }
    assert.deepEqual(parameters['UserAttribute']!.schema.enum, ['id', 'name', 'age'])
    assert.deepEqual(parameters['UserWritableAttribute']!.schema.enum, ['name', 'age', 'password'])
    const conformity = new Conformity(document)
    await engine.handle('POST', '/v1/users', undefined, { name: 'Ann', password: 'a' })
    const answer = await engine.handle('GET', '/v1/users/1/name')
    assert.deepEqual(conformity.faultsOf('GET', '/v1/users/1/name', answer), [])
    // Each name comes with the type of its own.
    assert.notDeepEqual(conformity.faultsOf('GET', '/v1/users/1/name', { ...answer, body: { ...answer.body, value: 3 } }), [])
    assert.notDeepEqual(conformity.faultsOf('GET', '/v1/users/1/name', { ...answer, body: { ...answer.body, more: 3 } }), [])
    assert.notDeepEqual(conformity.faultsOf('GET', '/v1/users/1/name', { ...answer, body: { ...answer.body, attribute: 'password' } }), [])
  })

  it('has a path of its own for an attribute that other callers may read', async () => {
    const login = auth({ entity: User, identifier: 'name', public: ['GET /v1/users/*/name'] })
    await using engine = await RestEngine.create({ entities: [User], auth: login })
    const { paths } = await engine.openapi({ details: true })
    assert.deepEqual((paths['/v1/users/{id}/name']!['get'] as Node)['security'], [{}, { bearer: [] }])
    assert.equal((paths['/v1/users/{id}/{attribute}']!['get'] as Node)['security'], undefined)
  })

  it('lists the statuses that say something about an operation, and the others as its default', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const document = await engine.openapi({ details: true })
    const statuses = (path: string, method: string): string[] => Object.keys(operation(document, path, method).responses)
    assert.deepEqual(statuses('/v1/users', 'get'), ['200', '400', 'default'])
    assert.deepEqual(statuses('/v1/users', 'post'), ['200', '409', '422', 'default'])
    assert.deepEqual(statuses('/v1/users/{id}', 'get'), ['200', '404', 'default'])
    assert.deepEqual(statuses('/v1/users/{id}', 'put'), ['200', '404', '409', '422', 'default'])
    assert.deepEqual(statuses('/v1/users/{id}/staff', 'delete'), ['200', '404', '409', 'default'])
    for (const { node } of new Conformity(document).operations)
      assert.deepEqual((node['responses'] as Node)['default'], refersTo('responses/Refused'))
    const whole = await engine.openapi({ attributes: true })
    assert.deepEqual(Object.keys(operation(whole, '/v1/users/{id}/name', 'get').responses), ['200', '400', '404', '500', '503'])
  })

  it('names conditions and 412 where records show a version', async () => {
    const Page = defineEntity({ name: 'Page', properties: { id: p.integer().primary(), text: p.string(), version: p.integer().version() } })
    await using engine = await RestEngine.create({ entities: [User, Page] })
    const document = await engine.openapi({ details: true })
    const named = (path: string): readonly Node[] => [
      ...(operation(document, path, 'put').parameters ?? []),
      ...((document.paths[path]!['parameters'] ?? []) as readonly Node[]),
    ]
    assert.ok(
      JSON.stringify(named('/v1/pages/{id}')).includes('IfMatch') && '412' in operation(document, '/v1/pages/{id}', 'put').responses,
    )
    assert.ok(
      !JSON.stringify(named('/v1/users/{id}')).includes('IfMatch') && !('412' in operation(document, '/v1/users/{id}', 'put').responses),
    )
  })

  it('has what all operations of a path take at the path, once', async () => {
    await using engine = await RestEngine.create(sample)
    const { paths } = await engine.openapi({ details: true })
    for (const [path, item] of Object.entries(paths)) {
      const operations = Object.entries(item).flatMap(([method, each]) => (method === 'parameters' ? [] : [each as Operation]))
      if (operations.length < 2) continue
      const [first = [], ...others] = operations.map(({ parameters = [] }) => parameters.map(each => JSON.stringify(each)))
      assert.deepEqual(
        first.filter(each => others.every(parameters => parameters.includes(each))),
        [],
        path,
      )
    }
    const depth = refersTo('parameters/Depth')
    assert.ok(((paths['/v1/sites/{id}/domains']!['parameters'] ?? []) as Node[]).some(each => each['$ref'] === depth.$ref))
  })

  it('names the filters of the list of a resource, of those of relations where it is asked to', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    const names = async (options: object, path: string, method: string): Promise<string[]> => {
      const document = await engine.openapi({ details: true, ...options })
      const own = [...(operation(document, path, method).parameters ?? [])].map(({ $ref }) => String($ref).replace(/.*\//, ''))
      return own.filter(name => /(?:Is|IsNot|IsLike|AtLeast|AtMost)$/.test(name))
    }
    const own = [
      'IdIs',
      'IdIsNot',
      'IdAtLeast',
      'IdAtMost',
      'NameIs',
      'NameIsNot',
      'NameIsLike',
      'AgeIs',
      'AgeIsNot',
      'AgeAtLeast',
      'AgeAtMost',
    ]
    const all = [...own, 'BossIs', 'BossIsNot', 'StaffIs', 'StaffIsNot']
    assert.deepEqual(await names({}, '/v1/users', 'get'), all)
    assert.deepEqual(await names({}, '/v1/users/{id}/staff', 'get'), [])
    assert.deepEqual(await names({ filters: 0 }, '/v1/users/{id}/staff', 'get'), all)
    assert.deepEqual(await names({ filters: 0 }, '/v1/users/{id}/staff', 'delete'), all)
    assert.ok((await names({ filters: 1 }, '/v1/users', 'get')).includes('BossNameIs'))
    assert.ok((await names({ attributes: true }, '/v1/users', 'get')).includes('BossNameIs'))
  })

  it('describes a new record as a change that requires more', async () => {
    await using engine = await RestEngine.create({
      entities: [User],
      resources: [resource(User, { attributes: { age: { readOnly: true } } })],
    })
    const { schemas } = (await engine.openapi({ details: true })).components as { schemas: Record<string, Node> }
    assert.deepEqual(schemas['UserNew']!['allOf'], [refersTo('schemas/UserPatch')])
    assert.deepEqual(schemas['UserNew']!['required'], ['name', 'password'])
    assert.deepEqual(Object.keys(schemas['UserPatch']!['properties'] as Node), ['id', 'name', 'password', 'boss', 'staff'])
    assert.equal(schemas['UserPatch']!['required'], undefined)
  })
})
