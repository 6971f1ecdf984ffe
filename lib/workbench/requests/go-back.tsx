/** Go back: restores the data from before a request. */
import { useState } from 'preact/hooks'
import { control } from '../state/ask.ts'
import { outline } from '../state/outline.ts'
import type { FullEntry } from './read-entry.ts'

interface GoBackProps {
  readonly entry: FullEntry
  /** Called with the error, or undefined after success. */
  readonly onEnd: (error: Error | undefined) => void
}

export function GoBack({ entry: { id, noWayBack: why }, onEnd }: GoBackProps) {
  const [asked, setAsked] = useState(0)
  const [back, setBack] = useState(0)
  const act = async (): Promise<void> => {
    // Data in a file may be valuable, so ask first.
    if (outline.value?.inMemory !== true && asked !== id) return setAsked(id)
    setAsked(0)
    const failure = await control('POST', '/restore', { before: id }).then(
      () => undefined,
      (error: Error) => error,
    )
    setBack(failure === undefined ? id : 0)
    onEnd(failure)
  }
  return (
    <>
      <button
        type="button"
        disabled={why !== undefined}
        title={why ?? `await engine.restore({ before: ${id} })`}
        onClick={() => void act()}
        onBlur={() => setAsked(0)}
      >
        {asked === id ? 'Really? All since is lost' : 'Go back to before it'}
      </button>
      <span class="dim" role="status">
        {back === id ? 'The data are as they were before it.' : ''}
      </span>
      {why === undefined ? null : <p class="dim">There is no way back to before it. {why}</p>}
    </>
  )
}
