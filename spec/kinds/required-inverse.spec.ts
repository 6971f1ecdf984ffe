/** One-to-ones whose other side is declared not to be empty. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { EntitySchema } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const key = { type: 'integer', primary: true }
const name = { type: 'string', nullable: true }
function entities(required: boolean): EntitySchema[] {
  const link = { kind: '1:1', entity: () => Project, inversedBy: 'owner', owner: true, nullable: !required }
  const User = new EntitySchema({ name: 'User', properties: { id: key, name, project: link } } as never)
  const owner = { kind: '1:1', entity: () => User, mappedBy: 'project', nullable: false }
  const Project: EntitySchema = new EntitySchema({ name: 'Project', properties: { id: key, name, owner } } as never)
  return [User, Project]
}

for (const required of [true, false]) {
  describeStores(`an inverse one-to-one that is required, its owning side ${required ? 'too' : 'not'}`, () => {
    it('must be given, unless what links the record fills it', async () => {
      const failures: unknown[] = []
      await using engine = await createEngine({ entities: entities(required), onError: error => failures.push(error) })
      const ask = async (method: string, path: string, body?: unknown): Promise<[number, unknown]> => {
        const { status, body: answer } = await engine.handle(method, `/v1/${path}`, undefined, body)
        const given = answer as { resource: string; errors?: readonly { code: string; attribute: string }[] } & Record<string, unknown>
        return [status, given.errors?.map(({ code, attribute }) => [code, attribute]) ?? given[given.resource]]
      }
      assert.deepEqual(await ask('POST', 'projects', { name: 'x' }), [422, [['required', 'owner']]], String(failures[0]))
      assert.deepEqual(await ask('POST', 'projects', { owner: { name: 'o' } }), [200, { id: 1, name: null, owner: 1 }])
      assert.deepEqual(await ask('POST', 'users', { project: { name: 'p' } }), [200, { id: 2, name: null, project: 2 }])
      assert.deepEqual(await ask('PUT', 'projects/2', { name: 'q' }), [200, { id: 2, name: 'q', owner: 2 }])
      if (!required) {
        await ask('POST', 'users', {})
        assert.deepEqual(await ask('PUT', 'users/3/project', { name: 'r' }), [200, { id: 3, name: null, project: 3 }])
      }
      const made = (await engine.given('projects')) as { owner: number }
      assert.notEqual(made.owner, null)
      assert.deepEqual(failures, [])
    })

    it('may be filled by the other record of a seed', async () => {
      const seed = { users: [{ id: 1, project: 7 }], projects: [{ id: 7 }] }
      await using engine = await createEngine({ entities: entities(required), seed })
      assert.equal((await engine.handle('GET', '/v1/projects/7')).status, 200)
    })
  })
}
