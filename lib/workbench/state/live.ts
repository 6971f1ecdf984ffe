/**
 * Live: what happens on the server while the page is open: faults, the clock, worlds, and that data has changed. Asks every few seconds while somebody looks at the page.
 */
import { signal } from '@preact/signals'
import { control, isReachable } from './ask.ts'
import { world } from './place.ts'

export interface ShownFault {
  readonly id: string
  readonly kind: string
  readonly match: string
  readonly held?: readonly { readonly method: string; readonly path: string }[]
}

export const faults = signal<readonly ShownFault[]>([])

/** Names of the worlds beside the engine's own. */
export const worlds = signal<readonly string[]>([])

export const scenarios = signal<readonly string[]>([])

/** How far the clock of the world is from the real one, in milliseconds. */
export const clockOffset = signal(0)

/** Grows when data may have changed, so that what shows data is read again. */
export const changes = signal(0)

const EVERY = 3000

/** Reads the state of the world. */
export async function refreshState(): Promise<void> {
  const [index, found, clock] = await Promise.all([control('GET', ''), control('GET', '/faults'), control('GET', '/clock')])
  worlds.value = (index.body as { readonly worlds: readonly string[] }).worlds
  scenarios.value = (index.body as { readonly scenarios: readonly string[] }).scenarios
  faults.value = (found.body as { readonly faults: readonly ShownFault[] }).faults
  clockOffset.value = Date.parse((clock.body as { readonly now: string }).now) - Date.now()
}

/** Data has changed, by the page itself or by others. */
export function dataChanged(): void {
  changes.value++
}

/** Watches the server until the page is closed. */
export function watchServer(): void {
  const ask = async (): Promise<void> => {
    if (!document.hidden) {
      const wasReachable = isReachable.value
      // The head says when the server does not answer; nothing else is known then.
      await refreshState().catch(() => {})
      if (!wasReachable && isReachable.value) dataChanged()
    }
    setTimeout(() => void ask(), EVERY)
  }
  void ask()
  world.subscribe(() => void refreshState().catch(() => {}))
}
