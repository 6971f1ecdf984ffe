/** Timeline: lists requests, and scrolls to the newest until the reader chooses a request. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Empty } from '../parts/notice.tsx'
import type { Mark, RequestSummary } from '../state/live.ts'
import { pathOf } from '../state/outline.ts'
import type { ListedItem } from './journal.ts'
import { hrefOfView, type RequestsView } from './view.ts'

interface TimelineProps {
  readonly items: readonly ListedItem[]
  /** Includes hidden requests. */
  readonly all: number
  readonly view: RequestsView
}

/** Pixels from the end within which the list follows the newest. */
const AT_END = 40

export function Timeline({ items, all, view }: TimelineProps) {
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
  if (isNarrowed) return <Empty title="No request meets the words">The journal has others.</Empty>
  return (
    <Empty title="No requests yet">
      What apps and tests ask comes here as it happens. Try <code>curl {location.origin + pathOf('')}</code>
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

/** Such as `+1 ~2 −1`. */
export function describeChanges({ changed, changes }: RequestSummary): string {
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
