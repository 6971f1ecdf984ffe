/** Main: starts the workbench. */
import { render } from 'preact'
import { effect, untracked } from '@preact/signals'
import { changes, watchServer } from './state/live.ts'
import { loadCounts, loadOutline, outline } from './state/outline.ts'
import { listenToPlace, userId, version, world, go, hrefOf, place } from './state/place.ts'
import { startError } from './state/start-error.ts'
import { useEffect } from 'preact/hooks'
import { Head } from './head.tsx'
import { Navigation } from './navigation.tsx'
import { Palette, isPaletteOpen } from './palette.tsx'
import { ErrorNotice, Empty } from './parts/notice.tsx'
import { ScreenView, findScreen } from './screens.tsx'

listenToPlace()
render(<Frame />, document.body)
watchServer()

effect(() => {
  // Reloads for each version and world: a world may have learned attributes.
  void [version.value, world.value]
  untracked(() => void tell(loadOutline))
})

effect(() => {
  void [changes.value, userId.value, outline.value]
  if (outline.peek() !== undefined) untracked(() => void tell(loadCounts))
})

/** The frame shows an error. */
async function tell(load: () => Promise<void>): Promise<void> {
  try {
    await load()
    startError.value = undefined
  } catch (error) {
    startError.value = error as Error
  }
}

/** Surrounds each screen. */
function Frame() {
  const { screen, path } = place.value
  useEffect(() => {
    if (screen === '') go(hrefOf('data'), { replace: true })
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
        <Content />
      </main>
      <Palette />
    </>
  )
}

function Content() {
  const { screen } = place.value
  if (startError.value !== undefined) return <ErrorNotice error={startError.value} />
  if (outline.value === undefined) return null
  const found = findScreen(screen)
  if (found !== undefined) return <ScreenView key={found.name} screen={found} />
  return screen === '' ? null : <Empty title={`There is no screen “${screen}”`}>Choose one of the navigation.</Empty>
}

/** The fragment of the URL is the place, so an anchor link would change the screen. */
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
