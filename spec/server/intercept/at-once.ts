/**
 * What a test does that runs beside others: it takes a fork, intercepts the origin that all of them intercept, and sees its own world
 * alone, by every client, from timers and streams. It is run by node:test, Vitest and Jest, so it uses none of them.
 */
import assert from 'node:assert/strict'
import * as https from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import axios from 'axios'
import * as undici from 'undici'
import { RestEngine } from '../../../lib/index.ts'

export const API = 'https://at-once.example.test'
const NOTES = `${API}/v1/notes`
const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })

/** Connections are few, and kept: so requests of one test wait for those of another. */
const agent = new https.Agent({ keepAlive: true, maxSockets: 2 })

export function makeEngine(): Promise<RestEngine> {
  return RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'seed' }] } })
}

async function overHttps(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  https.get(NOTES, { agent }, response => void textOf(response).then(resolve, reject)).on('error', reject)
  return promise
}

const READERS: readonly (() => Promise<string>)[] = [
  async () => (await fetch(NOTES)).text(),
  async () => (await undici.request(NOTES)).body.text(),
  async () => (await undici.fetch(NOTES)).text(),
  async () => JSON.stringify((await axios.get(NOTES)).data),
  async () => JSON.stringify((await axios.get(NOTES, { httpsAgent: agent })).data),
  overHttps,
  async () => {
    const { body } = await fetch(NOTES)
    let text = ''
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk
    return text
  },
  async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    setTimeout(() => resolve(fetch(NOTES).then(response => response.text())), 1)
    return promise
  },
  async () => {
    await sleep(1)
    return (await fetch(NOTES)).text()
  },
]

async function writeAndRead(name: string): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ text: name }) }
  for (let id = 2; id <= 3; id++) {
    const { note } = (await (await fetch(NOTES, init)).json()) as { note: { id: number } }
    assert.equal(note.id, id, name)
    const texts = await Promise.all(READERS.map(read => read()))
    for (const text of texts) {
      const { notes } = JSON.parse(text) as { notes: { text: string }[] }
      assert.deepEqual(notes.map(each => each.text), ['seed', name, name].slice(0, id), name) // prettier-ignore
    }
  }
}

/** Intercepts in the test itself. */
export async function tryOwnWorld(engine: RestEngine, name: string): Promise<void> {
  await using world = await engine.fork()
  using _ = world.intercept(API, { strict: true })
  await writeAndRead(name)
}

/**
 * Intercepts in a function that the test calls: what the function did after it had waited is not of the test's context, so the test gives a
 * boundary.
 */
export async function tryBoundary(engine: RestEngine, name: string): Promise<void> {
  await using world = await engine.fork()
  const begin = async (): Promise<void> => {
    await sleep(1)
    world.intercept(API, { strict: true })
  }
  await world.within(async () => {
    await begin()
    await writeAndRead(name)
  })
}
