/** Interception of the clients that people's code uses: axios and got on `node:http`, happy-dom's own `fetch` and XMLHttpRequest. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import axios from 'axios'
import got from 'got'
import { Window } from 'happy-dom'
import { RestEngine } from '../../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })
const NOTES = 'https://api.example.test/api/v1/notes'
const OTHER = 'https://other.example.test/api/v1/notes'

let engine: RestEngine
/** Opens a window as a test of a page has it: its origin is that of the API. */
function openWindow(): Window {
  return new Window({ url: 'https://api.example.test/' })
}

async function sendXhr(window: Window, url: string): Promise<{ status: number; text: string }> {
  const request = new window.XMLHttpRequest()
  request.open('GET', url)
  return new Promise((resolve, reject) => {
    request.addEventListener('load', () => resolve({ status: request.status, text: request.responseText }))
    request.addEventListener('error', () => reject(new Error('The request failed.')))
    request.send()
  })
}

/**
 * A client: writes a note and returns its text as it was answered; reads the status of a path that no record has; fails where the network
 * is asked.
 */
interface Client {
  readonly write: (text: string) => Promise<unknown>
  readonly missing: () => Promise<number>
  readonly leave: () => Promise<unknown>
}

const CLIENTS: Readonly<Record<string, Client>> = {
  axios: {
    write: async text => (await axios.post<{ note: { text: string } }>(NOTES, { text })).data.note.text,
    missing: async () => (await axios.get(`${NOTES}/99`, { validateStatus: null })).status,
    leave: () => axios.get(OTHER),
  },
  got: {
    write: async text => (await got.post(NOTES, { json: { text } }).json<{ note: { text: string } }>()).note.text,
    missing: async () => (await got(`${NOTES}/99`, { throwHttpErrors: false, retry: { limit: 0 } })).statusCode,
    leave: () => got(OTHER, { retry: { limit: 0 } }),
  },
  'the fetch of happy-dom': {
    async write(text) {
      const window = openWindow()
      const response = await window.fetch(NOTES, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text }),
      })
      return ((await response.json()) as unknown as { note: { text: string } }).note.text
    },
    missing: async () => (await openWindow().fetch(`${NOTES}/99`)).status,
    leave: () => new Window({ url: 'https://other.example.test/' }).fetch(OTHER),
  },
}

describe('interception of', () => {
  before(async () => {
    engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'first' }] } })
  })
  after(() => engine.close())

  for (const [name, { write, missing, leave }] of Object.entries(CLIENTS)) {
    it(`${name}: requests are answered by the engine; others fail with strict`, async () => {
      using _ = engine.intercept('https://api.example.test/api', { strict: true })
      const text = `by ${name}`
      assert.equal(await write(text), text)
      assert.equal(((await engine.handle('GET', '/v1/notes', { text })).body as { count: number }).count, 1)
      assert.equal(await missing(), 404)
      await assert.rejects(leave, (error: Error) => /other\.example\.test/.test(`${error.message} ${String(error.cause)}`))
    })
  }

  it('XMLHttpRequest of happy-dom: requests are answered by the engine', async () => {
    using _ = engine.intercept('https://api.example.test/api', { strict: true })
    const { status, text } = await sendXhr(openWindow(), `${NOTES}/1`)
    assert.equal(status, 200)
    assert.equal((JSON.parse(text) as { note: { text: string } }).note.text, 'first')
  })
})
