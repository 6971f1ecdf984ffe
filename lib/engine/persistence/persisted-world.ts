/**
 * Keeps an engine's world across pages, for the option `persist`: continues the world of an earlier page, or begins a new world, and stores
 * all changes. Refuses an open world, and a world with other tables than the entities have.
 */
import { reportFailure, type OnError } from '../../foundation/errors/report-failure.ts'
import type { KeptContent, WorldImage } from '../../records/database/world-store.ts'
import type { Persisted, WorldState } from '../worlds/snapshot.ts'
import { claimName } from './claim-name.ts'
import { Saves } from './saves.ts'
import { findPlace, type WorldPlace } from './world-place.ts'
import { readWorld, writeWorld, type StoredWorld } from './world-bytes.ts'

const CREATE = 'RestEngine.create'

interface WorldOfEngine {
  persisted: Persisted | undefined
  /** @param origin the state for `reset` */
  continue(state: WorldState, origin: WorldState): void
  take(): Promise<{ readonly image: WorldImage; readonly state: WorldState }>
}

interface EngineToKeep {
  readonly world: WorldOfEngine
  readonly options: { readonly onError: OnError }
  readonly clock: { whenMoved(listener: () => void): void }
  readonly authentication: { whenRevoked(listener: () => void): void } | undefined
}

export class PersistedWorld implements Persisted {
  readonly #name: string
  readonly #place: WorldPlace
  readonly #free: () => void
  #saves: Saves | undefined

  private constructor(name: string, place: WorldPlace, free: () => void) {
    this.#name = name
    this.#place = place
    this.#free = free
  }

  /** @throws Error for a world in use, and for a page without a place */
  static async claim(name: string): Promise<PersistedWorld> {
    const free = await claimName(name, CREATE)
    try {
      return new PersistedWorld(name, await findPlace(name), free)
    } catch (error) {
      free()
      throw error
    }
  }

  /**
   * @returns false for a new world
   * @throws Error where the tables of the entities differ
   */
  async continue(content: KeptContent, world: WorldOfEngine): Promise<boolean> {
    const origin = await this.#read('origin', content)
    if (origin === undefined) return false
    const now = (await this.#read('now', content)) ?? origin
    content.continue(now.content, origin.content)
    world.continue(now.state, origin.state)
    return true
  }

  async #read(part: 'origin' | 'now', content: KeptContent): Promise<StoredWorld | undefined> {
    const bytes = await this.#place.read(part)
    if (bytes === undefined) return undefined
    let differing: readonly string[]
    try {
      const stored = readWorld(bytes)
      differing = content.differing(stored.content)
      if (differing.length === 0) return stored
    } catch (error) {
      throw this.#unfit(`cannot be read (${(error as Error).message})`, error)
    }
    throw this.#unfit(`is of another model, which differs in ${differing.join(', ')}`)
  }

  #unfit(how: string, cause?: unknown): Error {
    const text =
      `${CREATE}: the kept world "${this.#name}" ${how}. ` +
      `Give "persist" another name, or remove the world before: await removeWorld('${this.#name}').`
    return new Error(text, { cause })
  }

  async start(content: KeptContent, { world, options, clock, authentication }: EngineToKeep, isNew: boolean): Promise<void> {
    const take = async (): Promise<Uint8Array> => {
      const { image, state } = await world.take()
      return writeWorld({ content: content.toBytes(image), state })
    }
    if (isNew) await this.#storeFirst(take)
    const saves = new Saves({
      take,
      store: bytes => this.#place.write('now', bytes),
      report: error => reportFailure(options.onError, this.#failed(error), { method: 'PERSIST', path: this.#name }),
    })
    this.#saves = saves
    world.persisted = this
    content.whenWritten(saves.changed)
    clock.whenMoved(saves.changed)
    authentication?.whenRevoked(saves.changed)
  }

  async #storeFirst(take: () => Promise<Uint8Array>): Promise<void> {
    try {
      await this.#place.write('origin', await take())
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(error: unknown): Error {
    return new Error(`The world "${this.#name}" is not kept (${String(error)}): a reload would go back to an earlier state.`, {
      cause: error,
    })
  }

  changed(): void {
    this.#saves?.changed()
  }

  /** Stores nothing more. */
  leave(): void {
    this.#free()
  }

  /** @throws Error when the last state cannot be stored */
  async end(): Promise<void> {
    try {
      await this.#saves?.end()
    } catch (error) {
      throw this.#failed(error)
    } finally {
      this.#free()
    }
  }
}
