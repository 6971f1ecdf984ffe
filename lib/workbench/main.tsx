/** Main: starts the workbench. */
import { render } from 'preact'
import { effect, untracked } from '@preact/signals'
import { Frame } from './frame.tsx'
import { changes, watchServer } from './state/live.ts'
import { loadCounts, loadOutline, outline } from './state/outline.ts'
import { listenToPlace, userId, version, world } from './state/place.ts'
import { startError } from './state/start-error.ts'

listenToPlace()
render(<Frame />, document.body)
watchServer()

effect(() => {
  // Reloads for each version and world: a world may have learned attributes.
  void [version.value, world.value]
  untracked(() => void tell(loadOutline))
})

effect(() => {
  void [changes.value, userId.value, outline.value]
  if (outline.peek() !== undefined) untracked(() => void tell(loadCounts))
})

/** The frame shows an error. */
async function tell(load: () => Promise<void>): Promise<void> {
  try {
    await load()
    startError.value = undefined
  } catch (error) {
    startError.value = error as Error
  }
}
