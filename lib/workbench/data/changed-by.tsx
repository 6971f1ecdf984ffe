/** Changed by: lists requests that changed a record. */
import { useLoad } from '../parts/use-load.ts'
import { control } from '../state/ask.ts'
import { changes, unavailable } from '../state/live.ts'
import type { OutlinedResource } from '../state/outline.ts'
import { world } from '../state/place.ts'
import { formatPlace } from '../state/place-text.ts'

interface ChangingRequest {
  readonly id: number
  readonly at: string
  readonly method: string
  readonly path: string
}

const SHOWN = 5

export function ChangedBy({ resource, id }: { readonly resource: OutlinedResource; readonly id: string }) {
  const { data: requests, error } = useLoad(() => read(resource, id), [resource, id, changes.value, world.value])
  const why = unavailable.value['requests'] ?? unavailable.value['changes']
  return (
    <section class="changed-by" aria-labelledby="changed-by">
      <h3 id="changed-by">Changed by</h3>
      {why !== undefined || error !== undefined ? (
        <p class="dim">{why ?? error?.message}</p>
      ) : requests === undefined ? null : requests.length === 0 ? (
        <p class="dim">No request of the journal: it is as it was seeded.</p>
      ) : (
        <ul>
          {requests.map(({ id: request, method, path, at }) => (
            <li key={request}>
              <a href={formatPlace('requests', [String(request)])}>
                {method} {path}
              </a>{' '}
              <time class="dim" dateTime={at}>
                {at.slice(11, 19)}
              </time>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

async function read({ name }: OutlinedResource, id: string): Promise<ChangingRequest[]> {
  const { body } = await control('GET', `/requests?bodies=false&limit=${SHOWN}&record=${encodeURIComponent(`${name}/${id}`)}`)
  return (body as { readonly requests: ChangingRequest[] }).requests.toReversed()
}
