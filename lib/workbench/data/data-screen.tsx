/** The screen of data, with all resources, a resource's records, or a record without a list. */
import { useMemo, useRef, useState } from 'preact/hooks'
import { JsonView } from '../parts/json-view.tsx'
import { Empty, ErrorNotice, Skeleton } from '../parts/notice.tsx'
import { ScrollBox } from '../parts/scroll-box.tsx'
import { useLoad } from '../parts/use-load.ts'
import { readUnrecorded } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { counts, findResource, outline, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { formatPlace } from '../state/place-text.ts'
import { place, userId, world } from '../state/place.ts'
import { valueOf, type AnyRecord } from '../state/records.ts'
import { Value } from './cell.tsx'
import { hrefOfResource, requestOf } from './links.ts'
import { ListView } from './list-view.tsx'
import { parameterNames } from './parameter-names.ts'
import { RecordForm } from './record-form.tsx'
import { RequestBar } from './request-bar.tsx'
import { readRecord } from './search-records.ts'
import { Undo } from './undo.tsx'

/** Segments of the longest path of a list: `sites/1/domains`. */
const LIST = 3

export default function DataScreen() {
  return (
    <>
      <View />
      <Undo />
    </>
  )
}

function View() {
  const { path, query } = place.value
  const [name, id, relation] = path
  if (name === undefined) return <Overview />
  const resource = findResource(name)
  if (resource === undefined) return <Unknown path={path} query={query} />
  if (resource.single === true && id === undefined) return <SingleView key={name} resource={resource} query={query} />
  if (resource.single === true || path.length > LIST) return <Unknown path={path} query={query} />
  if (relation === undefined) return <ListView resource={resource} path={[name]} query={query} chosen={id} />
  const attribute = resource.attributes.find(each => each.name === relation)
  const target = attribute?.target === undefined ? undefined : findResource(attribute.target)
  if (target === undefined || attribute?.kind !== 'toMany') return <Unknown path={path} query={query} />
  return <ListView resource={target} path={path} query={query} chosen={undefined} />
}

interface UnknownProps {
  readonly path: readonly string[]
  readonly query: string
}

function Unknown({ path, query }: UnknownProps) {
  const names = useMemo(parameterNames, [outline.value])
  const request = requestOf(path, query)
  const { data, error } = useLoad(signal => readUnrecorded(request, signal), [request, outline.value, changes.value])
  const wrong = error === undefined ? undefined : findMeant(error.message, path)
  return (
    <>
      <h1 class="visually-hidden">{path.join(' ')}</h1>
      <RequestBar path={path} query={query} names={names} />
      {error === undefined ? null : (
        <ErrorNotice error={error}>
          {wrong === undefined ? null : (
            <p>
              Show <a href={formatPlace('data', wrong, query)}>{requestOf(wrong, query)}</a>
            </p>
          )}
        </ErrorNotice>
      )}
      {data === undefined || error !== undefined ? null : <JsonView value={data.body} />}
    </>
  )
}

/** The path with the name that the API suggests. */
function findMeant(detail: string, path: readonly string[]): readonly string[] | undefined {
  const [, wrong, meant] = /"([^"]+)"\. Did you mean "([^"]+)"\?/.exec(detail) ?? []
  const index = wrong === undefined ? -1 : path.indexOf(wrong)
  return index < 0 || meant === undefined ? undefined : path.with(index, meant)
}

function Overview() {
  const resources = outline.value?.resources ?? []
  if (resources.length === 0) return <Empty title="Nothing is served">The model has no resources.</Empty>
  return (
    <>
      <h1 class="screen-title">Data</h1>
      <ScrollBox label="Resources">
        <table>
          <thead>
            <tr>
              <th scope="col">resource</th>
              <th scope="col" class="num">
                records
              </th>
              <th scope="col">attributes</th>
              <th scope="col">relations</th>
            </tr>
          </thead>
          <tbody>
            {resources.map(resource => (
              <Row key={resource.name} resource={resource} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </>
  )
}

function Row({ resource: { name, attributes } }: { readonly resource: OutlinedResource }) {
  const count = counts.value.get(name)
  return (
    <tr>
      <th scope="row">
        <a href={hrefOfResource(name)}>{name}</a>
      </th>
      <td class="num">{count?.toLocaleString('en') ?? ''}</td>
      <td class="wrap dim">{list(attributes.filter(({ kind }) => kind === 'scalar' || kind === 'embedded'))}</td>
      <td class="wrap dim">{list(attributes.filter(({ kind }) => kind !== 'scalar' && kind !== 'embedded'))}</td>
    </tr>
  )
}

const list = (attributes: readonly OutlinedAttribute[]): string => attributes.map(({ name }) => name).join(', ')

interface SingleViewProps {
  readonly resource: OutlinedResource
  readonly query: string
}

function SingleView({ resource, query }: SingleViewProps) {
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
