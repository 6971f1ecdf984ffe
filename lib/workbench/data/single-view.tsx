/** Shows a record without a list, such as an object of a JSON file, as a form. */
import { useMemo, useRef, useState } from 'preact/hooks'
import { ErrorNotice, Skeleton } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { changes } from '../state/live.ts'
import { outline, type OutlinedResource } from '../state/outline.ts'
import { userId, world } from '../state/place.ts'
import { valueOf, type AnyRecord } from '../state/records.ts'
import { Value } from './cell.tsx'
import { requestOf } from './links.ts'
import { parameterNames } from './parameter-names.ts'
import { readRecord } from './search-records.ts'
import { RecordForm } from './record-form.tsx'
import { RequestBar } from './request-bar.tsx'

interface SingleViewProps {
  readonly resource: OutlinedResource
  readonly query: string
}

export function SingleView({ resource, query }: SingleViewProps) {
  const { name } = resource
  const names = useMemo(parameterNames, [outline.value])
  const { data, error } = useLoad(
    async signal => ({ resource, record: await readRecord(resource, requestOf([name], ''), query, signal) }),
    [resource, query, changes.value, world.value, userId.value],
  )
  return (
    <>
      <h1 class="visually-hidden">{name}</h1>
      <RequestBar path={[name]} query={query} names={names} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      {data === undefined && error === undefined ? <Skeleton rows={4} /> : null}
      {data === undefined ? null : (
        <section class="card single" aria-labelledby="single-title">
          <h2 id="single-title">{name}</h2>
          <ShownValues resource={resource} record={data.record} />
          {resource.updates ? <SingleForm resource={resource} record={data.record} /> : null}
        </section>
      )}
    </>
  )
}

interface SingleRecordProps {
  readonly resource: OutlinedResource
  readonly record: AnyRecord
}

/** Shows all values of a read-only record, else those without a field. */
function ShownValues({ resource: { attributes, updates }, record }: SingleRecordProps) {
  return (
    <dl class="record">
      {attributes
        .filter(({ readOnly }) => !updates || readOnly)
        .map(attribute => (
          <div key={attribute.name}>
            <dt>{attribute.name}</dt>
            <dd>
              <Value value={valueOf(record, attribute)} attribute={attribute} isWhole />
            </dd>
          </div>
        ))}
    </dl>
  )
}

/** Changes by others show at once, but not over a value in writing. */
function SingleForm({ resource, record }: SingleRecordProps) {
  const [state, setState] = useState('')
  const [round, setRound] = useState(0)
  const isTouched = useRef(false)
  const latest = JSON.stringify(record)
  const shown = useRef(latest)
  if (!isTouched.current) shown.current = latest
  const touch = (): void => {
    isTouched.current = true
    setState('')
  }
  return (
    <div onInput={touch}>
      <RecordForm
        key={`${round} ${shown.current}`}
        resource={resource}
        existing={{ id: undefined, record }}
        focus=""
        onSaved={() => {
          isTouched.current = false
          setState('Saved.')
        }}
        onCancel={() => {
          isTouched.current = false
          setRound(count => count + 1)
        }}
      />
      <span class="dim" role="status">
        {state}
      </span>
    </div>
  )
}
