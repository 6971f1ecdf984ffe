/** Hides and sizes columns. The browser keeps the choice by resource. */
import { signal } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import type { OutlinedAttribute, OutlinedResource } from '../state/outline.ts'

interface ColumnChoice {
  readonly hidden: readonly string[]
  /** In pixels; empty: as wide as the values. */
  readonly widths: Readonly<Record<string, number>>
}

const KEY = 'mikro-rest columns'
const USUAL: ColumnChoice = { hidden: [], widths: {} }
const MIN_WIDTH = 48
/** In pixels, of a column that was hidden while the others were sized. */
const NEW_WIDTH = 160

const choices = signal<Readonly<Record<string, ColumnChoice>>>(read())

function read(): Readonly<Record<string, ColumnChoice>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return typeof kept === 'object' && kept !== null ? (kept as Readonly<Record<string, ColumnChoice>>) : {}
  } catch {
    // The browser keeps nothing, or another program has stored a value under the key.
    return {}
  }
}

function choose(resource: string, part: Partial<ColumnChoice>): void {
  choices.value = { ...choices.value, [resource]: { ...choiceOf(resource), ...part } }
}

function keep(): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(choices.value))
  } catch {
    // Storage is full or forbidden: the choice lasts until the page reloads.
  }
}

function choiceOf(resource: string): ColumnChoice {
  return { ...USUAL, ...choices.value[resource] }
}

export function shownColumns({ name, key }: OutlinedResource, columns: readonly OutlinedAttribute[]): readonly OutlinedAttribute[] {
  const { hidden } = choiceOf(name)
  return columns.filter(column => column.name === key[0] || !hidden.includes(column.name))
}

export function widthsOf(resource: string, columns: readonly OutlinedAttribute[]): readonly number[] | undefined {
  const { widths } = choiceOf(resource)
  return Object.keys(widths).length === 0 ? undefined : columns.map(({ name }) => widths[name] ?? NEW_WIDTH)
}

/** Measures the shown widths, so that other columns stay. */
function measure(table: Element | null): Record<string, number> {
  const heads = [...(table?.querySelectorAll<HTMLElement>('thead th') ?? [])]
  return Object.fromEntries(heads.map(head => [head.dataset['column'] ?? '', head.offsetWidth]))
}

/** Drags a column's right edge; a double click goes back to usual widths. */
export function Grip({ resource, column }: { readonly resource: string; readonly column: string }) {
  const start = useRef<{ readonly x: number; readonly widths: Readonly<Record<string, number>> } | undefined>(undefined)
  return (
    <span
      class="grip"
      aria-hidden="true"
      title="Drag to size the column"
      onPointerDown={event => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        start.current = { x: event.clientX, widths: measure(event.currentTarget.closest('table')) }
      }}
      onPointerMove={event => {
        if (start.current === undefined) return
        const { x, widths } = start.current
        choose(resource, { widths: { ...widths, [column]: Math.max(MIN_WIDTH, Math.round((widths[column] ?? 0) + event.clientX - x)) } })
      }}
      onPointerUp={() => {
        start.current = undefined
        keep()
      }}
      onDblClick={() => {
        choose(resource, { widths: {} })
        keep()
      }}
    />
  )
}

interface ColumnsMenuProps {
  readonly resource: OutlinedResource
  readonly columns: readonly OutlinedAttribute[]
}

export function ColumnsMenu({ resource, columns }: ColumnsMenuProps) {
  const { hidden } = choiceOf(resource.name)
  const menu = useRef<HTMLDetailsElement>(null)
  const [isOpen, setOpen] = useState(false)
  const count = columns.filter(column => hidden.includes(column.name)).length
  return (
    <details
      ref={menu}
      class="columns-menu"
      onToggle={event => setOpen(event.currentTarget.open)}
      onKeyDown={event => {
        if (event.key === 'Escape') menu.current!.open = false
      }}
      onFocusOut={event => {
        const { relatedTarget } = event
        if (relatedTarget instanceof Node && !event.currentTarget.contains(relatedTarget)) menu.current!.open = false
      }}
    >
      <summary class="button">Columns{count === 0 ? '' : `: ${count} hidden`}</summary>
      {isOpen ? <Menu {...{ resource, columns }} /> : null}
    </details>
  )
}

function Menu({ resource: { name, key }, columns }: ColumnsMenuProps) {
  const { hidden, widths } = choiceOf(name)
  const isUsual = hidden.length === 0 && Object.keys(widths).length === 0
  const set = (part: Partial<ColumnChoice>): void => {
    choose(name, part)
    keep()
  }
  return (
    <div class="menu">
      {columns.map(column => (
        <ColumnRow
          key={column.name}
          name={column.name}
          isFixed={column.name === key[0]}
          isShown={!hidden.includes(column.name)}
          width={widths[column.name]}
          onShow={isShown => set({ hidden: isShown ? hidden.filter(other => other !== column.name) : [...hidden, column.name] })}
          onSize={width => set({ widths: { ...measure(document.querySelector('table.records')), ...widths, [column.name]: width } })}
        />
      ))}
      <button type="button" disabled={isUsual} onClick={() => set(USUAL)}>
        All columns, usual widths
      </button>
    </div>
  )
}

interface ColumnRowProps {
  readonly name: string
  /** The column that opens records. */
  readonly isFixed: boolean
  readonly isShown: boolean
  readonly width: number | undefined
  readonly onShow: (isShown: boolean) => void
  readonly onSize: (width: number) => void
}

function ColumnRow({ name, isFixed, isShown, width, onShow, onSize }: ColumnRowProps) {
  return (
    <div>
      <label>
        <input type="checkbox" checked={isShown} disabled={isFixed} onChange={event => onShow(event.currentTarget.checked)} /> {name}
      </label>
      <input
        type="number"
        min={MIN_WIDTH}
        step={10}
        aria-label={`Width of ${name} in pixels`}
        placeholder="width"
        value={width ?? ''}
        onChange={event => {
          const { valueAsNumber } = event.currentTarget
          if (valueAsNumber >= MIN_WIDTH) onSize(valueAsNumber)
        }}
      />
    </div>
  )
}
