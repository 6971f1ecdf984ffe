/** The screen of the model, with diagram, search and documentation. */
import { useEffect, useId, useState, useLayoutEffect, useRef } from 'preact/hooks'
import { hrefOfResource } from '../data/links.ts'
import { Empty, ErrorNotice } from '../parts/notice.tsx'
import { findResource, outline, type OutlinedResource, pathOf } from '../state/outline.ts'
import { place, go, version } from '../state/place.ts'
import { formatPlace } from '../state/place-text.ts'
import { matches } from './match-resource.ts'
import { useLoad } from '../parts/use-load.ts'
import { askWorkbench } from '../state/ask.ts'

/** With more resources, the diagram waits for a click. */
const MANY = 60

export default function ModelScreen() {
  const [name] = place.value.path
  if (name === undefined) return <Overview />
  const resource = findResource(name)
  return resource === undefined ? (
    <Empty title={`There is no resource “${name}”`}>The model lists what this version serves.</Empty>
  ) : (
    <ResourceDocs key={name} resource={resource} />
  )
}

function Overview() {
  const id = useId()
  const resources = outline.value?.resources ?? []
  const [words, setWords] = useState('')
  const [isDrawn, setDrawn] = useState(resources.length <= MANY)
  const found = resources.filter(resource => matches(resource, words))
  return (
    <>
      <h1 class="screen-title">Model</h1>
      {isDrawn ? (
        <DiagramView />
      ) : (
        <button type="button" onClick={() => setDrawn(true)}>
          Draw the diagram of {resources.length} resources
        </button>
      )}
      <div class="bar search">
        <label for={id}>Search</label>
        <input
          id={id}
          type="search"
          placeholder="resource or attribute"
          value={words}
          onInput={event => setWords(event.currentTarget.value)}
        />
        <span class="dim" role="status">
          {found.length === resources.length ? '' : `${found.length} of ${resources.length}`}
        </span>
      </div>
      <ul class="resource-list">
        {found.map(resource => (
          <Entry key={resource.name} resource={resource} words={words} />
        ))}
      </ul>
    </>
  )
}

function Entry({ resource: { name, attributes }, words }: { readonly resource: OutlinedResource; readonly words: string }) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const met = attributes.filter(attribute => wanted.some(word => attribute.name.toLowerCase().includes(word)))
  return (
    <li>
      <a href={formatPlace('model', [name])}>
        <b>{name}</b>
      </a>{' '}
      <a href={hrefOfResource(name)} aria-label={`Records of ${name}`}>
        records
      </a>
      <span class="dim"> {(met.length > 0 ? met : attributes).map(attribute => attribute.name).join(', ')}</span>
    </li>
  )
}

const SVG = 'http://www.w3.org/2000/svg'

/** Steps of the zoom, in percent of the drawn size. */
const STEPS = [15, 25, 35, 50, 70, 100, 140, 200] as const
const WHOLE = 100

/** Fits the width at first. */
function DiagramView() {
  const box = useRef<HTMLDivElement>(null)
  const [zoom, setZoom] = useState<number>()
  const { data: svg, error } = useLoad(readDiagram, [version.value, outline.value])
  useLayoutEffect(() => {
    if (svg !== undefined) box.current?.replaceChildren(makeFollowable(svg))
  }, [svg])
  useLayoutEffect(() => {
    if (svg !== undefined) sizeDiagram(box.current!, zoom ?? findFit(box.current!))
  }, [svg, zoom])
  // An observer may still be told of the former zoom.
  const latest = useRef(zoom)
  latest.current = zoom
  useEffect(() => {
    const current = box.current!
    const watcher = new ResizeObserver(() => {
      if (latest.current === undefined) sizeDiagram(current, findFit(current))
    })
    watcher.observe(current)
    return () => watcher.disconnect()
  }, [])
  const step = (way: 1 | -1): void => {
    const now = zoom ?? findFit(box.current!)
    setZoom((way === 1 ? STEPS.find(size => size > now + 1) : STEPS.findLast(size => size < now - 1)) ?? now)
  }
  return (
    <>
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div class="bar" role="group" aria-label="Size of the diagram">
        <button type="button" aria-pressed={zoom === undefined} onClick={() => setZoom(undefined)}>
          Fit
        </button>
        <button type="button" aria-pressed={zoom === WHOLE} onClick={() => setZoom(WHOLE)}>
          100 %
        </button>
        <button type="button" aria-label="Smaller" onClick={() => step(-1)}>
          −
        </button>
        <button type="button" aria-label="Larger" onClick={() => step(1)}>
          +
        </button>
      </div>
      <div ref={box} class="scroll model" tabIndex={0} role="region" aria-label="Diagram" />
    </>
  )
}

/** Of the box, left and right, in pixels. */
const PADDING = 16

function findFit(box: HTMLElement): number {
  const room = Math.max(PADDING, box.clientWidth - PADDING)
  return Math.min(WHOLE, (WHOLE * room) / Number(box.querySelector('svg')?.dataset['width'] ?? room))
}

function sizeDiagram(box: HTMLElement, percent: number): void {
  const svg = box.querySelector('svg')
  if (svg === null) return
  for (const side of ['width', 'height']) svg.setAttribute(side, String((Number(svg.dataset[side]) * percent) / WHOLE))
}

async function readDiagram(): Promise<string> {
  const query = version.value === undefined ? '' : `?version=${encodeURIComponent(version.value)}`
  return (await askWorkbench('GET', `/diagram.svg${query}`)).text
}

/** The server's diagram, with links. */
function makeFollowable(text: string): Element {
  const svg = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true)
  // The role `img` would hide links.
  svg.setAttribute('role', 'group')
  for (const side of ['width', 'height']) svg.setAttribute(`data-${side}`, svg.getAttribute(side) ?? '')
  for (const part of svg.querySelectorAll('[data-resource]')) {
    const name = part.getAttribute('data-resource') ?? ''
    if (findResource(name) === undefined) continue
    const link = document.createElementNS(SVG, 'a')
    link.setAttribute('href', hrefOfResource(name))
    link.setAttribute('aria-label', `Records of ${name}`)
    const head = [...part.querySelectorAll('.head, .title')]
    head[0]?.before(link)
    link.append(...head)
    // The whole box works as a link.
    part.addEventListener('click', ({ target }) => {
      if (!link.contains(target as Node)) go(hrefOfResource(name))
    })
  }
  return svg
}

function ResourceDocs({ resource }: { readonly resource: OutlinedResource }) {
  const { name, singular, key, whenDeleted = [] } = resource
  const box = useRef<HTMLDivElement>(null)
  const { data: html, error } = useLoad(() => readDocs(name), [resource])
  useLayoutEffect(() => {
    // The content security policy stops scripts and styles.
    if (html !== undefined) box.current?.replaceChildren(...new DOMParser().parseFromString(html, 'text/html').body.childNodes)
  }, [html])
  return (
    <>
      <h1 class="screen-title">{name}</h1>
      <p class="bar">
        <code>{pathOf(name)}</code>
        <a href={hrefOfResource(name)}>Records</a>
        <a href={formatPlace('model')}>All of the model</a>
      </p>
      <p class="dim about">
        A record is a {singular}, and its ID is {key.join(' and ')}.
        {whenDeleted.length === 0 ? '' : ` When a ${singular} is deleted: ${describeDeletions(resource)}.`}
      </p>
      {error === undefined ? null : <ErrorNotice error={error} />}
      <div ref={box} class="docs" />
    </>
  )
}

async function readDocs(name: string): Promise<string> {
  const query = new URLSearchParams({ name, ...(version.value === undefined ? {} : { version: version.value }) })
  return (await askWorkbench('GET', `/resource.html?${query.toString()}`)).text
}

function describeDeletions({ whenDeleted = [] }: OutlinedResource): string {
  const words = { delete: 'are deleted', unlink: 'stay without their link', refuse: 'prevent the deletion' }
  return whenDeleted.map(({ resource, by, rule }) => `${resource}${by === undefined ? '' : ` by ${by}`} ${words[rule]}`).join(', ')
}
