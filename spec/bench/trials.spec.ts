/**
 * The trials of the benchmark: figures compare only where the answers are the same, so here is the proof that they are. No time is
 * measured.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { comparable, compare, open } from '../../bench/contenders.ts'
import { textOf } from '../../bench/load.ts'
import type { HttpRequest } from '../../bench/load.ts'
import { HTTP, LARGE, MEMORY, SHAPES, TRIALS, sentBy, shapeOf } from '../../bench/trials.ts'

const size = { users: 1000, sites: 5000 }

function fetchFrom(port: number, { method, target, body }: HttpRequest): Promise<Response> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  return fetch(`http://127.0.0.1:${port}${target}`, { method, ...sent })
}

describe('the trials of the benchmark', () => {
  for (const trial of [...TRIALS, ...LARGE, MEMORY]) {
    it(`${trial.name}: the engine answers what the hand-written code answers`, () => compare(trial, { size }, 25))
  }

  it('have a floor, which refuses what it does not know', async () => {
    const floor = await open('floor', { size })
    const ask = (method: string, path: string, body?: unknown): Promise<string> =>
      Promise.resolve(floor.answer({ ...TRIALS[0]!, request: () => ({ method, path, body }) }, 0))
    try {
      assert.ok(TRIALS.filter(trial => trial.floor === true).length >= 5)
      assert.match(await ask('PUT', '/v1/users/1', { name: 'Ann' }), /"name":"Ann"/)
      await assert.rejects(ask('PUT', '/v1/users/1', { name: 1 }), /a text of 60 characters/)
      await assert.rejects(ask('POST', '/v1/users', { nmae: 'Ann' }), /a known attribute/)
      await assert.rejects(ask('GET', '/v1/users/x'), /an ID/)
      await assert.rejects(ask('DELETE', '/v1/sites/9999999'), /a known site/)
      assert.match(await ask('GET', '/v1/users/1'), /"name":"Ann"/)
    } finally {
      await floor.close()
    }
  })

  it('tells where two answers differ', async () => {
    const wrong = { ...TRIALS[0]!, byHand: () => '{"success":true,"timestamp":"2026-01-01T00:00:00.000Z","resource":"sites"}' }
    await assert.rejects(compare(wrong, { size }, 1), /list of 100, depth 0: call 0 is answered differently.\nby hand: .*"sites"/)
  })

  it('ask for something else from call to call', async () => {
    const engine = await open('engine', { size })
    try {
      for (const trial of [...TRIALS, ...LARGE]) {
        const [first, second] = [await engine.answer(trial, 0), await engine.answer(trial, 1)]
        assert.notEqual(comparable(first), comparable(second), trial.name)
      }
    } finally {
      await engine.close()
    }
  })

  it('answer the same over HTTP', async () => {
    const contenders = [await open('by hand', { size }), await open('engine', { size }), await open('floor', { size })]
    try {
      const [byHand, engine, floor] = await Promise.all(contenders.map(contender => contender.serve()))
      for (const { name, trial } of HTTP) {
        for (let call = 0; call < 10; call++) {
          const sent = sentBy(trial, call)
          const wanted = await fetchFrom(byHand!, sent)
          assert.equal(wanted.status, 200)
          const text = comparable(await wanted.text())
          for (const port of trial.floor === true ? [engine!, floor!] : [engine!]) {
            const given = await fetchFrom(port, sent)
            assert.equal(given.headers.get('content-type'), wanted.headers.get('content-type'))
            assert.equal(comparable(await given.text()), text, `${name}: ${sent.method} ${sent.target}`)
          }
        }
      }
    } finally {
      for (const contender of contenders) await contender.close()
    }
  })

  it('have a floor over HTTP, which refuses what is not as HTTP has it, and answers in order', async () => {
    const floor = await open('floor', { size })
    const port = await floor.serve()
    try {
      const put = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json'): Promise<Response> =>
        fetch(`http://127.0.0.1:${port}/v1/users/1`, { method: 'PUT', body, headers: { 'content-type': type } })
      const refused = [
        [await put('{"name":"Ann"}', 'text/plain'), /JSON/],
        [await put(JSON.stringify({ name: 'A'.repeat(2 ** 20) })), /a shorter body/],
        [await put(Uint8Array.of(0x22, 0xff, 0x22)), /not valid for encoding utf-8/],
        [await fetchFrom(port, { method: 'GET', target: '/v1/users/1?depth=0&depth=1' }), /each parameter once/],
      ] as const
      for (const [response, detail] of refused) {
        assert.equal(response.status, 400)
        assert.match(await response.text(), detail)
      }
      const connection = connect(port, '127.0.0.1')
      const read = textOf({ method: 'GET', target: '/v1/users/1?depth=0' })
      const change = textOf({ method: 'PUT', target: '/v1/users/1', body: { name: 'Bob' } })
      connection.write(change + read + read.replace('localhost', 'example.test'))
      let text = ''
      for await (const chunk of connection) if (/a local name/.test((text += String(chunk)))) break
      assert.match(text, /"name":"Bob".*"name":"Bob".*HTTP\/1\.1 400/s)
    } finally {
      await floor.close()
    }
  })

  it('ask a thousand different shapes of request, all of which find something', async () => {
    const engine = await open('engine', { size })
    try {
      const shapes = Array.from({ length: SHAPES }, (_, index) => shapeOf(index))
      assert.equal(SHAPES, 1000)
      assert.equal(new Set(shapes.map(shape => JSON.stringify(shape))).size, SHAPES)
      for (const shape of shapes) {
        const answer = await engine.answer({ ...TRIALS[0]!, request: () => shape }, 0)
        assert.match(answer, /^{"success":true,.*"users":\[{/, JSON.stringify(shape))
      }
    } finally {
      await engine.close()
    }
  })

  it('run on the same tables for both', async () => {
    const [byHand, engine] = [await open('by hand', { size }), await open('engine', { size })]
    try {
      assert.deepEqual(await byHand.tables(), await engine.tables())
    } finally {
      await byHand.close()
      await engine.close()
    }
  })
})
