/** Record panel: all of one record, beside the list that it is chosen from. */
import { useLoad } from '../parts/use-load.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { look } from '../state/ask.ts'
import { changes } from '../state/live.ts'
import { countLists, findResource, parameterOf } from '../state/outline.ts'
import type { OutlinedAttribute, OutlinedResource } from '../state/outline.ts'
import { labelOf, valueOf } from '../state/records.ts'
import type { AnyRecord } from '../state/records.ts'
import { Value } from './cell.tsx'
import { hrefOfList, requestOf, requestOfList } from './links.ts'
import { readListQuery } from './list-query.ts'
import { parameterNames } from './parameter-names.ts'

interface RecordPanelProps {
  readonly resource: OutlinedResource
  readonly id: string
  readonly closeHref: string
}

export function RecordPanel({ resource, id, closeHref }: RecordPanelProps) {
  const path = requestOf([resource.name, id], '')
  const { data: record, error } = useLoad(signal => readRecord(resource, path, signal), [path, changes.value])
  const lists = resource.attributes.filter(({ kind, flag }) => kind === 'toMany' && flag === undefined)
  const listPaths = lists.map(list => requestOfList(resource, id, list))
  const { data: sizes = [] } = useLoad(() => countLists(listPaths), [listPaths.join('\n'), changes.value])
  const values = resource.attributes.filter(({ kind, flag }) => kind !== 'toMany' && flag === undefined)
  return (
    <aside class="card record" aria-labelledby="record-title">
      <div class="card-head">
        <h2 id="record-title">
          {resource.singular} {id}
          {record === undefined ? null : <span class="dim">{labelOf(record, resource)}</span>}
        </h2>
        <a class="button quiet" href={closeHref} aria-label="Close the record">
          ✕
        </a>
      </div>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {record === undefined || error !== undefined ? null : (
        <dl>
          {values.map(attribute => (
            <Entry key={attribute.name} attribute={attribute} value={valueOf(record, attribute)} />
          ))}
          {lists.map((list, index) => (
            <div key={list.name}>
              <dt>{list.name}</dt>
              <dd>
                <a href={hrefOfList(resource, id, list)}>{describeSize(sizes[index])}</a>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </aside>
  )
}

function Entry({ attribute, value }: { readonly attribute: OutlinedAttribute; readonly value: unknown }) {
  return (
    <div>
      <dt>{attribute.name}</dt>
      <dd>
        <Value value={value} attribute={attribute} isWhole />
      </dd>
    </div>
  )
}

function describeSize(size: number | null | undefined): string {
  if (size === undefined) return '…'
  return size === null ? 'open the list' : size === 1 ? '1 record' : `${size.toLocaleString('en')} records`
}

async function readRecord(resource: OutlinedResource, path: string, signal: AbortSignal): Promise<AnyRecord> {
  const names = parameterNames()
  const { asked } = readListQuery('', resource, names, findResource)
  const query = asked
    .split('&')
    .filter(pair => !pair.startsWith(`${parameterOf('limit')}=`))
    .join('&')
  const { body } = await look(`${path}?${query}`, signal)
  return (body as Readonly<Record<string, AnyRecord>>)[(body as { readonly resource: string }).resource]!
}
