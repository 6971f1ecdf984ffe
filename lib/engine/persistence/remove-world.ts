/** `removeWorld(name)` deletes a world of an earlier page. */
import { claimName } from './claim-name.ts'
import { findPlace } from './world-place.ts'

/**
 * Removes a world of the option `persist`. The next engine with the name begins anew.
 *
 * @throws Error while an engine has the world open
 * @example await removeWorld('shop')
 */
export async function removeWorld(name: string): Promise<void> {
  const free = await claimName(name, 'removeWorld')
  try {
    await (await findPlace(name)).remove()
  } finally {
    free()
  }
}
