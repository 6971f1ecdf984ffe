/** Requests screen: lists requests, and explains a chosen request. */
import { useEffect } from 'preact/hooks'
import { ErrorNotice } from '../parts/notice.tsx'
import { base } from '../state/ask.ts'
import { recording } from '../state/live.ts'
import { world } from '../state/place.ts'
import { clearJournal, collect, goOn, isPaused, items, journalError, waiting } from './journal.ts'
import { matchEntry } from './match-entry.ts'
import { RequestDetail } from './request-detail.tsx'
import { Timeline } from './timeline.tsx'
import { change, readView, type RequestsView } from './view.ts'

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

/** The error of a recorded test. */
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

/** Marks make no sense between filtered requests. */
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
