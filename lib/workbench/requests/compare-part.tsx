/** Shows the differences between two requests of the journal. */
import { useId } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { textOf } from '../state/records.ts'
import { findDifferences } from './difference.ts'
import { items } from './journal.ts'
import { readEntry, type FullEntry } from './read-entry.ts'
import { change } from './view.ts'

const SHOWN = 200

export function ComparePart({ entry, other }: { readonly entry: FullEntry; readonly other: number | undefined }) {
  const id = useId()
  const others = items.value.flatMap(item => (item.kind === 'request' && item.request.id !== entry.id ? [item.request] : [])).toReversed()
  const alike = others.filter(({ method, path }) => method === entry.method && path === entry.path)
  const rest = others.filter(request => !alike.includes(request)).slice(0, 50)
  const choice = (requests: typeof others) =>
    requests.map(({ id: number, method, path, status }) => (
      <option key={number} value={number}>
        {`${number}  ${method} ${path}  ${status ?? 'lost'}`}
      </option>
    ))
  return (
    <>
      <div class="bar">
        <label for={id}>With</label>
        <select
          id={id}
          class="wide"
          value={other ?? ''}
          onChange={event => change({ other: Number(event.currentTarget.value) || undefined, tab: 'compare' })}
        >
          <option value="">another request …</option>
          <optgroup label="The same method and path">{choice(alike)}</optgroup>
          <optgroup label="Others">{choice(rest)}</optgroup>
        </select>
      </div>
      {other === undefined ? null : <Differences entry={entry} other={other} />}
    </>
  )
}

function Differences({ entry, other }: { readonly entry: FullEntry; readonly other: number }) {
  const { data: before, error } = useLoad(() => readEntry(other), [other])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (before === undefined) return null
  const found = findDifferences(partsOf(before), partsOf(entry))
  if (found.length === 0) return <p>Both requests and both answers are the same.</p>
  return (
    <table class="change">
      <thead>
        <tr>
          <th scope="col">where</th>
          <th scope="col">request {other}</th>
          <th scope="col">request {entry.id}</th>
        </tr>
      </thead>
      <tbody>
        {found.slice(0, SHOWN).map(({ path, before: was, after: is }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td class="wrap">{was === undefined ? <span class="null">nothing</span> : <del>{textOf(was)}</del>}</td>
            <td class="wrap">{is === undefined ? <span class="null">nothing</span> : <ins>{textOf(is)}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function partsOf({ method, path, query, body, user, status, response, fault, changes }: FullEntry): object {
  const { timestamp: _timestamp, ...answer } = (
    typeof response === 'object' && response !== null ? response : { value: response as unknown }
  ) as Record<string, unknown>
  return {
    request: {
      method,
      path,
      query: Object.fromEntries(query),
      ...(body === undefined ? {} : { body: body as unknown }),
      ...(user === undefined ? {} : { user }),
    },
    status,
    ...(fault === undefined ? {} : { fault }),
    answer,
    ...(changes === undefined
      ? {}
      : { changes: Object.fromEntries(changes.map(({ resource, id, type, after }) => [`${type} ${resource} ${id}`, after as unknown])) }),
  }
}
