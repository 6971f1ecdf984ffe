/** Records table: a page of a list. A head sorts, the ID opens the record beside the table, and a list is a number that opens it. */
import { useMemo } from 'preact/hooks'
import { useLoad } from '../parts/use-load.ts'
import { changes } from '../state/live.ts'
import { countLists } from '../state/outline.ts'
import type { OutlinedAttribute, OutlinedResource } from '../state/outline.ts'
import { idOf, textOf, valueOf } from '../state/records.ts'
import type { AnyRecord } from '../state/records.ts'
import { Value } from './cell.tsx'
import { hrefOfList, requestOfList } from './links.ts'
import type { SortKey } from './list-query.ts'

interface RecordsTableProps {
  readonly resource: OutlinedResource
  readonly records: readonly AnyRecord[]
  readonly columns: readonly OutlinedAttribute[]
  readonly sort: readonly SortKey[]
  readonly isStale: boolean
  /** The ID of the record that is shown beside the table. */
  readonly chosen: string | undefined
  readonly hrefOf: (id: string) => string
  readonly onSort: (path: string) => void
}

export function RecordsTable({ resource, records, columns, sort, isStale, chosen, hrefOf, onSort }: RecordsTableProps) {
  const rows = useMemo(() => records.map((record, index) => ({ record, id: idOf(record, resource), row: index })), [records, resource])
  const sizes = useSizes(resource, rows, columns)
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Records of ${resource.name}`} aria-busy={isStale}>
      <table class="records">
        <thead>
          <tr>
            {columns.map(column => (
              <Head key={column.name} column={column} isKey={resource.key.includes(column.name)} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ record, id, row }) => (
            <tr key={id ?? row} aria-selected={id !== undefined && id === chosen}>
              {columns.map(column => (
                <Cell
                  key={column.name}
                  {...{ resource, record, id, column }}
                  size={sizes.get(`${id} ${column.name}`)}
                  href={id === undefined ? undefined : hrefOf(id)}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface HeadProps {
  readonly column: OutlinedAttribute
  readonly isKey: boolean
  readonly sort: readonly SortKey[]
  readonly onSort: (path: string) => void
}

function Head({ column, isKey, sort, onSort }: HeadProps) {
  const own = sort.find(({ path }) => path === column.name)
  const order = own === undefined ? 'none' : own.descending ? 'descending' : 'ascending'
  const sign = own === undefined ? '' : own.descending ? '↓' : '↑'
  return (
    <th scope="col" aria-sort={column.sortable ? order : undefined} class={isNumber(column) ? 'num' : undefined}>
      {column.sortable ? (
        <button type="button" onClick={() => onSort(column.name)}>
          {column.name}
          <span class="sort" aria-hidden="true">
            {sign}
          </span>
        </button>
      ) : (
        <span>{column.name}</span>
      )}
      <small>{describeType(column, isKey)}</small>
    </th>
  )
}

interface CellProps {
  readonly resource: OutlinedResource
  readonly record: AnyRecord
  readonly id: string | undefined
  readonly column: OutlinedAttribute
  readonly size: number | null | undefined
  readonly href: string | undefined
}

function Cell({ resource, record, id, column, size, href }: CellProps) {
  if (column.kind === 'toMany')
    return (
      <td class="num">
        {id === undefined ? null : (
          <a href={hrefOfList(resource, id, column)} aria-label={`${size ?? ''} ${column.name} of ${resource.singular} ${id}`}>
            {size === undefined ? '…' : (size ?? 'list')}
          </a>
        )}
      </td>
    )
  const value = valueOf(record, column)
  if (resource.key[0] === column.name && href !== undefined)
    return (
      <th scope="row" class={isNumber(column) ? 'num' : undefined}>
        <a href={href} aria-label={`Open ${resource.singular} ${id}`}>
          {typeof value === 'object' ? id : textOf(value)}
        </a>
      </th>
    )
  return (
    <td class={isNumber(column) ? 'num' : undefined}>
      <Value value={value} attribute={column} />
    </td>
  )
}

/** Counts the lists of the records on the page, by one request. */
function useSizes(
  resource: OutlinedResource,
  rows: readonly { readonly id: string | undefined }[],
  columns: readonly OutlinedAttribute[],
): ReadonlyMap<string, number | null> {
  const lists = rows.flatMap(({ id }) =>
    id === undefined
      ? []
      : columns
          .filter(({ kind }) => kind === 'toMany')
          .map(column => ({ key: `${id} ${column.name}`, path: requestOfList(resource, id, column) })),
  )
  const paths = lists.map(({ path }) => path)
  const { data = [] } = useLoad(() => countLists(paths), [paths.join('\n'), changes.value])
  return new Map(lists.flatMap(({ key }, index) => (data[index] === undefined ? [] : [[key, data[index]]])))
}

function isNumber({ kind, type }: OutlinedAttribute): boolean {
  return kind === 'toMany' || (kind === 'scalar' && ['integer', 'bigint', 'float', 'decimal'].includes(type))
}

export function describeType({ kind, type, unique, readOnly }: OutlinedAttribute, isKey: boolean): string {
  const what = kind === 'toOne' || kind === 'toOneOf' ? `→ ${type}` : kind === 'toMany' ? 'list' : type
  return [isKey ? 'key' : what, unique && !isKey ? 'unique' : '', readOnly && !isKey ? 'computed' : ''].filter(Boolean).join(', ')
}
