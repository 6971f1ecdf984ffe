/** Data screen: lists resources, or the records of a resource. */
import { Empty } from '../parts/notice.tsx'
import { counts, findResource, outline, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { place } from '../state/place.ts'
import { hrefOfResource } from './links.ts'
import { ListView } from './list-view.tsx'

export default function DataScreen() {
  const { path, query } = place.value
  const [name, id, relation] = path
  if (name === undefined) return <Overview />
  const resource = findResource(name)
  if (resource === undefined) return <Unknown name={name} />
  if (relation === undefined) return <ListView resource={resource} path={[name]} query={query} chosen={id} />
  const attribute = resource.attributes.find(each => each.name === relation)
  const target = attribute?.target === undefined ? undefined : findResource(attribute.target)
  if (target === undefined) return <Unknown name={`${name}/${id}/${relation}`} />
  return <ListView resource={target} path={path} query={query} chosen={undefined} />
}

function Unknown({ name }: { readonly name: string }) {
  return <Empty title={`There is no resource “${name}”`}>The list of resources shows what this version serves.</Empty>
}

function Overview() {
  const resources = outline.value?.resources ?? []
  if (resources.length === 0) return <Empty title="Nothing is served">The model has no resources.</Empty>
  return (
    <>
      <h1 class="screen-title">Data</h1>
      <div class="scroll" tabIndex={0} role="region" aria-label="Resources">
        <table>
          <thead>
            <tr>
              <th scope="col">resource</th>
              <th scope="col" class="num">
                records
              </th>
              <th scope="col">attributes</th>
              <th scope="col">relations</th>
            </tr>
          </thead>
          <tbody>
            {resources.map(resource => (
              <Row key={resource.name} resource={resource} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Row({ resource: { name, attributes } }: { readonly resource: OutlinedResource }) {
  const count = counts.value.get(name)
  return (
    <tr>
      <th scope="row">
        <a href={hrefOfResource(name)}>{name}</a>
      </th>
      <td class="num">{count?.toLocaleString('en') ?? ''}</td>
      <td class="wrap dim">{list(attributes.filter(({ kind }) => kind === 'scalar' || kind === 'embedded'))}</td>
      <td class="wrap dim">{list(attributes.filter(({ kind }) => kind !== 'scalar' && kind !== 'embedded'))}</td>
    </tr>
  )
}

const list = (attributes: readonly OutlinedAttribute[]): string => attributes.map(({ name }) => name).join(', ')
