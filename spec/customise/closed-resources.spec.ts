/** Resources with `access: false`: no answer, no description and no error names them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'

const Vault = defineEntity({
  name: 'Vault',
  properties: { id: p.integer().primary(), code: p.string().unique(), notes: () => p.oneToMany(Note).mappedBy('vault') },
})
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), vault: () => p.manyToOne(Vault).nullable() },
})
const closed: Partial<EngineOptions> = {
  entities: [Vault, Note],
  seed: { vaults: [{ id: 1, code: 'a' }], notes: [{ id: 1, text: 'x', vault: 1 }] },
}
const none = { list: false, get: false, create: false, update: false, delete: false }

describe('a resource without access', () => {
  for (const [how, access] of [
    ['as a whole', false],
    ['by every action', none],
  ] as const) {
    it(`is named nowhere (${how})`, async () => {
      await using engine = await RestEngine.create({ ...closed, resources: [resource(Vault, { access })] })
      const asked: [string, string, string?, unknown?][] = [
        ['GET', '/'],
        ['GET', '/v1'],
        ['GET', '/v1/vaultx'],
        ['GET', '/v1/vault'],
        ['GET', '/vault'],
        ['GET', '/v1/vault/1'],
        ['POST', '/v1/vault', '', { code: 'b' }],
        ['PUT', '/v1/vault/1', '', { code: 'b' }],
        ['DELETE', '/v1/vault/1'],
        ['GET', '/v1/vault/abc'],
        ['GET', '/v1/vault/9/code'],
        ['GET', '/v1/vault/1/nothing'],
        ['PATCH', '/v1/vault'],
        ['OPTIONS', '/v1/vault'],
        ['GET', '/v1/vault', 'nothing=1'],
        ['GET', '/v1/vault', 'limit=x'],
        ['GET', '/v1/notes'],
        ['GET', '/v1/notes/1', 'depth=2'],
        ['GET', '/v1/notes', 'vaultx=1'],
        ['GET', '/v1/notes', 'sort=vaultx'],
        ['GET', '/v1/notes', 'expand=vaultx'],
        ['POST', '/v1/notes', '', { text: 'y', vaultx: 1 }],
        ['GET', '/v1/notes/1/vaultx'],
        ['GET', '/v1/openapi.json'],
        ['DELETE', '/v1/notes/1'],
      ]
      for (const [method, path, query = '', body] of asked) {
        const { status, body: answer } = await engine.handle(method, path, query, body)
        assert.ok(status < 500)
        // What the client has written itself may be repeated.
        const text = (JSON.stringify(answer) ?? '').replaceAll('vaultx', '').replaceAll('not \\"vault\\"', '')
        assert.ok(!/vault/i.test(text), `${method} ${path}?${query}: ${/.{60}vault.{60}/i.exec(text)?.[0] ?? text}`)
      }
      assert.ok(!/vault/i.test(await engine.diagram({ format: 'mermaid' })))
      assert.deepEqual((await engine.handle('GET', '/v1/vaults')).status, 403)
    })
  }

  it('is named where one action is open', async () => {
    await using engine = await RestEngine.create({
      ...closed,
      resources: [resource(Vault, { access: { ...none, list: true } })],
    })
    assert.deepEqual(Object.keys((await engine.handle('GET', '/v1')).body.resources as object), ['vaults', 'notes'])
  })

  it('has no place in a description without any other, either', async () => {
    await using engine = await RestEngine.create({
      ...closed,
      resources: [resource(Vault, { access: false }), resource(Note, { access: false })],
    })
    const { status, body } = await engine.handle('GET', '/v1/notes1')
    assert.deepEqual([status, body.detail], [404, 'There is no resource "notes1".'])
    assert.deepEqual((await engine.handle('GET', '/v1')).body.resources, {})
    assert.deepEqual(
      ((await engine.openapi()).tags as { name: string }[]).map(({ name }) => name),
      ['general'],
    )
  })
})

describe('a relation to records that may not be read', () => {
  const User = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      boss: () => p.manyToOne(User).nullable(),
      followers: () => p.oneToMany(Fan).mappedBy('idol'),
      secret: () => p.oneToMany(Fan).mappedBy('other').hidden(),
    },
  })
  const Fan = defineEntity({
    name: 'Fan',
    properties: { id: p.integer().primary(), idol: () => p.manyToOne(User), other: () => p.manyToOne(User).nullable() },
  })
  const seed = { users: [{ id: 1, name: 'Ann' }], fans: [{ id: 1, idol: 1 }] }

  it('is refused by what nobody may do, where the resource is one that is served', async () => {
    await using engine = await RestEngine.create({
      entities: [User, Fan],
      seed,
      resources: [resource(Fan, { access: { list: false, create: false } })],
    })
    const why = '"followers" is a list of fans, and nobody may list fans.'
    for (const [method, path, body, status, code] of [
      ['GET', '/v1/users?attributes=followers', undefined, 400, 'parameter_invalid'],
      ['GET', '/v1/users?expand=followers', undefined, 400, 'parameter_invalid'],
      ['GET', '/v1/users?sort=followers', undefined, 400, 'parameter_invalid'],
      ['GET', '/v1/users?followers=1', undefined, 400, 'parameter_invalid'],
      ['GET', '/v1/users?followers.id=1', undefined, 400, 'parameter_invalid'],
      ['GET', '/v1/users?boss.followers.id=1', undefined, 400, 'parameter_invalid'],
      ['GET', '/v1/users/1/followers', undefined, 404, 'attribute_not_found'],
      ['PUT', '/v1/users/1', { followers: [1] }, 422, 'validation_failed'],
    ] as const) {
      const answer = await engine.handle(method, path, undefined, body)
      assert.deepEqual([answer.status, answer.body.code, answer.body.detail], [status, code, why], path)
    }
    for (const path of ['users?secret=1', 'users?expand=secret', 'users/1/secret', 'users?folowers=1', 'users/1/folowers']) {
      const { body } = await engine.handle('GET', `/v1/${path}`)
      assert.match(body.detail, /no (?:such )?attribute/)
      assert.doesNotMatch(JSON.stringify(body), /followers/)
    }
  })

  it('is unknown where a function decides for the caller', async () => {
    await using engine = await RestEngine.create({
      entities: [User, Fan],
      seed,
      resources: [resource(Fan, { access: { list: () => false } })],
    })
    for (const path of ['users?attributes=followers', 'users/1/followers'])
      assert.match((await engine.handle('GET', `/v1/${path}`)).body.detail, /^A user has no attribute "followers"\.$/)
  })
})
