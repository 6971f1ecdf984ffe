/** Shows, edits and deletes a record beside a list. */
import { useState } from 'preact/hooks'
import { CopyMenu } from '../parts/copy-menu.tsx'
import { ErrorNotice, Skeleton } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { control } from '../state/ask.ts'
import { changes, unavailable } from '../state/live.ts'
import { countLists, findResource, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { go, world } from '../state/place.ts'
import { labelOf, valueOf, type AnyRecord } from '../state/records.ts'
import { Value } from './cell.tsx'
import { describeLink, hrefOfList, requestOf, requestOfList } from './links.ts'
import { ListLinks } from './list-links.tsx'
import { seedText } from './seed-text.ts'
import { readRecord } from './search-records.ts'
import { RecordForm } from './record-form.tsx'
import { formatPlace } from '../state/place-text.ts'
import { DeleteDialog, readEffects } from './delete-dialog.tsx'

interface PanelEdit {
  readonly focus: string | undefined
}

interface RecordPanelProps {
  readonly resource: OutlinedResource
  readonly id: string
  readonly closeHref: string
  /** Undefined: shows the record. */
  readonly edit: PanelEdit | undefined
  readonly onEdit: (edit: PanelEdit | undefined) => void
}

export function RecordPanel({ resource, id, closeHref, edit, onEdit }: RecordPanelProps) {
  const path = requestOf([resource.name, id], '')
  const { data, error } = useLoad(async signal => ({ path, record: await readRecord(resource, path, '', signal) }), [path, changes.value])
  const record = data?.path === path ? data.record : undefined
  return (
    <aside class="card record" aria-labelledby="record-title">
      <PanelHead title={`${resource.singular} ${id}`} label={record === undefined ? '' : labelOf(record, resource)} closeHref={closeHref} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      {record === undefined && error === undefined ? <Skeleton rows={6} /> : null}
      {record === undefined || error !== undefined ? null : edit === undefined ? (
        <Shown {...{ resource, id, record, closeHref, onEdit }} />
      ) : (
        <RecordForm
          key={id}
          resource={resource}
          existing={{ id, record }}
          focus={edit.focus}
          onSaved={() => onEdit(undefined)}
          onCancel={() => onEdit(undefined)}
        />
      )}
    </aside>
  )
}

interface CreatePanelProps {
  readonly resource: OutlinedResource
  readonly prefilled: Readonly<Record<string, string>>
  readonly closeHref: string
  readonly onCreated: (id: string | undefined) => void
  readonly onCancel: () => void
}

export function CreatePanel({ resource, prefilled, closeHref, onCreated, onCancel }: CreatePanelProps) {
  return (
    <aside class="card record" aria-labelledby="record-title">
      <PanelHead title={`New ${resource.singular}`} label="" closeHref={closeHref} onClose={onCancel} />
      <RecordForm
        resource={resource}
        existing={undefined}
        prefilled={prefilled}
        focus={undefined}
        onSaved={onCreated}
        onCancel={onCancel}
      />
    </aside>
  )
}

interface PanelHeadProps {
  readonly title: string
  readonly label: string
  readonly closeHref: string
  readonly onClose?: () => void
}

function PanelHead({ title, label, closeHref, onClose }: PanelHeadProps) {
  return (
    <div class="card-head">
      <h2 id="record-title">
        {title}
        {label === '' ? null : <span class="dim">{label}</span>}
      </h2>
      <a class="button quiet" href={closeHref} aria-label="Close the record" onClick={onClose}>
        ✕
      </a>
    </div>
  )
}

interface ShownProps {
  readonly resource: OutlinedResource
  readonly id: string
  readonly record: AnyRecord
  readonly closeHref: string
  readonly onEdit: (edit: PanelEdit) => void
}

function Shown({ resource, id, record, closeHref, onEdit }: ShownProps) {
  const [isDeleting, setDeleting] = useState(false)
  const { data: hindrances = [] } = useLoad(
    () => (resource.deletes ? readEffects(resource, [id], 'refuse') : Promise.resolve([])),
    [resource, id, changes.value],
  )
  const values = resource.attributes.filter(({ kind, flag }) => kind !== 'toMany' && flag === undefined)
  return (
    <>
      <dl>
        {values.map(attribute => (
          <Entry key={attribute.name} attribute={attribute} value={valueOf(record, attribute)} />
        ))}
        <Lists resource={resource} id={id} />
      </dl>
      <div class="bar actions">
        {resource.updates ? (
          <button type="button" onClick={() => onEdit({ focus: undefined })}>
            Edit
          </button>
        ) : null}
        {resource.deletes ? (
          <button type="button" class="risky" disabled={hindrances.length > 0} onClick={() => setDeleting(true)}>
            Delete …
          </button>
        ) : null}
      </div>
      {hindrances.map(({ text, href }) => (
        <p key={text} class="dim">
          It cannot be deleted: <a href={href}>{text}</a>
        </p>
      ))}
      <CopyMenu about={`${resource.singular} ${id}`} copies={[{ name: 'seed', write: () => writeSeed(resource, record) }]} />
      <ChangedBy resource={resource} id={id} />
      {isDeleting ? <DeleteDialog resource={resource} ids={[id]} onDone={() => go(closeHref)} onClose={() => setDeleting(false)} /> : null}
    </>
  )
}

function writeSeed(resource: OutlinedResource, record: AnyRecord): string {
  const idOfLink = (value: unknown, name: string): string | undefined => {
    const attribute = resource.attributes.find(each => each.name === name)
    return attribute === undefined ? undefined : describeLink(value, attribute).id
  }
  return seedText(resource, record, idOfLink, findResource)
}

function Lists({ resource, id }: Pick<ShownProps, 'resource' | 'id'>) {
  const lists = resource.attributes.filter(({ kind, flag }) => kind === 'toMany' && flag === undefined)
  const paths = lists.map(list => requestOfList(resource, id, list))
  const { data: sizes = [] } = useLoad(() => countLists(paths), [paths.join('\n'), changes.value])
  return (
    <>
      {lists.map((list, index) => (
        <ListEntry key={list.name} {...{ resource, id, list }} size={sizes[index]} />
      ))}
    </>
  )
}

interface ListEntryProps {
  readonly resource: OutlinedResource
  readonly id: string
  readonly list: OutlinedAttribute
  readonly size: number | null | undefined
}

function ListEntry({ resource, id, list, size }: ListEntryProps) {
  const [isOpen, setOpen] = useState(false)
  const mayChange = resource.updates && !list.readOnly
  const word = mayChange ? 'Change' : 'Show'
  return (
    <div>
      <dt>{list.name}</dt>
      <dd>
        <span class="list-head">
          <a href={hrefOfList(resource, id, list)}>{describeSize(size)}</a>
          <button type="button" class="quiet" aria-expanded={isOpen} aria-label={`${word} ${list.name}`} onClick={() => setOpen(!isOpen)}>
            {isOpen ? '▾' : '▸'} {word}
          </button>
        </span>
        {isOpen ? <ListLinks {...{ resource, id, list, mayChange }} /> : null}
      </dd>
    </div>
  )
}

function Entry({ attribute, value }: { readonly attribute: OutlinedAttribute; readonly value: unknown }) {
  return (
    <div>
      <dt>{attribute.name}</dt>
      <dd>
        <Value value={value} attribute={attribute} isWhole />
      </dd>
    </div>
  )
}

function describeSize(size: number | null | undefined): string {
  if (size === undefined) return '…'
  return size === null ? 'open the list' : size === 1 ? '1 record' : `${size.toLocaleString('en')} records`
}

interface ChangingRequest {
  readonly id: number
  readonly at: string
  readonly method: string
  readonly path: string
}

const SHOWN = 5

function ChangedBy({ resource, id }: { readonly resource: OutlinedResource; readonly id: string }) {
  const { data: requests, error } = useLoad(() => read(resource, id), [resource, id, changes.value, world.value])
  const why = unavailable.value['requests'] ?? unavailable.value['changes']
  return (
    <section class="changed-by" aria-labelledby="changed-by">
      <h3 id="changed-by">Changed by</h3>
      {why !== undefined || error !== undefined ? (
        <p class="dim">{why ?? error?.message}</p>
      ) : requests === undefined ? null : requests.length === 0 ? (
        <p class="dim">The journal has no request with a change of this record.</p>
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
