/** Resource docs: the attributes of a resource, how lists of it are filtered, and requests to try. */
import { hrefOfRequest } from '../console/sent-request.ts'
import { describeType } from '../data/describe-type.ts'
import { hrefOfResource } from '../data/links.ts'
import { parameterNames } from '../data/parameter-names.ts'
import { useLoad } from '../parts/use-load.ts'
import { look } from '../state/ask.ts'
import { parameterOf, pathOf } from '../state/outline.ts'
import type { OutlinedAttribute, OutlinedResource } from '../state/outline.ts'
import { formatPlace } from '../state/place-text.ts'
import { idOf } from '../state/records.ts'
import type { AnyRecord } from '../state/records.ts'
import { listExamples, operatorsOf } from './examples.ts'

export function ResourceDocs({ resource }: { readonly resource: OutlinedResource }) {
  const { name, singular, key, whenDeleted = [], writeOnly = [] } = resource
  const path = pathOf(name)
  const { data: id } = useLoad(signal => findId(resource, signal), [resource])
  return (
    <>
      <h1 class="screen-title">{name}</h1>
      <p class="bar">
        <code>{path}</code>
        <a href={hrefOfResource(name)}>Records</a>
        <a href={formatPlace('model')}>All of the model</a>
      </p>
      <p class="dim about">
        One is called {singular}; its ID is {key.join(' and ')}.
        {whenDeleted.length === 0 ? '' : ` When one is deleted: ${describeDeletions(resource)}.`}
      </p>
      <Attributes resource={resource} all={[...resource.attributes, ...writeOnly]} />
      <h2 class="part">To try</h2>
      <ul class="examples">
        {listExamples(resource, path, id ?? '1', parameterNames()).map(({ does, request }) => (
          <li key={does}>
            <a class="button" href={hrefOfRequest(request)} aria-label={`Send: ${does}`}>
              Send …
            </a>
            <span>
              <code>
                {request.method} {request.target}
              </code>
              <span class="dim">{does}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

function Attributes({ resource, all }: { readonly resource: OutlinedResource; readonly all: readonly OutlinedAttribute[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Attributes of ${resource.name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">attribute</th>
            <th scope="col">type</th>
            <th scope="col">in bodies</th>
            <th scope="col">filters</th>
            <th scope="col">sorts</th>
          </tr>
        </thead>
        <tbody>
          {all.map(attribute => (
            <tr key={attribute.name}>
              <th scope="row">{attribute.name}</th>
              <td class="wrap">
                <Type attribute={attribute} isKey={resource.key.includes(attribute.name)} />
              </td>
              <td>{describeBody(attribute, resource)}</td>
              <td>
                <code>{operatorsOf(attribute)}</code>
              </td>
              <td>{attribute.sortable ? (attribute.kind === 'toMany' ? 'by number' : 'yes') : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Type({ attribute, isKey }: { readonly attribute: OutlinedAttribute; readonly isKey: boolean }) {
  const { target, kind, items, flag, attributes: inner = [] } = attribute
  const more = [items?.join(', '), inner.map(({ name }) => name).join(', '), flag === undefined ? '' : `with ?${flag}`]
    .filter(Boolean)
    .join('; ')
  return (
    <>
      {target === undefined ? (
        describeType(attribute, false)
      ) : (
        <>
          {kind === 'toMany' ? 'list of ' : '→ '}
          <a href={formatPlace('model', [target])}>{target}</a>
        </>
      )}
      {isKey ? ', key' : ''}
      {attribute.nullable ? ', or null' : ''}
      {more === '' ? null : <span class="dim"> {more}</span>}
    </>
  )
}

function describeBody({ readOnly, required, name }: OutlinedAttribute, { writeOnly = [] }: OutlinedResource): string {
  if (readOnly) return 'never'
  const isHidden = writeOnly.some(attribute => attribute.name === name)
  return [required ? 'required' : 'optional', isHidden ? 'never shown' : ''].filter(Boolean).join(', ')
}

function describeDeletions({ whenDeleted = [] }: OutlinedResource): string {
  const words = { delete: 'are deleted', unlink: 'lose their link', refuse: 'must not be there' }
  return whenDeleted.map(({ resource, by, rule }) => `${resource}${by === undefined ? '' : ` by ${by}`} ${words[rule]}`).join(', ')
}

/** The ID of a record that there is, for the examples. */
async function findId(resource: OutlinedResource, signal: AbortSignal): Promise<string | undefined> {
  const { body } = await look(`${pathOf(resource.name)}?${parameterOf('limit')}=1&${parameterOf('depth')}=1`, signal)
  const { resource: key } = body as { readonly resource: string }
  const [record] = (body as Readonly<Record<string, readonly AnyRecord[]>>)[key] ?? []
  return record === undefined ? undefined : idOf(record, resource)
}
