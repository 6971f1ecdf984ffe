/** List view: shows a request, its records, and a chosen record. */
import { useEffect, useMemo, useState, useRef } from 'preact/hooks'
import { Empty, ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { changes } from '../state/live.ts'
import { findResource, outline, type OutlinedAttribute, type OutlinedResource, pathOf } from '../state/outline.ts'
import { formatPlace } from '../state/place-text.ts'
import { go, userId, world } from '../state/place.ts'
import { columnsOf, idOf, type AnyRecord } from '../state/records.ts'
import { requestOf } from './links.ts'
import { ListTools } from './list-tools.tsx'
import {
  PAGE,
  nextSort,
  readListQuery,
  readPrefilled,
  withOffset,
  withParameter,
  type ShownQuery,
  type ParameterNames,
} from './list-query.ts'
import { parameterNames } from './parameter-names.ts'
import { CreatePanel, RecordPanel } from './record-panel.tsx'
import { RecordsTable } from './records-table.tsx'
import type { Explanation } from '../../engine/journal/explanation.ts'
import { StatementsPart } from '../requests/statements-part.tsx'
import { control, mint, look, Refusal } from '../state/ask.ts'
import { filterName, literal } from './search-records.ts'
import { Combobox, type Choice } from '../parts/combobox.tsx'
import { putText } from '../parts/put-text.ts'
import { complete } from './complete.ts'

interface ListViewProps {
  readonly resource: OutlinedResource
  readonly path: readonly string[]
  readonly query: string
  /** The record beside the list. */
  readonly chosen: string | undefined
}

export function ListView({ resource, path, query, chosen }: ListViewProps) {
  const names = useMemo(parameterNames, [outline.value])
  const asked = useMemo(() => readListQuery(query, resource, names, findResource), [query, resource, names])
  const at = requestOf(path, '')
  const depends = [at, asked.asked, changes.value, world.value, userId.value]
  const { data: page, error, isLoading } = useLoad(signal => readPage(at, asked, signal), depends)
  const making = useMaking(resource, page)
  const { isCreating, setCreating, setEdit, fresh, freshRecords, markFresh } = making
  const hrefWith = (next: string): string => formatPlace('data', path, next)
  const hrefOf = (id: string): string => formatPlace('data', [resource.name, id], path.length === 1 ? query : '')
  const prefilled = useMemo(() => readPrefilled(query, resource, names), [query, resource, names])
  const isSplit = chosen !== undefined || isCreating
  return (
    <>
      <h1 class="visually-hidden">{path.join(' ')}</h1>
      <Request path={path} query={query} names={names} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div class={isSplit ? 'split' : undefined}>
        <div>
          <ListTools resource={resource} prefilled={prefilled} onCreate={() => setCreating(true)} onMade={markFresh}>
            <Pager page={page} asked={asked} names={names} query={query} hrefWith={hrefWith} name={resource.name} />
          </ListTools>
          <Records
            {...{ resource, page, asked, chosen, hrefOf, fresh, freshRecords }}
            isStale={isLoading || error !== undefined}
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

interface RequestProps {
  readonly path: readonly string[]
  readonly query: string
  readonly names: ReturnType<typeof parameterNames>
}

function Request({ path, query, names }: RequestProps) {
  const [isExplained, setExplained] = useState(false)
  const request = requestOf(path, query)
  return (
    <>
      <QueryBar
        request={request}
        names={names}
        onRun={next => go(placeOfRequest(next, path))}
        isExplained={isExplained}
        onExplain={() => setExplained(!isExplained)}
      />
      {isExplained ? <ExplanationOf request={request} /> : null}
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

/** State of editing, and of records just created. */
function useMaking(resource: OutlinedResource, page: ShownPage | undefined) {
  const [isCreating, setCreating] = useState(false)
  const [edit, setEdit] = useState<{ readonly id: string; readonly focus: string | undefined }>()
  const [made, setMade] = useState<readonly string[]>([])
  useEffect(() => {
    setMade([])
    setCreating(false)
  }, [resource])
  const fresh = useMemo(() => new Set(made), [made])
  const shown = new Set(page?.records.map(record => idOf(record, resource)))
  const elsewhere = made.filter(id => !shown.has(id)).slice(0, PAGE)
  const { data: freshRecords = [] } = useLoad(signal => readFresh(resource, elsewhere, signal), [elsewhere.join('\n'), changes.value])
  return { isCreating, setCreating, edit, setEdit, fresh, freshRecords: elsewhere.length === 0 ? [] : freshRecords, markFresh: setMade }
}

interface RecordsProps {
  readonly resource: OutlinedResource
  readonly page: ShownPage | undefined
  readonly asked: ShownQuery
  readonly chosen: string | undefined
  readonly isStale: boolean
  readonly fresh: ReadonlySet<string>
  /** Records outside the page. */
  readonly freshRecords: readonly AnyRecord[]
  readonly hrefOf: (id: string) => string
  readonly onSort: (path: string) => void
  readonly onLarge: (id: string, name: string) => void
}

function Records({ resource, page, asked, freshRecords, ...others }: RecordsProps) {
  if (page === undefined) return null
  const records = [...freshRecords, ...page.records]
  if (records.length === 0)
    return page.count === 0 ? (
      <Empty title={asked.plain.includes('&') ? 'No record meets the filters' : `There are no ${resource.name} yet`} />
    ) : (
      <Empty title="This page is behind the last record" />
    )
  const columns = asked.isOwnChoice ? columnsIn(page.records, resource) : columnsOf(resource)
  return <RecordsTable resource={resource} records={records} columns={columns} sort={asked.sort} {...others} />
}

/** The columns if the query chooses attributes. */
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

/** An unknown path stays, and the API reports the error. */
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

function ExplanationOf({ request }: { readonly request: string }) {
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

/** Links to other pages. */
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

/** Reads a page, and new records outside the page. */
interface ShownPage {
  readonly records: readonly AnyRecord[]
  readonly count: number
  /** The server may allow fewer records than requested. */
  readonly limit: number
}

/** If the caller may not read linked records (403), reads IDs. */
async function readPage(path: string, { asked, plain }: ShownQuery, signal: AbortSignal): Promise<ShownPage> {
  try {
    return await read(`${path}?${asked}`, signal)
  } catch (error) {
    if (error instanceof Refusal && error.answer.status === 403 && asked !== plain) return read(`${path}?${plain}`, signal)
    throw error
  }
}

/** Returns nothing for a composite key, because no filter can name the key. */
async function readFresh(resource: OutlinedResource, ids: readonly string[], signal: AbortSignal): Promise<readonly AnyRecord[]> {
  const [key, ...others] = resource.key
  const isFilterable = resource.attributes.some(({ name, filterable }) => name === key && filterable)
  if (ids.length === 0 || key === undefined || others.length > 0 || !isFilterable) return []
  const query = `${filterName(key)}=${ids.map(literal).join(',')}`
  return (await readPage(pathOf(resource.name), readListQuery(query, resource, parameterNames(), findResource), signal)).records
}

async function read(request: string, signal: AbortSignal): Promise<ShownPage> {
  const body = (await look(request, signal)).body as Readonly<Record<string, unknown>> & {
    readonly resource: string
    readonly count: number
    readonly limit: number
  }
  return { records: body[body.resource] as readonly AnyRecord[], count: body.count, limit: body.limit }
}

/** Edits the request of a list, with completion. */
interface QueryBarProps {
  /** Path and query. */
  readonly request: string
  readonly names: ParameterNames
  readonly onRun: (request: string) => void
  readonly isExplained: boolean
  readonly onExplain: () => void
}

function QueryBar({ request, names, onRun, isExplained, onExplain }: QueryBarProps) {
  const [text, setText] = useState(request)
  const [caret, setCaret] = useState(request.length)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(request), [request])
  const { root = '', resources = [] } = outline.value ?? {}
  const completion = useMemo(() => complete(text, caret, { root, resources, names }), [text, caret, root, resources, names])
  const take = ({ text: taken }: Choice): void => {
    const next = text.slice(0, completion.from) + taken + text.slice(caret)
    const end = completion.from + taken.length
    setText(next)
    setCaret(end)
    putText(field.current, next, end)
  }
  return (
    <form
      class="query-bar"
      onSubmit={event => {
        event.preventDefault()
        onRun(text)
      }}
    >
      <div class="query">
        <b aria-hidden="true">GET</b>
        <Combobox
          label="Request"
          field={field}
          value={text}
          options={completion.suggestions}
          onInput={(value, at) => {
            setText(value)
            setCaret(at)
          }}
          onTake={take}
          onSubmit={() => onRun(text)}
        />
      </div>
      <button type="submit" class="main">
        Run
      </button>
      <button type="button" aria-pressed={isExplained} onClick={onExplain}>
        Explain
      </button>
    </form>
  )
}
