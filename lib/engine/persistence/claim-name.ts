/** Lets one engine of all tabs use a world (Web Locks), until the engine or the page ends. */

interface LockManager {
  request(name: string, options: { readonly signal: AbortSignal }, held: () => Promise<void>): Promise<void>
}

/** Also the name of a folder. */
export const WORLD_NAME = 'a name of at most 100 letters, digits and "_", "-"'

export function isWorldName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w-]{1,100}$/.test(name)
}

/** In milliseconds. At a reload, the new document may come before the end of the old document. */
const WAIT_MS = 1000

/**
 * @returns gives the world free
 * @throws Error where another engine has the world, and for a page without Web Locks
 */
export async function claimName(name: string, caller: string): Promise<() => void> {
  if (!isWorldName(name)) throw new TypeError(`${caller}: ${JSON.stringify(name)} must be ${WORLD_NAME}.`)
  const { locks } = (globalThis as unknown as { readonly navigator: { readonly locks?: LockManager } }).navigator
  if (locks === undefined)
    throw new Error(`${caller}: "persist" needs the Web Locks of a page that is served over HTTPS, or from localhost.`)
  return new Promise((resolve, reject) => {
    const held = (): Promise<void> => new Promise(free => resolve(free))
    locks.request(`mikro-rest/${name}`, { signal: AbortSignal.timeout(WAIT_MS) }, held).catch((error: Error) => {
      const isTaken = error.name === 'TimeoutError' || error.name === 'AbortError'
      const taken = `${caller}: the world "${name}" is open already, in this tab or another: close that engine, or give another name.`
      reject(isTaken ? new Error(taken, { cause: error }) : error)
    })
  })
}
