/** History list: the requests that have been sent, to send one again. */
import { history } from './history.ts'
import type { PastRequest } from './history.ts'

export function HistoryList({ onChoose }: { readonly onChoose: (request: PastRequest) => void }) {
  if (history.value.length === 0) return null
  return (
    <section class="past" aria-labelledby="past-title">
      <h2 id="past-title">Sent before</h2>
      <ul>
        {history.value.map(request => (
          <li key={`${request.method} ${request.target} ${request.headers} ${request.body}`}>
            <button type="button" class="quiet" onClick={() => onChoose(request)}>
              <span class={request.status < 400 ? 'good' : 'bad'}>{request.status}</span> <b>{request.method}</b>{' '}
              <code>{request.target}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
