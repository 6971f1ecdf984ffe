/** Shows a list, with its request, and a chosen record beside. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Empty, ErrorNotice, Skeleton } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { readUnrecorded, Refusal } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { findResource, outline, type OutlinedAttribute, type OutlinedResource, pathOf, countLists } from '../state/outline.ts'
import { formatPlace } from '../state/place-text.ts'
import { go, userId, world } from '../state/place.ts'
import { columnsOf, idOf, type AnyRecord } from '../state/records.ts'
import { ChosenBar } from './chosen-bar.tsx'
import { ColumnsMenu, shownColumns } from './columns.tsx'
import { requestOf } from './links.ts'
import {
  PAGE,
  nextSort,
  readListQuery,
  readPrefilled,
  withOffset,
  withParameter,
  type ShownQuery,
  type ParameterNames,
  decode,
  listFilters,
  withoutFilter,
} from './list-query.ts'
import { ListTools } from './list-tools.tsx'
import { parameterNames } from './parameter-names.ts'
import { CreatePanel, RecordPanel } from './record-panel.tsx'
import { RecordsTable } from './records-table.tsx'
import { RequestBar } from './request-bar.tsx'
import { filterName, literal } from './search-records.ts'

interface ListViewProps {
  readonly resource: OutlinedResource
  readonly path: readonly string[]
  readonly query: string
  readonly chosen: string | undefined
}

export function ListView({ resource, path, query, chosen }: ListViewProps) {
  const names = useMemo(parameterNames, [outline.value])
  const asked = useMemo(() => readListQuery(query, resource, names, findResource), [query, resource, names])
  const at = requestOf(path, '')
  const { page, error, isLoading } = usePage(at, asked)
  const making = useMaking(resource, page)
  const { isCreating, setCreating, setEdit, fresh, freshRecords, markFresh } = making
  const hrefWith = (next: string): string => formatPlace('data', path, next)
  const hrefOf = (id: string): string => formatPlace('data', [resource.name, id], path.length === 1 ? query : '')
  const [isImporting, setImporting] = useState(false)
  const { picked, setPicked, pick } = usePicked(at, page, resource)
  const prefilled = useMemo(() => readPrefilled(query, resource, names), [query, resource, names])
  const isSplit = chosen !== undefined || isCreating
  return (
    <>
      <h1 class="visually-hidden">{path.join(' ')}</h1>
      <RequestBar path={path} query={query} names={names} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div class={isSplit ? 'split' : undefined}>
        <div>
          <ListTools
            {...{ resource, prefilled, isImporting, setImporting }}
            chosen={picked.size === 0 ? undefined : <ChosenBar resource={resource} ids={[...picked]} onNone={() => setPicked(NONE)} />}
            onCreate={() => setCreating(true)}
            onMade={markFresh}
          >
            {asked.isOwnChoice ? null : <ColumnsMenu resource={resource} columns={columnsOf(resource)} />}
            <Pager page={page} asked={asked} names={names} query={query} hrefWith={hrefWith} name={resource.name} />
          </ListTools>
          <Records
            picked={picked}
            onPick={pick}
            {...{ resource, page, asked, chosen, hrefOf, fresh, freshRecords, path, query, names, hrefWith }}
            onCreate={() => setCreating(true)}
            onImport={() => setImporting(true)}
            isStale={isLoading || error !== undefined}
            isFailed={error !== undefined}
            onSort={key => go(hrefWith(withOffset(withParameter(query, names.sort, nextSort(asked.sort, key)), names.offset, 0)))}
            onLarge={(id, name) => {
              setEdit({ id, focus: name })
              go(hrefOf(id))
            }}
          />
        </div>
        <Side {...{ resource, chosen, prefilled, hrefOf, making }} closeHref={hrefWith(query)} />
      </div>
    </>
  )
}

interface SideProps {
  readonly resource: OutlinedResource
  readonly chosen: string | undefined
  readonly prefilled: Readonly<Record<string, string>>
  readonly hrefOf: (id: string) => string
  readonly closeHref: string
  readonly making: ReturnType<typeof useMaking>
}

function Side({ resource, chosen, prefilled, hrefOf, closeHref, making }: SideProps) {
  const { isCreating, setCreating, edit, setEdit, markFresh } = making
  if (isCreating)
    return (
      <CreatePanel
        {...{ resource, prefilled, closeHref }}
        onCreated={id => {
          setCreating(false)
          if (id === undefined) return
          markFresh([id])
          go(hrefOf(id))
        }}
        onCancel={() => setCreating(false)}
      />
    )
  if (chosen === undefined) return null
  return (
    <RecordPanel
      {...{ resource, closeHref }}
      id={chosen}
      edit={edit?.id === chosen ? edit : undefined}
      onEdit={next => setEdit(next === undefined ? undefined : { id: chosen, focus: next.focus })}
    />
  )
}

/** Shows no page of another list. */
function usePage(at: string, asked: ShownQuery) {
  const depends = [at, asked.asked, changes.value, world.value, userId.value]
  const { data, error, isLoading } = useLoad(async signal => ({ at, page: await readPage(at, asked, signal) }), depends)
  return { page: data?.at === at ? data.page : undefined, error, isLoading }
}

const NONE: ReadonlySet<string> = new Set()

/** Of the page: an action on a record out of sight would surprise. */
function usePicked(at: string, page: ShownPage | undefined, resource: OutlinedResource) {
  const [all, setPicked] = useState(NONE)
  useEffect(() => setPicked(NONE), [at])
  const picked = useMemo(() => {
    const shown = new Set(page?.records.map(record => idOf(record, resource)))
    return new Set([...all].filter(id => shown.has(id)))
  }, [all, page, resource])
  const pick = (ids: readonly string[], isPicked: boolean): void =>
    setPicked(before => new Set(isPicked ? [...before, ...ids] : [...before].filter(id => !ids.includes(id))))
  return { picked, setPicked, pick }
}

function useMaking(resource: OutlinedResource, page: ShownPage | undefined) {
  const [isCreating, setCreating] = useState(false)
  const [edit, setEdit] = useState<{ readonly id: string; readonly focus: string | undefined }>()
  const [made, setMade] = useState<readonly string[]>([])
  useEffect(() => {
    setMade([])
    setCreating(false)
  }, [resource.name])
  const fresh = useMemo(() => new Set(made), [made])
  const shown = new Set(page?.records.map(record => idOf(record, resource)))
  const elsewhere = made.filter(id => !shown.has(id)).slice(0, PAGE)
  const { data: freshRecords = [] } = useLoad(signal => readFresh(resource, elsewhere, signal), [elsewhere.join('\n'), changes.value])
  return { isCreating, setCreating, edit, setEdit, fresh, freshRecords: elsewhere.length === 0 ? [] : freshRecords, markFresh: setMade }
}

interface RecordsProps extends EmptyListProps {
  readonly page: ShownPage | undefined
  readonly asked: ShownQuery
  readonly chosen: string | undefined
  readonly isStale: boolean
  readonly isFailed: boolean
  readonly fresh: ReadonlySet<string>
  readonly picked: ReadonlySet<string>
  readonly onPick: (ids: readonly string[], isPicked: boolean) => void
  readonly freshRecords: readonly AnyRecord[]
  readonly hrefOf: (id: string) => string
  readonly onSort: (path: string) => void
  readonly onLarge: (id: string, name: string) => void
}

function Records({ resource, page, asked, freshRecords, isFailed, path, query, names, hrefWith, ...others }: RecordsProps) {
  if (page === undefined) return isFailed ? null : <Skeleton rows={10} />
  const records = [...freshRecords, ...page.records]
  const columns =
    asked.isOwnChoice && page.records.length > 0 ? columnsIn(page.records, resource) : shownColumns(resource, columnsOf(resource))
  return (
    <>
      <RecordsTable resource={resource} records={records} columns={columns} sort={asked.sort} {...others} />
      {records.length > 0 ? null : page.count === 0 ? (
        <EmptyList {...{ resource, path, query, names, hrefWith }} onCreate={others.onCreate} onImport={others.onImport} />
      ) : (
        <Empty title="This page is behind the last record">
          <a href={hrefWith(withOffset(query, names.offset, 0))}>Go to the first page</a>
        </Empty>
      )}
    </>
  )
}

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

interface PagerProps {
  readonly page: ShownPage | undefined
  readonly asked: ShownQuery
  readonly names: ParameterNames
  readonly query: string
  readonly name: string
  readonly hrefWith: (query: string) => string
}

function Pager({ page, asked: { offset }, names, query, name, hrefWith }: PagerProps) {
  if (page === undefined) return null
  const { count, records, limit } = page
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
    <>
      <span class="dim" role="status">
        {name}: {shown} of {count.toLocaleString('en')}
      </span>
      <nav aria-label="Pages" class="pages">
        {link(0, '⇤', 'First page', offset > 0)}
        {link(offset - limit, '←', 'Page before', offset > 0)}
        {link(offset + limit, '→', 'Next page', offset + limit < count)}
        {link(last, '⇥', 'Last page', offset < last)}
      </nav>
    </>
  )
}

interface ShownPage {
  readonly records: readonly AnyRecord[]
  readonly count: number
  /** The server may allow fewer. */
  readonly limit: number
}

/** Reads IDs, if the caller may not read linked records (403). */
async function readPage(path: string, { asked, plain }: ShownQuery, signal: AbortSignal): Promise<ShownPage> {
  try {
    return await read(`${path}?${asked}`, signal)
  } catch (error) {
    if (error instanceof Refusal && error.answer.status === 403 && asked !== plain) return read(`${path}?${plain}`, signal)
    throw error
  }
}

/** Nothing for a composite key: no filter can name the key. */
async function readFresh(resource: OutlinedResource, ids: readonly string[], signal: AbortSignal): Promise<readonly AnyRecord[]> {
  const [key, ...others] = resource.key
  const isFilterable = resource.attributes.some(({ name, filterable }) => name === key && filterable)
  if (ids.length === 0 || key === undefined || others.length > 0 || !isFilterable) return []
  const query = `${filterName(key)}=${ids.map(literal).join(',')}`
  return (await readPage(pathOf(resource.name), readListQuery(query, resource, parameterNames(), findResource), signal)).records
}

async function read(request: string, signal: AbortSignal): Promise<ShownPage> {
  const body = (await readUnrecorded(request, signal)).body as Readonly<Record<string, unknown>> & {
    readonly resource: string
    readonly count: number
    readonly limit: number
  }
  return { records: body[body.resource] as readonly AnyRecord[], count: body.count, limit: body.limit }
}

interface EmptyListProps {
  readonly resource: OutlinedResource
  readonly path: readonly string[]
  readonly query: string
  readonly names: ParameterNames
  readonly hrefWith: (query: string) => string
  readonly onCreate: () => void
  readonly onImport: () => void
}

function EmptyList({ resource, path, query, names, hrefWith, onCreate, onImport }: EmptyListProps) {
  const { name, singular, creates } = resource
  const filters = listFilters(query, names)
  const plain = withOffset(query, names.offset, 0)
  const others = filters.map(filter => withoutFilter(plain, filter))
  const { data: counts } = useLoad(() => countLists(others.map(other => requestOf(path, other))), [others.join('\n'), changes.value])
  return (
    <Empty title={filters.length === 0 ? `There are no ${name} yet` : 'No record meets the filters'}>
      {filters.length === 0 ? null : (
        <>
          <p>A record of this list has: {filters.map(decode).join(' and ')}.</p>
          <ul>
            {filters.map((filter, index) => (
              <li key={filter}>
                Without <a href={hrefWith(others[index]!)}>{decode(filter)}</a>: {describeCount(counts?.[index])}
              </li>
            ))}
          </ul>
        </>
      )}
      {creates ? (
        <div class="bar">
          <button type="button" class="main" onClick={onCreate}>
            New {singular}
          </button>
          <button type="button" onClick={onImport}>
            Import CSV …
          </button>
        </div>
      ) : null}
    </Empty>
  )
}

function describeCount(count: number | null | undefined): string {
  if (count === undefined || count === null) return '…'
  return count === 0 ? 'none either' : count === 1 ? '1 record' : `${count.toLocaleString('en')} records`
}
