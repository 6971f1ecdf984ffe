/** Errors of the application's code, and answers that cannot be written: they are answered and reported, and end no process. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createServer, resource, RestEngine, RestError } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/engine/options/options.ts'
import { LIBRARY } from '../helpers/command.ts'
import { RawConnection, requestText } from '../helpers/raw-http.ts'

const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string().nullable(), meta: p.json().nullable() },
})

type Options = Parameters<typeof createServer>[1]

let engine: RestEngine
let server: Server | undefined

async function start(options: Partial<EngineOptions>, serving: Options = {}): Promise<string> {
  engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ id: 1, text: 'one' }] }, ...options })
  server = createServer(engine, serving).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Written {
  readonly status: number
  readonly code: string
}

async function read(response: Response): Promise<Written> {
  const { code } = (await response.json()) as { code: string }
  return { status: response.status, code }
}

/** Refuses with what has no JSON form. */
const unwritable = resource(Note, {
  get: () => {
    throw new RestError(409, 'odd', 'It is odd.', { errors: [{ code: 'conflict', detail: 'x', value: 10n }] })
  },
})

/** Hooks of each suite. */
function begin(): void {
  afterEach(async () => {
    if (server?.listening === true) {
      server.close()
      server.closeAllConnections()
    }
    await engine.close()
  })
}

describe('an answer that cannot be written', () => {
  begin()

  it('is a 500 by every door, and onError is told', async () => {
    const told: string[] = []
    const lines: number[] = []
    const origin = await start(
      { resources: [unwritable], onError: (error, { method, path }) => told.push(`${method} ${path} ${(error as Error).name}`) },
      { onRequest: ({ status }) => lines.push(status) },
    )
    const expected = { status: 500, code: 'internal_error' }
    assert.deepEqual(await read(await fetch(`${origin}/v1/notes/1`)), expected)
    assert.deepEqual(await read(await engine.fetch(new Request('http://api.test/v1/notes/1'))), expected)
    using _ = engine.intercept('http://api.test')
    assert.deepEqual(await read(await fetch('http://api.test/v1/notes/1')), expected)
    assert.deepEqual(
      told,
      Array.from({ length: 3 }, () => 'GET /v1/notes/1 TypeError'),
    )
    assert.deepEqual(lines, [500])
    assert.equal((await fetch(`${origin}/v1/notes`)).status, 200)
  })
})

describe('the functions that are told', () => {
  begin()

  it('may throw and reject: the request is answered all the same', async () => {
    const warnings: string[] = []
    const note = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', note)
    const tell = (name: string, rejects: boolean) => (): void => {
      const error = new Error(`${name} has failed`)
      if (rejects) return Promise.reject(error) as unknown as undefined
      throw error
    }
    try {
      for (const rejects of [false, true]) {
        const get = (): never => {
          throw new Error('inside')
        }
        const origin = await start(
          { resources: [resource(Note, { get })], onError: tell('onError', rejects) },
          { onRequest: tell('onRequest', rejects), explain: rejects },
        )
        assert.deepEqual(await read(await fetch(`${origin}/v1/notes/1`)), { status: 500, code: 'internal_error' })
        assert.equal((await engine.handle('GET', '/v1/notes/1')).status, 500)
        assert.equal((await fetch(`${origin}/v1/notes`)).status, 200)
        await new Promise(setImmediate)
        if (!rejects) {
          server!.close()
          server!.closeAllConnections()
          await engine.close()
        }
      }
      await new Promise(setImmediate)
      assert.deepEqual([...new Set(warnings)].sort(), ['onError has failed', 'onRequest has failed'])
    } finally {
      process.off('warning', note)
    }
  })

  it('may be a clock that fails: the answer has the time of the system', async () => {
    let fails = false
    const told: string[] = []
    const origin = await start({
      clock: () => {
        if (fails) throw new RangeError('no time')
        return new Date()
      },
      onError: error => told.push((error as Error).message),
    })
    fails = true
    for (const path of ['/v1/notes', '/v1/notes/1', '/nothing']) {
      const response = await fetch(`${origin}${path}`)
      assert.ok(response.status === 500 || response.status === 404, path)
    }
    assert.ok(told.includes('no time'))
    fails = false
    assert.equal((await fetch(`${origin}/v1/notes`)).status, 200)
  })
})

describe('an error of a hook', () => {
  begin()

  it('is in the journal, and its answer tells nothing', async () => {
    await start({
      onError: () => {},
      resources: [
        resource(Note, {
          get: () => {
            throw new RangeError('beyond')
          },
          list: (() => {}) as never,
        }),
      ],
    })
    const { body } = await engine.handle('GET', '/v1/notes/1')
    assert.doesNotMatch(JSON.stringify(body), /beyond/)
    await engine.handle('GET', '/v1/notes')
    assert.deepEqual(
      engine.requests.map(({ status, error }) => [status, error]),
      [
        [500, 'RangeError: beyond'],
        [500, 'TypeError: the list handler of notes must give { status, headers, body }, gave undefined. Is its "return" missing?'],
      ],
    )
  })

  it('goes to standard error with its stack and the request, where there is no onError; what was meant does not', () => {
    const script = `
      import { defineEntity, p } from '@mikro-orm/core'
      import { resource, RestEngine, RestError } from '${LIBRARY}'
      const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary() } })
      const list = () => { throw new RestError(503, 'resting', 'On purpose.') }
      const get = function hookOfMine() { throw new Error('my mistake') }
      const engine = await RestEngine.create({ entities: [Note], resources: [resource(Note, { list, get })], seed: { notes: [{ id: 1 }] } })
      console.log((await engine.handle('GET', '/v1/notes/1?depth=0')).status, (await engine.handle('GET', '/v1/notes')).status)
      await engine.handle('GET', '/v1/notes/1?attributes=' + 'id,'.repeat(500) + 'id')
      await engine.close()`
    const args = ['--input-type=module', '--eval', script]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: new URL('../..', import.meta.url) })
    assert.equal(stdout.trim(), '500 503', stderr)
    assert.match(stderr, /^mikro-rest: GET \/v1\/notes\/1\?depth=0 failed: Error: my mistake\n +at .*hookOfMine/)
    assert.doesNotMatch(stderr, /On purpose/)
    assert.match(stderr, /id,id,i?d?,?… \([\d]+ characters\) failed: /)
    engine = { close: async () => {} } as RestEngine
  })
})

describe('a body of any depth', () => {
  begin()

  it('is answered with 400, with a number out of range in it too', async () => {
    const told: unknown[] = []
    const origin = await start({ onError: error => told.push(error), limits: { maxBodyBytes: 10_000_000 } })
    const json = { method: 'POST', headers: { 'content-type': 'application/json', connection: 'close' } }
    for (const depth of [201, 5_000, 100_000]) {
      for (const inner of ['1', '1e999', '"1e999"']) {
        for (const [open, close] of [
          ['[', ']'],
          ['{"a":', '}'],
        ] as const) {
          const body = `{"meta":${open.repeat(depth)}${inner}${close.repeat(depth)}}`
          for (const response of [
            await fetch(`${origin}/v1/notes`, { ...json, body }),
            await engine.fetch(new Request('http://api.test/v1/notes', { ...json, body })),
          ]) {
            const { status, code } = await read(response)
            assert.deepEqual([status, ['body_invalid', 'json_malformed'].includes(code)], [400, true], `${depth} ${inner}`)
          }
        }
      }
    }
    const body = JSON.parse(`{"meta":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as unknown
    assert.equal((await engine.handle('POST', '/v1/notes', undefined, body)).status, 400)
    for (const path of ['/v1/notes', '/v1/notes?meta.a=1', '/v1/notes?meta='])
      assert.ok((await engine.handle('GET', `${path}${path.endsWith('=') ? '['.repeat(50_000) : ''}`)).status < 500, path)
    assert.deepEqual(told, [])
  })
})

describe('pipelined requests', () => {
  begin()

  it('see the writes of those in front of them, and are answered in order', async () => {
    await start({})
    const connection = await RawConnection.open(server!)
    const post = requestText('POST /v1/notes', {}, '{"text":"new"}')
    const get = requestText('GET /v1/notes?limit=0')
    const remove = requestText('DELETE /v1/notes/1')
    connection.send(Buffer.concat([get, post, get, get, post, post, get, remove, get]))
    const counts: (number | undefined)[] = []
    for (let index = 0; index < 9; index++) counts.push((await connection.answer()).body.count)
    assert.deepEqual(counts, [1, undefined, 2, 2, undefined, undefined, 4, undefined, 3])
    connection.socket.destroy()
  })

  it('that wait are not begun when the client hangs up, and closing the server waits for those that are', async () => {
    let release = (): void => {}
    const gate = new Promise<void>(resolve => {
      release = resolve
    })
    let arrived = (): void => {}
    const held = new Promise<void>(resolve => {
      arrived = resolve
    })
    const create = async (_: unknown, next: () => Promise<object>): Promise<object> => {
      arrived()
      await gate
      return next()
    }
    await start({ resources: [resource(Note, { create })] })
    const connection = await RawConnection.open(server!)
    connection.send(Buffer.concat([requestText('POST /v1/notes', {}, '{"text":"a"}'), requestText('DELETE /v1/notes/1')]))
    await held
    connection.socket.destroy()
    await connection.closed
    await new Promise(setImmediate)
    release()
    const closed = once(server!, 'close')
    server!.close()
    await closed
    assert.equal(((await engine.handle('GET', '/v1/notes/1')).body as { success: boolean }).success, true)
  })
})
