/** Secrets of a file without a model: a note names what looks like one, and what is hidden is not shown, filtered or sorted by. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { RestEngine, resource } from '../../../lib/index.ts'
import type { ResourceDefinition } from '../../../lib/index.ts'
import { runAll } from '../../helpers/command.ts'
import { Served, fileOf, pathOf, rowsOf, serve } from './world.ts'

const ACCOUNTS = `
  create table user_accounts (id integer primary key, name text, password_hash text not null, api_key text, token_count integer,
    password_changed datetime, session integer);
  create table sessions (token text primary key, account_id integer references user_accounts);
  insert into user_accounts values (1, 'Ann', 'hashed', 'k1', 5, '2020-01-02', 3);
  insert into sessions values ('t1', 1);
`

async function serveWith(path: string, ...resources: ResourceDefinition[]): Promise<Served> {
  return new Served(path, await RestEngine.create({ database: path, resources }), [])
}

describe('a file without a model', () => {
  it('has a note that names what looks like a secret, and says how to hide it', async () => {
    await using file = await serve(ACCOUNTS)
    assert.deepEqual(file.engine.notes, [
      'user_accounts.passwordHash, user_accounts.apiKey, sessions.token look like secrets, and are shown: hide each with --hide ' +
        'user_accounts.passwordHash, in code with resource("user_accounts", { attributes: { passwordHash: { private: true } } }).',
    ])
    await using plain = await serve('create table users (id integer primary key, token_count integer, secretary text, passwords integer)')
    assert.deepEqual(plain.engine.notes, [])
  })

  it('takes rules for its tables by their names, in whose place others are unknown', async () => {
    const path = fileOf(ACCOUNTS)
    for (const name of ['user_accounts', 'userAccount', 'UserAccount']) {
      const rules = { passwordHash: { private: true }, apiKey: { private: false } }
      await using file = await serveWith(path, resource(name, { attributes: rules }), resource('sessions', { access: false }))
      // What is said to be public is meant so, and what nobody reads is none.
      assert.deepEqual(file.engine.notes, [])
      const [record] = await file.get('user_accounts')
      assert.deepEqual(Object.keys(record), ['id', 'name', 'apiKey', 'tokenCount', 'passwordChanged', 'session'])
      await file.ask('GET', 'user_accounts?passwordHash=hashed', undefined, 400)
      await file.ask('GET', 'user_accounts?sort=passwordHash', undefined, 400)
      await file.ask('GET', 'user_accounts/1/passwordHash', undefined, 404)
    }
    await assert.rejects(
      serveWith(path, resource('user_acounts', {})),
      /^TypeError: resource\("user_acounts"\): there is no table of this name\. Did you mean "user_accounts"\?$/,
    )
    await assert.rejects(serveWith(path, resource('sessions', { attributes: { tokn: {} } })), /no property "tokn"\. Did you mean "token"/)
  })

  it('keeps the names that the file gives where a table has rules', async () => {
    const path = fileOf('create table "données1" (id integer primary key, secret text, name text); insert into "données1" values (1, 2, 3)')
    await using file = await serveWith(path, resource('données1', { attributes: { secret: { private: true } } }))
    assert.deepEqual(await file.get(encodeURIComponent('données1')), [{ id: 1, name: '3' }])
    await using renamed = await serveWith(path, resource('données1', { name: 'data', attributes: { secret: { private: true } } }))
    assert.deepEqual(await renamed.get('data'), [{ id: 1, name: '3' }])
  })

  it('is served by the command without what --hide names', () => {
    const path = fileOf(ACCOUNTS)
    const get = (request: string, ...hidden: string[]): string[] => [path, '--get', request, ...hidden.flatMap(name => ['--hide', name])]
    const [shown, column, all, filter, sort, document, table, attribute, other] = runAll(pathOf('.'), [
      get('/v1/user_accounts'),
      get('/v1/user_accounts', 'password_hash', 'userAccounts.apiKey'),
      get('/v1/sessions?expand=account', 'passwordHash', 'api_key', 'token'),
      get('/v1/user_accounts?apiKey=k1', 'user_accounts.api_key'),
      get('/v1/user_accounts?sort=apiKey', 'apiKey'),
      get('/v1/openapi.json', 'api_key'),
      get('/v1/sessions', 'user_acounts.api_key'),
      get('/v1/sessions', 'user_accounts.api_keys'),
      get('/v1/sessions', 'api_kye'),
    ])
    assert.match(shown!.stderr, /user_accounts\.passwordHash, user_accounts\.apiKey, sessions\.token look like secrets/)
    assert.match(column!.stderr, /Note: sessions\.token looks like a secret/)
    assert.deepEqual(JSON.parse(column!.stdout).user_accounts, [
      { id: 1, name: 'Ann', tokenCount: 5, passwordChanged: '2020-01-02T00:00:00.000Z', session: 3, sessions: ['t1'] },
    ])
    assert.doesNotMatch(all!.stderr, /secret/)
    assert.deepEqual(Object.keys(JSON.parse(all!.stdout).sessions[0]), ['account'])
    assert.doesNotMatch(all!.stdout, /hashed|k1/)
    for (const refused of [filter, sort]) assert.match(refused!.stdout, /"status": 400[^]*no (?:such )?attribute/)
    // Bodies may give it, as they may give what an entity hides.
    const { components } = JSON.parse(document!.stdout) as { components: { schemas: Record<string, { properties: object }> } }
    assert.equal('apiKey' in components.schemas['UserAccount']!.properties, false)
    assert.deepEqual(
      [table, attribute, other].map(each => [each!.code, each!.stderr]),
      [
        [2, 'mikro-rest: --hide: there is no table "user_acounts". Did you mean "user_accounts"?\n'],
        [2, 'mikro-rest: --hide: user_accounts has no attribute "api_keys". Did you mean "api_key"?\n'],
        [2, 'mikro-rest: --hide: no table has an attribute "api_kye". Did you mean "api_key"?\n'],
      ],
    )
    // The written model hides them by itself.
    const written = pathOf('written')
    const [ejected, read] = runAll(pathOf('.'), [
      [path, '--eject', written, '--hide', 'password_hash', '--hide', 'api_key', '--hide', 'token'],
      [path, '--get', '/v1/user_accounts', '--hide', 'password_hash'],
    ])
    assert.deepEqual([ejected!.code, read!.code], [0, 0], ejected!.stderr)
    assert.match(readFileSync(join(written, 'entities/user-account.ts'), 'utf8'), /apiKey: .*\.hidden\(\)/)
    assert.deepEqual(rowsOf(path, 'select count(*) as count from user_accounts'), [{ count: 1 }])
  })
})
