/** List view: a page of a list: the request, the table, and the record that is chosen. */
import { useMemo } from 'preact/hooks'
import { Empty, ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { look, Refusal } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { findResource, outline } from '../state/outline.ts'
import type { OutlinedAttribute, OutlinedResource } from '../state/outline.ts'
import { userId, world } from '../state/place.ts'
import { formatPlace } from '../state/place-text.ts'
import { go } from '../state/place.ts'
import { columnsOf } from '../state/records.ts'
import type { AnyRecord } from '../state/records.ts'
import { requestOf } from './links.ts'
import { nextSort, readListQuery, withOffset, withParameter } from './list-query.ts'
import type { ListQuery, ParameterNames } from './list-query.ts'
import { parameterNames } from './parameter-names.ts'
import { QueryBar } from './query-bar.tsx'
import { RecordPanel } from './record-panel.tsx'
import { RecordsTable } from './records-table.tsx'

interface ListViewProps {
  readonly resource: OutlinedResource
  /** The segments of the list. */
  readonly path: readonly string[]
  readonly query: string
  /** The ID of the record that is shown beside the list. */
  readonly chosen: string | undefined
}

interface Page {
  readonly records: readonly AnyRecord[]
  readonly count: number
}

export function ListView({ resource, path, query, chosen }: ListViewProps) {
  const names = useMemo(parameterNames, [outline.value])
  const asked = useMemo(() => readListQuery(query, resource, names, findResource), [query, resource, names])
  const at = requestOf(path, '')
  const depends = [at, asked.asked, changes.value, world.value, userId.value]
  const { data: page, error, isLoading } = useLoad(signal => readPage(at, asked, signal), depends)
  const hrefWith = (next: string): string => formatPlace('data', path, next)
  const isList = path.length === 1
  return (
    <>
      <h1 class="visually-hidden">{path.join(' ')}</h1>
      <QueryBar request={requestOf(path, query)} names={names} onRun={request => go(placeOfRequest(request, path))} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div class={chosen === undefined ? undefined : 'split'}>
        <div>
          <Pager page={page} asked={asked} names={names} query={query} hrefWith={hrefWith} name={resource.name} />
          <Records
            {...{ resource, page, asked, chosen }}
            isStale={isLoading || error !== undefined}
            hrefOf={id => (isList ? formatPlace('data', [resource.name, id], query) : formatPlace('data', [resource.name, id]))}
            onSort={key => go(hrefWith(withOffset(withParameter(query, names.sort, nextSort(asked.sort, key)), names.offset, 0)))}
          />
        </div>
        {chosen === undefined ? null : <RecordPanel resource={resource} id={chosen} closeHref={hrefWith(query)} />}
      </div>
    </>
  )
}

interface RecordsProps {
  readonly resource: OutlinedResource
  readonly page: Page | undefined
  readonly asked: ListQuery
  readonly chosen: string | undefined
  readonly isStale: boolean
  readonly hrefOf: (id: string) => string
  readonly onSort: (path: string) => void
}

function Records({ resource, page, asked, ...others }: RecordsProps) {
  if (page === undefined) return null
  if (page.records.length === 0)
    return page.count === 0 ? (
      <Empty title={asked.plain.includes('&') ? 'No record meets the filters' : `There are no ${resource.name} yet`} />
    ) : (
      <Empty title="This page is behind the last record" />
    )
  const columns = asked.isOwnChoice ? columnsIn(page.records, resource) : columnsOf(resource)
  return <RecordsTable resource={resource} records={page.records} columns={columns} sort={asked.sort} {...others} />
}

interface PagerProps {
  readonly page: Page | undefined
  readonly asked: ListQuery
  readonly names: ParameterNames
  readonly query: string
  readonly name: string
  readonly hrefWith: (query: string) => string
}

/** Where the page is in the list, and the ways to the others. */
function Pager({ page, asked: { offset, limit }, names, query, name, hrefWith }: PagerProps) {
  if (page === undefined) return <div class="bar pager" />
  const { count, records } = page
  const last = Math.max(0, Math.floor((count - 1) / limit) * limit)
  const link = (to: number, text: string, label: string, isThere: boolean) =>
    isThere ? (
      <a class="button" href={hrefWith(withOffset(query, names.offset, to))} aria-label={label}>
        {text}
      </a>
    ) : (
      <span class="button" aria-disabled="true" role="link" aria-label={label}>
        {text}
      </span>
    )
  const shown = records.length === 0 ? '0' : `${(offset + 1).toLocaleString('en')} to ${(offset + records.length).toLocaleString('en')}`
  return (
    <div class="bar pager">
      <span class="dim" role="status">
        {name}: {shown} of {count.toLocaleString('en')}
      </span>
      <nav aria-label="Pages" class="pages">
        {link(0, '⇤', 'First page', offset > 0)}
        {link(offset - limit, '←', 'Page before', offset > 0)}
        {link(offset + limit, '→', 'Next page', offset + limit < count)}
        {link(last, '⇥', 'Last page', offset < last)}
      </nav>
    </div>
  )
}

/** Reads a page; a caller who may not see the names of linked records gets their IDs. */
async function readPage(path: string, { asked, plain }: ListQuery, signal: AbortSignal): Promise<Page> {
  try {
    return await read(`${path}?${asked}`, signal)
  } catch (error) {
    if (error instanceof Refusal && error.answer.status === 403 && asked !== plain) return read(`${path}?${plain}`, signal)
    throw error
  }
}

async function read(request: string, signal: AbortSignal): Promise<Page> {
  const body = (await look(request, signal)).body as Readonly<Record<string, unknown>> & {
    readonly resource: string
    readonly count: number
  }
  return { records: body[body.resource] as readonly AnyRecord[], count: body.count }
}

/** The columns of what the reader has chosen. */
function columnsIn(records: readonly AnyRecord[], { attributes }: OutlinedResource): readonly OutlinedAttribute[] {
  return Object.keys(records[0] ?? {}).map(
    name => attributes.find(attribute => attribute.name === name || attribute.ids === name) ?? { ...UNKNOWN, name },
  )
}

const UNKNOWN = {
  kind: 'scalar',
  type: 'any',
  nullable: true,
  required: false,
  readOnly: true,
  unique: false,
  filterable: false,
  sortable: false,
} as const

/** The place that shows a request. One that is not of a list of this version stays where it is, and the API says what is wrong. */
function placeOfRequest(request: string, path: readonly string[]): string {
  const [given = '', query = ''] = request.trim().split(/\?(.*)/s, 2)
  const root = outline.value?.root ?? ''
  const segments = given.startsWith(`${root}/`)
    ? given
        .slice(root.length + 1)
        .split('/')
        .filter(Boolean)
        .map(decodeURIComponent)
    : path
  return formatPlace('data', segments, query)
}
