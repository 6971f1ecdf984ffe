/** A JSON file with options of a module beside it, and with a log-in by one word: the command. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { isPasswordHash } from '../../lib/engine/auth/password.ts'
import { Command, LIBRARY, runAll, send, SourceCommand } from '../helpers/command.ts'

const FILE = {
  users: [
    { id: 1, email: 'ann@example.com', username: 'ann', password: 'secret', team: 'a' },
    { id: 2, email: 'bob@example.com', username: 'bob', password: 'hush', team: 'a' },
  ],
  posts: [{ id: 1, title: 'Hello', userId: 1 }],
  profile: { name: 'Blog' },
}

describe('a JSON file', () => {
  let folder: string
  const file = (name: string, data: unknown): string => {
    writeFileSync(join(folder, name), typeof data === 'string' ? data : JSON.stringify(data))
    return name
  }
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const options = (body: string): string => `import { auth, resource } from '${LIBRARY}'\nexport default { ${body} }`
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'mikro-rest-options-'))
    file('db.json', FILE)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function logIn(origin: string, body: object): Promise<{ status: number; headers: Record<string, string>; user: unknown }> {
    const answer = await send(origin, 'POST', '/v1/login', body)
    const { auth_token: token, user } = answer.body as { auth_token?: string; user?: unknown }
    return { status: answer.status, headers: { authorization: `Bearer ${token}` }, user }
  }

  it('takes options of a module, and keeps --save and --watch', async () => {
    file('kept.json', FILE)
    file(
      'options.mjs',
      options(`deletedStatus: 204, envelope: { list: 'bare' }, auth: auth({ entity: 'users', public: ['* /*'] }),
      resources: [resource('posts', { sort: 'id.desc' }), resource('profile', { attributes: { name: { readOnly: true } } })],
      routes: [{ method: 'GET', path: '/{version}/hello', handler: () => ({ status: 200, body: { hello: 1 } }) }]`),
    )
    await using command = new SourceCommand(folder, 'options.mjs', 'kept.json', '--save', '--watch', '--port', '0')
    const origin = await command.origin()
    assert.match(command.stdout, /^mikro-rest serves kept\.json with options\.mjs, saved and watched at /m)
    assert.equal((await send(origin, 'POST', '/v1/posts', { title: 'Two', userId: 2 })).status, 200)
    const list = (await send(origin, 'GET', '/v1/posts')).body as unknown
    assert.deepEqual(list, [
      { id: 2, title: 'Two', userId: 2 },
      { id: 1, title: 'Hello', userId: 1 },
    ])
    assert.equal((await fetch(`${origin}/v1/posts/1`, { method: 'DELETE' })).status, 204)
    assert.deepEqual((await send(origin, 'GET', '/v1/hello')).body, { hello: 1 })
    // The file has one object: no request adds another.
    assert.equal((await send(origin, 'POST', '/v1/profile', { name: 'x' })).status, 405)
    assert.equal((await send(origin, 'PATCH', '/v1/profile', { name: 'x' })).status, 422)
    // The right password, though nothing hides the passwords of the file.
    assert.equal((await logIn(origin, { email: 'bob@example.com', password: 'hush' })).status, 200)
    assert.equal((await logIn(origin, { email: 'bob@example.com', password: 'Hush' })).status, 401)
    await command.until('the save', () => JSON.parse(text('kept.json')).posts[0].title === 'Two')
    assert.doesNotMatch(command.stdout, /starting again/)
    file('options.mjs', options('deletedStatus: 205'))
    await command.until('the refusal', () => /deletedStatus.*: the model of before is served/.test(command.stderr))
    file('options.mjs', options('createdStatus: 201'))
    assert.equal((await send(await command.origin(2), 'POST', '/v1/posts', { title: 'Three' })).status, 201)
    assert.equal(await command.stop(), 0)
    assert.deepEqual(JSON.parse(text('kept.json')).posts, [
      { id: 2, title: 'Two', userId: 2 },
      { id: 3, title: 'Three', userId: null },
    ])
  })

  it('says what of options the file itself says', () => {
    file('entities.mjs', 'export default { entities: [] }')
    file('seed.mjs', 'export default { seed: { users: [] } }')
    file('function.mjs', 'export default () => 1')
    file('unknown.mjs', options("resources: [resource('usres', {})]"))
    file('renamed.mjs', options("resources: [resource('users', { name: 'people' })]"))
    const cases = [
      [
        'entities.mjs',
        /^mikro-rest: entities\.mjs has the option "entities", and db\.json itself says the model and the records: leave it out/,
      ],
      ['seed.mjs', /has the option "seed"/],
      ['function.mjs', /function\.mjs exports no options: beside db\.json its default export must be options of the engine/],
      ['unknown.mjs', /resource\("usres"\) names no collection of db\.json\. Did you mean "users"\?/],
      ['renamed.mjs', /users is called as in db\.json: leave "name" and "singular" out/],
    ] as const
    const results = runAll(
      folder,
      cases.map(([module]) => ['db.json', '--config', module, '--get', '/v1/users']),
    )
    for (const [index, { code, stderr }] of results.entries()) {
      assert.equal(code, 1)
      assert.match(stderr, cases[index]![1])
    }
  })

  it('lets users log in by one word, by an attribute that it guesses and says', async () => {
    file('plain.json', FILE)
    await using command = new Command(folder, 'plain.json', '--login', 'users', '--save', '--port', '0')
    const origin = await command.origin()
    assert.match(
      command.stdout,
      /Note: users log in by "email" and "password", which is not shown: 2 plain passwords are compared as the file has them\.\n/,
    )
    assert.match(command.stdout, /curl '\S+\/v1\/login' .* -d '\{"email":"ann@example\.com","password":"\.\.\."\}'/)
    // What the head shows are no requests of anybody.
    assert.deepEqual((await send(origin, 'GET', '/_test/requests')).body['requests'], [])
    const { status, headers, user } = await logIn(origin, { email: 'ann@example.com', password: 'secret' })
    assert.deepEqual([status, user], [200, { id: 1, email: 'ann@example.com', username: 'ann', team: 'a', posts: [1] }])
    assert.equal((await logIn(origin, { email: 'ann@example.com', password: 'hush' })).status, 401)
    assert.equal((await fetch(`${origin}/v1/posts`)).status, 401)
    assert.equal((await fetch(`${origin}/v1/posts`, { headers })).status, 200)
    const json = { ...headers, 'content-type': 'application/json' }
    const changed = await fetch(`${origin}/v1/users/1`, { method: 'PATCH', headers: json, body: '{"password":"other"}' })
    assert.equal(changed.status, 200)
    assert.equal((await logIn(origin, { email: 'ann@example.com', password: 'other' })).status, 200)
    assert.equal(await command.stop(), 0)
    assert.deepEqual(
      JSON.parse(text('plain.json')).users.map(({ password }: { password: string }) => password),
      ['other', 'hush'],
    )
  })

  it('hashes their passwords by --hash, and saves a changed user so', async () => {
    file('hashed.json', FILE)
    await using command = new Command(folder, 'hashed.json', '--login', 'users.username', '--hash', '--save', '--port', '0')
    const origin = await command.origin()
    assert.match(command.stdout, /users log in by "username" and "password", .* 2 plain passwords are hashed in memory\.\n/)
    const { status, headers } = await logIn(origin, { username: 'bob', password: 'hush' })
    assert.equal(status, 200)
    const json = { ...headers, 'content-type': 'application/json' }
    await fetch(`${origin}/v1/users/2`, { method: 'PATCH', headers: json, body: '{"team":"b"}' })
    assert.equal(await command.stop(), 0)
    const [ann, bob] = JSON.parse(text('hashed.json')).users as { password: string }[]
    assert.deepEqual([ann!.password, isPasswordHash(bob!.password)], ['secret', true])
  })

  it('says why nobody can log in', () => {
    const bcrypt = '$2b$10$abcdefghijklmnopqrstuvwxyz'
    file('others.json', { users: [{ id: 1, email: 'a', password: bcrypt }], same: [{ team: 'a', password: 'x' }], teams: [{ name: 'x' }] })
    const results = runAll(folder, [
      ['others.json', '--login', 'users', '--get', '/v1/teams'],
      ['others.json', '--login', 'teams', '--get', '/v1/teams'],
      ['others.json', '--login', 'same', '--get', '/v1/teams'],
      ['others.json', '--login', 'usrs', '--get', '/v1/teams'],
      ['db.json', '--login', 'users.team', '--get', '/v1/users'],
      ['db.json', '--login', 'profile', '--get', '/v1/users'],
      ['db.json', '--hash', '--get', '/v1/users'],
      ['--login', 'users', '--get', '/v1/users'],
    ])
    const said = [
      /Note: 1 of users cannot log in: another program has hashed the password\./,
      /--login: no attribute of teams is a password, such as "password"\./,
      /--login: no attribute of same in others\.json tells users apart, .* name one, --login same\.ATTRIBUTE\./,
      /--login: others\.json has no collection "usrs"\. Did you mean "users"\?/,
      /--login: "team" of users is the same in two records\./,
      /--login: db\.json has no collection "profile"\./,
      /--hash goes with --login\./,
      /--login is about the users of a JSON FILE: a module has the option auth/,
    ]
    for (const [index, { stderr }] of results.entries()) assert.match(stderr, said[index]!)
    assert.deepEqual(
      results.map(({ code }) => code),
      [1, 2, 2, 2, 2, 2, 2, 2],
    )
  })
})
