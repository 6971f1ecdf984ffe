/** Main: starts the workbench: reads where the reader is and what is served, and draws the frame. */
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
  // Each version and each world has an outline of its own: a world may have learned attributes.
  void [version.value, world.value]
  untracked(() => void tell(loadOutline))
})

effect(() => {
  void [changes.value, userId.value, outline.value]
  if (outline.peek() !== undefined) untracked(() => void tell(loadCounts))
})

/** Loads what every screen needs; the frame says what has failed. */
async function tell(load: () => Promise<void>): Promise<void> {
  try {
    await load()
    startError.value = undefined
  } catch (error) {
    startError.value = error as Error
  }
}
