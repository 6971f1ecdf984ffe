/** Tells of an absent server, a refused model, a changed model. */
import { isReachable } from './state/ask.ts'
import { refusal } from './state/live.ts'
import { modelChange } from './state/outline.ts'

export function Banner() {
  return (
    <div role="status" class="banners">
      {isReachable.value ? null : (
        <div class="notice bad">
          <strong>The server does not answer</strong>
          <p>
            Start the server again, or look at its terminal for the reason. The page goes on by itself as soon as there is an answer; until
            then it shows what was read before.
          </p>
        </div>
      )}
      {refusal.value === undefined ? null : (
        <div class="notice warn">
          <strong>The model as it now stands is not served: the former model is</strong>
          <p class="failure">{refusal.value}</p>
        </div>
      )}
      {modelChange.value === undefined ? null : (
        <div class="notice">
          <strong>The server has another model than before</strong>
          <p>{modelChange.value}</p>
          <button type="button" onClick={() => (modelChange.value = undefined)}>
            Close
          </button>
        </div>
      )}
    </div>
  )
}
