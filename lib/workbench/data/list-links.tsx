/** Links and unlinks records of a list. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { readUnrecorded } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { findResource, parameterOf, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { idOf, labelOf, type AnyRecord } from '../state/records.ts'
import { nameRecord, hrefOfRecord, requestOf } from './links.ts'
import { readId } from './input-text.ts'
import { LinkField } from './link-field.tsx'
import { encodeSoftly } from '../state/place-text.ts'
import { addLink, removeLink } from './save.ts'

const SHOWN = 10

interface ListLinksProps {
  readonly resource: OutlinedResource
  readonly id: string
  readonly list: OutlinedAttribute
  readonly mayChange: boolean
}

export function ListLinks({ resource, id, list, mayChange }: ListLinksProps) {
  const target = findResource(list.target ?? '')
  const [error, setError] = useState<Error>()
  const [added, setAdded] = useState(0)
  const part = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (added > 0) part.current?.querySelector('input')?.focus()
  }, [added])
  const path = requestOf([resource.name, id, list.name], '')
  const { data: linked = [], error: unread } = useLoad(
    signal => (target === undefined ? Promise.resolve([]) : readLinked(path, target, signal)),
    [path, changes.value],
  )
  if (target === undefined) return null
  const run = async (work: Promise<void>): Promise<void> => {
    try {
      await work
      setError(undefined)
      setAdded(count => count + 1)
    } catch (thrown) {
      setError(thrown as Error)
    }
  }
  const failed = error ?? unread
  return (
    <div ref={part}>
      <ul class="linked">
        {linked.map(({ id: other, label }) => (
          <li key={other}>
            <a href={hrefOfRecord(target.name, other)}>{nameRecord(other, label)}</a>
            {mayChange ? (
              <button
                type="button"
                class="quiet"
                aria-label={`Take ${target.singular} ${other} out of ${list.name}`}
                onClick={() => void run(removeLink(resource, id, list, readId(other, target)))}
              >
                ✕
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {failed === undefined ? null : <ErrorNotice error={failed} />}
      {mayChange ? (
        <AddLink key={added} target={target} list={list} onAdd={other => void run(addLink(resource, id, list, readId(other, target)))} />
      ) : null}
    </div>
  )
}

interface AddLinkProps {
  readonly target: OutlinedResource
  readonly list: OutlinedAttribute
  readonly onAdd: (id: string) => void
}

function AddLink({ target, list, onAdd }: AddLinkProps) {
  const [chosen, setChosen] = useState<string>()
  return (
    <form
      class="value-field"
      onSubmit={event => {
        event.preventDefault()
        if (chosen !== undefined && chosen !== '') onAdd(chosen)
      }}
    >
      <LinkField
        label={`Add to ${list.name}`}
        target={target}
        shown=""
        nullable={false}
        placeholder={`add a ${target.singular} …`}
        describedBy={undefined}
        isInvalid={false}
        onChange={id => setChosen(id ?? undefined)}
      />
      <button type="submit" disabled={chosen === undefined || chosen === ''}>
        Add
      </button>
    </form>
  )
}

async function readLinked(
  path: string,
  target: OutlinedResource,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly label: string }[]> {
  const shown = [...new Set([...target.key, ...(target.label === undefined ? [] : [target.label])])].map(encodeSoftly).join(',')
  const { body } = await readUnrecorded(
    `${path}?${parameterOf('attributes')}=${shown}&${parameterOf('limit')}=${SHOWN}&${parameterOf('depth')}=1`,
    signal,
  )
  const records = (body as Readonly<Record<string, readonly AnyRecord[]>>)[(body as { readonly resource: string }).resource] ?? []
  return records.flatMap(record => {
    const id = idOf(record, target)
    return id === undefined ? [] : [{ id, label: labelOf(record, target) }]
  })
}
