/** Shows an empty list, with the needs of a record, and an offer to make records. */
import { Empty } from '../parts/notice.tsx'
import { useLoad } from '../parts/use-load.ts'
import { changes } from '../state/live.ts'
import { countLists, type OutlinedResource } from '../state/outline.ts'
import { decode, listFilters, withoutFilter, withOffset, type ParameterNames } from './list-query.ts'
import { requestOf } from './links.ts'

export interface EmptyListProps {
  readonly resource: OutlinedResource
  readonly path: readonly string[]
  readonly query: string
  readonly names: ParameterNames
  readonly hrefWith: (query: string) => string
  readonly onCreate: () => void
  readonly onImport: () => void
}

export function EmptyList({ resource, path, query, names, hrefWith, onCreate, onImport }: EmptyListProps) {
  const { name, singular, creates } = resource
  const filters = listFilters(query, names)
  const plain = withOffset(query, names.offset, 0)
  const others = filters.map(filter => withoutFilter(plain, filter))
  const { data: counts } = useLoad(() => countLists(others.map(other => requestOf(path, other))), [others.join('\n'), changes.value])
  return (
    <Empty title={filters.length === 0 ? `There are no ${name} yet` : 'No record meets the filters'}>
      {filters.length === 0 ? null : (
        <>
          <p>A record of this list has: {filters.map(decode).join(' and ')}.</p>
          <ul>
            {filters.map((filter, index) => (
              <li key={filter}>
                Without <a href={hrefWith(others[index]!)}>{decode(filter)}</a>: {describeCount(counts?.[index])}
              </li>
            ))}
          </ul>
        </>
      )}
      {creates ? (
        <div class="bar">
          <button type="button" class="main" onClick={onCreate}>
            New {singular}
          </button>
          <button type="button" onClick={onImport}>
            Import CSV …
          </button>
        </div>
      ) : null}
    </Empty>
  )
}

function describeCount(count: number | null | undefined): string {
  if (count === undefined || count === null) return '…'
  return count === 0 ? 'none either' : count === 1 ? '1 record' : `${count.toLocaleString('en')} records`
}
