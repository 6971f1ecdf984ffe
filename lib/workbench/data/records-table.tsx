/** The table of a list. A head sorts, an ID opens its record, a number opens its list. */
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { ScrollBox } from '../parts/scroll-box.tsx'
import { useLoad } from '../parts/use-load.ts'
import { changes } from '../state/live.ts'
import { countLists, type OutlinedAttribute, type OutlinedResource } from '../state/outline.ts'
import { idOf, isEditable, textOf, valueOf, type AnyRecord } from '../state/records.ts'
import { Value } from './cell.tsx'
import { Grip, widthsOf } from './columns.tsx'
import { describeType, isNumber } from './describe-type.ts'
import { EditCell, type Leaving } from './edit-cell.tsx'
import { isLarge } from './input-text.ts'
import { hrefOfList, requestOfList } from './links.ts'
import type { ShownSort } from './list-query.ts'
import { useGrid, type CellPlace, type Grid } from './use-grid.ts'

interface RecordsTableProps {
  readonly resource: OutlinedResource
  readonly records: readonly AnyRecord[]
  readonly columns: readonly OutlinedAttribute[]
  readonly sort: readonly ShownSort[]
  readonly isStale: boolean
  readonly chosen: string | undefined
  /** Records just created. */
  readonly fresh: ReadonlySet<string>
  readonly picked: ReadonlySet<string>
  readonly onPick: (ids: readonly string[], isPicked: boolean) => void
  readonly hrefOf: (id: string) => string
  readonly onSort: (path: string) => void
  readonly onLarge: (id: string, name: string) => void
}

interface TableRecord {
  readonly record: AnyRecord
  readonly id: string | undefined
  readonly name: string
}

export function RecordsTable(props: RecordsTableProps) {
  const { resource, records, columns, sort, isStale, onSort, picked, onPick } = props
  const rows = useMemo(() => records.map((record, index) => nameRow(record, index, resource)), [records, resource])
  const grid = useRecordsGrid(props, rows)
  const widths = widthsOf(resource.name, columns)
  const size = widths === undefined ? {} : { width: widths.reduce((sum, width) => sum + width, 0) }
  return (
    <>
      <ScrollBox label={`Records of ${resource.name}`} isBusy={isStale}>
        <table
          class={widths === undefined ? 'records' : 'records sized'}
          {...size}
          role="grid"
          aria-label={resource.name}
          ref={grid.table}
          onKeyDown={grid.onKeyDown}
        >
          <colgroup>
            {widths?.map((width, index) => (
              <col key={columns[index]!.name} width={width} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {columns.map(column => (
                <Head
                  key={column.name}
                  column={column}
                  resource={resource.name}
                  isKey={resource.key.includes(column.name)}
                  isPinned={resource.key[0] === column.name}
                  pick={resource.key[0] === column.name && mayPick(resource) ? <PickAll {...{ resource, rows, picked, onPick }} /> : null}
                  sort={sort}
                  onSort={onSort}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            <Rows {...props} rows={rows} grid={grid} />
          </tbody>
        </table>
      </ScrollBox>
      {resource.updates && records.length > 0 ? <EditHint /> : null}
    </>
  )
}

function EditHint() {
  return (
    <p class="dim hint">
      <kbd>Enter</kbd> or a double click edits a cell. <kbd>Tab</kbd> saves and goes to the next cell. <kbd>Esc</kbd> leaves the value as it
      was. <kbd>Space</kbd> chooses a record, for an action on several.
    </p>
  )
}

interface RowsProps extends RecordsTableProps {
  readonly rows: readonly TableRecord[]
  readonly grid: Grid
}

function Rows({ resource, columns, rows, grid, chosen, fresh, picked, onPick, hrefOf }: RowsProps) {
  const sizes = useSizes(resource, rows, columns)
  const isAt = (cell: CellPlace | undefined, row: string, column: string): boolean => cell?.row === row && cell.column === column
  return (
    <>
      {rows.map(row => (
        <tr
          key={row.name}
          aria-selected={row.id !== undefined && row.id === chosen}
          class={row.id !== undefined && fresh.has(row.id) ? 'fresh' : undefined}
        >
          {columns.map(column => (
            <Cell
              key={column.name}
              {...{ resource, row, column }}
              size={sizes.get(`${row.id} ${column.name}`)}
              href={row.id === undefined ? undefined : hrefOf(row.id)}
              isAt={isAt(grid.at, row.name, column.name)}
              isEdited={isAt(grid.edited, row.name, column.name)}
              onChoose={() => grid.choose({ row: row.name, column: column.name })}
              onEdit={() => grid.edit({ row: row.name, column: column.name })}
              onLeave={grid.leave}
              isPicked={row.id !== undefined && picked.has(row.id)}
              onPick={isPicked => row.id !== undefined && onPick([row.id], isPicked)}
            />
          ))}
        </tr>
      ))}
    </>
  )
}

function useRecordsGrid({ resource, columns, picked, onPick, onLarge }: RecordsTableProps, rows: readonly TableRecord[]): Grid {
  const find = (place: CellPlace) => ({
    row: rows.find(({ name }) => name === place.row),
    column: columns.find(({ name }) => name === place.column),
  })
  return useGrid({
    rows: useMemo(() => rows.map(({ name }) => name), [rows]),
    columns: useMemo(() => columns.map(({ name }) => name), [columns]),
    toggle: place => {
      const id = find(place).row?.id
      if (id !== undefined && mayPick(resource)) onPick([id], !picked.has(id))
    },
    mayEdit: place => {
      const { row, column } = find(place)
      return row?.id !== undefined && column !== undefined && isEditable(resource, column, row.record)
    },
    editElsewhere: place => {
      const { row, column } = find(place)
      if (row?.id === undefined || column === undefined || !isLarge(column, valueOf(row.record, column))) return false
      onLarge(row.id, column.name)
      return true
    },
  })
}

function mayPick({ updates, deletes }: OutlinedResource): boolean {
  return updates || deletes
}

interface PickAllProps extends Pick<RecordsTableProps, 'resource' | 'picked' | 'onPick'> {
  readonly rows: readonly TableRecord[]
}

function PickAll({ resource, rows, picked, onPick }: PickAllProps) {
  const ids = rows.flatMap(({ id }) => id ?? [])
  if (ids.length === 0) return null
  return (
    <input
      type="checkbox"
      aria-label={`Choose all ${resource.name} of this page`}
      checked={ids.every(id => picked.has(id))}
      onChange={event => onPick(ids, event.currentTarget.checked)}
    />
  )
}

function nameRow(record: AnyRecord, index: number, resource: OutlinedResource): TableRecord {
  const id = idOf(record, resource)
  return { record, id, name: id ?? `row ${index}` }
}

interface HeadProps {
  readonly column: OutlinedAttribute
  readonly resource: string
  readonly isKey: boolean
  readonly isPinned: boolean
  readonly pick: ComponentChildren
  readonly sort: readonly ShownSort[]
  readonly onSort: (path: string) => void
}

function Head({ column, resource, isKey, isPinned, pick, sort, onSort }: HeadProps) {
  const sorting = sort.find(({ path }) => path === column.name)
  const order = sorting === undefined ? 'none' : sorting.descending ? 'descending' : 'ascending'
  const sign = sorting === undefined ? '' : sorting.descending ? '↓' : '↑'
  return (
    <th
      scope="col"
      data-column={column.name}
      aria-sort={column.sortable ? order : undefined}
      class={[isNumber(column) ? 'num' : '', isPinned ? 'pinned' : ''].join(' ').trim() || undefined}
    >
      {pick}
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
      <Grip resource={resource} column={column.name} />
    </th>
  )
}

interface CellProps {
  readonly resource: OutlinedResource
  readonly row: TableRecord
  readonly column: OutlinedAttribute
  readonly size: number | null | undefined
  readonly href: string | undefined
  readonly isAt: boolean
  readonly isEdited: boolean
  readonly onChoose: () => void
  readonly onEdit: () => void
  readonly onLeave: (where: Leaving) => void
  readonly isPicked: boolean
  readonly onPick: (isPicked: boolean) => void
}

function Cell(props: CellProps) {
  const { resource, row, column, href, isAt, isEdited, onChoose, onEdit, onLeave } = props
  const { record, id } = row
  const mayEdit = id !== undefined && isEditable(resource, column, record)
  const marks = {
    class: isNumber(column) ? 'num' : undefined,
    tabIndex: isAt && !isEdited ? 0 : -1,
    'data-at': isAt ? '' : undefined,
    'aria-readonly': mayEdit ? undefined : true,
    onFocus: onChoose,
  }
  if (isEdited && id !== undefined)
    return (
      <td {...marks} class={[marks.class ?? '', 'edited'].join(' ').trim()}>
        {/* Keeps the size of the cell, so that nothing moves. */}
        <div class="below" inert>
          <CellContent {...props} />
        </div>
        <EditCell {...{ resource, record, id, column, onLeave }} />
      </td>
    )
  if (resource.key[0] === column.name && href !== undefined)
    return (
      <th scope="row" {...marks}>
        <CellContent {...props} />
      </th>
    )
  return (
    <td {...marks} onDblClick={mayEdit ? onEdit : undefined}>
      <CellContent {...props} />
    </td>
  )
}

/** Tab skips links, and leaves the table. */
function CellContent({ resource, row: { record, id }, column, size, href, isPicked, onPick }: CellProps) {
  const value = valueOf(record, column)
  if (column.kind === 'toMany')
    return id === undefined ? null : (
      <a href={hrefOfList(resource, id, column)} tabIndex={-1} aria-label={`${size ?? ''} ${column.name} of ${resource.singular} ${id}`}>
        {size === undefined ? '…' : (size ?? 'list')}
      </a>
    )
  if (resource.key[0] === column.name && href !== undefined)
    return (
      <>
        {mayPick(resource) ? (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Choose ${resource.singular} ${id}`}
            checked={isPicked}
            onChange={event => onPick(event.currentTarget.checked)}
          />
        ) : null}
        <a href={href} tabIndex={-1} aria-label={`Open ${resource.singular} ${id}`}>
          {typeof value === 'object' ? id : textOf(value)}
        </a>
      </>
    )
  return <Value value={value} attribute={column} tabIndex={-1} />
}

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
