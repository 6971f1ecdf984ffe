/** The option `canonicalPaths`: one spelling of each path, so that guards by path in front of the engine see what the engine sees. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'

const Admin = defineEntity({
  name: 'Admin',
  properties: { id: p.string().primary(), name: p.string(), notes: () => p.oneToMany(AdminNote).mappedBy('admin') },
})
const AdminNote = defineEntity({
  name: 'AdminNote',
  properties: { id: p.integer().primary(), text: p.string(), admin: () => p.manyToOne(Admin) },
})
const seed = {
  admins: [
    { id: 'a@b', name: 'Ann' },
    { id: 'c d', name: 'Bob' },
  ],
  admin_notes: [{ id: 1, text: 'x', admin: 'a@b' }],
}
const base = { entities: [Admin, AdminNote], seed }

const CANONICAL = [
  '/v1/admins',
  '/v1/admins/a%40b',
  '/v1/admins/a@b',
  '/v1/admins/c%20d',
  '/v1/admins/a@b/name',
  '/v1/admins/a@b/notes',
  '/v1/admin_notes',
  '/v1/admin_notes/1/admin',
  '/v1',
  '/',
  '/v1/openapi.json',
]
/** By the path that the refusal names. */
const OTHER: Record<string, string> = {
  '/v1/admin': '/v1/admins',
  '/v1/%61dmins': '/v1/admins',
  '/v1/%61dmin/a@b': '/v1/admins/a%40b',
  '/v1/admins/%61@b': '/v1/admins/a%40b',
  '/v1/admins/a@b/%6eame': '/v1/admins/a%40b/name',
  '/v1/adminNotes': '/v1/admin_notes',
  '/v1/admin-notes/1': '/v1/admin_notes/1',
  '/v1/adminNote/1/text': '/v1/admin_notes/1/text',
}

describe('canonical paths', () => {
  it('are one spelling each', async () => {
    await using engine = await RestEngine.create({ ...base, canonicalPaths: true })
    for (const path of CANONICAL) assert.equal((await engine.handle('GET', path)).status, 200, path)
    for (const [path, wanted] of Object.entries(OTHER)) {
      for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
        const { status, body } = await engine.handle(method, path, '', {})
        assert.deepEqual(
          [status, body.code, body.detail],
          [404, 'path_unknown', `Paths are served in one spelling each: write ${wanted}.`],
          path,
        )
      }
    }
    const created = await engine.handle('POST', '/v1/admins', '', { id: 'x/y', name: 'z' })
    assert.equal((await engine.handle('GET', created.headers['location']!)).status, 200)
    await using fork = await engine.fork()
    assert.equal((await fork.handle('GET', '/v1/admin')).status, 404)
  })

  it('are those of links, and all others are served without the option', async () => {
    await using engine = await RestEngine.create({ ...base })
    for (const path of [...CANONICAL, ...Object.keys(OTHER)]) assert.equal((await engine.handle('GET', path)).status, 200, path)
  })

  it('do not say of a closed resource how it is called', async () => {
    await using engine = await RestEngine.create({ ...base, canonicalPaths: true, resources: [resource(Admin, { access: false })] })
    assert.equal((await engine.handle('GET', '/v1/admin')).body.detail, 'Paths are served in one spelling each.')
  })

  it('are an option that is true or false', async () => {
    await assert.rejects(RestEngine.create({ ...base, canonicalPaths: 'yes' as never }), /"canonicalPaths" must be true or false/)
  })
})
