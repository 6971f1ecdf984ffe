/** A database that an engine has made, opened by a role that may do less than the one that has made it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { findNoServer, newName, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary().autoincrement(), name: p.string().unique(), password: p.string().hidden() },
})
const entities = [User]

describe('a role that has not made the database', { skip: await findNoServer() }, () => {
  let schema: OwnSchema
  let log: string
  let table: string
  const role = newName()
  const open = (more: Partial<EngineOptions> = {}): Promise<RestEngine> => {
    const url = new URL(schema.database.url)
    url.username = role
    url.password = 'p'
    return RestEngine.create({ entities, database: { ...schema.database, url: url.href }, ...more })
  }
  before(async () => {
    schema = ownSchema()
    await using _ = await RestEngine.create({ entities, database: schema.database })
    log = `"${schema.database.schema}"."mikro_changes"`
    table = `"${schema.database.schema}"."user"`
    await schema.run(`create role ${role} login password 'p'; grant usage on schema ${schema.database.schema} to ${role};
      grant select, insert, update, delete on ${table} to ${role}; grant usage on all sequences in schema ${schema.database.schema} to ${role}`)
  })
  after(async () => {
    await schema.run(`drop owned by ${role}; drop role ${role}`)
    await schema[Symbol.asyncDispose]()
  })

  it('is told which rights on the log it lacks, and serves once it has them', async () => {
    const rights = 'select, insert, update, delete'
    await assert.rejects(open(), {
      message:
        'RestEngine.create: an engine that writes uses the log of changed rows, ' +
        `and the role "${role}" lacks the rights to ${rights} on the table ${log}: "grant ${rights} on ${log} to "${role}"".`,
    })
    await schema.run(`grant select, insert on ${log} to ${role}`)
    await assert.rejects(open({ schema: 'keep' }), /lacks the rights to update, delete on the table/)
    await schema.run(`revoke all on ${log} from ${role}`)
    {
      await using reading = await open({ readOnly: true })
      assert.equal((await reading.handle('GET', '/v1/users')).status, 200)
      await assert.rejects(reading.snapshot(), { message: new RegExp(`the role "${role}" lacks the rights to select on the table`) })
    }
    await schema.run(`grant ${rights} on ${log} to ${role}`)
    await using engine = await open()
    const { status, body } = await engine.handle('POST', '/v1/users', undefined, { name: 'Ann', password: 'p' })
    assert.deepEqual([status, body['user']], [200, { id: 1, name: 'Ann' }])
    assert.equal((await engine.handle('DELETE', '/v1/users/1')).status, 200)
  })

  it('is told whose table needs a trigger', async () => {
    await schema.run(
      `grant select, insert, update, delete on ${log} to ${role}; ` +
        `drop trigger mikro_changed on ${table}; drop trigger mikro_changed_all on ${table}`,
    )
    const owner = ((await schema.run('select current_user as name')) as [{ name: string }])[0].name
    await assert.rejects(open(), {
      message:
        `RestEngine.create: the table ${table} needs a trigger that writes down what changes. Its owner alone may give it one, ` +
        `"${owner}", and the role is "${role}": let an engine open the database as "${owner}" once, or "grant "${owner}" to "${role}"".`,
    })
    {
      await using _ = await RestEngine.create({ entities, database: schema.database })
    }
    await using engine = await open()
    assert.equal((await engine.handle('GET', '/v1/users')).status, 200)
  })

  it('is told so of the users of a log-in, too, whose removal a trigger notes', async () => {
    const { schema: name } = schema.database
    await schema.run(`grant select, insert, update, delete on ${log} to ${role}; grant create on schema ${name} to ${role}`)
    const module = { auth: auth({ entity: User, identifier: 'name', secret: 's' }) }
    await assert.rejects(open(module), /: the table "\w+"\."user" needs a trigger that [^\n]* Its owner alone may give it one[^\n]*$/)
    {
      await using _ = await RestEngine.create({ entities, database: schema.database, ...module })
    }
    await schema.run(`grant select, insert, update, delete on mikro_tokens, mikro_ended, mikro_logins to ${role}`)
    await using engine = await open(module)
    assert.equal((await engine.handle('GET', '/v1/users')).status, 401)
  })
})
