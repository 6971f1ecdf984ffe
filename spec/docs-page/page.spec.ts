/**
 * The docs page over HTTP: where it is, what it shows to whom, that its commands work, and that nothing of a model gets out of its place in
 * the page.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import * as http from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { defineEntity, p } from '@mikro-orm/core'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { auth, createServer, fromJson, hashPassword, listener, resource, RestEngine } from '../../lib/index.ts'
import type { OpenApiDocument } from '../../lib/index.ts'
import { Command } from '../helpers/command.ts'
import { worlds } from '../openapi/worlds.ts'
import { listCommands, readText, serveDocs } from './served.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    email: p.string(),
    passwordHash: p.string().hidden(),
    notes: () => p.oneToMany(Note).mappedBy('author'),
  },
})
const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string(), author: () => p.manyToOne(User) } })
const Doc = defineEntity({ name: 'Doc', properties: { id: p.integer().primary(), text: p.string() } })
const entities = [User, Note]
const hasCurl = spawnSync('curl', ['--version']).status === 0

async function ask(address: string, init?: RequestInit): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(address, { redirect: 'error', ...init })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

describe('the path of the docs page', () => {
  it('is there with the option alone', async () => {
    await using engine = await RestEngine.create({ entities })
    await using off = await serveDocs(engine, { docs: false })
    assert.equal((await ask(`${off.origin}/docs`)).status, 404)
    await using on = await serveDocs(engine)
    for (const path of ['/docs', '/docs/', '/docs?version=v1']) {
      const { status, headers, text } = await ask(on.origin + path)
      assert.deepEqual([path, status, headers.get('content-type')], [path, 200, 'text/html; charset=UTF-8'])
      assert.match(text, /^<!doctype html>/)
      const policy = headers.get('content-security-policy')!
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
      assert.ok(!policy.includes('unsafe'))
    }
    assert.throws(() => createServer(engine, { docs: 1 as unknown as boolean }), {
      name: 'TypeError',
      message: /"docs" must be true or false/,
    })
  })

  it('refuses what it does not have', async () => {
    await using engine = await RestEngine.create({ entities })
    await using server = await serveDocs(engine)
    const code = async (path: string, method = 'GET'): Promise<unknown> => {
      const { text } = await ask(server.origin + path, { method })
      return (JSON.parse(text) as { code: string }).code
    }
    assert.equal(await code('/docs/nothing'), 'path_unknown')
    assert.equal(await code('/docs/../../package.json'), 'version_unknown')
    assert.equal(await code('/docs/..%2fpackage.json'), 'path_unknown')
    assert.equal(await code('/docs/toString'), 'path_unknown')
    assert.equal(await code('/docs?versoin=v1'), 'parameter_invalid')
    assert.equal(await code('/docs?version=v2'), 'version_unknown')
    assert.equal(await code('/docs?version='), 'version_unknown')
    assert.equal(await code('/docs', 'POST'), 'method_not_allowed')
    assert.equal(await code('/docsx'), 'version_unknown')
    const head = await ask(`${server.origin}/docs`, { method: 'HEAD' })
    assert.deepEqual([head.status, head.text], [200, ''])
    const options = await ask(`${server.origin}/docs`, { method: 'OPTIONS' })
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
  })

  it('leaves the journal and the faults to the code under test', async () => {
    await using engine = await RestEngine.create({ entities })
    await using server = await serveDocs(engine)
    const failing = engine.fail('*', { status: 503 })
    assert.equal((await ask(`${server.origin}/docs`)).status, 200)
    assert.deepEqual(engine.requests, [])
    assert.equal((await ask(`${server.origin}/v1/openapi.json`)).status, 503)
    failing.dispose()
    assert.deepEqual(
      engine.requests.map(({ path }) => path),
      ['/v1/openapi.json'],
    )
  })

  it('belongs to a route or a resource of that name', async () => {
    const routes = [{ method: 'GET', path: '/docs', handler: () => ({ body: 'mine' }) }]
    await using routed = await RestEngine.create({ entities, versions: [], routes })
    await using first = await serveDocs(routed)
    assert.equal((await ask(`${first.origin}/docs`)).text, '"mine"')
    await using named = await RestEngine.create({ entities: [Doc], versions: [], seed: { docs: [{ text: 'a' }] } })
    await using second = await serveDocs(named)
    assert.match((await ask(`${second.origin}/docs`)).text, /"resource":"docs"/)
    assert.match((await ask(`${second.origin}/docs/1/text`)).text, /"value":"a"/)
    await using versioned = await RestEngine.create({ entities, versions: ['docs'] })
    await using third = await serveDocs(versioned)
    assert.match((await ask(`${third.origin}/docs`)).text, /"resources"/)
  })

  it('is below the base and the mount, and passes nothing on', async () => {
    const express = createRequire(import.meta.url)('express') as () => http.RequestListener & { use(...given: unknown[]): void }
    await using engine = await RestEngine.create({ entities, base: '/api', versions: [] })
    await using own = await serveDocs(engine)
    assert.equal((await ask(`${own.origin}/docs`)).status, 404)
    const app = express()
    app.use('/outer', listener(engine, { docs: true, fallthrough: true }))
    const server = http.createServer(app).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    try {
      const { port } = server.address() as { port: number }
      for (const [origin, base] of [
        [own.origin, '/api'],
        [`http://127.0.0.1:${port}`, '/outer'],
      ] as const) {
        const { text } = await ask(`${origin}${base}/docs`)
        const links = [...text.matchAll(/(?:href|src|data-\w+)="(\/[^"]*)"/g)].map(([, path]) => path!)
        assert.ok(links.length > 5)
        for (const path of links) {
          assert.ok(path.startsWith(`${base}/`), path)
          assert.equal((await ask(origin + path.replaceAll('&#38;', '&'))).status, 200, path)
        }
        assert.match(text, new RegExp(`curl &#39;${origin}${base}/users\\?`))
      }
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})

describe('the docs page shows', () => {
  for (const { name, create, headers } of worlds) {
    it(`what the document of each version has, and nothing else: ${name}`, async () => {
      await using engine = await create()
      await using server = await serveDocs(engine)
      for (const version of engine.versions) {
        const { status, text } = await ask(`${server.origin}/docs?version=${version}`, { headers: headers(engine) })
        assert.equal(status, 200)
        const document = await engine.openapi({ version, details: true })
        assertWithin(text, document)
        // What tools load.
        const loaded = await ask(`${server.origin}/docs/openapi.json?version=${version}`, { headers: headers(engine) })
        assert.deepEqual(JSON.parse(loaded.text), document)
        for (const { hidden, name: plural } of listHidden(engine, version)) {
          assert.ok(!new RegExp(`<code>${hidden}</code>|>${hidden}<`).test(text), `${plural}.${hidden}`)
        }
      }
    })
  }

  it('only what may be read, to callers without a token', async () => {
    await using engine = await RestEngine.create({
      entities,
      auth: auth({ entity: User, identifier: 'email', password: 'passwordHash' }),
      seed: { users: [{ email: 'ann@example.com', passwordHash: 'secret' }] },
    })
    await using server = await serveDocs(engine)
    const asked = await ask(`${server.origin}/docs`)
    assert.equal(asked.status, 401)
    for (const word of ['users', 'notes', 'author', 'curl', 'REST API']) assert.ok(!readText(asked.text).includes(word), word)
    assert.match(asked.text, /<form data-action="\/v1\/login"[^]*name="email"[^]*name="passwordHash"/)
    const refusal = await ask(`${server.origin}/docs/openapi.json`)
    assert.deepEqual([refusal.status, refusal.text.includes('note')], [401, false])
    const headers = { authorization: `Bearer ${engine.token(1)}` }
    const { status, text } = await ask(`${server.origin}/docs`, { headers })
    assert.deepEqual([status, readText(text).includes('author')], [200, true])
    const refused = await ask(`${server.origin}/docs`, { headers: { authorization: 'Bearer x' } })
    assert.deepEqual([refused.status, /role="alert">[^<]+</.test(refused.text)], [401, true])
  })

  it('several versions, each with its own resources', async () => {
    await using engine = await RestEngine.create({ entities, versions: ['v1', 'v2'], resources: [resource(Note, { versions: ['v2'] })] })
    await using server = await serveDocs(engine)
    const [first, second] = [await ask(`${server.origin}/docs`), await ask(`${server.origin}/docs?version=v2`)]
    assert.deepEqual([/id="resource-notes"/.test(first.text), /id="resource-notes"/.test(second.text)], [false, true])
    assert.match(first.text, /href="\/docs\?version=v2"/)
    assert.match(second.text, /curl &#39;[^ ]*\/v2\/users/)
    assert.match(second.text, /href="\/v2\/openapi.json"/)
  })

  it('regions of different names', async () => {
    await using engine = await RestEngine.create({ entities })
    await using server = await serveDocs(engine)
    const { text } = await ask(`${server.origin}/docs`)
    const labels = [...text.matchAll(/role="region" aria-label="([^"]*)"|<section[^>]*><h2[^>]*>([^<]*)</g)].map(
      ([, label, title]) => label ?? title,
    )
    assert.ok(labels.length > 4)
    assert.equal(new Set(labels).size, labels.length, labels.join())
  })

  it('no writing where the server refuses it', async () => {
    await using engine = await RestEngine.create({ entities, seed: { users: [{ email: 'a', passwordHash: 'b' }] } })
    await using server = await serveDocs(engine, { readOnly: true })
    const { text } = await ask(`${server.origin}/docs`)
    const own = readText(text)
    assert.ok(own.includes('List users') && !/POST|PATCH|DELETE/.test(own))
    await using other = await serveDocs(engine)
    assert.match((await ask(`${other.origin}/docs`)).text, /curl -X POST/)
  })

  it('names and values as text', async () => {
    const evil = `</code></pre><script>alert("1")</script><!-- & '`
    const data = fromJson({ things: [{ id: 1, [evil]: evil, [`'; rm x`]: 'a' }] })
    await using engine = await RestEngine.create(data)
    await using server = await serveDocs(engine, { allowedHosts: true })
    const { text } = await ask(`${server.origin}/docs`)
    assert.equal(text.match(/<script/g)?.length, 1, 'its own')
    assert.ok(!text.includes('<!--'))
    assert.ok(readText(text).includes(evil))
    const host = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(server.origin)
      const request = http.get({ hostname, port, path: '/docs', headers: { host: `localhost'"<b>` } }, answer => {
        let body = ''
        answer.on('data', chunk => (body += String(chunk))).on('end', () => resolve(body))
      })
      request.on('error', reject)
    })
    assert.ok(host.startsWith('<!doctype html>') && !host.includes('<b>'))
  })
})

/** Whether all attributes, filters and paths of a page are in the document. */
function assertWithin(text: string, { paths, components }: OpenApiDocument): void {
  const schemas = Object.values(components['schemas'] as Record<string, { properties?: object }>)
  const attributes = new Set(schemas.flatMap(({ properties = {} }) => Object.keys(properties)))
  const named = [...text.matchAll(/<th scope="row"><code>([^<]*)<\/code><\/th>/g)].map(([, name]) => readText(name!))
  assert.ok(named.length > 5)
  assert.deepEqual(
    named.filter(name => !attributes.has(name)),
    [],
  )
  const shown = [...text.matchAll(/<span class="method \w+">(\w+)<\/span> <code>([^<]*)<\/code>/g)].map(([, method, path]) => ({
    method: method!,
    path: path!,
  }))
  for (const { method, path } of shown) assert.ok(paths[path]?.[method.toLowerCase()] !== undefined, `${method} ${path}`)
  const all = Object.values(paths).flatMap(item => Object.keys(item).filter(key => key !== 'parameters'))
  assert.equal(shown.length, all.length, 'every path is shown')
}

function listHidden(engine: RestEngine, version: string): { name: string; hidden: string }[] {
  const { resources } = internalsOf(engine).modelOf(version)!
  const visible = new Set(resources.flatMap(({ attributes }) => attributes.flatMap(each => (each.hidden ? [] : [each.name]))))
  return resources.flatMap(({ plural, attributes }) =>
    attributes.flatMap(({ name, hidden }) => (hidden && !visible.has(name) ? [{ name: plural, hidden: name }] : [])),
  )
}

describe('the commands of the docs page', { skip: hasCurl ? false : 'there is no curl' }, () => {
  const run = promisify(execFile)

  /** Stands behind the status of each answer. */
  const END = ' -- the next answer --'

  async function tryCommands(engine: RestEngine, headers: Record<string, string> = {}): Promise<number> {
    await using server = await serveDocs(engine)
    const { text } = await ask(`${server.origin}/docs`, { headers })
    const commands = listCommands(text).filter(command => command.startsWith('curl '))
    const before = await engine.snapshot()
    const isWrite = (command: string): boolean => command.includes(' -X ')
    // Those that only read share a process; each of the others finds the data as they were.
    for (const batch of [commands.filter(command => !isWrite(command)), ...commands.filter(isWrite).map(command => [command])]) {
      // The shell reads the words of each line, and curl gets all of them at once.
      const lines = batch.map(command => command.replace('curl ', `set -- "$@" \${1:+--next} -w '\\n%{http_code}${END}' `))
      const { stdout } = await run('sh', ['-c', [...lines, 'curl -s "$@"'].join('\n')], {
        env: { ...process.env, TOKEN: headers['authorization']?.replace('Bearer ', '') ?? '' },
        maxBuffer: 1e8,
      })
      const outputs = stdout.split(END)
      assert.equal(outputs.length, batch.length + 1)
      for (const [index, command] of batch.entries()) {
        const output = outputs[index]!
        assert.match(output.slice(output.lastIndexOf('\n') + 1), /^20[01]$/, `${command}\n${output.slice(0, 1000)}`)
      }
      if (batch.some(isWrite)) await engine.restore(before)
    }
    return commands.length
  }

  for (const { name, create, headers } of worlds) {
    it(`work: ${name}`, async () => {
      await using engine = await create()
      const count = await tryCommands(engine, headers(engine))
      assert.ok(count > internalsOf(engine).model.resources.length * 2, `${count}`)
    })
  }

  it('keep the token of a log-in', async () => {
    await using engine = await RestEngine.create({
      entities,
      auth: auth({ entity: User, identifier: 'email', password: 'passwordHash' }),
      seed: { users: [{ email: 'ann@example.com', passwordHash: await hashPassword('sample') }] },
    })
    await using server = await serveDocs(engine)
    const { text } = await ask(`${server.origin}/docs`, { headers: { authorization: `Bearer ${engine.token(1)}` } })
    const [logIn, first] = listCommands(text)
    assert.match(logIn!, /^TOKEN=\$\(curl -s -X POST /)
    // No line is wider than the page.
    for (const line of logIn!.split('\n')) assert.ok(line.length <= 80, line)
    const { stdout } = await run('sh', ['-c', `${logIn}\n${first!.replace('curl', 'curl -s')}`])
    assert.match(stdout, /"success":true/)
  })
})

it('the command prints the address of the page, unless something else is there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mikro-rest-'))
  try {
    await writeFile(join(folder, 'db.json'), JSON.stringify({ docs: [{ id: 1 }] }))
    await using command = new Command(folder, 'db.json', '--base', '/api', '--port', '0')
    const origin = await command.origin()
    const address = /^Documentation: (\S+)$/m.exec(command.stdout)?.[1]
    assert.equal(address, `${origin}/api/docs`)
    assert.equal((await ask(address)).status, 200)
    await using other = new Command(folder, 'db.json', '--no-version', '--port', '0')
    await other.origin()
    assert.ok(!other.stdout.includes('Documentation'))
  } finally {
    await rm(folder, { recursive: true })
  }
})
