/**
 * Engines that descriptions are held against: the sample, as it is and configured, the library, and the model that was written for
 * PostgreSQL.
 */
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import configured from '../../fixtures/configured/index.ts'
import { entities as library } from '../../fixtures/library/index.ts'
import { entities as shop } from '../../fixtures/postgres-model/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { librarySeed } from '../helpers/library-seed.ts'

export interface World {
  readonly name: string
  readonly create: () => Promise<RestEngine>
  /** Headers of a caller who may do everything. */
  readonly headers: (engine: RestEngine) => Record<string, string>
}

const NOBODY = (): Record<string, string> => ({})

async function createShop(): Promise<RestEngine> {
  const engine = await RestEngine.create({ entities: shop })
  for (const { singular, readOnly } of internalsOf(engine).model.resources) if (!readOnly) await engine.given(singular, {}, { seed: 3 })
  return engine
}

/**
 * The configured sample without hashes of passwords, each of which takes 40 ms of a processor: hundreds of passwords are sent here, and
 * nobody logs in.
 */
const unhashed: EngineOptions = { ...configured, auth: { options: { ...configured.auth.options, hash: false } } }

export const worlds: readonly World[] = [
  { name: 'sample', create: () => RestEngine.create(sample), headers: NOBODY },
  { name: 'library', create: () => RestEngine.create({ entities: library, seed: librarySeed }), headers: NOBODY },
  { name: 'shop', create: createShop, headers: NOBODY },
  {
    name: 'configured',
    create: () => RestEngine.create(unhashed),
    headers: engine => ({ authorization: `Bearer ${engine.token(1)}` }),
  },
]
