/** An engine whose wire gives answers of many forms, for requests of a page: the same code runs in the page and on Node. */
import { defineEntity, p } from '@mikro-orm/core'
import type * as library from '../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })

const BYTES = Uint8Array.from({ length: 300 }, (_, index) => index)

const wire: library.Wire = {
  takes: ['bytes', 'text', 'form'],
  async answer({ method, segments, headers, body }, api) {
    const type = (name: string): Record<string, string> => ({ 'content-type': name })
    switch (segments[0]) {
      case 'bytes':
        return { status: 200, headers: type('application/octet-stream'), body: BYTES }
      case 'latin':
        return { status: 200, headers: type('text/plain; charset=iso-8859-1'), body: Uint8Array.of(0x68, 0xe9) }
      case 'html':
        return { status: 200, headers: type('text/html; charset=utf-8'), body: '<title>ü</title><p>text' }
      case 'xml':
        return { status: 200, headers: type('application/xml'), body: '<a><b>1</b></a>' }
      case 'no-xml':
        return { status: 200, headers: type('text/xml'), body: '<a>' }
      case 'nothing':
        return { status: 204 }
      case 'refused':
        return { status: 418, headers: type('application/json'), body: { no: 'tea' } }
      case 'echo': {
        const sent = body instanceof Uint8Array ? [...body] : body
        const own = Object.fromEntries(['x-twice', 'content-type'].map(name => [name, headers[name]?.replace(/boundary=.*/, '')]))
        return { status: 200, body: { method, own, sent } }
      }
      default:
        return { status: 200, body: await api.list('notes', {}) }
    }
  },
  refuse: error => ({ status: error.status, body: { code: error.code } }),
}

/** Requests to `/slow` wait, those to `/lost` lose their connection. */
export async function makeOdd(RestEngine: typeof library.RestEngine): Promise<library.RestEngine> {
  const engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ text: 'one' }, { text: 'zwei ü' }] }, wire })
  engine.delay('* /slow', 400)
  engine.drop('* /lost')
  return engine
}
