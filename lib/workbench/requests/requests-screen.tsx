/** The screen of requests, a timeline with filters. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { ErrorNotice, Empty } from '../parts/notice.tsx'
import { base, isServed, origin } from '../state/ask.ts'
import { recording, type Mark, type RequestSummary } from '../state/live.ts'
import { world } from '../state/place.ts'
import { clearJournal, collect, goOn, isPaused, items, journalError, waiting, type ListedItem } from './journal.ts'
import { matchEntry } from './match-entry.ts'
import { RequestDetail } from './request-detail.tsx'
import { change, readView, type RequestsView, hrefOfView } from './view.ts'
import { pathOf } from '../state/outline.ts'

export default function RequestsScreen() {
  useEffect(collect, [])
  const view = readView()
  const shown = items.value.filter(item => (item.kind === 'mark' ? !isNarrowed(view) : matchEntry(item.request, view)))
  return (
    <>
      <h1 class="visually-hidden">Requests</h1>
      <Failure />
      <Toolbar view={view} />
      {journalError.value === undefined ? null : <ErrorNotice error={journalError.value} />}
      <div class={view.id === undefined ? undefined : 'split even'}>
        <Timeline items={shown} all={items.value.length} view={view} />
        {view.id === undefined ? null : <RequestDetail key={view.id} id={view.id} view={view} />}
      </div>
    </>
  )
}

function Failure() {
  if (recording.value === undefined) return null
  const { test, failure } = recording.value
  return (
    <div class="notice bad">
      <strong>{test === undefined ? 'A test has failed' : `The test “${test}” has failed`}</strong>
      {failure === undefined ? null : <p class="failure">{failure}</p>}
    </div>
  )
}

/** No marks between filtered requests. */
function isNarrowed({ words, writes, failures }: RequestsView): boolean {
  return words !== '' || writes || failures
}

function Toolbar({ view }: { readonly view: RequestsView }) {
  const { words, writes, failures } = view
  const format = `${base}/_test/requests?${world.value === '' ? '' : `world=${encodeURIComponent(world.value)}&`}`
  return (
    <div class="bar toolbar">
      <input
        type="search"
        class="wide"
        aria-label="Show requests"
        placeholder="Show: POST 5xx campaigns/7 …"
        title="Words that a request must meet: a method, a status, a resource, a record, a fault, a test, a part of the path"
        spellcheck={false}
        value={words}
        onInput={event => change({ words: event.currentTarget.value }, { replace: true })}
      />
      <button type="button" aria-pressed={writes} onClick={() => change({ writes: !writes })}>
        Writes
      </button>
      <button type="button" aria-pressed={failures} onClick={() => change({ failures: !failures })}>
        Failures
      </button>
      <span class="grow" />
      <button type="button" aria-pressed={isPaused.value} onClick={() => (isPaused.value ? goOn() : (isPaused.value = true))}>
        {isPaused.value ? `Go on${waiting.value.length === 0 ? '' : ` (${waiting.value.length} more)`}` : 'Pause'}
      </button>
      <button type="button" onClick={() => void clearJournal().then(() => change({ id: undefined, other: undefined }))}>
        Clear
      </button>
      <a class="button" href={format.replace(/[?&]$/, '')} download="requests.json">
        JSON
      </a>
      <a class="button" href={`${format}format=har`} download="requests.har">
        HAR
      </a>
    </div>
  )
}

interface TimelineProps {
  readonly items: readonly ListedItem[]
  readonly all: number
  readonly view: RequestsView
}

/** Pixels from the end: within, the list follows the newest. */
const AT_END = 40

/** Scrolls to the newest until the reader chooses a request. */
function Timeline({ items, all, view }: TimelineProps) {
  const list = useRef<HTMLOListElement>(null)
  const follows = useRef(true)
  useLayoutEffect(() => {
    const { current } = list
    if (current !== null && follows.current && view.id === undefined) current.scrollTop = current.scrollHeight
  }, [items.length, view.id])
  if (items.length === 0) return <Nothing isNarrowed={all > 0} />
  return (
    <ol
      ref={list}
      class="timeline"
      aria-label="Requests, the newest last"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
        (follows.current = scrollHeight - scrollTop - clientHeight < AT_END)
      }
    >
      {items.map(item =>
        item.kind === 'mark' ? (
          <li key={`m${item.mark.last}${item.mark.at}${item.mark.type}`} class="mark">
            {describeMark(item.mark)}
          </li>
        ) : (
          <Line key={item.request.id} request={item.request} view={view} />
        ),
      )}
    </ol>
  )
}

function Nothing({ isNarrowed }: { readonly isNarrowed: boolean }) {
  if (isNarrowed) return <Empty title="No request meets the words above">The journal has other requests.</Empty>
  return (
    <Empty title="No requests yet">
      <p>
        What apps and tests ask comes here as it happens. Try{' '}
        <code>{isServed ? `curl ${origin}${pathOf('')}` : `fetch('${pathOf('')}')`}</code>
      </p>
    </Empty>
  )
}

function Line({ request, view }: { readonly request: RequestSummary; readonly view: RequestsView }) {
  const { id, at, method, path, query, status, duration, nested, fault } = request
  const text =
    query.length === 0 ? path : `${path}?${query.map(([name, value]) => `${name}${/[=<>]$/.test(name) ? '' : '='}${value}`).join('&')}`
  return (
    <li>
      <a href={hrefOfView({ ...view, id, tab: '', other: undefined })} aria-current={view.id === id ? 'true' : undefined}>
        <span class="dim at">{at.slice(11, 23)}</span>
        <b class={`method ${method.toLowerCase()}`}>{method}</b>
        <span class={nested ? 'path nested' : 'path'} title={text}>
          {text}
        </span>
        <span class={status === undefined || status >= 400 ? 'bad' : 'ok'}>{status ?? 'lost'}</span>
        <span class="dim took">{duration < 100 ? duration.toFixed(1) : Math.round(duration)} ms</span>
        <span class="what">{[fault === undefined ? '' : `fault ${fault}`, describeChanges(request)].filter(Boolean).join(' ')}</span>
      </a>
    </li>
  )
}

/** Returns `+1 ~2 −1`. */
function describeChanges({ changed, changes }: RequestSummary): string {
  if (changed === undefined || changed === 0) return ''
  const count = (type: string): number => changes?.filter(change => change.type === type).length ?? 0
  if (changes === undefined || changes.length < changed) return `${changed} rows`
  const signs = [
    ['insert', '+'],
    ['update', '~'],
    ['delete', '−'],
  ] as const
  return signs.flatMap(([type, sign]) => (count(type) === 0 ? [] : [`${sign}${count(type)}`])).join(' ')
}

function describeMark(mark: Mark): string {
  switch (mark.type) {
    case 'reset':
      return mark.scenario === undefined ? 'reset to the seed' : `scenario “${mark.scenario}” began`
    case 'restore':
      return mark.snapshot === undefined ? 'went back to a snapshot' : `went back to the snapshot “${mark.snapshot}”`
    case 'clock':
      return `clock: ${mark.now.replace('T', ' ').slice(0, 19)} UTC, ${mark.frozen ? 'stands still' : 'runs'}`
    default:
      return mark.text
  }
}
