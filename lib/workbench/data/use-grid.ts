/**
 * Moves the focus through the cells of a table by arrow keys. Enter and F2 edit a cell or follow its link, Space chooses a record, Tab
 * leaves the table.
 */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Leaving } from './edit-cell.tsx'

export interface CellPlace {
  readonly row: string
  readonly column: string
}

interface GridState {
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  readonly mayEdit: (cell: CellPlace) => boolean
  readonly toggle: (cell: CellPlace) => void
  /** @returns false if the value fits into the cell */
  readonly editElsewhere: (cell: CellPlace) => boolean
}

export type Grid = ReturnType<typeof useGrid>

export function useGrid(state: GridState) {
  const { rows, columns, mayEdit, editElsewhere } = state
  const [chosen, setChosen] = useState<CellPlace>()
  const [edited, setEdited] = useState<CellPlace>()
  const table = useRef<HTMLTableElement>(null)
  const wantsFocus = useRef(false)
  const at = useMemo(
    () =>
      chosen !== undefined && rows.includes(chosen.row) && columns.includes(chosen.column)
        ? chosen
        : { row: rows[0] ?? '', column: columns[0] ?? '' },
    [chosen, rows, columns],
  )
  // Before the reader presses another key.
  useLayoutEffect(() => {
    if (!wantsFocus.current || edited !== undefined) return
    wantsFocus.current = false
    table.current?.querySelector<HTMLElement>('[data-at]')?.focus()
  })
  const move = (cell: CellPlace): void => {
    wantsFocus.current = true
    setChosen(cell)
  }
  const edit = (cell: CellPlace): void => {
    if (!mayEdit(cell) || editElsewhere(cell)) return
    setChosen(cell)
    setEdited(cell)
  }
  const leave = (where: Leaving): void => {
    const next = where === 'next' || where === 'before' ? findNext(at, where === 'next' ? 1 : -1, state) : undefined
    wantsFocus.current = where !== 'nowhere'
    setEdited(next !== undefined && !editElsewhere(next) ? next : undefined)
    if (next !== undefined) setChosen(next)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-at]') : null
    if (cell === null || edited !== undefined || event.altKey) return
    const next = step(event, at, state)
    if (next !== undefined) move(next)
    else if (event.key === 'F2' || (event.key === 'Enter' && !event.ctrlKey && mayEdit(at))) edit(at)
    else if (event.key === 'Enter') cell.querySelector('a')?.click()
    else if (event.key === ' ' && event.target === cell) state.toggle(at)
    else return
    event.preventDefault()
  }
  return { at, edited, table, choose: setChosen, edit, leave, onKeyDown }
}

function step({ key, ctrlKey }: KeyboardEvent, { row, column }: CellPlace, { rows, columns }: GridState): CellPlace | undefined {
  const [line, place] = [rows.indexOf(row), columns.indexOf(column)]
  const clamp = (index: number, all: readonly string[]): string => all[Math.min(Math.max(index, 0), all.length - 1)]!
  switch (key) {
    case 'ArrowUp':
      return { row: clamp(line - 1, rows), column }
    case 'ArrowDown':
      return { row: clamp(line + 1, rows), column }
    case 'ArrowLeft':
      return { row, column: clamp(place - 1, columns) }
    case 'ArrowRight':
      return { row, column: clamp(place + 1, columns) }
    case 'Home':
      return { row: ctrlKey ? rows[0]! : row, column: columns[0]! }
    case 'End':
      return { row: ctrlKey ? rows.at(-1)! : row, column: columns.at(-1)! }
    default:
      return undefined
  }
}

/** Goes on in the next row. */
function findNext(from: CellPlace, way: 1 | -1, { rows, columns, mayEdit }: GridState): CellPlace | undefined {
  const all = rows.flatMap(row => columns.map(column => ({ row, column })))
  const here = all.findIndex(({ row, column }) => row === from.row && column === from.column)
  const others = way === 1 ? all.slice(here + 1) : all.slice(0, Math.max(here, 0)).toReversed()
  return others.find(mayEdit)
}
