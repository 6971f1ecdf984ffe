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
