/** Find place: chooses between OPFS (the private files of an origin) and IndexedDB. */
import { findDatabase } from './indexed-place.ts'
import { findFiles } from './opfs-place.ts'
import type { WorldPlace } from './world-place.ts'

/**
 * Finds the place with the world. A new world gets OPFS, where the browser has OPFS.
 *
 * @throws Error where the browser has no place
 */
export async function findPlace(name: string): Promise<WorldPlace> {
  let first: WorldPlace | undefined
  let reason: unknown
  for (const find of [findFiles, findDatabase]) {
    try {
      const place = await find(name)
      if (place === undefined) continue
      if ((await place.read('origin')) !== undefined) return place
      first ??= place
    } catch (error) {
      // A private window may refuse one place alone.
      reason ??= error
    }
  }
  if (first !== undefined) return first
  throw new Error('"persist" needs OPFS or IndexedDB, and this page has neither: private windows may refuse both.', { cause: reason })
}
