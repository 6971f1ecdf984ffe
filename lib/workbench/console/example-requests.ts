/** Makes example requests of the served model, for any data. */
import type { OutlinedAttribute, OutlinedResource } from '../../description/outline/outline-parts.ts'
import type { ParameterNames } from '../data/list-query.ts'
import { encodeSoftly } from '../state/place-text.ts'
import { exampleBody } from './body-names.ts'
import type { WrittenRequest } from './sent-request.ts'

interface ExampleRequest extends WrittenRequest {
  readonly about: string
}

export function findExamples(resources: readonly OutlinedResource[], root: string, names: ParameterNames): ExampleRequest[] {
  const lists = resources.filter(({ single }) => single !== true)
  const has = (test: (attribute: OutlinedAttribute) => boolean) =>
    lists.flatMap(resource => resource.attributes.filter(test).map(attribute => ({ resource, attribute })))
  const read = (resource: OutlinedResource, query: string): string => `${root}/${encodeURIComponent(resource.name)}?${query}`
  const [first] = lists
  const [choice] = has(({ kind, items, filterable }) => kind === 'scalar' && filterable && items !== undefined)
  const [text] = has(({ kind, type, filterable }) => kind === 'scalar' && filterable && type === 'text')
  const [link] = has(({ kind, target }) => kind === 'toOne' && target !== undefined)
  const [list] = has(({ kind, sortable }) => kind === 'toMany' && sortable)
  const made =
    lists.find(({ creates, attributes }) => creates && attributes.some(({ required }) => required)) ?? lists.find(({ creates }) => creates)
  const single = resources.find(each => each.single === true)
  const get = (about: string, target: string | undefined): ExampleRequest[] =>
    target === undefined ? [] : [{ about, method: 'GET', target, headers: '', body: '' }]
  return [
    ...get('a page of the list', first && read(first, `${names.limit}=5`)),
    ...get('a filter by a value', choice && read(choice.resource, filter(choice.attribute, '=', choice.attribute.items?.[0], names))),
    ...get('a filter by a part of a text', text && read(text.resource, filter(text.attribute, '~=', '*a*', names))),
    ...get('linked records in full', link && read(link.resource, `${names.expand}=${encodeSoftly(link.attribute.name)}&${names.limit}=5`)),
    ...get(
      'sorted by the length of a list',
      list && read(list.resource, `${names.sort}=${encodeSoftly(list.attribute.name)}.desc&${names.limit}=5`),
    ),
    ...get('some attributes as CSV', text && read(text.resource, `${names.attributes}=${encodeSoftly(text.attribute.name)}`)).map(
      request => ({
        ...request,
        headers: 'Accept: text/csv',
      }),
    ),
    ...get('an object', single && `${root}/${encodeURIComponent(single.name)}`),
    ...(made === undefined
      ? []
      : [
          {
            about: `a new ${made.singular}`,
            method: 'POST',
            target: `${root}/${encodeURIComponent(made.name)}`,
            headers: '',
            body: exampleBody(made),
          },
        ]),
  ]
}

/** An attribute with the name of a parameter is filtered by `limit_`. */
function filter({ name }: OutlinedAttribute, operator: string, value: unknown, names: ParameterNames): string {
  const parameter = Object.values(names).includes(name) ? `${name}_` : name
  return `${encodeSoftly(parameter)}${operator}${encodeSoftly(String(value))}`
}
