/** Texts that read well, where faker is installed; plain ones where it is not. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { faker } from '@faker-js/faker/locale/en'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../../lib/index.ts'
import { copyLibrary } from '../../helpers/command.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    firstName: p.string(),
    email: p.string().unique(),
    website: p.string(),
    phoneNumber: p.string(),
    short: p.string().length(5),
    city: p.string().length(3),
    remark: p.string(),
  },
})

describe('made-up texts, with faker', () => {
  it('read like what their attributes are called', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    for (const user of await engine.given.many('user', 50)) {
      assert.match(user['name'], /^\p{L}[\p{L}'-]* \p{L}.*$/u)
      assert.match(user['firstName'], /^\p{L}/u)
      assert.match(user['email'], /^[^@\s]+@example\.(?:com|org|net)$/)
      assert.match(user['website'], /^https:\/\/[a-z-]+\.example\.com$/)
      assert.match(user['phoneNumber'], /^\+\d+$/)
      assert.ok(user['short'].length <= 5 && user['city'].length <= 3)
      assert.match(user['remark'], /^remark \d+$/)
    }
  })

  it('leave the faker of the caller as it is', async () => {
    await using engine = await RestEngine.create({ entities: [User] })
    faker.seed(5)
    const expected = [faker.person.firstName(), faker.person.firstName()]
    faker.seed(5)
    const first = faker.person.firstName()
    const before = await engine.given('user', {}, { seed: 1 })
    assert.deepEqual([first, faker.person.firstName()], expected)
    assert.equal((await engine.given('user', {}, { seed: 1 })).name, before.name)
  })
})

describe('made-up texts, without faker', () => {
  let folder: string
  let library: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-plain-'))
    const { dependencies, peerDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, object>
    const needed = Object.keys({ ...dependencies, ...peerDependencies }).filter(name => name !== '@faker-js/faker')
    library = await copyLibrary(folder)
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    for (const name of [...needed, 'tsx']) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true })
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('are plain, valid and repeatable', () => assertPlain())

  it('are the same beside a faker of version 8, whose generators have other names', async () => {
    const old = join(folder, 'node_modules/@faker-js/faker')
    await mkdir(old, { recursive: true })
    await writeFile(
      join(old, 'package.json'),
      JSON.stringify({ name: '@faker-js/faker', version: '8.4.1', type: 'module', exports: { './locale/en': './en.js' } }),
    )
    // What `given` asks of faker that version 8 has.
    await writeFile(
      join(old, 'en.js'),
      `class Faker { internet = { userName: () => 'ann', exampleEmail: () => 'ann@example.com' }; rawDefinitions = {}; person = { firstName: () => 'Ann' } }
      export const faker = new Faker()`,
    )
    await assertPlain()
    await rm(old, { recursive: true })
  })

  async function assertPlain(): Promise<void> {
    await writeFile(
      join(folder, 'use.ts'),
      `import { defineEntity, p } from '@mikro-orm/sqlite'
      import { RestEngine } from '${library}'
      const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string(), email: p.string().unique(), city: p.string().length(3) } })
      const worlds = []
      for (let world = 0; world < 2; world++) {
        const engine = await RestEngine.create({ entities: [User] })
        worlds.push(await engine.given.many('user', 20))
        await engine.close()
      }
      console.log(JSON.stringify(worlds))`,
    )
    const { NODE_OPTIONS: _options, ...env } = process.env
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'use.ts'], {
      cwd: folder,
      encoding: 'utf8',
      env,
      timeout: 60_000,
    })
    assert.equal(stderr, '')
    const [users, again] = JSON.parse(stdout) as Record<'name' | 'email' | 'city', string>[][]
    assert.deepEqual(users, again)
    assert.equal(users!.length, 20)
    for (const { name, email, city } of users!) {
      assert.match(name, /^name \d+$/)
      assert.match(email, /^email\d+@example\.com$/)
      assert.equal(city.length, 3)
    }
  }
})
