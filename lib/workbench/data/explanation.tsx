/** Explanation: what the request of the list runs, and which index is missing, below its bar. */
import type { Explanation } from '../../engine/journal/explanation.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { StatementsPart } from '../requests/statements-part.tsx'
import { control, mint } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { userId, world } from '../state/place.ts'

/** @param request path and query, as an app would send them */
export function ExplanationOf({ request }: { readonly request: string }) {
  const { data, error } = useLoad(() => explain(request), [request, changes.value, world.value, userId.value])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (data === undefined) return null
  return (
    <section class="card explanation" aria-label="Explanation">
      <StatementsPart entry={data} />
    </section>
  )
}

async function explain(request: string): Promise<Explanation> {
  const id = userId.value
  const headers = id === '' ? {} : { authorization: `Bearer ${await mint(id)}` }
  return (await control('POST', '/explain', { method: 'GET', path: request, headers })).body as Explanation
}
