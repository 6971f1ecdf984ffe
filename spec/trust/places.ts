/**
 * Places: where the engines of a check keep their data. Those on a PostgreSQL server are databases of their own, which are dropped at the
 * end.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineOptions } from '../../lib/index.ts'
import { findNoServer, ownDatabase } from '../postgres/server-database.ts'

export interface Place extends AsyncDisposable {
  /** For an engine that nobody else opens: in memory, where there is no server. */
  readonly database: EngineOptions['database']
  /** For one that other processes open, one after another. */
  readonly lasting: string
}

/** In memory, or in a file. */
export async function ownFile(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-trust-'))
  return {
    database: undefined,
    lasting: join(folder, 'trust.db'),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** On the server of the specs. */
export async function onServer(): Promise<Place> {
  const own = await ownDatabase()
  return { database: own.database, lasting: own.database.url, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() }
}

/** Where checks are made: each on the databases that it is of; undefined where no server answers, and why. */
export async function listPlaces(): Promise<{ readonly server: (() => Promise<Place>) | undefined; readonly skip: string | false }> {
  const skip = await findNoServer()
  return { server: skip === false ? onServer : undefined, skip }
}
