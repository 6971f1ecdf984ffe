/**
 * What the property specs share: a handful of random worlds, each loaded once into an engine of its own and then asked many questions.
 */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { RestEngine } from '../../../lib/index.ts'
import { sample } from '../../helpers/check.ts'
import type { FilterPair, Json, Resource, Row } from '../../helpers/oracle.ts'
import { idOf } from '../../helpers/oracle.ts'
import { lowThresholds } from '../../helpers/low-thresholds.ts'
import { createEngine, describeStores, type Store } from '../../helpers/stores.ts'
import { buildWorld, loadWorld, withoutNul, worldData, type World } from './data.ts'
import { entities } from './entities.ts'
import { written, type Form } from './queries.ts'

/** A list answer, as far as the specs look at it. */
export interface ListBody {
  readonly resource: string
  readonly sort: string
  readonly offset: number
  readonly limit: number
  readonly filter: readonly FilterPair[]
  readonly count: number
  readonly previous: string | null
  readonly next: string | null
  readonly records: readonly { readonly [name: string]: Json }[]
}

export interface Asked {
  readonly store: Store
  readonly world: World
  readonly rows: (resource: Resource) => readonly Row[]
  readonly engine: () => RestEngine
  /** GET that must be 200; gives the body. */
  readonly get: (path: string, pairs?: readonly FilterPair[], form?: Form) => Promise<Record<string, Json>>
  /** GET of a list. */
  readonly list: (path: string, pairs?: readonly FilterPair[], form?: Form) => Promise<ListBody>
}

interface Worlds {
  readonly count: number
  /** About so many users. */
  readonly size: number
  /** The ways of large tables and long requests are taken. */
  readonly low?: boolean
}

/** Declares a suite for each of some random worlds, in each store. */
export function eachWorld(name: string, { count, size, low = false }: Worlds, body: (asked: Asked) => void): void {
  for (let n = 0; n < count; n++) {
    describeStores(`${name}, world ${n}`, store => {
      const data = sample(worldData(size), n)
      const world = buildWorld(store.name === 'postgres' ? withoutNul(data) : data)
      let running: RestEngine | undefined
      // A 500 tells a client nothing; a failing spec should.
      const causes: unknown[] = []
      let lowered: Disposable | undefined
      before(async () => {
        if (low) lowered = lowThresholds()
        running = await createEngine({ entities, onError: error => causes.push(error) })
        await loadWorld(running, world)
      })
      after(async () => {
        await running?.close()
        lowered?.[Symbol.dispose]()
      })
      const engine = (): RestEngine => {
        if (!running) throw new Error('the engine exists only while a test runs')
        return running
      }
      const get: Asked['get'] = async (path, pairs = [], form = 'object') => {
        const request = written(path, pairs, form)
        const response = await engine().handle('GET', request.path, request.query)
        assert.equal(
          response.status,
          200,
          `GET ${path} ${JSON.stringify(pairs)} answered ${JSON.stringify(response.body)} ${causes.splice(0).join()}`,
        )
        return response.body as Record<string, Json>
      }
      const list: Asked['list'] = async (path, pairs, form) => {
        const answer = await get(path, pairs, form)
        return { ...answer, records: answer[answer['resource'] as string] } as unknown as ListBody
      }
      body({ store, world, rows: resource => world[resource.name] ?? [], engine, get, list })
    })
  }
}

/** The path of a row. */
export const itemPath = (row: Row): string => `/v1/${row.of.name}/${encodeURIComponent(idOf(row))}`

/** The IDs of oracle rows. */
export const rowIds = (rows: readonly Row[]): (string | number)[] => rows.map(idOf)

/** The IDs of records of an answer at depth 1. */
export function recordIds(resource: Resource, records: ListBody['records']): (string | number)[] {
  return records.map(record => {
    const parts = resource.key.map(name => record[name] as string | number)
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : parts.join('~')
  })
}
