/** Model screen: diagram, search and documentation. */
import { useId, useState } from 'preact/hooks'
import { hrefOfResource } from '../data/links.ts'
import { Empty } from '../parts/notice.tsx'
import { findResource, outline, type OutlinedResource } from '../state/outline.ts'
import { place } from '../state/place.ts'
import { formatPlace } from '../state/place-text.ts'
import { DiagramView } from './diagram-view.tsx'
import { matches } from './match-resource.ts'
import { ResourceDocs } from './resource-docs.tsx'

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
