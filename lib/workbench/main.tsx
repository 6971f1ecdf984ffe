/** Starts the workbench, and shows the frame around all screens. */
import { effect, signal, untracked } from '@preact/signals'
import { render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Head } from './head.tsx'
import { Palette, isPaletteOpen } from './palette.tsx'
import { ErrorNotice, Empty, Skeleton } from './parts/notice.tsx'
import { ScreenView, findScreen, SCREENS } from './screens.tsx'
import { base, control, isReachable } from './state/ask.ts'
import { changes, recording, stateKnown, streams, watchServer, type RequestSummary, refusal } from './state/live.ts'
import { loadCounts, loadOutline, outline, counts, reloadOutline, modelChange } from './state/outline.ts'
import { listenToPlace, userId, version, world, go, hrefOf, place } from './state/place.ts'

const startError = signal<Error | undefined>(undefined)

listenToPlace()
render(<Frame />, document.body)
watchServer()

effect(() => {
  // A world may have learned attributes.
  void [version.value, world.value]
  untracked(() => void tell(loadOutline))
})

effect(() => {
  // Another server may answer now.
  if (streams.value > 1 || startError.peek() !== undefined) untracked(() => void tell(reloadOutline))
})

effect(() => {
  void changes.value
  // A new record may have brought attributes.
  if (outline.peek()?.resources.some(({ open }) => open) === true) untracked(() => void tell(loadOutline))
})

effect(() => {
  void [changes.value, userId.value, outline.value]
  if (outline.peek() !== undefined) untracked(() => void tell(loadCounts))
})

/** The frame shows the error. */
async function tell(load: () => Promise<void>): Promise<void> {
  try {
    await load()
    startError.value = undefined
  } catch (error) {
    startError.value = error as Error
  }
}

function Frame() {
  const { screen, path } = place.value
  useEffect(() => {
    if (screen === '') void openStart()
  }, [screen])
  useEffect(() => {
    const title = [...path, findScreen(screen)?.title ?? screen].filter(Boolean).join(' · ')
    document.title = `${title} · mikro-rest`
  }, [screen, path])
  useEffect(listenToKeys, [])
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Head />
      <Navigation />
      <main id="main" tabIndex={-1}>
        <Banner />
        <Content />
      </main>
      <Palette />
    </>
  )
}

async function openStart(): Promise<void> {
  const href = await findStart()
  // The reader may have chosen a screen meanwhile.
  if (place.value.screen === '') go(href, { replace: true })
}

/** A recording starts at the last failed request. */
async function findStart(): Promise<string> {
  await stateKnown
  if (recording.value === undefined) return hrefOf('data')
  const { body } = await control('GET', '/requests?bodies=false&limit=1000')
  const { requests } = body as { readonly requests: readonly RequestSummary[] }
  const failed = requests.findLast(({ status }) => status === undefined || status >= 400) ?? requests.at(-1)
  return hrefOf('requests', failed === undefined ? [] : [String(failed.id)])
}

function Content() {
  const { screen } = place.value
  if (startError.value !== undefined) return <ErrorNotice error={startError.value} />
  if (outline.value === undefined) return <Skeleton rows={12} />
  const found = findScreen(screen)
  if (found !== undefined) return <ScreenView key={found.name} screen={found} />
  return screen === '' ? null : <Empty title={`There is no screen “${screen}”`}>Choose a screen of the navigation.</Empty>
}

/** The URL's fragment is the place: an anchor link would change the screen. */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      isPaletteOpen.value = !isPaletteOpen.value
    }
  }
  addEventListener('keydown', listen)
  return () => removeEventListener('keydown', listen)
}

/** From here on, resources have a search field. */
const MANY = 16

function Navigation() {
  const { screen, path } = place.value
  const [typed, setTyped] = useState('')
  const resources = outline.value?.resources ?? []
  const shown = resources.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))
  const nav = useRef<HTMLElement>(null)
  useLayoutEffect(() => showCurrent(nav.current!), [screen, path[0], resources])
  return (
    <nav ref={nav} class="side" aria-label="Parts">
      <h2>
        <a href={hrefOf('data')}>Data</a>
      </h2>
      {resources.length < MANY ? null : (
        <input
          class="narrow"
          type="search"
          aria-label="Narrow the resources"
          placeholder={`${resources.length} resources`}
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
      )}
      <ul class="resources">
        {shown.map(({ name }) => (
          <li key={name}>
            <a href={hrefOf('data', [name])} aria-current={screen === 'data' && path[0] === name ? 'page' : undefined}>
              {name} <span>{counts.value.get(name)?.toLocaleString('en') ?? ''}</span>
            </a>
          </li>
        ))}
      </ul>
      <h2>Tools</h2>
      <ul>
        {SCREENS.filter(({ name }) => name !== 'data').map(({ name, title }) => (
          <li key={name}>
            <a href={hrefOf(name)} aria-current={screen === name ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
        <Elsewhere />
      </ul>
    </nav>
  )
}

function Elsewhere() {
  const { home, docs } = outline.value ?? {}
  return (
    <>
      {home === undefined ? null : (
        <li>
          <a href={home}>All engines</a>
        </li>
      )}
      {docs === true ? (
        <li>
          <a href={`${base}/docs`}>Docs</a>
        </li>
      ) : null}
    </>
  )
}

/** Lists scroll: sideways on narrow screens. */
function showCurrent(nav: HTMLElement): void {
  for (const item of nav.querySelectorAll<HTMLElement>('[aria-current]')) {
    const list = item.closest('ul')!
    const top = item.offsetTop - list.offsetTop
    if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = top - (list.clientHeight - item.offsetHeight) / 2
    list.scrollLeft = item.offsetLeft - list.offsetLeft - (list.clientWidth - item.offsetWidth) / 2
  }
}

function Banner() {
  return (
    <div role="status" class="banners">
      {isReachable.value ? null : (
        <div class="notice bad">
          <strong>The server does not answer</strong>
          <p>
            Start the server again, or look at its terminal for the reason. The page goes on by itself as soon as there is an answer; until
            then it shows what was read before.
          </p>
        </div>
      )}
      {refusal.value === undefined ? null : (
        <div class="notice warn">
          <strong>The model as it now stands is not served: the former model is</strong>
          <p class="failure">{refusal.value}</p>
        </div>
      )}
      {modelChange.value === undefined ? null : (
        <div class="notice">
          <strong>The server has another model than before</strong>
          <p>{modelChange.value}</p>
          <button type="button" onClick={() => (modelChange.value = undefined)}>
            Close
          </button>
        </div>
      )}
    </div>
  )
}
