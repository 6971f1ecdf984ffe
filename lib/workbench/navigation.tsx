/** Navigation: links to resources and screens. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { SCREENS } from './screens.tsx'
import { base } from './state/ask.ts'
import { counts, outline } from './state/outline.ts'
import { hrefOf, place } from './state/place.ts'

/** More resources get a search field. */
const MANY = 16

export function Navigation() {
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

/** Outside the workbench. */
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

/** On narrow screens lists scroll sideways. */
function showCurrent(nav: HTMLElement): void {
  for (const item of nav.querySelectorAll<HTMLElement>('[aria-current]')) {
    const list = item.closest('ul')!
    list.scrollLeft = item.offsetLeft - list.offsetLeft - (list.clientWidth - item.offsetWidth) / 2
  }
}
