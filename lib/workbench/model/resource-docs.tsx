/** Resource docs: the server's documentation of a resource. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { hrefOfResource } from '../data/links.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { askWorkbench } from '../state/ask.ts'
import { pathOf, type OutlinedResource } from '../state/outline.ts'
import { version } from '../state/place.ts'
import { formatPlace } from '../state/place-text.ts'

export function ResourceDocs({ resource }: { readonly resource: OutlinedResource }) {
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
        One is called {singular}; its ID is {key.join(' and ')}.
        {whenDeleted.length === 0 ? '' : ` When one is deleted: ${describeDeletions(resource)}.`}
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
  const words = { delete: 'are deleted', unlink: 'lose their link', refuse: 'must not be there' }
  return whenDeleted.map(({ resource, by, rule }) => `${resource}${by === undefined ? '' : ` by ${by}`} ${words[rule]}`).join(', ')
}
