/** Frame: surrounds each screen. */
import { useEffect } from 'preact/hooks'
import { Head } from './head.tsx'
import { Navigation } from './navigation.tsx'
import { Palette, isPaletteOpen } from './palette.tsx'
import { ErrorNotice, Empty } from './parts/notice.tsx'
import { ScreenView, findScreen } from './screens.tsx'
import { outline } from './state/outline.ts'
import { go, hrefOf, place } from './state/place.ts'
import { startError } from './state/start-error.ts'

export function Frame() {
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
