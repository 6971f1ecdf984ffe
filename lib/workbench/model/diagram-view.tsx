/** Diagram view: the server's diagram, with links. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { hrefOfResource } from '../data/links.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { askWorkbench } from '../state/ask.ts'
import { findResource, outline } from '../state/outline.ts'
import { go, version } from '../state/place.ts'

const SVG = 'http://www.w3.org/2000/svg'

export function DiagramView() {
  const box = useRef<HTMLDivElement>(null)
  const { data: svg, error } = useLoad(readDiagram, [version.value, outline.value])
  useLayoutEffect(() => {
    if (svg !== undefined) box.current?.replaceChildren(makeFollowable(svg))
  }, [svg])
  return (
    <>
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div ref={box} class="scroll model" tabIndex={0} role="region" aria-label="Diagram" />
    </>
  )
}

async function readDiagram(): Promise<string> {
  const query = version.value === undefined ? '' : `?version=${encodeURIComponent(version.value)}`
  return (await askWorkbench('GET', `/diagram.svg${query}`)).text
}

function makeFollowable(text: string): Element {
  const svg = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true)
  // The role `img` would hide links.
  svg.setAttribute('role', 'group')
  for (const part of svg.querySelectorAll('[data-resource]')) {
    const name = part.getAttribute('data-resource') ?? ''
    if (findResource(name) === undefined) continue
    const link = document.createElementNS(SVG, 'a')
    link.setAttribute('href', hrefOfResource(name))
    link.setAttribute('aria-label', `Records of ${name}`)
    const head = [...part.querySelectorAll('.head, .title')]
    head[0]?.before(link)
    link.append(...head)
    // A click outside the link follows the link too.
    part.addEventListener('click', ({ target }) => {
      if (!link.contains(target as Node)) go(hrefOfResource(name))
    })
  }
  return svg
}
