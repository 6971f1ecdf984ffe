/** The clients that interception serves, each made to answer in one form, so that one table of requests can go through all of them. */
import { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import * as undici from 'undici'

export interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

export type Client = (origin: string, asked: Asked) => Promise<Answered>

function fetchWith(fetcher: () => typeof fetch): Client {
  return async (origin, { path, method = 'GET', headers = {}, body }) => {
    const response = await fetcher()(origin + path, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) })
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
  }
}

export const CLIENTS: Readonly<Record<string, Client>> = {
  'the built-in fetch': fetchWith(() => fetch),
  'fetch of undici': fetchWith(() => undici.fetch as unknown as typeof fetch),
  'request of undici': async (origin, { path, method = 'GET', headers = {}, body }) => {
    const answer = await undici.request(origin + path, { method, headers, ...(body === undefined ? {} : { body }) })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  },
  'stream of undici': async (origin, { path, method = 'GET', headers = {}, body }) => {
    let head: { statusCode: number; headers: object } | undefined
    let text = ''
    await undici.stream(origin + path, { method, headers, ...(body === undefined ? {} : { body }) }, given => {
      head = given
      return new Writable({
        write(chunk: Buffer, _encoding, done) {
          text += chunk.toString()
          done()
        },
      })
    })
    return { status: head!.statusCode, headers: { ...head!.headers }, text }
  },
  'pipeline of undici': async (origin, { path, method = 'GET', headers = {}, body = '' }) => {
    let head: { statusCode: number; headers: object } | undefined
    const duplex = undici.pipeline(origin + path, { method, headers }, given => {
      head = given
      return given.body
    })
    duplex.end(body)
    const text = await textOf(duplex)
    return { status: head!.statusCode, headers: { ...head!.headers }, text }
  },
}
